#pragma once

#include "partwise/base/geometry.h"
#include "partwise/views/figure.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace partwise::explaining {

// One place of a plate: what is painted there, and a line below it.
struct Tile {
  std::function<void(views::Figure& sheet, const Box& place)> paint;  // none: it stays empty
  std::string note = {};
};

struct PlateRow {
  std::string label;  // beside the row
  std::string more;   // below that
  std::vector<Tile> tiles;
};

struct PlateGroup {
  std::string heading;  // "": none
  std::vector<PlateRow> rows;
};

// What the colours of views::heat_colour stand for, or those of views::overlay_map.
struct ColourScale {
  std::string low;
  std::string high;
  std::string meaning;
  bool over_photo = false;
};

// A figure as rows of tiles with their labels. Long labels are broken into lines and then cut; a
// sheet is as large as it needs to be.
struct Plate {
  std::string heading;
  std::vector<std::string> columns;  // above the tiles
  std::vector<PlateGroup> groups;
  std::optional<ColourScale> scale = {};
  std::string caption;              // how images and filters were chosen, and how many there are
  double tile = 116.0;              // side
  std::vector<double> widths = {};  // of columns; tile where there is none
};

enum class PlateWords {
  all,
  labels,  // without heading and caption, for a page that has them in its own text
};

views::Figure compose(const Plate& plate, PlateWords words = PlateWords::all);

// What its groups show, in one line: for the terminal, and for those who hear a page.
std::string details_of(const Plate& plate);

// The words in lines no wider than `width`; from line `most` on they are cut with an ellipsis.
std::vector<std::string> wrapped(std::string_view words,
                                 double width,
                                 const views::TextStyle& style,
                                 std::size_t most);

}  // namespace partwise::explaining
