#pragma once

#include "partwise/base/options.h"
#include "partwise/explaining/part_book.h"
#include "partwise/explaining/people_names.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace partwise::atlas {

enum class NamedBy { nobody, people, parts, place };

// What a filter is called, and by whom.
struct FilterWords {
  std::string name;  // "": no part
  NamedBy by = NamedBy::nobody;
  std::string note;
  // Of what people said of this filter: another one where they have said something else since.
  int64_t revision = 0;
  std::optional<double> rate;  // of the program's own name: how often its evidence lies on the part
  std::optional<double> control;
  int64_t sightings = 0;
};

// [filter]; parts: what the run's book says of the layer, where it has one.
std::vector<FilterWords> words_of_layer(const std::string& layer,
                                        int64_t filters,
                                        const explaining::LayerParts* parts,
                                        const explaining::PeopleNames& people);

int64_t revision_of(const explaining::PeopleNames& people,
                    const std::string& layer,
                    int64_t filter);

// One person's wish; an empty name takes a given one back.
struct NewWords {
  std::string layer;
  int64_t filter = 0;
  std::string name;
  std::string note;
  int64_t revision = 0;  // of the words he saw when he wrote
};

// Writes it, unless somebody else named the filter since: then nothing is written and it is false.
// An Error where the words are not UTF-8 or too long.
bool name_filter(const runs::RunFolder& run, const NewWords& words);

// Lets a part count as another; "": as itself again.
void merge_parts(const runs::RunFolder& run, const std::string& part, const std::string& into);

}  // namespace partwise::atlas

template <>
inline constexpr auto partwise::kWords<partwise::atlas::NamedBy> =
    partwise::words("", "people", "parts", "place");
