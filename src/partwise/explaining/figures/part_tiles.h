#pragma once

#include "partwise/explaining/explanation.h"
#include "partwise/explaining/figures/plate.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace partwise::explaining {

// One colour per part throughout a figure, in the order of their first appearance.
class PartColours {
 public:
  views::Colour of(const std::string& part);

 private:
  std::map<std::string, int64_t> index_;
};

// Parts whose value is smaller than this share of an image's largest are not outlined.
inline constexpr double kLeastShown = 0.12;

// The photo with outlines of the parts that `shown` accepts.
Tile parts_tile(const images::Image& photo,
                const Explanation& explanation,
                PartColours& colours,
                const std::function<bool(const PartShare&)>& shown,
                std::string note = {});

struct PartBar {
  std::string name;
  double value = 0.0;
  double error = 0.0;
  views::Colour colour = {};
};

// What the two sides of zero stand for, below the bars.
struct BarSides {
  std::string below;
  std::string above;
};

// Bars from a common zero; all tiles of a figure share low <= 0 <= high.
Tile bars_tile(std::vector<PartBar> bars, double low, double high, BarSides sides = {});

inline constexpr double kBarsWidth = 330.0;

// The largest first; what is left over is summed in the last one.
std::vector<PartBar> largest_bars(const Explanation& explanation,
                                  double PartShare::*value,
                                  double PartShare::*error,
                                  PartColours& colours);

// "−2.58", with a real minus; `signs`: "+2.58" too.
std::string signed_number(double value, bool signs = false);

}  // namespace partwise::explaining
