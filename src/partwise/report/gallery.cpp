#include "partwise/base/error.h"
#include "partwise/report/html.h"
#include "partwise/report/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace partwise::report {

namespace fs = std::filesystem;
using findings::Card;

namespace {

struct Choice {
  const char* key;
  const char* heading;
};

constexpr std::array<Choice, 4> kChoices = {{{"best", "Highest part interpretability"},
                                             {"random", "Drawn at random"},
                                             {"worst", "Lowest part interpretability"},
                                             {"", "Filters, highest part interpretability first"}}};

std::string image_html(const LoadedRun& run, const Card& card) {
  if (card.picture.empty()) return "<p class=\"note\">no picture</p>";
  // A findings file may come from anywhere; it must not pull other files into the page.
  const auto path = fs::path(card.picture).lexically_normal();
  ensure(path.is_relative() && !path.empty() && *path.begin() != "..",
         "{}: picture '{}' does not lie in the run's folder",
         (fs::path(run.folder) / "findings.json").string(), card.picture);
  const Picture picture = read_picture(fs::path(run.folder) / path);
  const std::string alt = card.picture_alt.empty()
                              ? fmt::format("Images on which filter {} fires most", card.filter)
                              : card.picture_alt;
  return fmt::format(
      R"(<img src="{}" width="{}" height="{}" alt="{}" loading="lazy" decoding="async">)",
      picture.data_uri, picture.width, picture.height, text(alt));
}

std::string card_html(const LoadedRun& run, const Card& card) {
  const std::string stands_for = card.part.empty()
                                     ? text(card.category)
                                     : fmt::format("{}: {}", text(card.category), text(card.part));
  const std::string at_evidence =
      std::isfinite(card.evidence_interpretability)
          ? fmt::format(" · at its evidence {}{}{}", text(card.evidence_part),
                        card.evidence_part.empty() ? "" : " ",
                        decimal(card.evidence_interpretability, 2))
          : "";
  return fmt::format(
      "<figure class=\"card\">{}<figcaption><b>Filter {}{}{}</b><br>part interpretability {}{} · "
      "instability {} · ratio {} · mean peak {}</figcaption></figure>\n",
      image_html(run, card), card.filter, stands_for.empty() ? "" : " — ", stands_for,
      decimal(card.part_interpretability, 2), at_evidence, decimal(card.instability),
      decimal(card.ratio, 2), decimal(card.mean_peak, 2));
}

std::vector<Card> sorted(std::vector<Card> cards, const std::string& chosen) {
  if (chosen == "random") return cards;  // an order would be a choice
  const double missing = chosen == "worst" ? 2.0 : -1.0;
  std::stable_sort(cards.begin(), cards.end(), [&](const Card& a, const Card& b) {
    const auto known = [&](double value) { return std::isfinite(value) ? value : missing; };
    const double left = known(a.part_interpretability);
    const double right = known(b.part_interpretability);
    return chosen == "worst" ? left < right : left > right;
  });
  return cards;
}

std::string cards_html(const LoadedRun& run, const LayerFindings& layer) {
  std::string html;
  for (const Choice& choice : kChoices) {
    std::vector<Card> cards;
    for (const Card& card : layer.cards) {
      const bool known = card.chosen == "best" || card.chosen == "random" || card.chosen == "worst";
      if (choice.key == (known ? card.chosen : "")) cards.push_back(card);
    }
    if (cards.empty()) continue;
    html += fmt::format("<h4>{}</h4><div class=\"cards\">\n", choice.heading);
    for (const Card& card : sorted(std::move(cards), choice.key)) html += card_html(run, card);
    html += "</div>\n";
  }
  return html;
}

std::string category_counts(const LayerFindings& layer) {
  if (layer.filters_per_category.empty()) return "";
  std::string words;
  for (const auto& [category, count] : layer.filters_per_category) {
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", text(category), count);
  }
  return fmt::format("<p class=\"note\">Filters per category: {}.</p>\n", words);
}

std::string layer_html(const LoadedRun& run, const LayerFindings& layer, bool open) {
  if (layer.cards.empty()) return "";
  std::string about = text(layer.role);
  if (layer.side) about += fmt::format(", map {0} × {0}", *layer.side);
  if (layer.filters) {
    about += fmt::format(", {} of {} filters shown", layer.cards.size(), *layer.filters);
  }
  return fmt::format(
      "<details{}><summary>{} · {} <span class=\"note\">({})</span></summary>\n{}{}</details>\n",
      open ? " open" : "", text(run.label), text(layer.layer), about, category_counts(layer),
      cards_html(run, layer));
}

}  // namespace

std::string gallery(std::span<const LoadedRun> runs) {
  std::string html;
  // The full method comes first; it is what the report is about. The others are one click away.
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    for (const LayerFindings& layer : run->findings.layers) {
      html += layer_html(*run, layer, run == runs.rbegin());
    }
  }
  return html.empty() ? "<p class=\"note\">The findings hold no pictures of filters.</p>\n" : html;
}

}  // namespace partwise::report
