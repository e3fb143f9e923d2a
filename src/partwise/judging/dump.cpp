#include "partwise/judging/dump.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/printable.h"
#include "partwise/formats/convert.h"
#include "partwise/formats/safetensors.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

namespace partwise::judging {
namespace {

using formats::Array;
using formats::Dtype;

const Array* find(const formats::NamedArrays& file, const char* name) {
  const auto found = file.arrays.find(name);
  return found == file.arrays.end() ? nullptr : &found->second;
}

std::string text_of(const formats::NamedArrays& file, const char* key) {
  const auto found = file.metadata.find(key);
  return found == file.metadata.end() ? "" : found->second;
}

double number_of(const formats::NamedArrays& file, const std::string& place, const char* key) {
  const auto text = text_of(file, key);
  ensure(!text.empty(),
         "{}: its metadata lacks {}; a dump needs input_side, unit_stride and "
         "unit_offset",
         place, key);
  double value = 0.0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  ensure(read.ec == std::errc() && read.ptr == text.data() + text.size() && std::isfinite(value),
         "{}: metadata {} = '{}' is no number", place, key, printable(text));
  return value;
}

metrics::UnitGrid grid_of(const formats::NamedArrays& file, const std::string& place) {
  const double side = number_of(file, place, "input_side");
  const double stride = number_of(file, place, "unit_stride");
  ensure(side >= 1.0 && side <= 65536.0 && side == std::floor(side),
         "{}: metadata input_side = {} is no number of pixels", place, side);
  ensure(stride > 0.0, "{}: metadata unit_stride = {} is not above 0", place, stride);
  return {number_of(file, place, "unit_offset"), stride, static_cast<int64_t>(side)};
}

// The shape of activations, with the names of their axes in the complaint.
metrics::Maps shape_of(const Array& array, const std::string& place, const char* name) {
  const auto& shape = array.shape;
  ensure(array.dtype == Dtype::f32 || array.dtype == Dtype::f16, "{}: {} is {}, not F32 or F16",
         place, name, formats::name_of(array.dtype));
  ensure(shape.size() == 4 && shape[2] == shape[3], "{}: {} is {}, expected [rows, filters, n, n]",
         place, name, formats::shape_text(shape));
  ensure(shape[0] > 0 && shape[1] > 0 && shape[2] > 0, "{}: {} is {}: there is nothing to judge",
         place, name, formats::shape_text(shape));
  return {{}, shape[0], shape[1], shape[2]};
}

void check_values(const metrics::Maps& maps, const std::string& place, const char* name) {
  for (std::size_t i = 0; i < maps.values.size(); ++i) {
    if (std::isfinite(maps.values[i]) && maps.values[i] >= 0.0F) continue;
    const auto map = static_cast<int64_t>(i) / (maps.side * maps.side);
    throw Error(
        fmt::format("{}: {} holds {} in row {}, filter {}; activations after ReLU are "
                    "finite and not negative",
                    place, name, maps.values[i], map / maps.filters, map % maps.filters));
  }
}

metrics::Maps maps_of(const Array& array, Dump& dump, const char* name) {
  auto maps = shape_of(array, dump.file, name);
  const bool aligned = reinterpret_cast<std::uintptr_t>(array.bytes.data()) % alignof(float) == 0;
  if (array.dtype == Dtype::f32 && aligned) {
    maps.values = {reinterpret_cast<const float*>(array.bytes.data()), array.count()};
    dump.owners.push_back(array.owner);
  } else {
    const auto copy = std::make_shared<const std::vector<float>>(formats::floats_of(array));
    maps.values = *copy;
    dump.owners.push_back(copy);
  }
  check_values(maps, dump.file, name);
  return maps;
}

std::vector<int64_t> ids_of(
    const Array& array, const std::string& place, const char* name, int64_t count, const char* of) {
  ensure(array.dtype == Dtype::i64, "{}: {} is {}, not I64", place, name,
         formats::name_of(array.dtype));
  ensure(array.shape.size() == 1 && array.shape[0] == count,
         "{}: {} is {}, expected [{}], one per {} of maps", place, name,
         formats::shape_text(array.shape), count, of);
  std::vector<int64_t> ids(array.count());
  std::memcpy(ids.data(), array.bytes.data(), array.bytes.size());
  return ids;
}

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

Dump read_dump(const std::filesystem::path& path) {
  const auto file = formats::parse_safetensors(map_file(path));
  Dump dump;
  dump.file = path.string();
  for (const char* needed : {"maps", "annotation"}) {
    ensure(find(file, needed) != nullptr,
           "{}: has no array {}; a dump holds maps and annotation, and may hold category, masked "
           "and image",
           dump.file, needed);
  }
  auto& label = dump.label;
  label.layer = text_of(file, "layer");
  label.net = text_of(file, "net");
  label.split = text_of(file, "split");
  label.task = text_of(file, "task");
  label.grid = label.masked_grid = grid_of(file, dump.file);
  dump.maps = shape_of(*find(file, "maps"), dump.file, "maps");  // before gigabytes are looked at
  const int64_t rows = dump.maps.rows;
  const int64_t filters = dump.maps.filters;
  dump.annotation = ids_of(*find(file, "annotation"), dump.file, "annotation", rows, "row");
  if (const auto* category = find(file, "category"))
    dump.category = ids_of(*category, dump.file, "category", filters, "filter");
  if (const auto* image = find(file, "image"))
    dump.image = ids_of(*image, dump.file, "image", rows, "row");
  if (const auto* masked = find(file, "masked")) {
    const auto shape = shape_of(*masked, dump.file, "masked");
    const bool pooled = !text_of(file, "masked_unit_stride").empty();
    if (pooled) {
      label.masked_grid.stride = number_of(file, dump.file, "masked_unit_stride");
      label.masked_grid.offset = number_of(file, dump.file, "masked_unit_offset");
      ensure(label.masked_grid.stride > 0.0, "{}: metadata masked_unit_stride is not above 0",
             dump.file);
    }
    ensure(
        shape.rows == rows && shape.filters == filters && (pooled || shape.side == dump.maps.side),
        "{}: masked is {}, maps is {}; they must have one shape", dump.file,
        formats::shape_text(masked->shape), formats::shape_text(find(file, "maps")->shape));
    dump.masked = maps_of(*masked, dump, "masked");
  }
  dump.maps = maps_of(*find(file, "maps"), dump, "maps");
  if (dump.masked.rows == 0) dump.masked = dump.maps;
  return dump;
}

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
