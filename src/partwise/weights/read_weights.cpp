#include "partwise/weights/read_weights.h"

#include "partwise/base/error.h"
#include "partwise/formats/pth.h"
#include "partwise/formats/safetensors.h"

namespace partwise::weights {
namespace {

// Files that are often taken for weights, and what to do about them.
void refuse_known(std::string_view bytes, const std::string& name) {
  ensure(!bytes.empty(), "{}: zero bytes", name);
  ensure(
      !bytes.starts_with("\x80\x02") && !bytes.starts_with("\x80\x04"),
      "{}: refused: a bare pickle, as PyTorch before 1.6 wrote; load it in a PyTorch you trust it "
      "with and torch.save its state_dict() again",
      name);
  ensure(!bytes.starts_with("version https://git-lfs"),
         "{}: only a Git LFS pointer; fetch the file itself with: git lfs pull", name);
  ensure(!bytes.starts_with("\x1F\x8B") && !bytes.starts_with("BZh") &&
             !bytes.starts_with("\xFD"
                                "7zXZ"),
         "{}: a compressed file; unpack it first", name);
  ensure(!bytes.starts_with("<"), "{}: a web page, not weights; the download went wrong", name);
}

}  // namespace

formats::NamedArrays read_weights(const std::filesystem::path& path) {
  const auto file = map_file(path);
  if (formats::is_matlab73(file.bytes)) {
    return matconvnet_network(formats::read_matlab(path), file.name);
  }
  return parse_weights(file);
}

formats::NamedArrays parse_weights(const FileBytes& file) {
  if (file.bytes.starts_with("PK\x03\x04") || file.bytes.starts_with("PK\x05\x06")) {
    return formats::parse_pth(file);
  }
  if (file.bytes.size() > 8 && file.bytes[8] == '{') return formats::parse_safetensors(file);
  if (file.bytes.starts_with("MATLAB 5")) {
    return matconvnet_network(formats::parse_matlab5(file), file.name);
  }
  refuse_known(file.bytes, file.name);
  throw Error(
      fmt::format("{}: not a weights file (neither safetensors nor .pth nor .mat)", file.name));
}

}  // namespace partwise::weights
