#include "partwise/formats/pth.h"

#include "partwise/base/error.h"
#include "partwise/base/printable.h"
#include "partwise/formats/pickle.h"
#include "partwise/formats/zip.h"

#include <algorithm>
#include <array>
#include <optional>

namespace partwise::formats {
namespace {

using pickle::Dict;
using pickle::List;
using pickle::Pickle;
using pickle::Ref;
using pickle::Storage;
using pickle::Tensor;
using pickle::Tuple;
using pickle::Value;

// A few shared lists can unfold into millions of leaves; a real checkpoint has thousands.
constexpr std::size_t kMaxVisits = 250'000;
constexpr std::size_t kMostPickleDepth = 32;
constexpr std::size_t kMaxName = 500;
// Tied weights repeat a storage two or three times. More than this is a file made to grow.
constexpr std::size_t kMostPickleGrowth = 8;
constexpr std::size_t kSmallPickle = std::size_t{16} << 20U;

constexpr std::array kWrappers{"state_dict", "model_state_dict", "model"};

// The archive's one folder, with the slash: "resnet18/".
std::string root_folder(const ZipArchive& archive, const std::string& place) {
  constexpr std::string_view kPickle = "data.pkl";
  std::string root;
  for (const auto& [name, entry] : archive.entries()) {
    const auto slash = name.find('/');
    if (slash == std::string::npos) continue;
    const auto inner = std::string_view(name).substr(slash + 1);
    ensure(inner != "constants.pkl" && inner.substr(0, 5) != "code/",
           "{}: refused: a TorchScript archive, which carries code; save its state_dict() with "
           "torch.save",
           place);
    if (inner != kPickle) continue;
    ensure(root.empty(), "{}: damaged: two pickles in one archive", place);
    root = name.substr(0, slash + 1);
  }
  ensure(!root.empty(), "{}: a zip archive, but not one of torch.save (no data.pkl in it)", place);
  return root;
}

// The dictionary inside a checkpoint that holds the weights; nothing when there is no such shell.
std::optional<Ref> wrapped_dict(const Pickle& pickle) {
  const auto* outer = std::get_if<Dict>(&pickle.at(pickle.root));
  if (outer == nullptr) return std::nullopt;
  for (const auto& [key, value] : outer->items) {
    if (std::holds_alternative<Tensor>(pickle.at(value))) return std::nullopt;
  }
  for (const std::string_view wrapper : kWrappers) {
    for (const auto& [key, value] : outer->items) {
      const auto* text = std::get_if<std::string>(&pickle.at(key));
      const bool matches = text != nullptr && *text == wrapper;
      if (matches && std::holds_alternative<Dict>(pickle.at(value))) return value;
    }
  }
  return std::nullopt;
}

class Flattener {
 public:
  Flattener(const FileBytes& file,
            const ZipArchive& archive,
            const Pickle& pickle,
            std::string root)
      : file_(file), archive_(archive), pickle_(pickle), root_(std::move(root)) {
    result_.format = "PyTorch";
  }

  NamedArrays run() {
    const auto wrapped = wrapped_dict(pickle_);
    visit(wrapped.value_or(pickle_.root), "");
    if (wrapped) {
      for (const auto& [key, value] : std::get<Dict>(pickle_.at(pickle_.root)).items) {
        if (value != *wrapped) skip(key_text(key), pickle_.at(value));
      }
    }
    return std::move(result_);
  }

 private:
  void visit(Ref ref, const std::string& name) {
    ensure(++visits_ <= kMaxVisits, "{}: refused: more than {} things in it", file_.name,
           kMaxVisits);
    ensure(std::find(path_.begin(), path_.end(), ref) == path_.end(),
           "{}: refused: {} contains itself", file_.name, printable(name));
    ensure(path_.size() <= kMostPickleDepth, "{}: refused: {} is nested more than {} deep",
           file_.name, printable(name), kMostPickleDepth);
    path_.push_back(ref);
    const auto& value = pickle_.at(ref);
    if (const auto* dict = std::get_if<Dict>(&value)) {
      for (const auto& [key, inner] : dict->items) visit(inner, below(name, key_text(key)));
    } else if (const auto* list = std::get_if<List>(&value)) {
      visit_all(list->items, name);
    } else if (const auto* tuple = std::get_if<Tuple>(&value)) {
      visit_all(tuple->items, name);
    } else if (const auto* tensor = std::get_if<Tensor>(&value)) {
      add(name.empty() ? "tensor" : name, *tensor);
    } else {
      skip(name, value);
    }
    path_.pop_back();
  }

  void visit_all(const std::vector<Ref>& items, const std::string& name) {
    for (std::size_t i = 0; i < items.size(); ++i) visit(items[i], below(name, std::to_string(i)));
  }

  [[nodiscard]] std::string below(const std::string& name, const std::string& key) const {
    auto whole = name.empty() ? key : name + "." + key;
    ensure(whole.size() <= kMaxName, "{}: refused: the name {} is longer than {} bytes", file_.name,
           printable(whole, 60), kMaxName);
    return whole;
  }

  [[nodiscard]] std::string key_text(Ref key) const {
    const auto& value = pickle_.at(key);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* number = std::get_if<int64_t>(&value)) return std::to_string(*number);
    return fmt::format("({})", describe(value));
  }

  void skip(const std::string& name, const Value& value) {
    result_.skipped.push_back(fmt::format("{}: {}", printable(name), describe(value)));
  }

  void add(const std::string& name, const Tensor& tensor) {
    const auto place = fmt::format("{}: tensor {}", file_.name, printable(name));
    const auto bytes = byte_count(tensor.storage.dtype, tensor.shape);
    ensure(bytes && *bytes <= kSmallPickle + kMostPickleGrowth * file_.bytes.size() - taken_,
           "{}: refused: {} and all before it are far larger than the file", place,
           shape_text(tensor.shape));
    taken_ += *bytes;
    const Strided part{tensor.storage.dtype, tensor.offset, tensor.shape, tensor.strides};
    auto array = dense(part, storage(tensor.storage, place), file_.owner, place);
    ensure(result_.arrays.emplace(name, std::move(array)).second, "{}: the name occurs twice",
           place);
  }

  std::string_view storage(const Storage& wanted, const std::string& place) {
    auto found = storages_.find(wanted.key);
    if (found == storages_.end()) {
      const auto contents = archive_.contents(root_ + "data/" + wanted.key);
      found = storages_.emplace(wanted.key, contents).first;
    }
    const auto size = byte_count(wanted.dtype, std::array{wanted.count});
    ensure(size && *size <= found->second.size(), "{}: damaged: a storage of {} {} in {} bytes",
           place, wanted.count, name_of(wanted.dtype), found->second.size());
    return found->second.substr(0, *size);
  }

  const FileBytes& file_;
  const ZipArchive& archive_;
  const Pickle& pickle_;
  std::string root_;
  NamedArrays result_;
  std::map<std::string, std::string_view> storages_;  // each is checked against its CRC once
  std::vector<Ref> path_;
  std::size_t visits_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace

NamedArrays parse_pth(const FileBytes& file) {
  const ZipArchive archive(file.bytes, file.name);
  const auto root = root_folder(archive, file.name);
  if (archive.entries().contains(root + "byteorder")) {
    const auto order = archive.contents(root + "byteorder");
    ensure(order == "little",
           "{}: its numbers are {}-endian; save it again on a little-endian machine", file.name,
           printable(order, 20));
  }
  const auto parsed = pickle::parse_pickle(archive.contents(root + "data.pkl"), file.name);
  return Flattener(file, archive, parsed, root).run();
}

}  // namespace partwise::formats
