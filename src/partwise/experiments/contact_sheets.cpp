#include "partwise/experiments/contact_sheets.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/datasets/drawing.h"
#include "partwise/experiments/file_stems.h"
#include "partwise/images/codec.h"
#include "partwise/views/figure.h"
#include "partwise/views/raster.h"

#include <algorithm>
#include <unordered_map>

namespace partwise::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPictures = 24;
constexpr int64_t kColumns = 6;
constexpr int64_t kSide = 240;
constexpr int64_t kGap = 6;

using Objects = std::vector<const datasets::Annotation*>;

Objects evenly_spaced(const Objects& all) {
  if (all.size() <= kMostPictures) return all;
  Objects some;
  for (std::size_t i = 0; i < kMostPictures; ++i) {
    some.push_back(all[i * all.size() / kMostPictures]);
  }
  return some;
}

std::vector<std::string> marks_of(const datasets::Category& category) {
  auto names = category.parts;
  for (const auto& landmark : category.landmarks) {
    if (std::find(names.begin(), names.end(), landmark) == names.end()) names.push_back(landmark);
  }
  return names;
}

std::string colours_of(const datasets::Category& category) {
  std::string text;
  for (const auto& name : marks_of(category)) {
    text += fmt::format(", {} {}", name, datasets::mark_colour(category, name).name);
  }
  return text;
}

// Each name beside a swatch of its colour, in as many lines as they take; none: an empty picture.
images::Image legend(const datasets::Category& category, int64_t sheet_width) {
  constexpr double kLine = 24.0;
  constexpr double kSwatch = 12.0;
  constexpr double kBetween = 18.0;
  const views::TextStyle style;
  const auto names = marks_of(category);
  if (names.empty()) return {};
  const auto width = static_cast<double>(sheet_width);
  const auto needs = [&](const std::string& name) {
    return kSwatch + kSwatch / 2 + views::text_width(name, style);
  };
  std::vector<Point> places;
  Point next{1.0, 0.0};
  for (const auto& name : names) {
    if (next.x > 1.0 && next.x + needs(name) > width) next = {1.0, next.y + kLine};
    places.push_back(next);
    next.x += needs(name) + kBetween;
  }
  views::Figure figure(width, next.y + kLine);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto [x, y] = places[i];
    figure.rectangle({x, y + 5.0, kSwatch, kSwatch},
                     views::Fill(datasets::mark_colour(category, names[i]).rgb),
                     views::Stroke{.width = 1.0});
    figure.text({x + 1.5 * kSwatch, y + 16.0},
                views::fitted(names[i], width - 1.5 * kSwatch, style), style);
  }
  return figure.image();
}

}  // namespace

void write_contact_sheets(const datasets::PartDataset& dataset, const fs::path& folder) {
  make_writable_folder(folder);
  std::unordered_map<int64_t, const datasets::ImageRecord*> records;
  for (const auto& image : dataset.images) records[image.id] = &image;
  FileStems stems;
  for (const auto& category : dataset.categories) {
    Objects all;
    for (const auto& object : dataset.annotations) {
      if (object.category_id == category.id) all.push_back(&object);
    }
    const auto some = evenly_spaced(all);
    std::vector<images::Image> pictures(some.size());
    Progress progress("drawing " + category.name, static_cast<int64_t>(some.size()), "objects");
    parallel_for(static_cast<int64_t>(some.size()), 0, [&](int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      try {
        const auto photo =
            images::read_image(dataset.root / records.at(some[at]->image_id)->file_name);
        pictures[at] = datasets::draw_truth(photo, *some[at], category, kSide);
      } catch (const Error&) {  // the check has named it
      }
      progress.advance();
    });
    pictures.erase(std::remove_if(pictures.begin(), pictures.end(),
                                  [](const auto& picture) { return picture.pixels.empty(); }),
                   pictures.end());
    if (pictures.empty()) continue;
    const auto file = folder / (stems.take(category.name) + ".png");
    const auto sheet = views::contact_sheet(pictures, kColumns, kGap);
    const auto names = legend(category, sheet.width);
    views::Raster page(sheet.width, sheet.height + kGap + names.height);
    page.paste(sheet, 0, 0);
    page.paste(names, 0, sheet.height + kGap);
    write_file_atomically(file, images::encode_png(page.image()));
    say(fmt::format("{}: {} of {} objects; box white{}", file.string(), pictures.size(), all.size(),
                    colours_of(category)));
  }
}

}  // namespace partwise::experiments
