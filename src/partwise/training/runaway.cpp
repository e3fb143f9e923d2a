#include "partwise/training/runaway.h"

#include <fmt/format.h>

#include <algorithm>

namespace partwise::training {
namespace {

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
