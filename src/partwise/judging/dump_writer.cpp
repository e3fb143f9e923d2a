#include "partwise/judging/dump_writer.h"

#include "partwise/base/error.h"
#include "partwise/base/file_bytes.h"
#include "partwise/base/files.h"
#include "partwise/weights/convert.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <string_view>
#include <utility>

namespace partwise::judging {
namespace {

using nlohmann::json;

constexpr std::string_view kHashPlace = "0000000000000000";  // 16 digits, filled in at the end

std::map<std::string, std::string> metadata_of(const DumpPlan& plan) {
  const auto& label = plan.label;
  std::map<std::string, std::string> texts{{"layer", label.layer},
                                           {"net", label.net},
                                           {"split", label.split},
                                           {"input_side", fmt::format("{}", label.grid.input_side)},
                                           {"unit_stride", fmt::format("{}", label.grid.stride)},
                                           {"unit_offset", fmt::format("{}", label.grid.offset)}};
  if (!label.task.empty()) texts["task"] = label.task;
  if (plan.masked_side > 0 && plan.masked_side != plan.side) {
    texts["masked_unit_stride"] = fmt::format("{}", label.masked_grid.stride);
    texts["masked_unit_offset"] = fmt::format("{}", label.masked_grid.offset);
  }
  return texts;
}

// The header's entries, laid end to end: the wide numbers first, so that all are aligned.
class Layout {
 public:
  uint64_t add(const char* name, const char* dtype, std::vector<int64_t> shape, uint64_t bytes) {
    const uint64_t begin = end_;
    for (const int64_t extent : shape) bytes *= static_cast<uint64_t>(extent);
    end_ += bytes;
    header[name] = {{"dtype", dtype}, {"shape", std::move(shape)}, {"data_offsets", {begin, end_}}};
    return begin;
  }

  json header = json::object();

 private:
  uint64_t end_ = 0;
};

void append_ids(std::string& bytes, const std::vector<int64_t>& ids) {
  bytes.append(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(int64_t));
}

}  // namespace

DumpWriter::DumpWriter(std::filesystem::path path, DumpPlan plan)
    : path_(std::move(path)), unfinished_(path_), plan_(std::move(plan)) {
  unfinished_ += ".unfinished";
  Layout layout;
  std::string ids;
  const auto add_ids = [&](const char* name, const std::vector<int64_t>& values) {
    if (values.empty()) return;
    layout.add(name, "I64", {std::ssize(values)}, sizeof(int64_t));
    append_ids(ids, values);
  };
  add_ids("annotation", plan_.annotation);
  add_ids("category", plan_.category);
  add_ids("image", plan_.image);
  const char* dtype = plan_.half ? "F16" : "F32";
  const uint64_t size = plan_.half ? 2 : 4;
  const auto add_maps = [&](const char* name, int64_t side) {
    return layout.add(name, dtype, {plan_.rows, plan_.filters, side, side}, size);
  };
  maps_begin_ = add_maps("maps", plan_.side);
  if (plan_.masked_side > 0) masked_begin_ = add_maps("masked", plan_.masked_side);
  layout.header["__metadata__"] = metadata_of(plan_);
  layout.header["__metadata__"]["content_hash"] = kHashPlace;
  auto text = layout.header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  const uint64_t length = text.size();
  data_begin_ = sizeof length + length;
  hash_begin_ = sizeof length + text.find(R"("content_hash":")") + 16;
  file_.open(unfinished_, std::ios::binary | std::ios::trunc);
  file_.write(reinterpret_cast<const char*>(&length), sizeof length);
  file_ << text << ids;
  ensure(file_.good(), "{}: can't be written", path_.string());
}

DumpWriter::~DumpWriter() {
  if (!file_.is_open()) return;
  file_.close();
  std::error_code ignored;
  std::filesystem::remove(unfinished_, ignored);
}

void DumpWriter::write_maps(int64_t first_row, std::span<const float> values) {
  write(maps_begin_, first_row, plan_.side, values);
}

void DumpWriter::write_masked(int64_t first_row, std::span<const float> values) {
  write(masked_begin_, first_row, plan_.masked_side, values);
}

void DumpWriter::write(uint64_t begin,
                       int64_t first_row,
                       int64_t side,
                       std::span<const float> values) {
  const int64_t row_values = plan_.filters * side * side;
  expects(row_values > 0 && std::ssize(values) % row_values == 0 && first_row >= 0 &&
              first_row + std::ssize(values) / row_values <= plan_.rows,
          "{} values from row {} on do not fit {} rows of {}", values.size(), first_row, plan_.rows,
          row_values);
  const uint64_t size = plan_.half ? 2 : 4;
  file_.seekp(static_cast<std::streamoff>(data_begin_ + begin +
                                          static_cast<uint64_t>(first_row * row_values) * size));
  if (!plan_.half) {
    file_.write(reinterpret_cast<const char*>(values.data()),
                static_cast<std::streamsize>(values.size_bytes()));
  } else {
    std::vector<uint16_t> halves;
    halves.reserve(values.size());
    for (const float value : values) {
      halves.push_back(weights::f16_from_float(value));
      ensure(!std::isfinite(value) || std::isfinite(weights::float_from_f16(halves.back())),
             "{}: activation {} does not fit f16; write it without --half", path_.string(), value);
    }
    file_.write(reinterpret_cast<const char*>(halves.data()),
                static_cast<std::streamsize>(halves.size() * size));
  }
  ensure(file_.good(), "{}: can't be written (disk full?)", path_.string());
}

void DumpWriter::finish() {
  file_.flush();
  ensure(file_.good(), "{}: can't be written (disk full?)", path_.string());
  const auto written = map_file(unfinished_);
  const auto hash = content_hash(written.bytes.substr(data_begin_));
  file_.seekp(static_cast<std::streamoff>(hash_begin_));
  file_ << hash;
  file_.close();
  ensure(!file_.fail(), "{}: can't be written (disk full?)", path_.string());
  std::filesystem::rename(unfinished_, path_);
}

}  // namespace partwise::judging
