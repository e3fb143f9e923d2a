#include "partwise/models/scratch_maps.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace partwise::models {
namespace {

constexpr int64_t kRowsPerRead = 64;

std::string temporary_folder() {
  std::error_code problem;
  const auto folder = std::filesystem::temp_directory_path(problem);
  ensure(!problem, "TMPDIR: activations cannot be kept there ({}); name a folder that exists",
         problem.message());
  return folder.string();
}

}  // namespace

struct ScratchMaps::File {
  std::string folder = temporary_folder();
  int descriptor = -1;

  File() {
    auto name = folder + "/partwise-maps-XXXXXX";
    descriptor = mkstemp(name.data());
    ensure(descriptor >= 0, "{}: cannot be written to ({}); set TMPDIR to another folder", folder,
           std::strerror(errno));
    unlink(name.c_str());
  }
  ~File() { close(descriptor); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void write(int64_t offset, std::span<const float> values) const {
    const auto bytes = std::as_bytes(values);
    for (std::size_t done = 0; done < bytes.size();) {
      const auto wrote = pwrite(descriptor, bytes.data() + done, bytes.size() - done,
                                offset + static_cast<int64_t>(done));
      ensure(wrote > 0, "{}: cannot hold the activations ({}); set TMPDIR to a larger folder",
             folder, std::strerror(errno));
      done += static_cast<std::size_t>(wrote);
    }
  }

  void read(int64_t offset, std::span<float> values) const {
    const auto bytes = std::as_writable_bytes(values);
    for (std::size_t done = 0; done < bytes.size();) {
      const auto got = pread(descriptor, bytes.data() + done, bytes.size() - done,
                             offset + static_cast<int64_t>(done));
      ensure(got > 0, "{}: activations written there cannot be read again ({})", folder,
             std::strerror(errno));
      done += static_cast<std::size_t>(got);
    }
  }
};

ScratchMaps::ScratchMaps() : file_(std::make_shared<File>()) {}

void ScratchMaps::append(const metrics::Maps& batch) {
  if (rows_ == 0) {
    filters_ = batch.filters;
    side_ = batch.side;
  }
  expects(batch.filters == filters_ && batch.side == side_,
          "a batch of {} filters and side {} behind one of {} and {}", batch.filters, batch.side,
          filters_, side_);
  const auto row_bytes = filters_ * side_ * side_ * static_cast<int64_t>(sizeof(float));
  file_->write(rows_ * row_bytes, batch.values);
  rows_ += batch.rows;
}

metrics::MapSource ScratchMaps::source() const {
  const auto each_batch = [file = file_, rows = rows_, filters = filters_,
                           side = side_](const metrics::VisitBatch& visit) {
    const int64_t row_values = filters * side * side;
    std::vector<float> values;
    for (int64_t first = 0; first < rows; first += kRowsPerRead) {
      const int64_t count = std::min(kRowsPerRead, rows - first);
      values.resize(static_cast<std::size_t>(count * row_values));
      file->read(first * row_values * static_cast<int64_t>(sizeof(float)), values);
      visit({values, count, filters, side}, first);
    }
  };
  return {rows_, filters_, side_, each_batch};
}

}  // namespace partwise::models
