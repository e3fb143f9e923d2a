#pragma once

#include <span>
#include <string>
#include <vector>

namespace partwise::datasets {

// A category an original offers: its name here, and how the original spells it.
struct Choice {
  std::string name;
  std::string original;
};

// Whether each offered category was asked for, by either name; with nothing asked, all are. A name
// that is not offered is an Error that lists what is.
std::vector<bool> chosen(std::span<const Choice> offered, std::span<const std::string> asked);

}  // namespace partwise::datasets
