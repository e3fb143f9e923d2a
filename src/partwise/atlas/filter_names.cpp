#include "partwise/atlas/filter_names.h"

#include "partwise/base/error.h"
#include "partwise/base/utf8.h"

namespace partwise::atlas {
namespace {

constexpr std::size_t kLongestName = 200;   // bytes
constexpr std::size_t kLongestNote = 4000;  // bytes

using explaining::NameSource;

NamedBy named_by(NameSource source) {
  switch (source) {
    case NameSource::regions:
    case NameSource::landmarks:
      return NamedBy::parts;
    case NameSource::place:
      return NamedBy::place;
    case NameSource::nobody:
      break;
  }
  return NamedBy::nobody;
}

void check_words(const std::string& what, const std::string& words, std::size_t longest) {
  ensure(is_utf8(words), "the {} is not UTF-8; type it again", what);
  ensure(words.size() <= longest, "a {} of {} bytes is longer than {}; shorten it", what,
         words.size(), longest);
}

void set_or_erase(std::map<int64_t, std::string>& words, int64_t filter, const std::string& text) {
  if (text.empty()) {
    words.erase(filter);
  } else {
    words[filter] = text;
  }
}

}  // namespace

int64_t revision_of(const explaining::PeopleNames& people,
                    const std::string& layer,
                    int64_t filter) {
  const auto* name = explaining::find_words(people.names, layer, filter);
  const auto* note = explaining::find_words(people.notes, layer, filter);
  if (!name && !note) return 0;
  ContentHash hash;
  hash.add(name ? "name:" + *name : "");
  hash.add(std::string(1, '\0') + (note ? *note : ""));
  constexpr int kDigits = 13;  // 52 bits: a number of JavaScript holds them
  return std::stoll(hash.text().substr(0, kDigits), nullptr, 16) | 1;
}

std::vector<FilterWords> words_of_layer(const std::string& layer,
                                        int64_t filters,
                                        const explaining::LayerParts* parts,
                                        const explaining::PeopleNames& people) {
  const explaining::LayerParts nothing{
      layer, std::vector<explaining::FilterName>(static_cast<std::size_t>(filters)), {}};
  const auto& known = parts ? *parts : nothing;
  const auto called = explaining::called_names(known, people);
  std::vector<FilterWords> all;
  for (int64_t filter = 0; filter < filters; ++filter) {
    const auto& learnt = known.filters[static_cast<std::size_t>(filter)];
    auto& words = all.emplace_back();
    words.name = called[static_cast<std::size_t>(filter)];
    const auto* note = explaining::find_words(people.notes, layer, filter);
    if (note) words.note = *note;
    const bool given =
        explaining::find_words(people.names, layer, filter) || words.name != learnt.name;
    words.by = given ? NamedBy::people : named_by(learnt.source);
    words.revision = revision_of(people, layer, filter);
    words.sightings = learnt.sightings;
    if (named_by(learnt.source) == NamedBy::parts) {
      words.rate = learnt.rate;
      words.control = learnt.control;
    }
  }
  return all;
}

bool name_filter(const runs::RunFolder& run, const NewWords& words) {
  check_words("name", words.name, kLongestName);
  check_words("note", words.note, kLongestNote);
  bool fresh = true;
  explaining::change_people_names(run, [&](explaining::PeopleNames& people) {
    fresh = revision_of(people, words.layer, words.filter) == words.revision;
    if (!fresh) return;
    set_or_erase(people.names[words.layer], words.filter, words.name);
    set_or_erase(people.notes[words.layer], words.filter, words.note);
  });
  return fresh;
}

void merge_parts(const runs::RunFolder& run, const std::string& part, const std::string& into) {
  check_words("part", part, kLongestName);
  check_words("part", into, kLongestName);
  explaining::change_people_names(run, [&](explaining::PeopleNames& people) {
    if (into.empty()) {
      people.merged.erase(part);
    } else if (part != into) {
      explaining::merge_part(people, part, into);
    }
  });
}

}  // namespace partwise::atlas
