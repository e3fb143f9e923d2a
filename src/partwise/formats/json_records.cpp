#include "partwise/formats/json_records.h"

#include "partwise/base/error.h"

#include <cmath>
#include <limits>

namespace partwise::formats {
namespace {

using nlohmann::json;

// Far beyond any dataset, far below what exhausts the stack of whoever walks the tree.
constexpr std::size_t kDeepestRecord = 64;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Finds where values begin and end; what is inside them is the parser's business.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& place) : text_(text), place_(place) {}

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }

  // The next character that is not a space, '\0' at the end.
  char peek() {
    while (!at_end() && is_space(text_[at_])) ++at_;
    return at_end() ? '\0' : text_[at_];
  }

  void expect(char wanted) {
    const char found = peek();
    ensure(found == wanted, "{}: not valid JSON: '{}' is missing at byte {}", place_, wanted, at_);
    ++at_;
  }

  // Whether another item follows, with its comma taken; else the closing bracket is.
  bool next_item(char close, bool first) {
    if (peek() == close) {
      ++at_;
      return false;
    }
    if (!first) expect(',');
    return true;
  }

  std::string_view take_value() {
    const char first = peek();
    const auto start = at_;
    if (first == '"') {
      skip_string();
    } else if (first == '{' || first == '[') {
      skip_brackets();
    } else {
      while (!at_end() && !is_space(text_[at_]) &&
             std::string_view(",]}").find(text_[at_]) == std::string_view::npos) {
        ++at_;
      }
    }
    ensure(at_ > start, "{}: not valid JSON: a value is missing at byte {}", place_, start);
    return text_.substr(start, at_ - start);
  }

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

  void skip_string() {
    for (++at_; !at_end() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ensure(!at_end(), "{}: not valid JSON: it ends inside a text", place_);
    ++at_;
  }

  void skip_brackets() {
    std::string open;
    do {
      ensure(!at_end(), "{}: not valid JSON: it ends inside a list or object", place_);
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
        continue;
      }
      if (c == '{' || c == '[') open += c == '{' ? '}' : ']';
      if (c == '}' || c == ']') {
        ensure(open.back() == c, "{}: not valid JSON: unexpected '{}' at byte {}", place_, c, at_);
        open.pop_back();
      }
      ensure(open.size() <= kDeepestRecord, "{}: nested deeper than {} levels at byte {}", place_,
             kDeepestRecord, at_);
      ++at_;
    } while (!open.empty());
  }

  std::string_view text_;
  const std::string& place_;
  std::size_t at_ = 0;
};

constexpr double kLargestCoordinate = 1e9;

std::string at(std::string_view place, const char* key) {
  return fmt::format("{}: {}", place, key);
}

// A hostile value may be megabytes long; a message is one line.
std::string excerpt(const json& value) {
  auto text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

const json& member_or(const json& absent,
                      const json& object,
                      const char* key,
                      std::string_view place) {
  ensure(object.is_object(), "{}: expected an object, found {}", place, object.type_name());
  const auto found = object.find(key);
  return found == object.end() ? absent : *found;
}

}  // namespace

JsonFile::JsonFile(const std::filesystem::path& path) : file_(map_file(path)) {
  auto text = file_.bytes;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Scanner scan(text, place());
  ensure(scan.peek() != '\0', "{}: empty, not valid JSON", place());
  ensure(scan.peek() != '[', "{}: expected an object, found a list", place());
  scan.expect('{');
  for (bool first = true; scan.next_item('}', first); first = false) {
    const auto key = parse(scan.take_value());
    ensure(key.is_string(), "{}: not valid JSON: a key that is no text", place());
    scan.expect(':');
    members_.insert_or_assign(key.get<std::string>(), scan.take_value());
  }
  ensure(scan.peek() == '\0' && scan.at_end(), "{}: not valid JSON: something follows the object",
         place());
}

json JsonFile::value(const std::string& key) const {
  const auto found = members_.find(key);
  return found == members_.end() ? json() : parse(found->second);
}

void JsonFile::for_each(const std::string& key, const Visit& visit) const {
  const auto found = members_.find(key);
  if (found == members_.end()) return;
  ensure(found->second.starts_with('['), "{}: {}: expected a list, found {}", place(), key,
         found->second.substr(0, 20));
  Scanner scan(found->second, place());
  scan.expect('[');
  for (bool first = true; scan.next_item(']', first); first = false) {
    const auto text = scan.take_value();
    visit(text, parse(text));
  }
}

json JsonFile::parse(std::string_view text) const {
  try {
    return json::parse(text);
  } catch (const json::exception& problem) {
    const auto offset = text.data() - file_.bytes.data();
    throw Error(fmt::format("{}: not valid JSON in the value at byte {}: {}", place(), offset,
                            reason_in(problem)));
  }
}

const json& member(const json& object, const char* key, std::string_view place) {
  ensure(object.is_object(), "{}: expected an object, found {}", place, object.type_name());
  const auto found = object.find(key);
  ensure(found != object.end(), "{}: '{}' is missing", place, key);
  return *found;
}

int64_t integer_value(const json& value, std::string_view place) {
  ensure(value.is_number_integer(), "{}: expected a whole number, found {}", place, excerpt(value));
  ensure(!value.is_number_unsigned() ||
             value.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()},
         "{}: {} is too large", place, excerpt(value));
  return value.get<int64_t>();
}

double coordinate_value(const json& value, std::string_view place) {
  ensure(value.is_number(), "{}: expected a number, found {}", place, excerpt(value));
  const auto number = value.get<double>();
  ensure(std::isfinite(number) && std::abs(number) <= kLargestCoordinate, "{}: {} is no coordinate",
         place, excerpt(value));
  return number;
}

int64_t integer_member(const json& object, const char* key, std::string_view place) {
  return integer_value(member(object, key, place), at(place, key));
}

std::string text_member(const json& object, const char* key, std::string_view place) {
  const auto& value = member(object, key, place);
  ensure(value.is_string(), "{}: {}: expected text, found {}", place, key, excerpt(value));
  return value.get<std::string>();
}

const json& list_member(const json& object, const char* key, std::string_view place) {
  static const json empty = json::array();
  const auto& found = member_or(empty, object, key, place);
  ensure(found.is_array(), "{}: {}: expected a list, found {}", place, key, excerpt(found));
  return found;
}

const json& object_member(const json& object, const char* key, std::string_view place) {
  static const json empty = json::object();
  const auto& found = member_or(empty, object, key, place);
  ensure(found.is_object(), "{}: {}: expected an object, found {}", place, key, excerpt(found));
  return found;
}

std::vector<std::string> names_member(const json& object, const char* key, std::string_view place) {
  std::vector<std::string> names;
  for (const auto& name : list_member(object, key, place)) {
    ensure(name.is_string(), "{}: {}: expected names, found {}", place, key, excerpt(name));
    names.push_back(name.get<std::string>());
  }
  return names;
}

}  // namespace partwise::formats
