// The CPU's kernels of an interpretable layer one by one, on one thread: a copy of the maps (the
// floor), each kernel at every level of instructions that this machine has, and the composed
// operators that it stands for.
//   cpu_kernels [REPEATS]
#include "partwise/base/error.h"
#include "partwise/kernels/fit_kernels.h"
#include "partwise/kernels/layer_kernels.h"
#include "partwise/parts/fused_fits.h"
#include "partwise/parts/fused_gradient.h"
#include "partwise/parts/fused_maps.h"
#include "partwise/parts/mask.h"
#include "partwise/parts/templates.h"
#include "partwise/parts/vote.h"
#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"

#include <fmt/format.h>

#include "side_by_side.h"

namespace {

using partwise::Tensor;
using partwise::bench::Side;
using partwise::kernels::Batch;
using partwise::kernels::Level;
namespace kernels = partwise::kernels;
namespace parts = partwise::parts;

constexpr int64_t kCategories = 6;
constexpr float kInverse = 0.05F;  // of fits: keeps their exponents small
constexpr float kMost = 6.0F;

float* at(const Tensor& tensor) {
  return tensor.data_ptr<float>();
}

int64_t* whole(const Tensor& tensor) {
  return tensor.data_ptr<int64_t>();
}

// A batch and all that goes with it.
struct Drawn {
  explicit Drawn(const Batch& shape)
      : batch(shape),
        maps(torch::randn({shape.images, shape.filters, shape.cells()}).relu()),
        gradient(torch::randn_like(maps)),
        out(torch::empty_like(maps)),
        peaks(maps.argmax(2)),
        strongest(peaks.clone()),
        distances(parts::cell_distances(shape.side, parts::TemplateShape::l1).to(torch::kFloat32)),
        templates(parts::unit_templates(shape.side, {}).to(torch::kFloat32)),
        numbers(torch::rand({8, shape.images, shape.filters})),
        of_filters(torch::rand({4, shape.filters})),
        labels(torch::randint(kCategories, {shape.images}, torch::kInt64)),
        category(torch::randint(kCategories, {shape.filters}, torch::kInt64)),
        log_z(torch::zeros({shape.filters, shape.cells() + 1})) {
    of_filters[0].fill_(4.0 / static_cast<double>(shape.side));  // slopes
    of_filters[3].fill_(kInverse);
  }

  kernels::Range all() const { return {0, batch.maps()}; }
  kernels::Range filters() const { return {0, batch.filters}; }
  float* of_maps(int i) const { return at(numbers[i]); }
  kernels::TemplatesAt<float> cones() const {
    return {whole(peaks), at(of_filters[0]), at(distances)};
  }
  kernels::Push<float> push() const {
    return {cones(),           of_maps(0),        of_maps(1),
            at(of_filters[1]), at(of_filters[2]), whole(strongest)};
  }
  Tensor units() const { return parts::templates_at(peaks, templates); }
  Tensor part(const Tensor& unit) const {
    const auto rule = numbers[0].unsqueeze(2) + numbers[1].unsqueeze(2) * unit;
    return torch::where(maps > 0, rule, torch::zeros_like(rule)) -
           of_filters[1].view({1, -1, 1}) * maps;
  }
  Tensor fits(Level level) const {
    const auto lanes = kernels::fit_kernels<float>(level).lanes;
    return torch::zeros({batch.filters, kernels::fits_per_filter(batch, lanes)});
  }

