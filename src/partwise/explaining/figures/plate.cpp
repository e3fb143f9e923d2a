#include "partwise/explaining/figures/plate.h"

#include "partwise/base/error.h"

#include <algorithm>
#include <cmath>

namespace partwise::explaining {
namespace {

using views::Figure;
using views::TextStyle;

constexpr double kPlateMargin = 20.0;
constexpr double kTileGap = 8.0;   // between tiles
constexpr double kLabelGap = 8.0;  // between a row's label and its tiles
constexpr double kWidestLabel = 180.0;
constexpr double kNarrowestSheet = 560.0;  // where the caption still reads well
constexpr double kNoteHeight = 17.0;
constexpr double kLoose = 1.14;  // room for SVG viewers that set text wider than they are told
constexpr double kScaleWidth = 150.0;
constexpr double kScaleHeight = 10.0;

const TextStyle kHeading{.size = 16, .bold = true};
const TextStyle kGroup{.size = 14, .bold = true};
const TextStyle kColumn{.size = 12, .bold = true, .anchor = views::Anchor::middle};
const TextStyle kLabel{.size = 13};
const TextStyle kMore{.size = 12, .colour = views::kMutedInk};
const TextStyle kNote{.size = 11, .colour = views::kMutedInk, .anchor = views::Anchor::middle};
const TextStyle kCaption{.size = 12, .colour = views::kMutedInk};
const TextStyle kScaleWords{.size = 11};

double line_height(const TextStyle& style) {
  return std::round(1.4 * style.size);
}

// Where everything of a plate stands from left to right.
struct Columns {
  double label = 0.0;  // width of the rows' labels
  std::vector<double> left;
  std::vector<double> width;
  double sheet = 0.0;
};

double widest(const Plate& plate, std::string PlateRow::*words, const TextStyle& style) {
  double width = 0.0;
  for (const auto& group : plate.groups) {
    for (const auto& row : group.rows)
      width = std::max(width, views::text_width(row.*words, style));
  }
  return width;
}

Columns columns_of(const Plate& plate) {
  Columns columns;
  columns.label = std::min(std::ceil(kLoose * std::max(widest(plate, &PlateRow::label, kLabel),
                                                       widest(plate, &PlateRow::more, kMore))),
                           kWidestLabel);
  std::size_t count = plate.columns.size();
  for (const auto& group : plate.groups) {
    for (const auto& row : group.rows) count = std::max(count, row.tiles.size());
  }
  double right = kPlateMargin + (columns.label > 0.0 ? columns.label + kLabelGap : 0.0);
  for (std::size_t i = 0; i < count; ++i) {
    columns.left.push_back(right);
    columns.width.push_back(i < plate.widths.size() ? plate.widths[i] : plate.tile);
    right += columns.width.back() + kTileGap;
  }
  columns.sheet = std::max(right - kTileGap + kPlateMargin, kNarrowestSheet);
  return columns;
}

// Draws down the sheet; without a sheet it only measures, so that one walk serves both.
class Pen {
 public:
  explicit Pen(Figure* sheet) : sheet_(sheet) {}

  double y = kPlateMargin;

  void words(double x, const std::vector<std::string>& lines, const TextStyle& style) {
    for (const auto& line : lines) {
      y += line_height(style);
      if (sheet_ != nullptr) sheet_->text({x, y - 0.3 * style.size}, line, style);
    }
  }
  Figure* sheet() const { return sheet_; }

