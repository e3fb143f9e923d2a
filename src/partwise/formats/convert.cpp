#include "partwise/formats/convert.h"

#include "partwise/base/error.h"
#include "partwise/base/printable.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace partwise::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "weights files are little-endian");

constexpr uint32_t kInfinity = 0x7F800000U;
constexpr uint32_t kSmallestNormalHalf = 0x38800000U;  // 2^-14 as a float
constexpr uint32_t kBeyondHalf = 0x47800000U;          // 2^16
constexpr uint32_t kRebias = 0x38000000U;              // (127 - 15) << 23

uint32_t round_shift(uint32_t value, uint32_t shift) {
  const uint32_t kept = value >> shift;
  const uint32_t rest = value & ((1U << shift) - 1U);
  const uint32_t half = 1U << (shift - 1U);
  return kept + (rest > half || (rest == half && (kept & 1U) != 0) ? 1U : 0U);
}

float float_from_f8_e4m3(uint8_t bits) {
  const uint32_t magnitude = bits & 0x7FU;
  const auto mantissa = static_cast<float>(magnitude & 7U);
  const auto exponent = static_cast<int>(magnitude >> 3U);
  float value =
      exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8.0F + mantissa, exponent - 10);
  if (magnitude == 0x7FU) value = std::numeric_limits<float>::quiet_NaN();
  return (bits & 0x80U) != 0 ? -value : value;
}

float float_from_f8_e5m2(uint8_t bits) {  // the upper half of an f16
  return float_from_f16(static_cast<uint16_t>(bits << 8U));
}

bool is_set(uint8_t bits) {
  return bits != 0;
}

template <typename Number>
Number same(Number number) {
  return number;
}

template <typename Real, typename Number, auto convert = same<Number>>
std::vector<Real> each(std::string_view bytes) {
  std::vector<Real> values(bytes.size() / sizeof(Number));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Number number;
    std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
    values[i] = static_cast<Real>(convert(number));
  }
  return values;
}

template <typename Real>
std::vector<Real> values_of(const Array& array) {
  // In the order of the enumeration.
  constexpr std::array kReaders{each<Real, double>,
                                each<Real, float>,
                                each<Real, uint16_t, float_from_f16>,
                                each<Real, uint16_t, float_from_bf16>,
                                each<Real, uint8_t, float_from_f8_e5m2>,
                                each<Real, uint8_t, float_from_f8_e4m3>,
                                each<Real, int64_t>,
                                each<Real, int32_t>,
                                each<Real, int16_t>,
                                each<Real, int8_t>,
                                each<Real, uint64_t>,
                                each<Real, uint32_t>,
                                each<Real, uint16_t>,
                                each<Real, uint8_t>,
                                each<Real, uint8_t, is_set>};
  return kReaders.at(static_cast<std::size_t>(array.dtype))(array.bytes);
}

double number_at(const Array& array, std::size_t i) {
  const auto size = size_of(array.dtype);
  return doubles_of({array.dtype, {}, array.bytes.substr(i * size, size), nullptr}).front();
}

template <typename Number, typename Real, typename Convert>
std::string pack(const std::vector<Real>& values, Convert&& convert) {
  std::string bytes(values.size() * sizeof(Number), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Number number = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
  }
  return bytes;
}

}  // namespace

float float_from_f16(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000U) << 16U;
  const uint32_t exponent = bits >> 10U & 0x1FU;
  const uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 0) {
    const auto small = static_cast<float>(mantissa) * 0x1.0p-24F;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(small) | sign);
  }
  const uint32_t high = exponent == 0x1FU ? kInfinity : (exponent << 23U) + kRebias;
  return std::bit_cast<float>(sign | high | mantissa << 13U);
}

float float_from_bf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16U);
}

uint16_t f16_from_float(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16U & 0x8000U;
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  uint32_t half = 0;
  if (magnitude > kInfinity) {
    half = 0x7E00U | (magnitude >> 13U & 0x3FFU);
  } else if (magnitude >= kBeyondHalf) {
    half = 0x7C00U;
  } else if (magnitude >= kSmallestNormalHalf) {
    half = round_shift(magnitude - kRebias, 13);  // a carry runs into the exponent, up to infinity
  } else if (const uint32_t exponent = magnitude >> 23U; exponent >= 102) {  // 2^-25 and more
    half = round_shift((magnitude & 0x7FFFFFU) | 0x800000U, 126 - exponent);
  }
  return static_cast<uint16_t>(sign | half);
}

uint16_t bf16_from_float(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16U | 0x40U);
  return static_cast<uint16_t>(round_shift(bits, 16));
}

std::vector<float> floats_of(const Array& array) {
  return values_of<float>(array);
}

std::vector<double> doubles_of(const Array& array) {
  return values_of<double>(array);
}

Array converted(const Array& array, Dtype to) {
  if (array.dtype == to) return array;
  switch (to) {
    case Dtype::f64:
      return make_array(to, array.shape, pack<double>(doubles_of(array), same<double>));
    case Dtype::f32:
      return make_array(to, array.shape, pack<float>(floats_of(array), same<float>));
    case Dtype::f16:
      return make_array(to, array.shape, pack<uint16_t>(floats_of(array), f16_from_float));
    case Dtype::bf16:
      return make_array(to, array.shape, pack<uint16_t>(floats_of(array), bf16_from_float));
    default:
      throw std::logic_error(fmt::format("no conversion to {}", name_of(to)));
  }
}

void convert_floats(NamedArrays& file, Dtype to, const std::string& name) {
  for (auto& [array_name, array] : file.arrays) {
    if (!is_floating(array.dtype) || array.dtype == to) continue;
    auto narrow = converted(array, to);
    const auto after = floats_of(narrow);
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (!std::isinf(after[i])) continue;
      const double before = number_at(array, i);
      ensure(std::isinf(before), "{}: array {} holds {}, too large for {}; use bf16 or f32", name,
             printable(array_name), before, name_of(to));
    }
    array = std::move(narrow);
  }
}

}  // namespace partwise::formats
