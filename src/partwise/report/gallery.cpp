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

constexpr std::array<Choice, 4> kChoices = {{{"random", "Drawn at random"},
                                             {"best", "Highest part interpretability"},
                                             {"worst", "Lowest part interpretability"},
                                             {"", "Filters, highest part interpretability first"}}};

// All over the page, so that runs with many layers do not make it too heavy to mail.
constexpr std::size_t kMostCards = 120;
constexpr int64_t kWidestCard = 760;  // pixels

std::string image_html(const LoadedRun& run, const Card& card) {
  if (card.picture.empty()) return "<p class=\"note\">no picture</p>";
  // A findings file may come from anywhere; it must not pull other files into the page.
  const auto path = fs::path(card.picture).lexically_normal();
  ensure(path.is_relative() && !path.empty() && *path.begin() != "..",
         "{}: picture '{}' does not lie in the run's folder",
         (fs::path(run.folder) / "findings.json").string(), card.picture);
  const Picture picture = read_picture(fs::path(run.folder) / path, kWidestCard);
  const std::string alt = card.picture_alt.empty()
                              ? fmt::format("Images on which filter {} fires most", card.filter)
                              : card.picture_alt;
  return fmt::format(R"(<img src="{}" width="{}" height="{}" alt="{}">)", picture.data_uri,
                     picture.width, picture.height, text(alt));
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

bool is_of(const Card& card, const Choice& choice) {
  const bool known = card.chosen == "best" || card.chosen == "random" || card.chosen == "worst";
  return choice.key == (known ? card.chosen : "");
}

// Up to so many of each choice, in the order of the choices.
std::vector<std::pair<const Choice*, std::vector<Card>>> cards_by_choice(const LayerFindings& layer,
                                                                         std::size_t of_each) {
  std::vector<std::pair<const Choice*, std::vector<Card>>> all;
  for (const Choice& choice : kChoices) {
    std::vector<Card> cards;
    for (const Card& card : layer.cards)
      if (is_of(card, choice)) cards.push_back(card);
    if (cards.empty()) continue;
    cards = sorted(std::move(cards), choice.key);
    // Where nobody says how cards were chosen, there are all three kinds among them.
    cards.resize(std::min(cards.size(), *choice.key == '\0' ? 3 * of_each : of_each));
    all.emplace_back(&choice, std::move(cards));
  }
  return all;
}

std::string category_counts(const LayerFindings& layer) {
  if (layer.filters_per_category.empty()) return "";
  std::string words;
  for (const auto& [category, count] : layer.filters_per_category) {
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", text(category), count);
  }
  return fmt::format("<p class=\"note\">Filters per category: {}.</p>\n", words);
}

std::string layer_html(const LoadedRun& run,
                       const LayerFindings& layer,
                       bool open,
                       std::size_t of_each) {
  std::string cards;
  std::size_t shown = 0;
  for (const auto& [choice, chosen] : cards_by_choice(layer, of_each)) {
    cards += fmt::format("<h3>{}</h3><div class=\"cards\">\n", choice->heading);
    for (const Card& card : chosen) cards += card_html(run, card);
    cards += "</div>\n";
    shown += chosen.size();
  }
  if (shown == 0) return "";
  std::string about = text(layer.role);
  if (layer.side) about += fmt::format(", map {0} × {0}", *layer.side);
  if (layer.filters) about += fmt::format(", {} of {} filters shown", shown, *layer.filters);
  return fmt::format(
      "<details{}><summary>{} · {} <span class=\"note\">({})</span></summary>\n{}{}</details>\n",
      open ? " open" : "", text(run.label), text(layer.layer), about, category_counts(layer),
      cards);
}

}  // namespace

std::string gallery(std::span<const LoadedRun> runs) {
  std::size_t layers = 0;
  for (const LoadedRun& run : runs)
    for (const LayerFindings& layer : run.findings.layers) layers += layer.cards.empty() ? 0 : 1;
  if (layers == 0) return "<p class=\"note\">The findings hold no pictures of filters.</p>\n";
  const std::size_t of_each = std::clamp<std::size_t>(kMostCards / (3 * layers), 1, 4);
  std::size_t room = kMostCards / 3;  // layers, at the least that are shown of each
  std::string html;
  const auto add = [&](const LoadedRun& run, bool open) {
    const auto& all = run.findings.layers;
    for (auto layer = all.rbegin(); layer != all.rend(); ++layer) {
      if (layer->cards.empty() || room == 0) continue;
      html += layer_html(run, *layer, open, of_each);
      open = false;
      --room;
    }
  };
  // The full method comes first, its last layer open; the others are one click away.
  const LoadedRun& leading = leading_run(runs);
  add(leading, true);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (&*run != &leading) add(*run, false);
  if (layers > kMostCards / 3)
    html += fmt::format(
        "<p class=\"note\">{} more layers are left out, to keep the page small; their pictures "
        "lie in the folders of the runs.</p>\n",
        layers - kMostCards / 3);
  return html;
}

std::string three_cards(const LoadedRun& run) {
  const auto& layers = run.findings.layers;
  const auto last = std::find_if(layers.rbegin(), layers.rend(),
                                 [](const LayerFindings& layer) { return !layer.cards.empty(); });
  if (last == layers.rend()) return "";
  std::string html;
  int shown = 0;
  for (const auto& [choice, cards] : cards_by_choice(*last, 3)) {
    for (const Card& card : cards)
      if (shown++ < 3) html += card_html(run, card);
  }
  return html;
}

}  // namespace partwise::report
