#include "partwise/datasets/import/importers.h"

#include "tests/fuzz/try_read.h"

namespace fuzz = partwise::fuzz;
namespace datasets = partwise::datasets;

// A COCO file: the plan of its import and the objects of every image, for two sizes of image.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static const fuzz::ScratchFolder folder;
  const auto file = folder.put("coco.json", fuzz::text_of(data, size));
  return fuzz::does_or_refuses(folder.path().string(), [&] {
    const auto plan = datasets::plan_coco(file, {});
    for (const auto& image : plan.images) {
      if (!image.objects) continue;
      for (const int64_t side : {1, 64}) {
        fuzz::does_or_refuses(file.string(), [&] { (void)image.objects(side, side); });
      }
    }
  });
}
