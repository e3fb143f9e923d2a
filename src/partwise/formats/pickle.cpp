#include "partwise/formats/pickle.h"

#include "partwise/base/error.h"
#include "partwise/base/printable.h"
#include "partwise/base/utf8.h"
#include "partwise/formats/byte_cursor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>

namespace partwise::formats::pickle {
namespace {

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
constexpr std::array kStorages{
    StorageName{"DoubleStorage", Dtype::f64}, StorageName{"FloatStorage", Dtype::f32},
    StorageName{"HalfStorage", Dtype::f16},   StorageName{"BFloat16Storage", Dtype::bf16},
    StorageName{"LongStorage", Dtype::i64},   StorageName{"IntStorage", Dtype::i32},
    StorageName{"ShortStorage", Dtype::i16},  StorageName{"CharStorage", Dtype::i8},
    StorageName{"ByteStorage", Dtype::u8},    StorageName{"BoolStorage", Dtype::boolean},
};

// About 100,000 tensors. A value takes 100 bytes and one byte of pickle can make one.
constexpr std::size_t kMaxBytes = std::size_t{16} << 20U;
constexpr std::size_t kMaxValues = 2'000'000;
constexpr std::size_t kMaxRank = 64;
constexpr std::size_t kMaxKey = 100;
constexpr auto kRemedy = "load it in a PyTorch you trust it with and save its state_dict() alone";

struct Describe {
  std::string operator()(None /*none*/) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(int64_t value) const { return fmt::format("the number {}", value); }
  std::string operator()(double value) const { return fmt::format("the number {}", value); }
  std::string operator()(const std::string& value) const {
    return fmt::format("the text '{}'", printable(value, 60));
  }
  std::string operator()(const List& list) const {
    return fmt::format("a list of {}", list.items.size());
  }
  std::string operator()(const Tuple& tuple) const {
    return fmt::format("a tuple of {}", tuple.items.size());
  }
  std::string operator()(const Dict& dict) const {
    return fmt::format("a dictionary of {}", dict.items.size());
  }
  std::string operator()(const Global& /*global*/) const { return "a type"; }
  std::string operator()(const Storage& /*storage*/) const { return "a storage"; }
  std::string operator()(const Tensor& tensor) const {
    return fmt::format("a tensor {}", shape_text(tensor.shape));
  }
  std::string operator()(const Opaque& opaque) const { return opaque.what; }
};

class Machine {
 public:
  Machine(std::string_view bytes, const std::string& place) : cursor_(bytes, place) {}

  Pickle run() {
    while (step()) {
    }
    return std::move(pickle_);
  }

 private:
  [[nodiscard]] const std::string& place() const { return cursor_.place(); }

  template <typename... Args>
  void check(bool condition, fmt::format_string<Args...> message, Args&&... args) const {
    if (condition) return;
    throw Error(fmt::format("{}: damaged pickle: {}", place(),
                            fmt::format(message, std::forward<Args>(args)...)));
  }

  // False at the end of the program.
  bool step() {
    const auto code = cursor_.read<unsigned char>();
    const auto op = static_cast<Op>(code);
    if (op == Op::stop) {
      pickle_.root = pop();
      return false;
    }
    if (!push_number(op) && !push_text(op) && !push_container(op) && !fill_container(op) &&
        !use_memo(op) && !use_stack(op) && !use_names(op)) {
      throw Error(
          fmt::format("{}: refused: the pickle uses opcode 0x{:02x}, which no dictionary of "
                      "tensors needs; {}",
                      place(), code, kRemedy));
    }
    return true;
  }

  bool push_number(Op op) {
    switch (op) {
      case Op::none:
        return push(None{});
      case Op::newtrue:
        return push(true);
      case Op::newfalse:
        return push(false);
      case Op::binint:
        return push(int64_t{cursor_.read<int32_t>()});
      case Op::binint1:
        return push(int64_t{cursor_.read<uint8_t>()});
      case Op::binint2:
        return push(int64_t{cursor_.read<uint16_t>()});
      case Op::long1:
        return push(integer(cursor_.take(cursor_.read<uint8_t>())));
      case Op::long4:
        return push(integer(cursor_.take(cursor_.read<uint32_t>())));
      case Op::binfloat: {
        uint64_t bits = 0;  // the one big-endian number of the format
        for (const char byte : cursor_.take(8))
          bits = bits << 8U | static_cast<unsigned char>(byte);
        return push(std::bit_cast<double>(bits));
      }
      default:
        return false;
    }
  }

