#include "partwise/networks/mask_steps.h"

#include "partwise/base/error.h"
#include "partwise/interpretable.h"
#include "partwise/parts/mask.h"
#include "partwise/parts/templates.h"
#include "partwise/tensors/torch.h"

#include <algorithm>

namespace partwise::networks {
namespace {

// The maps the interpretable layer was given: a tap's own, taken through what lies between.
Tensor input_of_mask(const Network& network, const Tap& tap, Tensor maps) {
  std::vector<int64_t> between;
  for (int64_t layer = network.inputs()[static_cast<std::size_t>(tap.interpretable)].front();
       layer != tap.relu; layer = network.inputs()[static_cast<std::size_t>(layer)].front())
    between.push_back(layer);
  std::for_each(between.rbegin(), between.rend(),
                [&](int64_t layer) { maps = network.evaluate_layer(layer, {maps}); });
  return maps;
}

}  // namespace

MaskSteps mask_steps(const Network& network, std::size_t which, const Output& output) {
  const auto& tap = network.architecture().taps[which];
  expects(tap.interpretable >= 0, "layer {} has no mask", tap.name);
  const auto maps = input_of_mask(network, tap, output.taps[which].maps);
  const auto& name =
      network.architecture().layers[static_cast<std::size_t>(tap.interpretable)].name;
  const auto& layer = *network.interpretable().at(name);
  const auto templates = parts::unit_templates(
      parts::cell_distances(layer.side(), layer.options().template_shape).to(maps.options()),
      layer.filter_beta().to(maps.options()));
  const auto masks =
      parts::masks_at(parts::peak_cells(maps, layer.options()), templates).view(maps.sizes());
  return {maps, masks, output.taps[which].masked};
}

}  // namespace partwise::networks
