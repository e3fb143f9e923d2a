#pragma once

#include "partwise/explaining/part_book.h"
#include "partwise/runs/run_folder.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace partwise::explaining {

// What people call filters and parts: names.json in the run's folder. The program never writes a
// name of its own into it, so that learning parts anew loses nothing.
struct PeopleNames {
  std::map<std::string, std::map<int64_t, std::string>> names;  // [layer][filter]
  std::map<std::string, std::map<int64_t, std::string>> notes;
  std::map<std::string, std::string> merged;  // a part that counts as another
};

// Empty where there is none; an Error where it is damaged.
PeopleNames read_people_names(const runs::RunFolder& run);
void write_people_names(const runs::RunFolder& run, const PeopleNames& names);

// Reads what people said, lets `change` change it and writes it back while nobody else can do so,
// in this process or another (names.lock): of two people who name at once nothing is lost. What
// `change` throws leaves everything as it was. Gives what is written then.
PeopleNames change_people_names(const runs::RunFolder& run,
                                const std::function<void(PeopleNames&)>& change);

// What was said of a filter, in names or notes; nullptr: nothing.
const std::string* find_words(const std::map<std::string, std::map<int64_t, std::string>>& all,
                              const std::string& layer,
                              int64_t filter);

// Lets `part` count as `into` from now on; an Error where that would be a circle.
void merge_part(PeopleNames& names, const std::string& part, const std::string& into);

// What each filter of a layer is called: by people where they gave a name, else by the book; merged
// parts by what they were merged into. "": it stands for no part.
std::vector<std::string> called_names(const LayerParts& layer, const PeopleNames& people);

}  // namespace partwise::explaining