  // Two's complement, little-endian, as few bytes as it takes.
  static Value integer(std::string_view bytes) {
    if (bytes.size() > sizeof(uint64_t)) {
      return Opaque{fmt::format("an integer of {} bytes", bytes.size())};
    }
    const bool negative = !bytes.empty() && static_cast<unsigned char>(bytes.back()) >= 0x80U;
    uint64_t bits = negative ? ~uint64_t{0} : 0;
    for (auto i = bytes.size(); i-- > 0;) {
      bits = bits << 8U | static_cast<unsigned char>(bytes[i]);
    }
    return std::bit_cast<int64_t>(bits);
  }

  bool push_text(Op op) {
    switch (op) {
      case Op::short_binunicode:
      case Op::short_binstring:
        return push(text(cursor_.take(cursor_.read<uint8_t>())));
      case Op::binunicode:
      case Op::binstring:
        return push(text(cursor_.take(cursor_.read<uint32_t>())));
      case Op::binunicode8:
        return push(text(cursor_.take(cursor_.read<uint64_t>())));
      case Op::short_binbytes:
        return push(opaque(cursor_.take(cursor_.read<uint8_t>())));
      case Op::binbytes:
        return push(opaque(cursor_.take(cursor_.read<uint32_t>())));
      case Op::binbytes8:
      case Op::bytearray8:
        return push(opaque(cursor_.take(cursor_.read<uint64_t>())));
      default:
        return false;
    }
  }

  [[nodiscard]] std::string text(std::string_view bytes) const {
    check(is_utf8(bytes), "the text {} is not UTF-8", printable(bytes, 40));
    return std::string(bytes);
  }

  static Opaque opaque(std::string_view bytes) { return {fmt::format("{} bytes", bytes.size())}; }

  bool push_container(Op op) {
    switch (op) {
      case Op::empty_list:
        return push(List{});
      case Op::empty_dict:
        return push(Dict{});
      case Op::empty_tuple:
        return push(Tuple{});
      case Op::tuple1:
        return push(Tuple{pop_last(1)});
      case Op::tuple2:
        return push(Tuple{pop_last(2)});
      case Op::tuple3:
        return push(Tuple{pop_last(3)});
      case Op::tuple:
        return push(Tuple{pop_to_mark()});
      case Op::list:
        return push(List{pop_to_mark()});
      case Op::dict: {
        Dict dict;
        add_items(dict, pop_to_mark());
        return push(std::move(dict));
      }
      default:
        return false;
    }
  }

  bool fill_container(Op op) {
    switch (op) {
      case Op::append:
      case Op::appends: {
        const auto items = op == Op::append ? pop_last(1) : pop_to_mark();
        auto& list = top<List>("a list").items;
        list.insert(list.end(), items.begin(), items.end());
        return true;
      }
      case Op::setitem:
      case Op::setitems: {
        const auto items = op == Op::setitem ? pop_last(2) : pop_to_mark();
        add_items(top<Dict>("a dictionary"), items);
        return true;
      }
      default:
        return false;
    }
  }

  void add_items(Dict& dict, const std::vector<Ref>& items) const {
    check(items.size() % 2 == 0, "a dictionary with a key that has no value");
    for (std::size_t i = 0; i < items.size(); i += 2) {
      dict.items.emplace_back(items[i], items[i + 1]);
    }
  }

  bool use_memo(Op op) {
    switch (op) {
      case Op::binput:
        return put(cursor_.read<uint8_t>());
      case Op::long_binput:
        return put(cursor_.read<uint32_t>());
      case Op::memoize:
        return put(memo_.size());
      case Op::binget:
        return get(cursor_.read<uint8_t>());
      case Op::long_binget:
        return get(cursor_.read<uint32_t>());
      default:
        return false;
    }
  }

