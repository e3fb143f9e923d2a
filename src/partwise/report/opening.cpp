#include "partwise/report/html.h"
#include "partwise/report/sections.h"
#include "partwise/views/markup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace partwise::report {

namespace {

// A probability never rounds to certainty.
std::string chance(double probability) {
  if (probability > 0.995) return ">\u00A099\u00A0%";
  if (probability < 0.005) return "<\u00A01\u00A0%";
  return fmt::format("{:.0f}\u00A0%", 100.0 * probability);
}

// Of the evidence, or in logits where there is none to have a share of.
std::string share_words(const runs::ExplainedPhotograph& of, const runs::PartOfEvidence& part) {
  if (of.evidence > 0.0) return decimal(100.0 * part.share / of.evidence, 0) + "\u00A0%";
  return fmt::format("{}{}", part.share > 0.0 ? "+" : "", decimal(part.share, 2));
}

std::string shares_list(const runs::ExplainedPhotograph& of) {
  double largest = 1e-9;
  for (const auto& part : of.parts) largest = std::max(largest, std::abs(part.share));
  std::string html;
  for (const auto& part : of.parts) {
    html += fmt::format("<li class=\"{}\" style=\"--length:{:.3f}{}\"><b>{}</b> {}</li>\n",
                        part.share < 0.0 ? "against" : "for", std::abs(part.share) / largest,
                        part.colour.empty() ? "" : ";--colour:" + part.colour,
                        share_words(of, part), text(views::shortened(part.part, 40)));
  }
  return fmt::format("<ol class=\"shares\">\n{}</ol>", html);
}

std::string spoken(const runs::ExplainedPhotograph& of) {
  std::string words = fmt::format("A photograph of {}, decided to be {}.", of.truth, of.decision);
  std::string outlined;
  for (std::size_t i = 0; i < of.parts.size(); ++i) {
    if (of.parts[i].colour.empty()) continue;
    outlined += fmt::format("{}{} {}", outlined.empty() ? "" : ", ", i + 1, of.parts[i].part);
  }
  return outlined.empty() ? words : fmt::format("{} Outlined: {}.", words, outlined);
}

std::string decision_words(const runs::ExplainedPhotograph& of) {
  const auto runner_up =
      fmt::format("then {} {}", text(views::shortened(of.other, 40)), chance(of.other_probability));
  return fmt::format(
      "<b>{}</b> {}, {}{}", text(views::shortened(of.decision, 40)), chance(of.probability),
      of.right() ? "" : fmt::format("but it is <b>{}</b>; ", text(views::shortened(of.truth, 40))),
      runner_up);
}

std::string file_name(const std::string& image) {
  return image.substr(image.rfind('/') + 1);  // whole where there is none
}

std::string photograph_html(const LoadedRun& run, const runs::ExplainedPhotograph& of) {
  const Picture picture = read_picture(of.file_in(run.folder), 720);
  return fmt::format(
      "<div class=\"shown {}\"><h3>{}</h3><figure class=\"photo\"><img src=\"{}\" width=\"{}\" "
      "height=\"{}\" alt=\"{}\"><figcaption><span{}>{}</span> <span "
      "class=\"file\">{}</span></figcaption></figure><div><p>{}</p>\n{}</div></div>\n",
      of.right() ? "right" : "wrong", text(of.chosen), picture.data_uri, picture.width,
      picture.height, text(spoken(of)), of.weak ? " class=\"weak\"" : "", text(of.evidence_words),
      text(views::shortened(file_name(of.image), 40)), decision_words(of), shares_list(of));
}

// The leading run's, or those of the next that has some.
const LoadedRun* run_with_photographs(std::span<const LoadedRun> runs) {
  const LoadedRun* found = nullptr;
  for (const LoadedRun& run : runs)
    if (!run.explained.photographs.empty()) found = &run;
  const LoadedRun& leading = leading_run(runs);
  return leading.explained.photographs.empty() ? found : &leading;
}

std::string pictures(std::span<const LoadedRun> runs) {
  if (const LoadedRun* run = run_with_photographs(runs)) {
    std::string html;
    bool in_logits = false;
    for (const auto& photograph : run->explained.photographs) {
      html += photograph_html(*run, photograph);
      in_logits = in_logits || photograph.evidence <= 0.0;
    }
    return fmt::format(
        "<div class=\"three\">\n{}</div>\n<p class=\"note\">{} Decided by <b>{}</b>. Numbers stand "
        "where a part’s evidence lies; bars are its share of all evidence, hatched where it speaks "
        "against.{}</p>\n",
        html, text(run->explained.rule), text(run->label),
        in_logits ? " Without evidence there are no shares: such numbers are logits." : "");
  }
  const LoadedRun& run = leading_run(runs);
  const std::string cards = three_cards(run);
  if (cards.empty()) return "";
  return fmt::format(
      "<div class=\"three\">\n{}</div>\n<p class=\"note\">Filters of the arm <b>{}</b>, each with "
      "the images it fires on most; those drawn at random come first. No photographs are explained "
      "here, as that needs the data and the names of parts: <code>partwise names RUN "
      "--learn</code>, then write the report again.</p>\n",
      cards, text(run.label));
}

std::vector<RunFindings> leading_group(std::span<const LoadedRun> runs) {
  const LoadedRun& leading = leading_run(runs);
  std::vector<RunFindings> group;
  for (const LoadedRun& run : runs)
    if (are_comparable(leading.findings, run.findings)) group.push_back(run.findings);
  return group;
}

}  // namespace

const LoadedRun& leading_run(std::span<const LoadedRun> runs) {
  const LoadedRun* leading = &runs.front();
  std::size_t rank = 0;
  for (const LoadedRun& run : runs) {
    const std::size_t found = arm_rank(run.findings.arm);
    if (found >= arms().size() || found <= rank) continue;
    leading = &run;
    rank = found;
  }
  return *leading;
}

std::string opening(std::span<const LoadedRun> runs) {
  std::string sentences;
  for (const auto& sentence : verdict(leading_group(runs)).sentences)
    sentences += fmt::format("<p>{}</p>\n", text(sentence));
  const std::string chart = headline_chart(runs);
  return fmt::format("{}<div class=\"said\"><div class=\"verdict\">\n{}</div>\n{}</div>\n",
                     pictures(runs), sentences, chart);
}

}  // namespace partwise::report
