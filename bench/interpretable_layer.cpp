// One interpretable layer on two shapes of the paper's nets: a copy of its maps (the floor), the
// mask, and mask and filter loss, forward and backward, by rule; ours and the composed operators.
//   interpretable_layer [REPEATS]
#include "partwise/base/error.h"
#include "partwise/interpretable.h"
#include "partwise/tensors/torch.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "side_by_side.h"

namespace {

using partwise::Interpretable;
using partwise::Tensor;
using partwise::bench::Side;
using partwise::parts::PartOptions;
using partwise::parts::Rule;

struct Shape {
  const char* net;
  int64_t images;
  int64_t filters;
  int64_t side;
};

constexpr int64_t kCategories = 6;

PartOptions with_rule(Rule rule) {
  PartOptions options;
  options.rule = rule;
  return options;
}

void compare_on(const Shape& shape, int repeats) {
  torch::manual_seed(1);
  const auto [net, images, filters, side] = shape;
  const auto maps = torch::randn({images, filters, side, side}).relu().requires_grad_();
  const auto gradient = 1e-3 * torch::randn_like(maps);
  const auto labels = torch::randint(kCategories, {images}, torch::kInt64);
  auto target = torch::empty_like(maps);
  const auto copy = [&] {
    const torch::NoGradGuard no_grad;
    target.copy_(maps);
  };
  std::vector<Side> sides{{"copy of the maps", copy}};
  Interpretable masking(filters, side, kCategories);
  masking->eval();
  sides.push_back({"mask, forward", [&] {
                     const torch::NoGradGuard no_grad;
                     masking(maps);
                   }});
  std::vector<Interpretable> layers;
  for (const auto& [name, options] :
       {std::pair{"masked only",
                  [] {
                    auto o = PartOptions{};
                    o.strength = 0.0;
                    return o;
                  }()},
        std::pair{"default", PartOptions{}},
        std::pair{"method release", method_options(partwise::parts::Method::release)},
        std::pair{"rule paper", with_rule(Rule::paper)},
        std::pair{"method paper", method_options(partwise::parts::Method::paper)},
        std::pair{"rule paper-all", with_rule(Rule::paper_all)},
        std::pair{"rule exact", with_rule(Rule::exact)}}) {
    Interpretable layer(filters, side, kCategories, options);
    sides.push_back({fmt::format("{}, forward, backward", name), [=] {
                       auto own = layer;
                       auto out = own->mask_and_learn(maps, labels);
                       torch::autograd::grad({out}, {maps}, {gradient});
                     }});
  }
  partwise::bench::compare(fmt::format("{}: {} x {} x {} x {}, float32, {} threads", net, images,
                                       filters, side, side, at::get_num_threads()),
                           sides, repeats);
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::stoi(argv[1]) : 15;
  partwise::ensure(argc <= 2 && repeats > 0, "usage: interpretable_layer [REPEATS]");
  at::set_num_threads(2);
  compare_on({"AlexNet", 32, 256, 13}, repeats);
  compare_on({"VGG-16", 16, 512, 14}, repeats);
}
