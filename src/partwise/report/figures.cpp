#include "partwise/report/html.h"
#include "partwise/report/sections.h"

#include <fmt/format.h>

#include <filesystem>

namespace partwise::report {

namespace {

std::string figure_html(const LoadedRun& run, const runs::DrawnFigure& figure, bool several) {
  const Picture picture = read_picture(figure.file_in(run.folder));
  return fmt::format(
      "<details open><summary>{}{}</summary>\n<figure><img class=\"sheet\" src=\"{}\" width=\"{}\" "
      "height=\"{}\" alt=\"{}\" loading=\"lazy\" decoding=\"async\"><figcaption>{}</figcaption>"
      "</figure></details>\n",
      text(figure.title),
      several ? fmt::format(" <span class=\"note\">({})</span>", text(run.label)) : "",
      picture.data_uri, picture.width, picture.height, text(figure.alt), text(figure.caption));
}

}  // namespace

std::string figures_section(std::span<const LoadedRun> runs) {
  std::string html;
  std::size_t with_figures = 0;
  for (const LoadedRun& run : runs) with_figures += run.figures.empty() ? 0 : 1;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    for (const auto& figure : run->figures) html += figure_html(*run, figure, with_figures > 1);
  }
  if (html.empty()) return "";
  return "<p>The figures of the paper, drawn of these networks. Filters and images were drawn at "
         "random, not picked: each caption says how.</p>\n" +
         html;
}

}  // namespace partwise::report
