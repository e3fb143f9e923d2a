#include "partwise/report/latex.h"

#include <fmt/format.h>

namespace partwise::report {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '\\':
        result += "\\textbackslash{}";
        break;
      case '~':
        result += "\\textasciitilde{}";
        break;
      case '^':
        result += "\\textasciicircum{}";
        break;
      case '\n':
        result += ' ';
        break;
      case '_':
      case '%':
      case '&':
      case '#':
      case '$':
      case '{':
      case '}':
        result += '\\';
        [[fallthrough]];
      default:
        result += c;
    }
  }
  return result;
}

std::string latex_number(std::optional<double> value) {
  return value ? plain_number(value) : "--";
}

}  // namespace

std::string findings_latex(std::span<const NamedFindings> runs) {
  const auto grid = findings_grid(runs);
  std::string text = fmt::format("% {}\n\\begin{{tabular}}{{l{}}}\n\\hline\n", table_notes(runs),
                                 std::string(grid.columns.size(), 'c'));
  std::string names;
  std::string layers = "metric";
  for (const auto& column : grid.columns) {
    names += " & " + escaped(column.run);
    layers += " & " + escaped(column.layer);
  }
  text += names + " \\\\\n" + layers + " \\\\\n\\hline\n";
  for (const auto& line : grid.lines) {
    text += escaped(line.metric);
    for (const auto& cell : line.cells) {
      text += cell ? fmt::format(" & {} [{}, {}]", latex_number(cell->value),
                                 latex_number(cell->low), latex_number(cell->high))
                   : " &";
    }
    text += " \\\\\n";
  }
  return text + "\\hline\n\\end{tabular}\n";
}

}  // namespace partwise::report
