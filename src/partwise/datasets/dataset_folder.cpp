#include "partwise/datasets/dataset_folder.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/formats/json_records.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <system_error>
#include <unistd.h>

namespace partwise::datasets {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Lies in the folder from the first to the last image: the mark of unfinished work.
constexpr auto kUnfinished = "unfinished.json";

bool same_identity(const json& info, const json& wanted) {
  return info.is_object() &&
         std::all_of(wanted.items().begin(), wanted.items().end(), [&](const auto& item) {
           return info.contains(item.key()) && info[item.key()] == item.value();
         });
}

std::string last_error() {
  return std::generic_category().message(errno);
}

void flush_to_disk(const fs::path& folder) {
  const Descriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ensure(handle.open(), "{}: cannot open: {}", folder.string(), last_error());
  ensure(::syncfs(handle.number()) == 0, "{}: cannot flush to disk: {}", folder.string(),
         last_error());
}

}  // namespace

std::optional<PartDataset> begin_dataset(const fs::path& folder, const json& identity) {
  ensure(!fs::exists(folder) || fs::is_directory(folder), "{}: exists and is not a folder",
         folder.string());
  if (!fs::exists(folder) || fs::is_empty(folder)) {
    make_writable_folder(folder);
    write_json_atomically(folder / kUnfinished, identity);
    return std::nullopt;
  }
  const bool finished = fs::exists(folder / "dataset.json");
  const auto mark = folder / (finished ? "dataset.json" : kUnfinished);
  ensure(fs::exists(mark), "{}: not empty and not a dataset of this program; choose another folder",
         folder.string());
  const auto info = finished ? formats::JsonFile(mark).value("info") : read_json(mark);
  ensure(same_identity(info, identity),
         "{}: holds a dataset made with other options; choose another folder or remove it",
         folder.string());
  if (!finished) return std::nullopt;
  auto dataset = load_dataset(folder);
  const bool whole =
      std::all_of(dataset.images.begin(), dataset.images.end(),
                  [&](const auto& image) { return fs::is_regular_file(folder / image.file_name); });
  return whole ? std::optional(std::move(dataset)) : std::nullopt;
}

// Waiting for the disk would take as long as making the images; finish_dataset flushes once.
void write_if_new(const fs::path& path, std::string_view bytes) {
  std::error_code failure;
  if (fs::file_size(path, failure) == bytes.size() && !failure && read_file(path) == bytes) return;
  const auto staged = path.string() + ".tmp";
  {
    std::ofstream stream(staged, std::ios::binary);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    stream.flush();
    ensure(stream.good(), "{}: cannot write: {}", path.string(), last_error());
  }
  fs::rename(staged, path);
}

PartDataset finish_dataset(const PartDataset& dataset) {
  flush_to_disk(dataset.root);
  save_dataset(dataset);
  fs::remove(dataset.root / kUnfinished);
  return load_dataset(dataset.root);
}

}  // namespace partwise::datasets
