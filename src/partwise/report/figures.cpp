#include "partwise/base/printable.h"
#include "partwise/report/html.h"
#include "partwise/report/sections.h"

#include <fmt/format.h>

#include <filesystem>

namespace partwise::report {

namespace {

// Where a figure and the numbers beside it are of two moments of a training.
std::string other_moment(const LoadedRun& run, const runs::DrawnFigure& figure) {
  const auto& measured = run.findings.moment;
  if (!figure.moment || !measured || *figure.moment == *measured) return "";
  std::string words = fmt::format("Drawn of the network at {}; the numbers here are of {}.",
                                  words_for(*figure.moment), words_for(*measured));
  if (*figure.moment < *measured)
    words +=
        fmt::format(" To draw it anew: partwise draw {} {} --into-report", figure.name, run.folder);
  return fmt::format("<b>{}</b> ", text(one_line(words)));
}

std::string figure_html(const LoadedRun& run,
                        const runs::DrawnFigure& figure,
                        bool several,
                        bool open) {
  const Picture picture = read_picture(figure.file_in(run.folder), 1400);
  return fmt::format(
      "<details{}><summary>{}{}</summary>\n<figure><img class=\"sheet\" src=\"{}\" width=\"{}\" "
      "height=\"{}\" alt=\"{}\"><figcaption>{}{}</figcaption>"
      "</figure></details>\n",
      open ? " open" : "", text(figure.title),
      several ? fmt::format(" <span class=\"note\">({})</span>", text(run.label)) : "",
      picture.data_uri, picture.width, picture.height, text(figure.alt), other_moment(run, figure),
      text(figure.caption));
}

constexpr const char* kErrorsFigure = "errors";  // as partwise draw names it

}  // namespace

std::string figures_html(std::span<const LoadedRun> runs, bool of_errors) {
  std::string html;
  std::size_t with_figures = 0;
  for (const LoadedRun& run : runs) with_figures += run.figures.empty() ? 0 : 1;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    for (const auto& figure : run->figures) {
      if ((figure.name == kErrorsFigure) == of_errors)
        html += figure_html(*run, figure, with_figures > 1, of_errors);
    }
  }
  return html;
}

}  // namespace partwise::report
