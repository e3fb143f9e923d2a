#include "partwise/explaining/people_names.h"

#include "partwise/base/error.h"
#include "partwise/base/file_lock.h"
#include "partwise/base/files.h"

#include <charconv>

namespace partwise::explaining {
namespace {

constexpr int kNamesFormat = 1;

std::filesystem::path names_file_of(const runs::RunFolder& run) {
  return run.path() / "names.json";
}

using ByFilter = std::map<std::string, std::map<int64_t, std::string>>;

nlohmann::json by_filter_to_json(const ByFilter& all) {
  auto json = nlohmann::json::object();
  for (const auto& [layer, filters] : all) {
    for (const auto& [filter, words] : filters) json[layer][std::to_string(filter)] = words;
  }
  return json;
}

ByFilter by_filter_from_json(const nlohmann::json& json, const std::string& place) {
  ByFilter all;
  for (const auto& [layer, filters] : json.items()) {
    for (const auto& [key, words] : filters.items()) {
      int64_t filter = -1;
      const auto* end = key.data() + key.size();
      const auto read = std::from_chars(key.data(), end, filter);
      ensure(read.ec == std::errc() && read.ptr == end && filter >= 0,
             "{}: '{}' of layer {} is not the number of a filter", place, key, layer);
      all[layer][filter] = words.get<std::string>();
    }
  }
  return all;
}

const std::string& resolved(const PeopleNames& names, const std::string& part) {
  const auto* name = &part;
  for (auto found = names.merged.find(*name); found != names.merged.end();
       found = names.merged.find(*name))
    name = &found->second;
  return *name;
}

}  // namespace

PeopleNames read_people_names(const runs::RunFolder& run) {
  const auto path = names_file_of(run);
  if (!std::filesystem::exists(path)) return {};
  const auto json = read_json(path);
  const auto place = path.string();
  PeopleNames names;
  try {
    ensure(json.at("format") == kNamesFormat, "{}: format {}, of a newer program; update this one",
           place, json.at("format").dump());
    names.names = by_filter_from_json(json.at("names"), place);
    names.notes = by_filter_from_json(json.at("notes"), place);
    for (const auto& [part, into] : json.at("merged").items())
      merge_part(names, part, into.get<std::string>());
  } catch (const nlohmann::json::exception& problem) {
    throw Error(fmt::format("{}: damaged ({}); mend or delete it", place, reason_in(problem)));
  }
  return names;
}

void write_people_names(const runs::RunFolder& run, const PeopleNames& names) {
  write_sealed_json(names_file_of(run), {{"format", kNamesFormat},
                                         {"names", by_filter_to_json(names.names)},
                                         {"notes", by_filter_to_json(names.notes)},
                                         {"merged", names.merged}});
}

PeopleNames change_people_names(const runs::RunFolder& run,
                                const std::function<void(PeopleNames&)>& change) {
  const FileLock lock(run.path() / "names.lock");
  auto names = read_people_names(run);
  change(names);
  write_people_names(run, names);
  return names;
}

const std::string* find_words(const std::map<std::string, std::map<int64_t, std::string>>& all,
                              const std::string& layer,
                              int64_t filter) {
  const auto of_layer = all.find(layer);
  if (of_layer == all.end()) return nullptr;
  const auto found = of_layer->second.find(filter);
  return found == of_layer->second.end() ? nullptr : &found->second;
}

void merge_part(PeopleNames& names, const std::string& part, const std::string& into) {
  ensure(!part.empty() && !into.empty(), "a part without a name cannot be merged");
  ensure(resolved(names, into) != part,
         "'{}' already counts as '{}'; they cannot be merged both ways", into, part);
  names.merged[part] = into;
}

std::vector<std::string> called_names(const LayerParts& layer, const PeopleNames& people) {
  std::vector<std::string> called;
  const auto given = people.names.find(layer.layer);
  for (std::size_t filter = 0; filter < layer.filters.size(); ++filter) {
    auto name = layer.filters[filter].name;
    if (given != people.names.end()) {
      const auto own = given->second.find(static_cast<int64_t>(filter));
      if (own != given->second.end()) name = own->second;
    }
    called.push_back(resolved(people, name));
  }
  return called;
}

}  // namespace partwise::explaining