  Batch batch;
  Tensor maps, gradient, out, peaks, strongest, distances, templates, numbers, of_filters;
  Tensor labels, category, log_z;
};

struct Case {
  const char* name;
  std::function<std::function<void()>(Level)> ours;
  std::function<void()> composed;
};

Case look(const Drawn& drawn, bool centroid) {
  parts::PartOptions options;
  if (centroid) options.peak = parts::Peak::centroid;
  return {centroid ? "look, centroids" : "look",
          [&drawn, centroid](Level level) {
            return [&drawn, centroid, &table = kernels::map_kernels<float>(level)] {
              table.look(drawn.batch, drawn.all(), at(drawn.maps), centroid,
                         {whole(drawn.peaks), whole(drawn.strongest), drawn.of_maps(2),
                          drawn.of_maps(3), drawn.of_maps(4)});
            };
          },
          [&drawn, options] {
            const parts::ComposedOperators reference;
            const auto side = drawn.batch.side;
            const auto maps = drawn.maps.view({drawn.batch.images, -1, side, side});
            const auto looks = parts::look_at(maps, maps, options);
            drawn.maps.square().sum(2);
          }};
}

std::vector<Case> cases(const Drawn& drawn) {
  const auto maps = [&drawn](auto run) {
    return [&drawn, run](Level level) -> std::function<void()> {
      return [&drawn, run, &table = kernels::map_kernels<float>(level)] { run(table, drawn); };
    };
  };
  const auto fits = [&drawn](auto run) {
    return [&drawn, run](Level level) -> std::function<void()> {
      const auto& table = kernels::fit_kernels<float>(level);
      const auto own = drawn.fits(level);
      table.all_fits(drawn.batch, drawn.filters(), at(drawn.maps), at(drawn.of_filters[0]), nullptr,
                     at(own));
      return [&drawn, run, &table, own] { run(table, drawn, at(own)); };
    };
  };
  const auto all_fits = [&drawn] { return parts::template_fits(drawn.maps, drawn.templates); };
  return {
      look(drawn, false),
      look(drawn, true),
      {"mask", maps([](const auto& table, const Drawn& own) {
         table.mask(own.batch, own.all(), at(own.maps), own.cones(), 1.0F, at(own.out));
       }),
       [&drawn] { drawn.maps* drawn.units().clamp_min(0.0); }},
      {"mask and both fits", maps([](const auto& table, const Drawn& own) {
         table.mask_pairs(own.batch, {0, (own.batch.maps() + 1) / 2}, at(own.maps), own.cones(),
                          1.0F, {own.of_maps(2), own.of_maps(3)}, at(own.out));
       }),
       [&drawn] {
         const auto unit = drawn.units();
         drawn.maps* unit.clamp_min(0.0);
         (drawn.maps * unit).sum(2);
         (drawn.maps * unit.flip({0, 1})).sum(2);
       }},
      {"norms of the backward pass", maps([](const auto& table, const Drawn& own) {
         table.norms(own.batch, own.all(), at(own.maps), at(own.gradient), own.push(), 1.0F,
                     own.of_maps(2), own.of_maps(3));
       }),
       [&drawn] {
         const auto unit = drawn.units();
         (drawn.gradient * unit.clamp_min(0.0)).square().sum(2);
         drawn.part(unit).square().sum(2);
       }},
      {"push", maps([](const auto& table, const Drawn& own) {
         table.push(own.batch, own.all(), at(own.maps), at(own.gradient), own.push(), 1.0F,
                    at(own.out), own.of_maps(2));
       }),
       [&drawn] {
         const auto unit = drawn.units();
         const auto factor = drawn.of_filters[2].view({1, -1, 1});
         drawn.gradient* unit.clamp_min(0.0) + factor* drawn.part(unit);
       }},
      {"fits to all templates", fits([](const auto& table, const Drawn& own, float* found) {
         table.all_fits(own.batch, own.filters(), at(own.maps), at(own.of_filters[0]), nullptr,
                        found);
       }),
       [all_fits] { all_fits(); }},
      {"Z and p(x) from them", fits([](const auto& table, const Drawn& own, float* found) {
         table.partition(own.batch, own.filters(), found, at(own.of_filters[3]), {}, kMost,
                         at(own.log_z), own.of_maps(2));
       }),
       [found = all_fits()] {
         const auto log_z = torch::logsumexp(kInverse * found, 0, true);
         torch::logsumexp((kInverse * found - log_z).clamp_max(kMost), 2);
       }},
      {"mixture of all templates", fits([](const auto& table, const Drawn& own, float* found) {
         table.mix(own.batch, own.filters(), found, at(own.of_filters[0]), nullptr,
                   at(own.of_filters[3]), at(own.out));
       }),
       [&drawn, found = all_fits()] { parts::template_mixture(found, drawn.templates); }},
      {"vote",
       [&drawn](Level level) -> std::function<void()> {
         return [&drawn, &table = kernels::layer_kernels<float>(level)] {
           std::vector<double> losses(static_cast<std::size_t>(drawn.batch.images));
           table.vote(drawn.batch, {0, drawn.batch.images}, whole(drawn.labels),
                      whole(drawn.category), kCategories, drawn.of_maps(5), 1.0F, 0.02,
                      drawn.of_maps(6), losses.data());
         };
       },
       [&drawn] {
         parts::vote(drawn.numbers[5], drawn.category, drawn.labels, kCategories, torch::ones({}),
                     drawn.batch.images);
       }},
  };
}

void compare_on(const char* net, const Batch& shape, int repeats) {
  const Drawn drawn(shape);
  const Side copy{"copy of the maps", [&] { drawn.out.copy_(drawn.maps); }};
  for (const auto& one : cases(drawn)) {
    std::vector<Side> sides{copy};
    const auto& levels = kernels::available_levels();
    for (auto level = levels.rbegin(); level != levels.rend(); ++level)
      sides.push_back({kernels::word_of(*level), one.ours(*level)});
    sides.push_back({"composed", one.composed});
    partwise::bench::compare(fmt::format("{}, {} x {} x {} x {}: {}", net, shape.images,
                                         shape.filters, shape.side, shape.side, one.name),
                             sides, repeats);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::stoi(argv[1]) : 21;
  partwise::ensure(argc <= 2 && repeats > 0, "usage: cpu_kernels [REPEATS]");
  partwise::tensors::start_session(1);  // as in the program: freed memory is kept
  const torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  compare_on("AlexNet", {32, 256, 13}, repeats);
  compare_on("VGG-16", {16, 512, 14}, repeats);
}
