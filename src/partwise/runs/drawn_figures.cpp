#include "partwise/runs/drawn_figures.h"

#include "partwise/base/error.h"
#include "partwise/base/file_lock.h"
#include "partwise/base/files.h"

#include <algorithm>
#include <cctype>

namespace partwise::runs {

namespace fs = std::filesystem;

namespace {

fs::path figures_of(const RunFolder& run) {
  return run.path() / "figures";
}

}  // namespace

bool is_plain_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c < 128 && (std::isalnum(c) != 0 || c == '-' || c == '_');
  });
}

fs::path DrawnFigure::file_in(const fs::path& run) const {
  return run / "figures" / (name + ".png");
}

std::vector<DrawnFigure> drawn_figures(const RunFolder& run) {
  const auto list = figures_of(run) / "figures.json";
  std::vector<DrawnFigure> figures;
  if (!fs::exists(list)) return figures;
  const auto json = read_json(list);
  try {
    for (const auto& one : json.at("figures")) {
      figures.push_back(
          {one.at("name"), one.at("title"), one.at("caption"), one.value("alt", std::string())});
      ensure(is_plain_name(figures.back().name), "{}: '{}' is no figure's name", list.string(),
             figures.back().name);
      if (one.contains("epoch"))
        figures.back().moment = TrainingMoment{one.at("epoch"), one.at("step")};
    }
  } catch (const nlohmann::json::exception& problem) {
    throw Error(fmt::format("{}: damaged ({}); delete it and draw the figures again", list.string(),
                            reason_in(problem)));
  }
  return figures;
}

bool is_drawn_since(const RunFolder& run,
                    const std::string& name,
                    std::span<const fs::path> made_of) {
  const auto figures = drawn_figures(run);
  const auto found = std::find_if(figures.begin(), figures.end(),
                                  [&](const DrawnFigure& one) { return one.name == name; });
  if (found == figures.end() || !fs::exists(found->file_in(run.path()))) return false;
  const auto drawn = fs::last_write_time(found->file_in(run.path()));
  return std::none_of(made_of.begin(), made_of.end(), [&](const fs::path& file) {
    return fs::exists(file) && fs::last_write_time(file) > drawn;
  });
}

void record_figure(const RunFolder& run, const DrawnFigure& figure, std::string_view png) {
  expects(is_plain_name(figure.name), "'{}' is no figure's name", figure.name);
  make_writable_folder(figures_of(run));
  // Or of two figures drawn at once the list forgets one.
  const FileLock alone(figures_of(run) / "figures.lock");
  auto figures = drawn_figures(run);
  remove_abandoned_writes(figures_of(run));
  write_file_atomically(figure.file_in(run.path()), png);
  const auto older = std::find_if(figures.begin(), figures.end(),
                                  [&](const DrawnFigure& one) { return one.name == figure.name; });
  if (older == figures.end()) {
    figures.push_back(figure);
  } else {
    *older = figure;
  }
  auto list = nlohmann::json::array();
  for (const auto& one : figures) {
    auto& written = list.emplace_back(nlohmann::json{{"name", one.name},
                                                     {"file", one.name + ".png"},
                                                     {"title", one.title},
                                                     {"caption", one.caption},
                                                     {"alt", one.alt}});
    if (one.moment) written.update({{"epoch", one.moment->epoch}, {"step", one.moment->step}});
  }
  write_sealed_json(figures_of(run) / "figures.json", {{"figures", std::move(list)}});
}

}  // namespace partwise::runs
