#pragma once

#include "partwise/formats/arrays.h"

#include <cstdint>
#include <vector>

namespace partwise::formats {

// IEEE half precision and bfloat16. To 16 bits: nearest, ties to even; NaN stays NaN.
float float_from_f16(uint16_t bits);
float float_from_bf16(uint16_t bits);
uint16_t f16_from_float(float value);
uint16_t bf16_from_float(float value);

// Any type as float32 or float64; what does not fit exactly is rounded to nearest.
std::vector<float> floats_of(const Array& array);
std::vector<double> doubles_of(const Array& array);

// The array as f64, f32, f16 or bf16 (the last two through float32); the same array when it is of
// that type already.
Array converted(const Array& array, Dtype to);

// Every floating-point array as `to`; integers and truth values stay. A finite number that `to`
// cannot hold (65520 and more in f16) is an Error that names `file` and the array.
void convert_floats(NamedArrays& file, Dtype to, const std::string& name);

}  // namespace partwise::formats