 private:
  Figure* sheet_;
};

void draw_columns(const Plate& plate, const Columns& columns, Pen& pen) {
  std::vector<std::vector<std::string>> lines;
  std::size_t most = 0;
  for (std::size_t i = 0; i < plate.columns.size(); ++i) {
    lines.push_back(wrapped(plate.columns[i], columns.width[i], kColumn, 2));
    most = std::max(most, lines.back().size());
  }
  const double bottom = pen.y + static_cast<double>(most) * line_height(kColumn);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    pen.y = bottom - static_cast<double>(lines[i].size()) * line_height(kColumn);
    pen.words(columns.left[i] + columns.width[i] / 2.0, lines[i], kColumn);
  }
  pen.y = bottom + (most > 0 ? 4.0 : 0.0);
}

void draw_row(const Plate& plate, const PlateRow& row, const Columns& columns, Pen& pen) {
  const double top = pen.y;
  const auto label = wrapped(row.label, columns.label / kLoose, kLabel, 2);
  const auto more = wrapped(row.more, columns.label / kLoose, kMore, 4);
  pen.y =
      top + std::max(0.0, (plate.tile - static_cast<double>(label.size()) * line_height(kLabel) -
                           static_cast<double>(more.size()) * line_height(kMore)) /
                              2.0);
  pen.words(kPlateMargin, label, kLabel);
  pen.words(kPlateMargin, more, kMore);
  bool noted = false;
  for (std::size_t i = 0; i < row.tiles.size(); ++i) {
    const auto& tile = row.tiles[i];
    const Box place{columns.left[i], top, columns.width[i], plate.tile};
    if (pen.sheet() != nullptr && tile.paint) tile.paint(*pen.sheet(), place);
    if (tile.note.empty()) continue;
    noted = true;
    if (pen.sheet() == nullptr) continue;
    pen.sheet()->text({place.x + place.width / 2.0, top + plate.tile + 13.0},
                      views::fitted(tile.note, place.width, kNote), kNote);
  }
  pen.y = top + plate.tile + (noted ? kNoteHeight : 0.0) + kTileGap;
}

void draw_group(const Plate& plate, const PlateGroup& group, const Columns& columns, Pen& pen) {
  if (!group.heading.empty()) {
    pen.y += 6.0;
    pen.words(kPlateMargin,
              wrapped(group.heading, (columns.sheet - 2.0 * kPlateMargin) / kLoose, kGroup, 2),
              kGroup);
    pen.y += 4.0;
    if (pen.sheet() != nullptr) {
      pen.sheet()->path(
          std::vector<Point>{{kPlateMargin, pen.y}, {columns.sheet - kPlateMargin, pen.y}},
          {.colour = {200, 200, 200}, .width = 1.0});
    }
    pen.y += kTileGap;
  }
  for (const auto& row : group.rows) draw_row(plate, row, columns, pen);
}

images::Image scale_bar(bool over_photo) {
  constexpr auto kPixels = static_cast<int64_t>(kScaleWidth);
  if (over_photo) {
    const std::vector<float> rising{0.0F, 1.0F, 0.0F, 1.0F};
    const views::HeatGrid grid{2, 0.0, kScaleWidth - 1.0, kScaleWidth};
    return views::overlay_map(images::Image::blank(kPixels, 1, 170), rising, grid, 1.0,
                              views::PeakMark::none);
  }
  images::Image bar = images::Image::blank(kPixels, 1);
  for (int64_t x = 0; x < kPixels; ++x) {
    const auto colour = views::heat_colour((static_cast<double>(x) + 0.5) / kScaleWidth);
    std::copy(colour.begin(), colour.end(), bar.at(x, 0));
  }
  return bar;
}

void draw_scale(const ColourScale& scale, double left, Pen& pen) {
  pen.y += 6.0;
  if (pen.sheet() != nullptr) {
    const double low = left + views::text_width(scale.low, kScaleWords) + 6.0;
    const double baseline = pen.y + kScaleHeight - 1.0;
    pen.sheet()->text({left, baseline}, scale.low, kScaleWords);
    pen.sheet()->picture(scale_bar(scale.over_photo), {low, pen.y, kScaleWidth, kScaleHeight});
    const double high = low + kScaleWidth + 6.0;
    pen.sheet()->text({high, baseline}, scale.high, kScaleWords);
    pen.sheet()->text({high + views::text_width(scale.high, kScaleWords) + 14.0, baseline},
                      scale.meaning, {.size = 11, .colour = views::kMutedInk});
  }
  pen.y += kScaleHeight + 6.0;
}

void draw_plate(const Plate& plate, const Columns& columns, PlateWords words, Pen& pen) {
  const double width = columns.sheet - 2.0 * kPlateMargin;
  if (words == PlateWords::all) {
    pen.words(kPlateMargin, wrapped(plate.heading, width / kLoose, kHeading, 3), kHeading);
    pen.y += 6.0;
  }
  draw_columns(plate, columns, pen);
  for (const auto& group : plate.groups) draw_group(plate, group, columns, pen);
  if (plate.scale) draw_scale(*plate.scale, kPlateMargin, pen);
  if (words == PlateWords::all)
    pen.words(kPlateMargin, wrapped(plate.caption, width / kLoose, kCaption, 12), kCaption);
  pen.y += kPlateMargin;
}

}  // namespace

std::vector<std::string> wrapped(std::string_view words,
                                 double width,
                                 const TextStyle& style,
                                 std::size_t most) {
  std::vector<std::string> lines;
  while (!words.empty()) {
    if (lines.size() + 1 == most || views::text_width(words, style) <= width) {
      lines.push_back(views::fitted(words, width, style));
      break;
    }
    std::size_t end = 0;  // of the longest run of whole words that fits
    for (auto space = words.find(' '); space != std::string_view::npos;
         space = words.find(' ', space + 1)) {
      if (views::text_width(words.substr(0, space), style) > width) break;
      end = space;
    }
    if (end == 0) {  // a word longer than a line
      const auto space = std::min(words.find(' '), words.size());
      lines.push_back(views::fitted(words.substr(0, space), width, style));
      words.remove_prefix(std::min(space + 1, words.size()));
      continue;
    }
    lines.emplace_back(words.substr(0, end));
    words.remove_prefix(end + 1);
  }
  return lines;
}

views::Figure compose(const Plate& plate, PlateWords words) {
  const auto columns = columns_of(plate);
  Pen measure(nullptr);
  draw_plate(plate, columns, words, measure);
  Figure sheet(columns.sheet, measure.y);
  Pen pen(&sheet);
  draw_plate(plate, columns, words, pen);
  return sheet;
}

std::string details_of(const Plate& plate) {
  std::string details;
  for (const auto& group : plate.groups) {
    if (!group.heading.empty()) details += (details.empty() ? "" : "; ") + group.heading;
  }
  return details;
}

}  // namespace partwise::explaining
