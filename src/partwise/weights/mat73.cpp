#include "partwise/weights/mat73.h"

#include "partwise/base/error.h"
#include "partwise/base/rehearsal.h"

#include <algorithm>
#include <array>
#include <limits>
#include <matio.h>

namespace partwise::weights {
namespace {

constexpr int kMaxDepth = 32;

struct ClassType {
  matio_classes kind;
  Dtype dtype;
};
constexpr std::array kClasses{
    ClassType{MAT_C_DOUBLE, Dtype::f64}, ClassType{MAT_C_SINGLE, Dtype::f32},
    ClassType{MAT_C_INT8, Dtype::i8},    ClassType{MAT_C_UINT8, Dtype::u8},
    ClassType{MAT_C_INT16, Dtype::i16},  ClassType{MAT_C_UINT16, Dtype::u16},
    ClassType{MAT_C_INT32, Dtype::i32},  ClassType{MAT_C_UINT32, Dtype::u32},
    ClassType{MAT_C_INT64, Dtype::i64},  ClassType{MAT_C_UINT64, Dtype::u64},
};

// Copies matio's tree into ours and believes as little of it as possible: on damaged files it has
// missing names, missing data, and sizes that nothing was read for.
class Translator {
 public:
  explicit Translator(std::shared_ptr<matvar_t> owner) : owner_(std::move(owner)) {}

  MatValue value(const matvar_t* source, int depth = 0) const {
    MatValue result;
    if (source == nullptr || source->class_type == MAT_C_EMPTY) return result;
    result.kind = MatValue::Kind::other;
    if (depth > kMaxDepth || source->rank <= 0 || source->dims == nullptr) return result;
    result.extents.assign(source->dims, source->dims + source->rank);
    const auto count = product(result.extents);
    const auto size = static_cast<std::size_t>(std::max(source->data_size, 0));
    const std::size_t read = source->data == nullptr || size == 0 ? 0 : source->nbytes / size;
    if (!count) return result;
    if (source->class_type == MAT_C_CELL || source->class_type == MAT_C_STRUCT) {
      add_items(result, source, *count, read, depth);
    } else if (source->class_type == MAT_C_CHAR) {
      if (*count <= read) add_text(result, source, *count * size);
    } else if (source->isComplex == 0 && *count <= read) {
      add_numbers(result, source, *count);
    }
    return result;
  }

 private:
  void add_items(MatValue& result,
                 const matvar_t* source,
                 std::size_t count,
                 std::size_t read,
                 int depth) const {
    auto pointers = count;
    if (source->class_type == MAT_C_CELL) {
      result.kind = MatValue::Kind::cell;
    } else {
      result.kind = MatValue::Kind::structure;
      auto* const* names = Mat_VarGetStructFieldnames(source);
      if (names == nullptr) return;
      const auto fields = Mat_VarGetNumberOfFields(const_cast<matvar_t*>(source));
      for (unsigned i = 0; i < fields; ++i) {
        result.fields.emplace_back(names[i] == nullptr ? "" : names[i]);
      }
      if (fields != 0 && count > std::numeric_limits<std::size_t>::max() / fields) return;
      pointers = count * fields;
    }
    if (pointers > read) return;
    auto** items = static_cast<matvar_t**>(source->data);
    for (std::size_t i = 0; i < pointers; ++i) result.items.push_back(value(items[i], depth + 1));
  }

  static void add_text(MatValue& result, const matvar_t* source, std::size_t bytes) {
    const std::string_view text(static_cast<const char*>(source->data), bytes);
    if (source->data_size > 2) return;
    result.kind = MatValue::Kind::text;
    result.text = source->data_size == 2 ? text_from_utf16(text) : text_from_bytes(text);
  }

  void add_numbers(MatValue& result, const matvar_t* source, std::size_t count) const {
    const auto* row = std::find_if(kClasses.begin(), kClasses.end(), [&](const ClassType& known) {
      return known.kind == source->class_type;
    });
    if (row == kClasses.end()) return;
    const auto size = size_of(row->dtype);
    if (count != 0 && static_cast<std::size_t>(source->data_size) != size) return;
    result.kind = MatValue::Kind::numbers;
    const bool logical = source->isLogical != 0 && row->dtype == Dtype::u8;
    result.dtype = logical ? Dtype::boolean : row->dtype;
    result.bytes = {static_cast<const char*>(source->data), count * size};
    result.owner = owner_;
  }

  std::shared_ptr<matvar_t> owner_;
};

void ignore_message(int /*level*/, char* /*message*/) {}

std::map<std::string, MatValue> read_variables(const std::filesystem::path& path) {
  Mat_LogInitFunc("partwise", ignore_message);
  const std::unique_ptr<mat_t, int (*)(mat_t*)> file(Mat_Open(path.c_str(), MAT_ACC_RDONLY),
                                                     Mat_Close);
  // matio would read any version, and crashes on damaged files of the older ones.
  ensure(file != nullptr && Mat_GetVersion(file.get()) == MAT_FT_MAT73,
         "{}: damaged or truncated MATLAB 7.3 file", path.string());
  std::map<std::string, MatValue> variables;
  while (auto* next = Mat_VarReadNext(file.get())) {
    const std::shared_ptr<matvar_t> owner(next, Mat_VarFree);
    if (next->name != nullptr) {
      variables.emplace(text_from_bytes(next->name), Translator(owner).value(next));
    }
  }
  return variables;
}

}  // namespace

std::map<std::string, MatValue> read_mat73(const std::filesystem::path& path) {
  ensure(survives([&] { read_variables(path); }),
         "{}: damaged or hostile MATLAB 7.3 file: libmatio crashed on it", path.string());
  return read_variables(path);
}

}  // namespace partwise::weights
