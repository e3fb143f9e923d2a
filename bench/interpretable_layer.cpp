// One interpretable layer on two shapes of the paper's nets: a copy of its maps (the floor), the
// mask, and mask and filter loss, forward and backward, by rule, with the composed
// operators beside it. Then how all this grows.
//   interpretable_layer [REPEATS]
#include "partwise/base/error.h"
#include "partwise/interpretable.h"
#include "partwise/kernels/levels.h"
#include "partwise/parts/fused_maps.h"
#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"

#include <fmt/format.h>

#include "side_by_side.h"

namespace {

using partwise::Interpretable;
using partwise::Tensor;
using partwise::bench::Side;
using partwise::parts::Method;
using partwise::parts::PartOptions;
using partwise::parts::Rule;

struct Shape {
  const char* net;
  int64_t images;
  int64_t filters;
  int64_t side;
};

constexpr int64_t kCategories = 6;

struct Setting {
  const char* name;
  PartOptions options;
};

std::vector<Setting> settings() {
  const auto changed = [](auto change) {
    PartOptions options;
    change(options);
    return options;
  };
  return {{"mask only", changed([](auto& o) { o.strength = 0.0; })},
          {"default (rule release)", {}},
          {"method release", method_options(Method::release)},
          {"rule paper", changed([](auto& o) { o.rule = Rule::paper; })},
          {"method paper", method_options(Method::paper)},
          {"rule paper-all", changed([](auto& o) { o.rule = Rule::paper_all; })},
          {"rule exact", changed([](auto& o) { o.rule = Rule::exact; })}};
}

// One step of one layer, on the way there and back.
std::function<void()> step(const Tensor& maps, const Tensor& labels, const PartOptions& options) {
  auto layer = Interpretable(maps.size(1), maps.size(2), kCategories, options);
  const auto gradient = 1e-3 * torch::randn(maps.sizes());
  return [=]() mutable {
    const auto out = layer->mask_and_learn(maps, labels);
    torch::autograd::grad({out}, {maps}, {gradient});
  };
}

std::function<void()> composed(const std::function<void()>& run) {
  return [run] {
    const partwise::parts::ComposedOperators reference;
    run();
  };
}

struct Drawn {
  explicit Drawn(const Shape& shape)
      : maps(torch::randn({shape.images, shape.filters, shape.side, shape.side}).relu()),
        labels(torch::randint(kCategories, {shape.images}, torch::kInt64)),
        target(torch::empty_like(maps)) {
    maps.requires_grad_();
  }
  std::function<void()> copy() const {
    return [*this] {
      const torch::NoGradGuard no_grad;
      target.copy_(maps);
    };
  }

  Tensor maps;
  Tensor labels;
  Tensor target;
};

std::string words(const Shape& shape) {
  return fmt::format("{}{} x {} x {} x {}", shape.net, shape.images, shape.filters, shape.side,
                     shape.side);
}

void compare_on(const Shape& shape, int repeats) {
  const Drawn drawn(shape);
  Interpretable layer(shape.filters, shape.side, kCategories);
  layer->eval();
  const auto mask = [&] {
    const torch::NoGradGuard no_grad;
    layer->mask(drawn.maps);
  };
  std::vector<Side> sides{
      {"copy of the maps", drawn.copy()}, {"mask, forward", mask}, {"  composed", composed(mask)}};
  for (const auto& [name, options] : settings()) {
    const auto run = step(drawn.maps, drawn.labels, options);
    sides.push_back({fmt::format("{}, forward, backward", name), run});
    sides.push_back({"  composed", composed(step(drawn.maps, drawn.labels, options))});
  }
  partwise::bench::compare(words(shape), sides, repeats);
}

// As multiples of a copy: what grows faster than the maps do?
void growth(int repeats) {
  for (const auto& shape : std::vector<Shape>{{"", 8, 256, 13},
                                              {"", 32, 256, 13},
                                              {"", 128, 256, 13},
                                              {"", 32, 64, 13},
                                              {"", 32, 1024, 13},
                                              {"", 32, 256, 7},
                                              {"", 32, 256, 28}}) {
    const Drawn drawn(shape);
    PartOptions paper;
    paper.rule = Rule::paper;
    partwise::bench::compare("growth: " + words(shape),
                             {{"copy of the maps", drawn.copy()},
                              {"default", step(drawn.maps, drawn.labels, {})},
                              {"rule paper", step(drawn.maps, drawn.labels, paper)}},
                             repeats);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::stoi(argv[1]) : 11;
  partwise::ensure(argc <= 2 && repeats > 0, "usage: interpretable_layer [REPEATS]");
  partwise::tensors::start_session(2);  // as in the program: freed memory is kept
  torch::manual_seed(1);
  std::printf("An interpretable layer, float32, 2 threads, kernels: %s\n",
              partwise::kernels::word_of(partwise::kernels::best_level()).c_str());
  compare_on({"AlexNet: ", 32, 256, 13}, repeats);
  compare_on({"VGG-16: ", 16, 512, 14}, repeats);
  growth(repeats);
}