  bool put(std::size_t slot) {
    check(!stack_.empty(), "nothing to remember at byte {}", cursor_.position());
    check(memo_.size() < kMaxValues, "more than {} things to remember", kMaxValues);
    memo_[slot] = stack_.back();
    return true;
  }

  bool get(std::size_t slot) {
    const auto found = memo_.find(slot);
    check(found != memo_.end(), "nothing was remembered as {}", slot);
    stack_.push_back(found->second);
    return true;
  }

  bool use_stack(Op op) {
    switch (op) {
      case Op::mark:
        marks_.push_back(stack_.size());
        return true;
      case Op::pop:
        pop();
        return true;
      case Op::pop_mark:
        pop_to_mark();
        return true;
      case Op::dup: {
        const auto ref = pop();
        stack_.insert(stack_.end(), {ref, ref});
        return true;
      }
      case Op::proto: {
        const auto protocol = cursor_.read<uint8_t>();
        check(protocol >= 2 && protocol <= 5, "protocol {}, expected 2 to 5", protocol);
        return true;
      }
      case Op::frame:
        cursor_.read<uint64_t>();
        return true;
      default:
        return false;
    }
  }

  bool use_names(Op op) {
    switch (op) {
      case Op::global: {
        const auto module = cursor_.line();
        return push(global(module, cursor_.line()));
      }
      case Op::inst: {
        const auto module = cursor_.line();
        refuse(module, cursor_.line());
      }
      case Op::stack_global: {
        const auto names = pop_last(2);
        const auto* module = std::get_if<std::string>(&pickle_.at(names[0]));
        const auto* name = std::get_if<std::string>(&pickle_.at(names[1]));
        check(module != nullptr && name != nullptr, "a function whose name is no text");
        return push(global(*module, *name));
      }
      case Op::binpersid:
        return push(storage(pop()));
      case Op::reduce: {
        const auto arguments = pop();
        call(pop(), arguments);
        return true;
      }
      case Op::build: {  // a state dict's _metadata: version numbers of modules, not needed here
        const auto state = pop();
        check(
            std::holds_alternative<Dict>(pickle_.at(state)) && top<Dict>("an OrderedDict").ordered,
            "it sets the state of something that is no OrderedDict");
        return true;
      }
      default:
        return false;
    }
  }

  [[noreturn]] void refuse(std::string_view module, std::string_view name) const {
    throw Error(
        fmt::format("{}: refused: the pickle asks for {}.{}, and could run any code with it; {}",
                    place(), printable(module, 60), printable(name, 60), kRemedy));
  }

  [[nodiscard]] Global global(std::string_view module, std::string_view name) const {
    using Kind = Global::Kind;
    if (module == "collections" && name == "OrderedDict") return {Kind::ordered_dict, {}};
    if (module == "torch._utils" && name == "_rebuild_tensor_v2") return {Kind::rebuild_tensor, {}};
    if (module == "torch._utils" && name == "_rebuild_parameter") {
      return {Kind::rebuild_parameter, {}};
    }
    const auto* row = std::find_if(kStorages.begin(), kStorages.end(),
                                   [&](const StorageName& known) { return known.name == name; });
    if (module != "torch" || row == kStorages.end()) refuse(module, name);
    return {Kind::storage_type, row->dtype};
  }

  // ('storage', type, key, location, count)
  [[nodiscard]] Storage storage(Ref id) const {
    const auto* tuple = std::get_if<Tuple>(&pickle_.at(id));
    check(tuple != nullptr && tuple->items.size() == 5, "a storage that is no tuple of five");
    const auto& items = tuple->items;
    const auto* tag = std::get_if<std::string>(&pickle_.at(items[0]));
    const auto* type = std::get_if<Global>(&pickle_.at(items[1]));
    const auto* key = std::get_if<std::string>(&pickle_.at(items[2]));
    check(tag != nullptr && *tag == "storage" && type != nullptr &&
              type->kind == Global::Kind::storage_type,
          "a reference to something that is no storage");
    check(key != nullptr && key->size() <= kMaxKey, "a storage without a short key");
    return {type->dtype, *key, number(items[4], "a storage's size")};
  }

