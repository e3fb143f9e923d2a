#include "partwise/atlas/filter_pictures.h"

#include "partwise/atlas/filter_rows.h"
#include "partwise/base/error.h"
#include "partwise/evidence/peak_gradients.h"
#include "partwise/explaining/figures/tiles.h"
#include "partwise/judging/filter_cards.h"
#include "partwise/networks/mask_steps.h"
#include "partwise/tensors/torch.h"
#include "partwise/views/figure.h"

#include <algorithm>

namespace partwise::atlas {
namespace {

constexpr views::Colour kEvidenceOutline = {255, 214, 10};
constexpr uint8_t kSilentGrey = 128;

std::vector<float> values_of_map(const Tensor& map) {
  const auto plain = map.to(torch::kCPU, torch::kFloat32).contiguous();
  return {plain.data_ptr<float>(), plain.data_ptr<float>() + plain.numel()};
}

Tensor input_of_row(const RunAtlas& atlas, int64_t row) {
  return models::normalised(
      atlas.look->judged.pixels.slice(0, row, row + 1).to(torch::Device(atlas.device)));
}

explaining::Tile field_tile(const RunAtlas& atlas,
                            const PictureRequest& of,
                            const images::Image& crop) {
  const evidence::PeakGradients gradients(atlas.network(), input_of_row(atlas, of.row), of.tap);
  const auto energy = gradients.energy_of(std::vector<int64_t>{of.filter})[0];
  return explaining::lit_tile(crop, evidence::evidence_map(energy), kEvidenceOutline);
}

explaining::Tile map_tile(const RunAtlas& atlas,
                          const PictureRequest& of,
                          const images::Image& crop) {
  const torch::NoGradGuard no_grad;
  const auto& layer = atlas.look->layers[of.tap];
  const auto output = atlas.network().evaluate(input_of_row(atlas, of.row));
  const auto& tapped = output.taps[of.tap];
  const auto map = values_of_map(tapped.maps[0][of.filter]);
  const double highest = *std::max_element(map.begin(), map.end());
  if (of.picture == Picture::map) return explaining::heat_tile(crop, map, layer.grid, highest);
  if (of.picture == Picture::masked)
    return explaining::heat_tile(crop, values_of_map(tapped.masked[0][of.filter]),
                                 layer.masked_grid, highest);
  const auto steps = networks::mask_steps(atlas.network(), of.tap, output);
  return explaining::cells_tile(values_of_map(steps.masks[0][of.filter]), 0.0, 1.0);
}

explaining::Tile tile_for(const RunAtlas& atlas, const PictureRequest& of) {
  auto crop = judging::image_of_row(atlas.look->judged, of.row);
  switch (of.picture) {
    case Picture::crop:
      return explaining::photo_tile(std::move(crop));
    case Picture::field:
      return field_tile(atlas, of, crop);
    case Picture::map:
    case Picture::mask:
    case Picture::masked:
      break;
  }
  return map_tile(atlas, of, crop);
}

}  // namespace

images::Image draw_picture(const RunAtlas& atlas, const PictureRequest& request) {
  expects(atlas.look != nullptr, "a picture of a run without its data");
  const auto side = static_cast<double>(request.side);
  views::Figure sheet(side, side);
  tile_for(atlas, request).paint(sheet, {0.0, 0.0, side, side});
  return sheet.image();
}

images::Image draw_tile(const RunAtlas& atlas, std::size_t tap, int64_t filter, int64_t side) {
  expects(atlas.look != nullptr, "a picture of a run without its data");
  const auto& look = *atlas.look;
  const int64_t row = strongest_row({look.layers[tap].peaks.peaks_of(filter), look.row_category,
                                     atlas.categories[tap][static_cast<std::size_t>(filter)]});
  if (row < 0) return images::Image::blank(side, side, kSilentGrey);
  return draw_picture(atlas, {tap, filter, row, Picture::field, side});
}

}  // namespace partwise::atlas
