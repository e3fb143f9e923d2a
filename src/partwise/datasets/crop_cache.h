#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace partwise::datasets {

// Where prepared crops are kept between runs, and how many bytes of them together.
struct CropCache {
  std::filesystem::path folder;  // empty: nowhere
  int64_t limit = 0;             // 0: nothing is kept
};

// $XDG_CACHE_HOME/partwise, else ~/.cache/partwise; empty where neither is known.
std::filesystem::path default_cache_folder();

// Bytes of equal rows, kept alive by `owner`: a mapped file, or memory.
struct RowBytes {
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;
};

// What the rows are; equal only for equal content and options.
struct RowsKey {
  uint64_t content = 0;
  int64_t rows = 0;
  int64_t row_bytes = 0;
};

// Fills one row; called on any thread. What it throws ends the preparation and is passed on.
using FillRow = std::function<void(int64_t row, std::span<uint8_t> out)>;

// The rows from the cache, mapped read-only, or prepared there by `fill` first. One file a key,
// written under another name and renamed when whole, so that a reader never sees half of it; its
// hashes are checked whenever it is opened, and a damaged one is named and prepared again. Of
// several processes that want the same rows one prepares them and the others wait, as long as it
// makes progress. The least recently used files make room; a process that has one mapped keeps it.
// Nothing, after a line that says why, where the cache can't be used: unwritable, full, too small.
std::optional<RowBytes> cached_rows(const CropCache& cache,
                                    const RowsKey& key,
                                    int threads,
                                    const FillRow& fill);

// Quick, 64 bits: recognises content and guards against damage, not against malice.
uint64_t quick_hash(std::span<const uint8_t> bytes, uint64_t seed = 0);

}  // namespace partwise::datasets