  [[nodiscard]] int64_t number(Ref ref, const char* what) const {
    const auto* value = std::get_if<int64_t>(&pickle_.at(ref));
    check(value != nullptr, "{} is no integer", what);
    return *value;
  }

  [[nodiscard]] std::vector<int64_t> numbers(Ref ref, const char* what) const {
    const auto* tuple = std::get_if<Tuple>(&pickle_.at(ref));
    check(tuple != nullptr && tuple->items.size() <= kMaxRank, "{} is no short tuple", what);
    std::vector<int64_t> result;
    for (const Ref item : tuple->items) result.push_back(number(item, what));
    return result;
  }

  void call(Ref function, Ref arguments) {
    const auto* what = std::get_if<Global>(&pickle_.at(function));
    const auto* tuple = std::get_if<Tuple>(&pickle_.at(arguments));
    check(what != nullptr && tuple != nullptr, "it calls something that is no function");
    const auto& given = tuple->items;
    switch (what->kind) {
      case Global::Kind::ordered_dict:
        check(given.empty(), "an OrderedDict that is not made empty");
        push(Dict{{}, true});
        return;
      case Global::Kind::rebuild_tensor:
        push(tensor(given));
        return;
      case Global::Kind::rebuild_parameter:
        check(!given.empty() && std::holds_alternative<Tensor>(pickle_.at(given[0])),
              "a parameter that is no tensor");
        stack_.push_back(given[0]);
        return;
      case Global::Kind::storage_type:
        check(false, "it calls a storage type");
    }
  }

  // (storage, offset, shape, strides, requires_grad, backward_hooks[, metadata])
  [[nodiscard]] Tensor tensor(const std::vector<Ref>& given) const {
    check(given.size() == 6 || given.size() == 7, "a tensor made of {} things", given.size());
    const auto* storage = std::get_if<Storage>(&pickle_.at(given[0]));
    check(storage != nullptr, "a tensor without a storage");
    Tensor tensor{*storage, number(given[1], "a tensor's offset"),
                  numbers(given[2], "a tensor's shape"), numbers(given[3], "a tensor's strides")};
    check(tensor.shape.size() == tensor.strides.size(), "a tensor with {} extents and {} strides",
          tensor.shape.size(), tensor.strides.size());
    return tensor;
  }

  bool push(Value value) {
    check(pickle_.values.size() < kMaxValues, "more than {} values", kMaxValues);
    stack_.push_back(pickle_.values.size());
    pickle_.values.push_back(std::move(value));
    return true;
  }

  // Things below the last mark belong to an unfinished container.
  [[nodiscard]] std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  Ref pop() { return pop_last(1)[0]; }

  std::vector<Ref> pop_last(std::size_t count) {
    check(stack_.size() - floor() >= count, "it takes {} things from a stack of {} at byte {}",
          count, stack_.size() - floor(), cursor_.position());
    std::vector<Ref> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }

  std::vector<Ref> pop_to_mark() {
    check(!marks_.empty(), "no mark to go back to at byte {}", cursor_.position());
    auto items = pop_last(stack_.size() - floor());
    marks_.pop_back();
    return items;
  }

  template <typename Kind>
  Kind& top(const char* what) {
    check(stack_.size() > floor(), "it fills {} that is not there", what);
    auto* value = std::get_if<Kind>(&pickle_.values[stack_.back()]);
    check(value != nullptr, "it takes {} for {}", describe(pickle_.at(stack_.back())), what);
    return *value;
  }

  ByteCursor cursor_;
  Pickle pickle_;
  std::vector<Ref> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::size_t, Ref> memo_;
};

}  // namespace

std::string describe(const Value& value) {
  return std::visit(Describe{}, value);
}

Pickle parse_pickle(std::string_view bytes, const std::string& place) {
  ensure(bytes.size() <= kMaxBytes, "{}: a pickle of {} bytes is more than the {} accepted", place,
         bytes.size(), kMaxBytes);
  return Machine(bytes, place).run();
}

}  // namespace partwise::formats::pickle
