#include "partwise/report/explained_page.h"

#include "partwise/base/files.h"
#include "partwise/report/html.h"

#include <fmt/format.h>

namespace partwise::report {
namespace {

std::string parts_table(const ExplainedObject& object) {
  std::string rows;
  for (const auto& part : object.parts) {
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        text(part.name), text(part.share), text(part.logits), text(part.contrast),
        text(part.silenced));
  }
  return fmt::format(
      "<details><summary>Numbers</summary><div class=\"scroll\" tabindex=\"0\" role=\"group\" "
      "aria-label=\"Parts of {}\"><table><thead><tr><th "
      "scope=\"col\">part</th><th scope=\"col\">share of the evidence</th><th "
      "scope=\"col\">logits</th><th scope=\"col\">against {}</th><th scope=\"col\">score lost "
      "without it</th></tr></thead><tbody>\n{}</tbody></table></div></details>\n",
      text(object.title), text(object.other), rows);
}

std::string object_section(const ExplainedObject& object, std::size_t number) {
  const auto picture = picture_from_png(object.picture, object.title);
  return fmt::format(
      "<section id=\"object-{0}\" aria-labelledby=\"object-{0}-heading\"><h2 "
      "id=\"object-{0}-heading\">{1}</h2>\n<p{2}>{3} {4}</p>\n<figure><img src=\"{5}\" "
      "width=\"{6}\" height=\"{7}\" alt=\"{8}\" "
      "style=\"max-width:100%;height:auto\">"
      "</figure>\n{9}<p class=\"note\">{10}</p></section>\n",
      number, text(object.title), object.weak ? " class=\"warnings\"" : "",
      text(object.summary + "."), text(object.evidence), picture.data_uri, picture.width,
      picture.height, text(object.title + ": " + object.summary), parts_table(object),
      text(object.how));
}

}  // namespace

void write_explained_page(const std::string& title,
                          const std::vector<ExplainedObject>& objects,
                          const std::vector<std::string>& problems,
                          const std::filesystem::path& html) {
  auto page = page_head(title);
  page += fmt::format(
      "<body>\n<div class=\"frame\">\n<header><p "
      "class=\"kicker\">Partwise</p><h1>{}</h1></header>\n"
      "<main id=\"main\">\n",
      text(title));
  for (const auto& problem : problems)
    page += fmt::format("<p class=\"warnings\">Not explained: {}</p>\n", text(problem));
  for (std::size_t i = 0; i < objects.size(); ++i) page += object_section(objects[i], i + 1);
  page +=
      "</main>\n<footer>Written by partwise. This file is complete: it loads nothing from the "
      "network and can be kept, mailed and printed.</footer>\n</div>\n</body>\n</html>\n";
  make_room_for(html);
  write_file_atomically(html, page);
}

}  // namespace partwise::report
