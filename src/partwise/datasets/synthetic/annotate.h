#pragma once

#include "partwise/base/random.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/datasets/synthetic/canvas.h"
#include "partwise/datasets/synthetic/species.h"

namespace partwise::datasets::synthetic {

// The exact truth of a painted animal: what its pixels on the canvas say. A pixel belongs to the
// front-most layer at its centre; a landmark counts where its own layer is in front. Parts of which
// less than a speck is left are not listed. The object's box is drawn as loosely as by hand: with a
// margin, unevenly shared between opposite sides, so that no part has a fixed place in it.
Annotation annotate(const Canvas& canvas,
                    const Animal& animal,
                    const View& view,
                    const Species& species,
                    Random& random);

}  // namespace partwise::datasets::synthetic
