#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/json_text.h"
#include "partwise/findings/findings_file.h"
#include "partwise/report/html.h"
#include "partwise/report/report.h"
#include "partwise/report/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>

namespace partwise::report {

namespace fs = std::filesystem;

namespace {

// A path may hold any bytes; a page holds UTF-8.
std::string valid_utf8(const std::string& bytes) {
  return nlohmann::json::parse(json_text(bytes)).get<std::string>();
}

std::string folder_name(const fs::path& path) {
  const auto clean = path.lexically_normal();
  const auto name = clean.filename().empty() ? clean.parent_path().filename() : clean.filename();
  return valid_utf8(name.string());
}

void name_and_style(std::vector<LoadedRun>& runs) {
  std::multiset<std::string> arms;
  std::set<std::size_t> ranks;
  for (const LoadedRun& run : runs) {
    arms.insert(run.findings.arm);
    ranks.insert(arm_rank(run.findings.arm));
  }
  const bool one_each = ranks.size() == runs.size();
  for (std::size_t k = 0; k < runs.size(); ++k) {
    LoadedRun& run = runs[k];
    if (arms.count(run.findings.arm) > 1) run.label += " · " + folder_name(run.folder);
    run.style = static_cast<int64_t>(one_each ? arm_rank(run.findings.arm) : k);
  }
}

// From the plainest arm to the full method.
std::vector<LoadedRun> load_runs(const std::vector<runs::RunFolder>& folders) {
  ensure(!folders.empty(), "a report needs at least one run: partwise report RUN… --out FILE.html");
  std::vector<LoadedRun> runs;
  runs.reserve(folders.size());
  for (const runs::RunFolder& folder : folders) {
    auto found = findings::require_findings(folder);
    const std::string arm = found.arm;
    runs.push_back({arm, 0, folder.path().string(), std::move(found), folder.options(),
                    folder.manifest(), folder.log(), runs::drawn_figures(folder),
                    runs::explained_photographs(folder)});
  }
  std::stable_sort(runs.begin(), runs.end(), [](const LoadedRun& a, const LoadedRun& b) {
    return arm_rank(a.findings.arm) < arm_rank(b.findings.arm);
  });
  name_and_style(runs);
  return runs;
}

std::string facts(const std::vector<LoadedRun>& runs, const nlohmann::json& context) {
  const RunFindings& first = leading_run(runs).findings;
  std::string html;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) html += fmt::format("<span>{} <b>{}</b></span>", name, text(value));
  };
  add("data", context_text(context_object(context, "dataset"), "name"));
  add("network", first.net);
  add("task", first.task);
  add("images measured", fmt::format("{} ({})", first.rows, first.split));
  add("networks compared", std::to_string(runs.size()));
  if (context.contains("seed")) add("seed", plain(context.at("seed")));
  return html;
}

std::string contents(const std::vector<Section>& all) {
  std::string html = "<nav aria-label=\"Contents\"><ol>\n";
  for (const Section& section : all) {
    html += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, text(section.title));
  }
  return html + "</ol></nav>\n";
}

}  // namespace

std::string render_report(const std::vector<runs::RunFolder>& folders,
                          const nlohmann::json& context) {
  ensure(context.is_object(), "report context: is {}, expected an object", context.type_name());
  const auto runs = load_runs(folders);
  const auto all = sections(runs, context);
  std::string title = context_text(context, "title");
  if (title.empty()) title = "Which parts does the network see?";
  std::string html = page_head(title);
  html +=
      "<body>\n<a class=\"skip\" href=\"#main\">Skip to the pictures</a>\n<div class=\"frame\">\n";
  html += fmt::format(
      "<header><div class=\"top\"><p class=\"kicker\">Partwise report</p>{}</div><h1>{}</h1><p "
      "class=\"facts\">{}</p></header>\n",
      contents(all), text(title), facts(runs, context));
  html += "<main id=\"main\">\n";
  for (const Section& section : all) {
    html += fmt::format(
        "<section id=\"{0}\" aria-labelledby=\"{0}-heading\">\n<h2 "
        "id=\"{0}-heading\">{1}</h2>\n{2}</section>\n",
        section.id, text(section.title), section.body);
  }
  return html +
         "</main>\n<footer>Written by partwise. This file is complete: it loads nothing from the "
         "network, runs nothing, and can be kept, mailed and printed.</footer>\n</div>\n</body>\n"
         "</html>\n";
}

void write_report(const std::vector<runs::RunFolder>& folders,
                  const nlohmann::json& context,
                  const fs::path& html) {
  nlohmann::json resolved = context;
  if (context.is_object()) {
    const std::string sheet = context_text(context_object(context, "dataset"), "sheet");
    const fs::path beside = html.parent_path() / sheet;
    if (!sheet.empty() && fs::exists(beside)) resolved["dataset"]["sheet"] = beside.string();
  }
  const std::string page = render_report(folders, resolved);
  make_room_for(html);
  write_file_atomically(html, page);
}

}  // namespace partwise::report
