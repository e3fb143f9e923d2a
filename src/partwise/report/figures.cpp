#include "partwise/report/html.h"
#include "partwise/report/sections.h"

#include <fmt/format.h>

#include <filesystem>

namespace partwise::report {

namespace {

std::string figure_html(const LoadedRun& run,
                        const runs::DrawnFigure& figure,
                        bool several,
                        bool open) {
  const Picture picture = read_picture(figure.file_in(run.folder), 1400);
  return fmt::format(
      "<details{}><summary>{}{}</summary>\n<figure><img class=\"sheet\" src=\"{}\" width=\"{}\" "
      "height=\"{}\" alt=\"{}\"><figcaption>{}</figcaption>"
      "</figure></details>\n",
      open ? " open" : "", text(figure.title),
      several ? fmt::format(" <span class=\"note\">({})</span>", text(run.label)) : "",
      picture.data_uri, picture.width, picture.height, text(figure.alt), text(figure.caption));
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
