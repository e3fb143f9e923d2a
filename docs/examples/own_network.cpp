// A network of your own with an interpretable layer: one line behind a convolution's ReLU.
#include <torch/torch.h>

#include <iostream>
#include <partwise/interpretable.h>
#include <partwise/measure.h>

struct NetImpl : torch::nn::Module {
  torch::Tensor maps(const torch::Tensor& x) { return torch::relu(conv2(torch::relu(conv1(x)))); }
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& labels = {}) {
    const auto masked = parts(maps(x), labels);  // <- the interpretable layer
    return out(torch::max_pool2d(masked, 14).flatten(1));
  }
  torch::nn::Conv2d conv1{register_module(
      "conv1", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 16, 5).stride(2).padding(2)))};
  torch::nn::Conv2d conv2{
      register_module("conv2", torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 24, 3).padding(1)))};
  partwise::Interpretable parts{register_module("parts",
                                                partwise::Interpretable(/*filters=*/24,
                                                                        /*side=*/14,
                                                                        /*categories=*/2))};
  torch::nn::Linear out{register_module("out", torch::nn::Linear(24, 2))};
};
TORCH_MODULE(Net);

struct Drawing {
  torch::Tensor images;  // [count, 3, 28, 28]
  torch::Tensor bars;    // [count, 1, 28, 28] bool: the pixels of the bar, the object's only part
};

// A bright upright or lying bar somewhere on noise.
Drawing draw(const torch::Tensor& labels) {
  const auto count = labels.size(0);
  Drawing drawing{0.2 * torch::randn({count, 3, 28, 28}),
                  torch::zeros({count, 1, 28, 28}, torch::kBool)};
  for (int64_t i = 0; i < count; ++i) {
    const auto at = torch::randint(4, 20, {2});
    const bool upright = labels[i].item<int64_t>() == 0;
    drawing.bars[i][0]
        .slice(0, at[0].item<int64_t>(), at[0].item<int64_t>() + (upright ? 7 : 2))
        .slice(1, at[1].item<int64_t>(), at[1].item<int64_t>() + (upright ? 2 : 7))
        .fill_(true);
  }
  drawing.images += drawing.bars.to(torch::kFloat32);
  return drawing;
}

int main() {
  torch::manual_seed(1);
  Net net;
  std::cout << *net->parts << '\n';
  torch::optim::Adam optimizer(net->parameters(), 0.003);
  for (int step = 0; step < 300; ++step) {
    const auto labels = torch::randint(2, {32});
    const auto loss = torch::cross_entropy_loss(net(draw(labels).images, labels), labels);
    optimizer.zero_grad();
    loss.backward();  // the filter loss acts here
    optimizer.step();
  }

  torch::save(net, "own_network.pt");
  Net copy;
  torch::load(copy, "own_network.pt");
  copy->eval();
  const torch::NoGradGuard no_grad;
  const auto labels = torch::randint(2, {200});
  const auto [images, bars] = draw(labels);
  const auto right = copy(images).argmax(1).eq(labels).to(torch::kFloat).mean().item<double>();
  const auto maps = copy->maps(images);
  const auto category = copy->parts->filter_category();
  const auto purity = partwise::measure::purity(maps);
  // Cell (i, j) of the maps looks at pixel (2 j, 2 i): two pixels per step, the first at 0.
  const auto parts = partwise::measure::part_interpretability(
      copy->parts->mask(maps), {/*offset=*/0.0, /*stride=*/2.0, /*input_side=*/28}, bars, labels,
      category);
  partwise::measure::Dump dump;
  dump.maps = maps;
  dump.annotation = torch::arange(200, torch::kInt64);
  dump.grid = {0.0, 2.0, 28};
  dump.layer = "conv2";
  partwise::measure::write_dump("own_network.safetensors", dump);
  std::cout << "accuracy " << right << ", filters for lying bars " << category.sum().item<int64_t>()
            << " of 24\npurity " << purity.value << " [" << purity.low << ", " << purity.high
            << "], scattered " << purity.controls.at("scattered") << "\npart interpretability "
            << parts.finding.value << ", shuffled images "
            << parts.finding.controls.at("shuffled_images") << '\n';
  return right > 0.9 && purity.low > purity.controls.at("uniform_map") ? 0 : 1;
}
