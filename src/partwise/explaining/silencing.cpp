#include "partwise/explaining/silencing.h"

#include "partwise/base/error.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/metrics/statistics.h"
#include "partwise/models/activations.h"
#include "partwise/models/decisions.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace partwise::explaining {
namespace {

// Numbers of one image.
struct Silenced {
  double parts = 0.0;
  double completeness = 0.0;
  double additive_error = metrics::kNaN;
  double evidence = 0.0;
  double top = 0.0;
  double top_additive = metrics::kNaN;
  double chance = 0.0;
  double evidence_shown = metrics::kNaN;  // of an image with an outline
  double covered = metrics::kNaN;
  double elsewhere = metrics::kNaN;
};

template <typename Size>
std::string largest(const std::vector<PartShare>& parts, const Size& size) {
  const auto found =
      std::max_element(parts.begin(), parts.end(),
                       [&](const PartShare& a, const PartShare& b) { return size(a) < size(b); });
  return found->name;
}

// The pixels an odd number of outlines encloses, moved by whole pixels: [side, side] bool.
Tensor pixels_inside(const std::vector<std::vector<Point>>& outlines,
                     int64_t side,
                     int64_t across,
                     int64_t down) {
  auto inside = torch::zeros({side, side}, torch::kBool);
  auto* cell = inside.data_ptr<bool>();
  for (int64_t y = 0; y < side; ++y) {
    for (int64_t x = 0; x < side; ++x, ++cell) {
      const double px = static_cast<double>(x - across) + 0.5;
      const double py = static_cast<double>(y - down) + 0.5;
      for (const auto& outline : outlines) {
        for (std::size_t i = 0; i < outline.size(); ++i) {
          const auto& a = outline[i];
          const auto& b = outline[(i + 1) % outline.size()];
          if ((a.y > py) != (b.y > py) && px < a.x + (py - a.y) / (b.y - a.y) * (b.x - a.x))
            *cell = !*cell;
        }
      }
    }
  }
  return inside;
}

// How far the shape may be moved so that it stays in the picture.
std::pair<int64_t, int64_t> room_along(const std::vector<std::vector<Point>>& outlines,
                                       double Point::*axis,
                                       int64_t side) {
  double low = static_cast<double>(side);
  double high = 0.0;
  for (const auto& outline : outlines) {
    for (const auto& point : outline) {
      low = std::min(low, point.*axis);
      high = std::max(high, point.*axis);
    }
  }
  return {-static_cast<int64_t>(std::floor(low)), side - static_cast<int64_t>(std::ceil(high))};
}

metrics::Finding mean_over(const std::vector<Silenced>& rows,
                           double Silenced::*number,
                           const metrics::BootstrapOptions& bootstrap) {
  return metrics::finding_of_rows(std::ssize(rows), bootstrap,
                                  [&](std::span<const int32_t> counts) {
                                    metrics::ExistingMean mean;
                                    for (std::size_t i = 0; i < rows.size(); ++i)
                                      mean.add(rows[i].*number, counts[i]);
                                    return mean.value();
                                  });
}

// Of sums, not of single images: one with next to no evidence would outweigh all others.
metrics::Finding share_of_evidence(const std::vector<Silenced>& rows,
                                   double Silenced::*number,
                                   const metrics::BootstrapOptions& bootstrap) {
  return metrics::finding_of_rows(std::ssize(rows), bootstrap,
                                  [&](std::span<const int32_t> counts) {
                                    metrics::ExistingMean part;
                                    metrics::ExistingMean whole;
                                    for (std::size_t i = 0; i < rows.size(); ++i) {
                                      part.add(rows[i].*number, counts[i]);
                                      whole.add(rows[i].evidence_shown, counts[i]);
                                    }
                                    return metrics::quotient(part.value(), whole.value());
                                  });
}

}  // namespace

