#pragma once

#include "partwise/formats/arrays.h"

#include <array>
#include <string_view>

namespace partwise::formats::pickle {

// The opcodes that are understood, by the names of Python's pickletools.
enum class Op : unsigned char {
  mark = '(',
  empty_tuple = ')',
  stop = '.',
  pop = '0',
  pop_mark = '1',
  dup = '2',
  binbytes = 'B',
  short_binbytes = 'C',
  binfloat = 'G',
  binint = 'J',
  binint1 = 'K',
  binint2 = 'M',
  none = 'N',
  binpersid = 'Q',
  reduce = 'R',
  binstring = 'T',
  short_binstring = 'U',
  binunicode = 'X',
  empty_list = ']',
  append = 'a',
  build = 'b',
  global = 'c',
  dict = 'd',
  appends = 'e',
  binget = 'h',
  inst = 'i',
  long_binget = 'j',
  list = 'l',
  binput = 'q',
  long_binput = 'r',
  setitem = 's',
  tuple = 't',
  setitems = 'u',
  empty_dict = '}',
  proto = 0x80,
  tuple1 = 0x85,
  tuple2 = 0x86,
  tuple3 = 0x87,
  newtrue = 0x88,
  newfalse = 0x89,
  long1 = 0x8a,
  long4 = 0x8b,
  short_binunicode = 0x8c,
  binunicode8 = 0x8d,
  binbytes8 = 0x8e,
  stack_global = 0x93,
  memoize = 0x94,
  frame = 0x95,
  bytearray8 = 0x96,
};

// torch.FloatStorage and its like.
struct StorageName {
  std::string_view name;
  Dtype dtype;
};
inline constexpr std::array kStorages{
    StorageName{"DoubleStorage", Dtype::f64}, StorageName{"FloatStorage", Dtype::f32},
    StorageName{"HalfStorage", Dtype::f16},   StorageName{"BFloat16Storage", Dtype::bf16},
    StorageName{"LongStorage", Dtype::i64},   StorageName{"IntStorage", Dtype::i32},
    StorageName{"ShortStorage", Dtype::i16},  StorageName{"CharStorage", Dtype::i8},
    StorageName{"ByteStorage", Dtype::u8},    StorageName{"BoolStorage", Dtype::boolean},
};

}  // namespace partwise::formats::pickle
