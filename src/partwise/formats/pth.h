#pragma once

#include "partwise/base/files.h"
#include "partwise/formats/arrays.h"

namespace partwise::formats {

// A file written by torch.save since PyTorch 1.6: a zip archive of one pickle and the storages its
// tensors lie in. No code in it is ever run; a pickle that asks for any is refused by name. Dense
// tensors point into `file`; strided ones are copied.
//
// Names. A dictionary's entries are named by their keys, nested ones "outer.inner", list elements
// by their index. Where the outermost dictionary holds no tensor itself but has a "state_dict",
// "model_state_dict" or "model" that is a dictionary, the arrays are that one's, without a prefix.
// Everything else that is found (epoch, optimizer, options) is listed as skipped.
NamedArrays parse_pth(const FileBytes& file);

}  // namespace partwise::formats
