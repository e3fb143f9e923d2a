#include "partwise/report/markdown.h"

#include <fmt/format.h>

namespace partwise::report {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

}  // namespace

std::string findings_markdown(std::span<const NamedFindings> runs) {
  const auto grid = findings_grid(runs);
  std::string head = "| metric |";
  std::string rule = "|---|";
  for (const auto& column : grid.columns) {
    head += fmt::format(" {}, {} |", escaped(column.run), escaped(column.layer));
    rule += "---|";
  }
  std::string text = head + '\n' + rule + '\n';
  for (const auto& line : grid.lines) {
    text += fmt::format("| {} |", escaped(line.metric));
    for (const auto& cell : line.cells) {
      text += cell ? fmt::format(" {} [{}, {}] |", plain_number(cell->value),
                                 plain_number(cell->low), plain_number(cell->high))
                   : " |";
    }
    text += '\n';
  }
  return text + '\n' + table_notes(runs) + '\n';
}

}  // namespace partwise::report
