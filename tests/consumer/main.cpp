#include <iostream>
#include <partwise/parts/interpretable_layer.h>
#include <partwise/tensors/torch.h>

int main() {
  partwise::parts::InterpretableLayer layer(/*filters=*/8, /*side=*/14, /*categories=*/2, {});
  const auto maps = torch::rand({4, 8, 14, 14});
  const auto masked = layer.mask(maps);
  std::cout << "kept " << (masked.sum() / maps.sum()).item<float>() << " of the activation\n";
  return masked.amax().item<float>() == maps.amax().item<float>() ? 0 : 1;
}
