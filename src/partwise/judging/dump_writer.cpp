#include "partwise/judging/dump_writer.h"

#include "partwise/base/error.h"
#include "partwise/formats/convert.h"

#include <cmath>
#include <string_view>
#include <utility>

namespace partwise::judging {
namespace {

using formats::Dtype;

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

formats::NamedArrays layout_of(const DumpPlan& plan) {
  formats::NamedArrays file;
  file.metadata = metadata_of(plan);
  const auto add_ids = [&](const char* name, const std::vector<int64_t>& ids) {
    if (!ids.empty()) file.arrays[name] = {Dtype::i64, {std::ssize(ids)}, {}, nullptr};
  };
  add_ids("annotation", plan.annotation);
  add_ids("category", plan.category);
  add_ids("image", plan.image);
  const auto add_maps = [&](const char* name, int64_t side) {
    const auto dtype = plan.half ? Dtype::f16 : Dtype::f32;
    file.arrays[name] = {dtype, {plan.rows, plan.filters, side, side}, {}, nullptr};
  };
  add_maps("maps", plan.side);
  if (plan.masked_side > 0) add_maps("masked", plan.masked_side);
  return file;
}

template <typename Number>
std::string_view bytes_of(std::span<const Number> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

}  // namespace

DumpWriter::DumpWriter(const std::filesystem::path& path, DumpPlan plan)
    : path_(path.string()), plan_(std::move(plan)), writer_(path, layout_of(plan_)) {
  for (const auto& [name, ids] :
       {std::pair("annotation", &plan_.annotation), std::pair("category", &plan_.category),
        std::pair("image", &plan_.image)}) {
    if (!ids->empty()) writer_.write(name, 0, bytes_of(std::span<const int64_t>(*ids)));
  }
}

void DumpWriter::write_maps(int64_t first_row, std::span<const float> values) {
  write("maps", first_row, plan_.side, values);
}

void DumpWriter::write_masked(int64_t first_row, std::span<const float> values) {
  write("masked", first_row, plan_.masked_side, values);
}

void DumpWriter::write(const char* name,
                       int64_t first_row,
                       int64_t side,
                       std::span<const float> values) {
  const int64_t row_values = plan_.filters * side * side;
  expects(row_values > 0 && std::ssize(values) % row_values == 0 && first_row >= 0 &&
              first_row + std::ssize(values) / row_values <= plan_.rows,
          "{} values from row {} on do not fit {} rows of {}", values.size(), first_row, plan_.rows,
          row_values);
  const auto first = static_cast<uint64_t>(first_row * row_values);
  if (!plan_.half) {
    writer_.write(name, first * sizeof(float), bytes_of(values));
    return;
  }
  std::vector<uint16_t> halves;
  halves.reserve(values.size());
  for (const float value : values) {
    halves.push_back(formats::f16_from_float(value));
    ensure(!std::isfinite(value) || std::isfinite(formats::float_from_f16(halves.back())),
           "{}: activation {} does not fit f16; write it without --half", path_, value);
  }
  writer_.write(name, first * sizeof(uint16_t), bytes_of(std::span<const uint16_t>(halves)));
}

void DumpWriter::finish() {
  writer_.finish();
}

}  // namespace partwise::judging