SilencingCheck check_silencing(const Explainer& explainer,
                               const models::Task& task,
                               const models::Examples& examples,
                               const std::string& device,
                               const SilencingOptions& options) {
  const auto decisions = models::decide(explainer.model().network, task, examples, device);
  const auto category = models::to_vector(examples.category);
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < examples.rows(); ++row) {
    if (category[static_cast<std::size_t>(row)] >= 0 && decisions.right(row)) rows.push_back(row);
  }
  ensure(!rows.empty(), "no object of the split is decided right; there is nothing to check");
  Random choice(derive_seed({options.seed, 1}));
  shuffle(rows, choice);
  rows.resize(std::min<std::size_t>(rows.size(), static_cast<std::size_t>(options.images)));
  SilencingCheck check;
  std::vector<Silenced> found;
  const auto& network = explainer.model().network;
  Progress progress("silencing parts of", std::ssize(rows), "objects");
  for (const int64_t row : rows) {
    if (interrupt_requested()) throw Interrupted("interrupted while silencing parts");
    const auto explanation =
        explainer.explain_crop(examples.pixels[row], {"", 6, /*filters=*/false});
    progress.advance();
    if (explanation.parts.empty()) continue;
    check.layer = explanation.layer;
    if (explanation.exact) ++check.exact;
    const auto silenced = [](const PartShare& part) { return std::abs(part.silenced); };
    const auto most = largest(explanation.parts, silenced);
    auto& one = found.emplace_back();
    one.parts = static_cast<double>(explanation.parts.size());
    one.completeness = explanation.completeness_error;
    one.evidence = std::abs(explanation.evidence());
    one.top = explanation.parts.front().name == most ? 1.0 : 0.0;
    one.chance = 1.0 / one.parts;
    if (explanation.additive_error) {
      one.additive_error = std::abs(*explanation.additive_error);
      const auto additive = largest(explanation.parts,
                                    [](const PartShare& part) { return std::abs(*part.additive); });
      one.top_additive = additive == most ? 1.0 : 0.0;
    }
    const auto shown = std::find_if(
        explanation.parts.begin(), explanation.parts.end(),
        [](const PartShare& part) { return !part.outlines.empty() && part.share > 0.0; });
    if (shown == explanation.parts.end() || !(explanation.evidence() > 0.0)) continue;
    const int64_t side = examples.pixels.size(2);
    Random random(derive_seed({options.seed, 2, static_cast<uint64_t>(row)}));
    const auto drawn = [&](double Point::*axis) {
      const auto [low, high] = room_along(shown->outlines, axis, side);
      return high > low ? low + random.below(high - low + 1) : 0;
    };
    const int64_t across = drawn(&Point::x);
    const int64_t down = drawn(&Point::y);
    const torch::NoGradGuard no_grad;
    const auto image = models::normalised(examples.pixels[row].to(torch::Device(device)));
    const auto without = [&](int64_t x, int64_t y) {
      return image.masked_fill(pixels_inside(shown->outlines, side, x, y).to(image.device()), 0.0);
    };
    const auto classes = explainer.classes();
    const auto asked =
        std::find(classes.begin(), classes.end(), explanation.asked) - classes.begin();
    const auto scores =
        models::decision_scores(
            task, network.evaluate(torch::stack({without(0, 0), without(across, down)})).logits)
            .to(torch::kCPU, torch::kFloat64);
    one.evidence_shown = explanation.evidence();
    one.covered = explanation.score - scores[0][asked].item<double>();
    one.elsewhere = explanation.score - scores[1][asked].item<double>();
  }
  check.images = std::ssize(found);
  ensure(check.images > 0,
         "no filter of the layer fires on any of the objects; there is nothing to check");
  const auto& bootstrap = options.bootstrap;
  check.parts = mean_over(found, &Silenced::parts, bootstrap);
  check.completeness = mean_over(found, &Silenced::completeness, bootstrap);
  double most = 0.0;
  for (const auto& one : found) most = std::max(most, one.completeness);
  check.completeness.facts["largest"] = most;
  check.additive_error = mean_over(found, &Silenced::additive_error, bootstrap);
  check.additive_error.controls["evidence"] =
      mean_over(found, &Silenced::evidence, bootstrap).value;
  const double chance = mean_over(found, &Silenced::chance, bootstrap).value;
  check.top_moves_most = mean_over(found, &Silenced::top, bootstrap);
  check.top_moves_most.controls["by_chance"] = chance;
  check.top_moves_most_additive = mean_over(found, &Silenced::top_additive, bootstrap);
  check.top_moves_most_additive.controls["by_chance"] = chance;
  check.covered = share_of_evidence(found, &Silenced::covered, bootstrap);
  check.covered.controls["elsewhere"] =
      share_of_evidence(found, &Silenced::elsewhere, bootstrap).value;
  return check;
}

namespace {

nlohmann::json finding_to_json(const metrics::Finding& finding) {
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
  };
  auto json = finding.facts;
  json["value"] = number(finding.value);
  json["low"] = number(finding.low);
  json["high"] = number(finding.high);
  for (const auto& [name, value] : finding.controls) json["controls"][name] = number(value);
  return json;
}

std::string finding_words(const metrics::Finding& finding, const char* format) {
  const auto number = [&](double value) { return fmt::format(fmt::runtime(format), value); };
  return fmt::format("{} [{}, {}]", number(finding.value), number(finding.low),
                     number(finding.high));
}

}  // namespace

nlohmann::json to_json(const SilencingCheck& check) {
  return {{"layer", check.layer},
          {"images", check.images},
          {"exact", check.exact},
          {"parts", finding_to_json(check.parts)},
          {"completeness_error", finding_to_json(check.completeness)},
          {"additive_error", finding_to_json(check.additive_error)},
          {"top_moves_most", finding_to_json(check.top_moves_most)},
          {"top_moves_most_additive", finding_to_json(check.top_moves_most_additive)},
          {"covered", finding_to_json(check.covered)}};
}

std::string silencing_text(const SilencingCheck& check) {
  std::string text = fmt::format(
      "{} objects decided right, layer {}, {:.1f} parts each, {} explained from all coalitions\n",
      check.images, check.layer, check.parts.value, check.exact);
  const auto line = [&](const char* what, const std::string& value, const std::string& control) {
    text += fmt::format("  {:<52} {:<26} {}\n", what, value, control);
  };
  line("shares add up to the evidence within (logits)",
       fmt::format("{:.1e}", check.completeness.value),
       fmt::format("largest {:.1e}", check.completeness.facts["largest"].get<double>()));
  line("the distilled sum misses the score by (logits)",
       finding_words(check.additive_error, "{:.2f}"),
       fmt::format("evidence {:.2f}", check.additive_error.controls.at("evidence")));
  const auto chance =
      fmt::format("by chance {:.2f}", check.top_moves_most.controls.at("by_chance"));
  line("silencing the first part moves the score most",
       finding_words(check.top_moves_most, "{:.2f}"), chance);
  line("the same of the distilled sum's first part",
       finding_words(check.top_moves_most_additive, "{:.2f}"), chance);
  line("evidence lost when the first outline is covered", finding_words(check.covered, "{:.2f}"),
       fmt::format("same shape elsewhere {:.2f}", check.covered.controls.at("elsewhere")));
  return text;
}

}  // namespace partwise::explaining
