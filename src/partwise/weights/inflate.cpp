#include "partwise/weights/inflate.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <zlib.h>

namespace partwise::weights {
namespace {

class Stream {
 public:
  Stream() { expects(::inflateInit(&state_) == Z_OK, "zlib is not the version it was built with"); }
  ~Stream() { ::inflateEnd(&state_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  z_stream& operator*() { return state_; }

 private:
  z_stream state_{};
};

}  // namespace

std::string inflated(std::string_view bytes, std::size_t limit, const std::string& place) {
  constexpr std::size_t kStep = std::size_t{1} << 20U;
  Stream stream;
  auto& state = *stream;
  std::string result;
  int status = Z_OK;
  while (status == Z_OK) {
    const std::size_t before = result.size();
    ensure(before < limit, "{}: refused: it decompresses to more than {} bytes", place, limit);
    result.resize(before + std::min({kStep + before, limit - before, kStep * 1024}));
    const std::size_t given = std::min(bytes.size(), kStep * 1024);
    state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    state.avail_in = static_cast<uInt>(given);
    state.next_out = reinterpret_cast<Bytef*>(result.data() + before);
    state.avail_out = static_cast<uInt>(result.size() - before);
    status = ::inflate(&state, Z_NO_FLUSH);
    bytes.remove_prefix(given - state.avail_in);
    result.resize(result.size() - state.avail_out);
    // More room helps only a stream that filled what it had.
    if (status == Z_OK && bytes.empty() && state.avail_out != 0) status = Z_BUF_ERROR;
  }
  ensure(status == Z_STREAM_END, "{}: damaged or truncated: compressed data end too early", place);
  return result;
}

}  // namespace partwise::weights
