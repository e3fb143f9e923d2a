// A network of your own with an interpretable layer: one line behind a convolution's ReLU.
#include <iostream>
#include <partwise/interpretable.h>

struct NetImpl : torch::nn::Module {
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& labels = {}) {
    x = torch::relu(conv1(x));
    x = parts(torch::relu(conv2(x)), labels);  // <- the interpretable layer
    return out(torch::max_pool2d(x, 14).flatten(1));
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

// A bright upright or lying bar somewhere on noise.
torch::Tensor draw(const torch::Tensor& labels) {
  auto images = 0.2 * torch::randn({labels.size(0), 3, 28, 28});
  for (int64_t i = 0; i < labels.size(0); ++i) {
    const auto at = torch::randint(4, 20, {2});
    auto corner = images[i].slice(1, at[0].item<int64_t>()).slice(2, at[1].item<int64_t>());
    const bool upright = labels[i].item<int64_t>() == 0;
    corner.slice(1, 0, upright ? 7 : 2).slice(2, 0, upright ? 2 : 7) += 1.0;
  }
  return images;
}

int main() {
  torch::manual_seed(1);
  Net net;
  torch::optim::Adam optimizer(net->parameters(), 0.003);
  for (int step = 0; step < 300; ++step) {
    const auto labels = torch::randint(2, {32});
    const auto loss = torch::cross_entropy_loss(net(draw(labels), labels), labels);
    optimizer.zero_grad();
    loss.backward();  // the filter loss acts here
    optimizer.step();
  }

  torch::save(net, "own_network.pt");
  Net copy;
  torch::load(copy, "own_network.pt");
  copy->eval();
  const auto labels = torch::randint(2, {200});
  const auto right = copy(draw(labels)).argmax(1).eq(labels).to(torch::kFloat).mean();
  std::cout << "accuracy " << right.item<float>() << ", filters for upright and lying bars:";
  for (const auto count : copy->parts->layer().take_diagnostics().filters_per_category) {
    std::cout << ' ' << count;
  }
  std::cout << '\n';
  return right.item<float>() > 0.9F ? 0 : 1;
}
