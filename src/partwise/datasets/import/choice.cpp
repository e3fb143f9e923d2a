#include "partwise/datasets/import/choice.h"

#include "partwise/base/names.h"

#include <algorithm>

namespace partwise::datasets {

std::vector<bool> chosen(std::span<const Choice> offered, std::span<const std::string> asked) {
  std::vector<bool> wanted(offered.size(), asked.empty());
  std::vector<std::string> names;
  for (const auto& choice : offered) names.push_back(choice.name);
  for (const auto& name : asked) {
    const auto original = std::find_if(offered.begin(), offered.end(),
                                       [&](const auto& choice) { return choice.original == name; });
    const auto index = original != offered.end()
                           ? static_cast<std::size_t>(original - offered.begin())
                           : index_of_name("category", name, names);
    wanted[index] = true;
  }
  return wanted;
}

}  // namespace partwise::datasets
