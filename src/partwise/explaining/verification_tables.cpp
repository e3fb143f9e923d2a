#include "partwise/explaining/verification_tables.h"

#include "partwise/metrics/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace partwise::explaining {
namespace {

using Members = std::vector<const Verification*>;  // one run, or the seeds of one arm

// A cell of a table: of one run its interval over images, of several Student's over seeds.
struct Cell {
  double value = metrics::kNaN;
  double low = metrics::kNaN;
  double high = metrics::kNaN;
};

using Pick = std::function<metrics::Finding(const Verification&)>;

Cell cell_of(const Members& members, const Pick& pick) {
  if (members.size() == 1) {
    const auto finding = pick(*members.front());
    return {finding.value, finding.low, finding.high};
  }
  std::vector<double> values;
  for (const auto* member : members) values.push_back(pick(*member).value);
  const auto mean = metrics::mean_over_seeds(values);
  return {mean.mean, mean.low, mean.high};
}

std::string cell_text(const Cell& cell) {
  if (!std::isfinite(cell.value)) return "-";
  if (!std::isfinite(cell.low)) return fmt::format("{:.2f}", cell.value);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", cell.value, cell.low, cell.high);
}

using Row = std::vector<std::string>;
using Table = std::vector<Row>;

std::string plain_table(const Table& table) {
  std::vector<std::size_t> width(table.front().size());
  for (const auto& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string text;
  for (const auto& row : table) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], width[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += "  " + line + "\n";
  }
  return text;
}

std::string markdown_table(const Table& table) {
  const auto line = [](const Row& row) {
    std::string text = "|";
    for (const auto& cell : row) text += " " + cell + " |";
    return text + "\n";
  };
  std::string text = line(table.front()) + "|";
  for (std::size_t i = 0; i < table.front().size(); ++i) text += "---|";
  text += "\n";
  for (std::size_t i = 1; i < table.size(); ++i) text += line(table[i]);
  return text;
}

std::string heading_of(Protocol protocol) {
  auto word = word_of(protocol);
  std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

// Methods down, some protocols across.
Table method_table(const Members& members, std::span<const Protocol> protocols) {
  Table table{{"method"}};
  for (const auto protocol : protocols) table.front().push_back(heading_of(protocol));
  for (const auto method : values_of<Method>()) {
    Row row{word_of(method)};
    for (const auto protocol : protocols) {
      row.push_back(cell_text(cell_of(members, [&](const Verification& one) {
        return one.methods.at(method).scores.at(protocol);
      })));
    }
    table.push_back(std::move(row));
  }
  return table;
}

Table region_table(const Members& members) {
  Table table{{"region", "named filters", "other images", "filters named head", "other images"}};
  for (const auto kind : values_of<RegionKind>()) {
    Row row{word_of(kind)};
    bool known = false;
    for (const std::size_t which : {std::size_t{0}, std::size_t{1}}) {
      const auto find = [&](const Verification& one) -> const metrics::Finding* {
        if (which >= one.regions.size()) return nullptr;
        for (const auto& score : one.regions[which].kinds) {
          if (score.kind == kind) return &score.iou;
        }
        return nullptr;
      };
      const metrics::Finding missing{metrics::kNaN, metrics::kNaN, metrics::kNaN};
      row.push_back(cell_text(cell_of(members, [&](const Verification& one) {
        const auto* iou = find(one);
        known = known || iou != nullptr;
        return iou != nullptr ? *iou : missing;
      })));
      auto control = cell_of(members, [&](const Verification& one) {
        const auto* iou = find(one);
        return iou == nullptr ? missing
                              : metrics::Finding{iou->controls.at("other_images"), metrics::kNaN,
                                                 metrics::kNaN};
      });
      control.low = metrics::kNaN;
      row.push_back(cell_text(control));
    }
    if (known) table.push_back(std::move(row));
  }
  return table;
}

std::string facts_line(const Members& members) {
  const auto text = [&](auto member) {
    return cell_text(cell_of(members, [&](const Verification& one) { return one.*member; }));
  };
  int64_t images = 0;
  int64_t right = 0;
  for (const auto* one : members) {
    images += one->images;
    right += one->right;
  }
  return fmt::format(
      "{} of {} images decided right; {} parts visible per image, {} of them idle; top part by "
      "chance {}; another background changes the score by {} of it and keeps the decision in {}.",
      right, images, text(&Verification::parts), text(&Verification::idle),
      text(&Verification::top_by_chance), text(&Verification::other_place),
      text(&Verification::same_decision));
}

struct Section {
  std::string title;
  Members members;
};

// Every run, then the arms of which there are several.
std::vector<Section> sections_of(std::span<const NamedVerification> runs) {
  std::vector<Section> sections;
  for (const auto& [name, found] : runs)
    sections.push_back({fmt::format("{} ({}, {}, layer {}, seed {})", name, found.net, found.arm,
                                    found.layer, found.run_seed),
                        {&found}});
  std::map<std::pair<std::string, std::string>, Members> arms;
  for (const auto& [name, found] : runs) arms[{found.net, found.arm}].push_back(&found);
  for (const auto& [arm, members] : arms) {
    if (members.size() > 1)
      sections.push_back(
          {fmt::format("{}, {}: mean over {} runs, Student's 95 % interval over them", arm.first,
                       arm.second, members.size()),
           members});
  }
  return sections;
}

constexpr std::array kAgreement{Protocol::single_deletion, Protocol::pairs,
                                Protocol::top_part,        Protocol::target_sensitivity,
                                Protocol::idle_share,      Protocol::elsewhere};
constexpr std::array kChecks{Protocol::preservation, Protocol::deletion, Protocol::distractibility,
                             Protocol::completeness};

std::string tables_of(std::span<const NamedVerification> runs,
                      const char* heading,
                      const std::function<std::string(const Table&)>& draw) {
  std::string text;
  for (const auto& [title, members] : sections_of(runs)) {
    text += fmt::format("{}{}\n\n{}\n\n", heading, title, facts_line(members));
    text += draw(method_table(members, kAgreement)) + "\n";
    text += draw(method_table(members, kChecks)) + "\n";
    if (!members.front()->regions.empty()) text += draw(region_table(members)) + "\n";
  }
  return text;
}

std::string quoted_field(std::string text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, "\"");
  return "\"" + text + "\"";
}

}  // namespace

