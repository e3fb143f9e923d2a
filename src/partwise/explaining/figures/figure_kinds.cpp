#include "partwise/explaining/figures/figure_kinds.h"

#include "partwise/base/names.h"

#include <array>

namespace partwise::explaining {
namespace {

using networks::Arm;

constexpr std::size_t kMostRuns = 4;

constexpr std::array kFigures = {
    FigureKind{"templates", "the templates of a layer, and the negative one", "Templates of T_mu",
               kMostRuns, std::nullopt, Needs::nothing, draw_templates, false},
    FigureKind{"mask", "from a photo to a map, its mask, the masked map and the evidence's place",
               "Feature map, mask, masked map and receptive field of one image", kMostRuns,
               std::nullopt, Needs::maps, draw_mask},
    FigureKind{"filters",
               "what filters drawn at random see, from the strongest image to the weakest",
               "Filters in the top layers over images, interpretable and ordinary", kMostRuns,
               Arm::ordinary_layer, Needs::maps, draw_filters, false},
    FigureKind{"activations", "maps before the mask, with and without the filter loss",
               "Activations before the mask, with and without the filter loss", kMostRuns,
               Arm::masked, Needs::maps, draw_activations},
    FigureKind{"places", "where on an object the evidence of all filters of a layer lies",
               "Heat maps of the parts that a layer encodes", kMostRuns, Arm::ordinary_layer,
               Needs::maps, draw_places},
    FigureKind{"gradcam", "Grad-CAM of the top layers for the true category",
               "Grad-CAM of the ordinary and the interpretable layer", kMostRuns,
               Arm::ordinary_layer, Needs::images, draw_gradcam},
    FigureKind{"contributions", "what each part adds to a decision",
               "Contributions of object parts to the prediction", kMostRuns, std::nullopt,
               Needs::images, draw_contributions},
    FigureKind{"errors", "wrong decisions and the regions that were mistaken for parts",
               "Images that were classified incorrectly", kMostRuns, std::nullopt, Needs::images,
               draw_errors},
};

}  // namespace

std::span<const FigureKind> figure_kinds() {
  return kFigures;
}

const FigureKind& figure_kind(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& kind : kFigures) names.emplace_back(kind.name);
  return kFigures[index_of_name("figure", name, names)];
}

}  // namespace partwise::explaining
