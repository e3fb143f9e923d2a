#pragma once

#include "partwise/metrics/maps.h"

#include <cstdint>
#include <memory>

namespace partwise::models {

// Maps of more rows than memory should hold, in a file without a name in the folder for temporary
// files (TMPDIR); it goes with the last source. Rows are appended batch by batch and can then be
// passed over as often as a metric asks, 64 at a time.
class ScratchMaps {
 public:
  ScratchMaps();

  // All batches have one number of filters and one side. An Error says when the disk is full.
  void append(const metrics::Maps& batch);

  [[nodiscard]] metrics::MapSource source() const;

 private:
  struct File;
  std::shared_ptr<File> file_;
  int64_t rows_ = 0;
  int64_t filters_ = 0;
  int64_t side_ = 0;
};

}  // namespace partwise::models