std::string verification_text(std::span<const NamedVerification> runs) {
  return tables_of(runs, "", plain_table);
}

std::string verification_markdown(std::span<const NamedVerification> runs) {
  return tables_of(runs, "### ", markdown_table);
}

std::string verification_csv(std::span<const NamedVerification> runs) {
  std::string csv = "run,net,arm,seed,table,row,number,value,low,high,n\n";
  const auto field = [](double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
  };
  for (const auto& [name, found] : runs) {
    const auto add = [&, run = quoted_field(name), &found = found](
                         const std::string& table, const std::string& row,
                         const std::string& number, const metrics::Finding& finding) {
      csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", run, found.net, found.arm,
                         found.run_seed, table, row, number, field(finding.value),
                         field(finding.low), field(finding.high),
                         finding.facts.contains("n") ? finding.facts["n"].dump() : "");
    };
    add("images", "all", "parts", found.parts);
    add("images", "all", "idle_parts", found.idle);
    add("images", "all", "top_part_by_chance", found.top_by_chance);
    add("images", "all", "other_background_change", found.other_place);
    add("images", "all", "other_background_same_decision", found.same_decision);
    for (const auto& [method, scores] : found.methods) {
      for (const auto& [protocol, finding] : scores.scores)
        add("methods", word_of(method), word_of(protocol), finding);
    }
    for (const auto& of_part : found.regions) {
      for (const auto& [kind, setting, iou] : of_part.kinds) {
        const auto part = of_part.part.empty() ? std::string("all") : of_part.part;
        add("regions", word_of(kind), "iou_" + part, iou);
        add("regions", word_of(kind), "iou_" + part + "_other_images",
            {iou.controls.at("other_images"), metrics::kNaN, metrics::kNaN});
      }
    }
  }
  return csv;
}

std::string judged_parts_csv(std::span<const NamedVerification> runs) {
  std::string csv = "run,image,decided,score,part,drop";
  for (const auto method : values_of<Method>()) csv += "," + word_of(method);
  csv += "\n";
  for (const auto& [name, found] : runs) {
    for (const auto& one : found.judged) {
      csv += fmt::format("{},{},{},{:.5g},{},{:.5g}", quoted_field(name), quoted_field(one.image),
                         quoted_field(one.decided), one.score, quoted_field(one.part), one.drop);
      for (const auto& [method, claim] : one.claims) csv += fmt::format(",{:.5g}", claim);
      csv += "\n";
    }
  }
  return csv;
}

}  // namespace partwise::explaining
