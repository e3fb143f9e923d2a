#include "partwise/training/log_rows.h"

#include "partwise/base/error.h"
#include "partwise/base/progress.h"
#include "partwise/interpretable.h"
#include "partwise/runs/log_scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace partwise::training {
namespace {

constexpr double kWorthSaying = 0.9;  // the guard left less than this of the filter loss

constexpr double kManySilent = 0.25;
constexpr double kLeastOfFairShare = 1.0 / 3.0;

bool many_silent(const nlohmann::json& layer) {
  return layer.value("silent_share", 0.0) > kManySilent;
}

// Categories with less than a third of their fair share of filters.
std::vector<std::size_t> unserved(const nlohmann::json& layer) {
  const auto counts = layer.value("filters_per_category", std::vector<int64_t>());
  const auto filters =
      static_cast<double>(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  const double least = kLeastOfFairShare * filters / static_cast<double>(counts.size());
  std::vector<std::size_t> few;
  for (std::size_t c = 0; counts.size() > 1 && c < counts.size(); ++c)
    if (static_cast<double>(counts[c]) < least) few.push_back(c);
  return few;
}

double loss_of(const nlohmann::json& row) {
  return row.value("loss", 0.0);
}

// "conv4 from 2 to 31"; rows of an older program do not say how loud a layer was.
std::string growth(const nlohmann::json& before, const nlohmann::json& now) {
  std::string text;
  for (std::size_t i = 0; i < now.size() && i < before.size(); ++i) {
    const double from = before[i].value("mean_peak", 0.0);
    const double to = now[i].value("mean_peak", 0.0);
    if (from <= 0.0 || to <= 2.0 * from) continue;
    text += fmt::format("{}{} from {:.2g} to {:.2g}", text.empty() ? "" : ", ",
                        now[i].value("layer", ""), from, to);
  }
  return text;
}

}  // namespace

std::vector<nlohmann::json> rows_until(const runs::RunFolder& run, int64_t epoch) {
  auto rows = run.log();
  std::erase_if(rows, [&](const auto& row) {
    return runs::scalar_at(row, "epoch") > static_cast<double>(epoch);
  });
  // A row is written before the checkpoint that ends its epoch.
  ensure(std::ssize(rows) == epoch,
         "{}: {} rows of the {} epochs behind its checkpoint; put the whole file back, or train "
         "anew in another folder",
         (run.path() / "log.jsonl").string(), rows.size(), epoch);
  return rows;
}

nlohmann::json take_layer_rows(networks::Network& network) {
  auto rows = nlohmann::json::array();
  for (const auto& [name, layer] : network.interpretable()) {
    const auto seen = layer->take_diagnostics();
    const auto short_name = name.substr(0, name.find(".mask"));
    if (seen.softening < kWorthSaying) {
      say(
          fmt::format("{}: its activations fell or grew fast; the filter loss went on at {:.0f} % "
                      "of its strength ({:.0f} % of the filters are dead)",
                      short_name, 100.0 * seen.softening, 100.0 * seen.dead_share));
    }
    rows.push_back({{"layer", short_name},
                    {"loss", seen.loss},
                    {"prior_entropy", seen.prior_entropy},
                    {"category_entropy", seen.category_entropy},
                    {"spatial_entropy", seen.spatial_entropy},
                    {"gradient_ratio", seen.gradient_ratio},
                    {"effective_samples", seen.effective_samples},
                    {"softening", seen.softening},
                    {"mean_peak", seen.mean_peak},
                    {"vote", seen.vote},
                    {"dead_share", seen.dead_share},
                    {"silent_share", seen.silent_share},
                    {"effective_filters", seen.effective_filters},
                    {"filters_per_category", seen.filters_per_category}});
  }
  return rows;
}

std::vector<std::string> layer_warnings(const std::vector<nlohmann::json>& rows,
                                        const std::vector<std::string>& categories,
                                        parts::Assignment assignment) {
  const auto* remedy = assignment == parts::Assignment::balanced
                           ? "they are dealt out evenly after the 4th, 16th and 48th batch"
                           : "--assignment balanced gives every category as many";
  std::vector<std::string> warnings;
  const auto layers_of = [](const nlohmann::json& row) {
    return row.value("layers", nlohmann::json::array());
  };
  const auto now = rows.empty() ? nlohmann::json::array() : layers_of(rows.back());
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto before = [&](const auto& holds) {
      return std::any_of(rows.begin(), rows.end() - 1, [&](const auto& row) {
        const auto layers = layers_of(row);
        return i < layers.size() && holds(layers[i]);
      });
    };
    const auto name = now[i].value("layer", "");
    if (many_silent(now[i]) && !before(many_silent)) {
      warnings.push_back(
          fmt::format("{}: {:.0f} % of the filters are silent (below 5 % of a strong one); a lower "
                      "--strength or a higher --keep-alive may help",
                      name, 100.0 * now[i].value("silent_share", 0.0)));
    }
    for (const auto category : unserved(now[i])) {
      const auto had_few = [&](const nlohmann::json& layer) {
        const auto few = unserved(layer);
        return std::find(few.begin(), few.end(), category) != few.end();
      };
      if (category >= categories.size() || before(had_few)) continue;
      warnings.push_back(
          fmt::format("{}: {} of its filters stand for {}, less than a third of a fair share; {}",
                      name, now[i].at("filters_per_category")[category].get<int64_t>(),
                      categories[category], remedy));
    }
  }
  return warnings;
}

std::optional<std::string> runaway_warning(const std::vector<nlohmann::json>& rows) {
  if (rows.size() < 2) return std::nullopt;
  const double first = loss_of(rows.front());
  const auto above = [&](const auto& row) { return loss_of(row) > first; };
  if (!above(rows.back()) || std::any_of(rows.begin(), rows.end() - 1, above)) return std::nullopt;
  const auto grown = growth(rows.front().value("layers", nlohmann::json::array()),
                            rows.back().value("layers", nlohmann::json::array()));
  return fmt::format("the training loss, {:.3g}, is above the first epoch's {:.3g}: {}",
                     loss_of(rows.back()), first,
                     grown.empty() ? "a lower --learning-rate may help"
                                   : "its filters became louder (mean of E[max x]: " + grown +
                                         "); --loudness kept or a lower --strength may help");
}

}  // namespace partwise::training
