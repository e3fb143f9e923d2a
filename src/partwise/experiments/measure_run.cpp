#include "partwise/experiments/measure_run.h"

#include "partwise/base/files.h"
#include "partwise/images/codec.h"
#include "partwise/judging/dissection.h"
#include "partwise/models/model.h"
#include "partwise/models/resources.h"
#include "partwise/tensors/torch.h"
#include "partwise/views/heat_map.h"

#include <cmath>

namespace partwise::experiments {
namespace {

constexpr int64_t kThumbnailGap = 4;

images::Image image_of_row(const models::Examples& examples, int64_t row) {
  const auto interleaved = examples.pixels[row].permute({1, 2, 0}).contiguous();
  const auto* data = interleaved.data_ptr<uint8_t>();
  return {interleaved.size(1), interleaved.size(0), {data, data + interleaved.numel()}};
}

// The filter's strongest rows: the crop above, the crop with the map before the mask below.
images::Image card_picture(const judging::Dissection& seen, const judging::FilterCard& card) {
  const auto& units = seen.grids[card.layer];
  std::vector<images::Image> pictures;
  for (const int64_t row : card.rows) pictures.push_back(image_of_row(seen.examples, row));
  for (std::size_t i = 0; i < card.rows.size(); ++i) {
    const auto& map = card.maps[i];
    const double top = *std::max_element(map.begin(), map.end());
    const views::HeatGrid grid{std::llround(std::sqrt(map.size())), units.offset, units.stride,
                               static_cast<double>(units.input_side)};
    pictures.push_back(
        views::overlay_map(image_of_row(seen.examples, card.rows[i]), map, grid, top));
  }
  return views::contact_sheet(pictures, static_cast<int64_t>(card.rows.size()), kThumbnailGap);
}

nlohmann::json card_json(const runs::RunFolder& run,
                         const judging::Dissection& seen,
                         const judging::FilterCard& card) {
  auto json = card.summary;
  if (card.rows.empty()) return json;
  const auto layer = seen.layers[card.layer].facts.at("layer").get<std::string>();
  const auto name = fmt::format("{}-{:03}.png", layer, card.filter);
  write_file_atomically(run.pictures() / name, images::encode_png(card_picture(seen, card)));
  json["picture"] = "pictures/" + name;
  json["picture_alt"] =
      fmt::format("The {} crops of {} on which filter {} of {} fires strongest, and where it fires",
                  card.rows.size(), card.summary.value("category", ""), card.filter, layer);
  return json;
}

}  // namespace

void measure_run(const runs::RunFolder& run,
                 const datasets::PartDataset& dataset,
                 const judging::MeasureOptions& options,
                 const models::Resources& resources) {
  auto seen = judging::dissect(run, dataset, options, resources);
  make_writable_folder(run.pictures());
  for (auto& layer : seen.findings["layers"]) layer["cards"] = nlohmann::json::array();
  for (const auto& card : seen.cards) {
    seen.findings["layers"][card.layer]["cards"].push_back(card_json(run, seen, card));
  }
  run.write_findings(seen.findings);
  models::record_categories(run, seen.filter_categories, seen.position);
}

std::vector<runs::RunFolder> measure_runs(const std::vector<std::string>& folders,
                                          const std::string& data,
                                          const judging::MeasureOptions& options,
                                          const Machine& machine) {
  const auto resources = start_session(machine);
  std::vector<runs::RunFolder> runs;
  for (const auto& folder : folders) {
    runs.push_back(runs::RunFolder::open(folder));
    const auto dataset = datasets::load_dataset(runs.back().data(data));
    measure_run(runs.back(), dataset, options, resources);
  }
  return runs;
}

}  // namespace partwise::experiments
