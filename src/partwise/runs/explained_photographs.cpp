#include "partwise/runs/explained_photographs.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/removal.h"
#include "partwise/runs/drawn_figures.h"

#include <algorithm>

namespace partwise::runs {

namespace fs = std::filesystem;

namespace {

fs::path explained_list(const RunFolder& run) {
  return run.path() / "explanations" / "explanations.json";
}

bool is_colour(const std::string& text) {
  return text.empty() || (text.size() == 7 && text[0] == '#' &&
                          text.find_first_not_of("0123456789abcdef", 1) == std::string::npos);
}

ExplainedPhotograph photograph_from_json(const nlohmann::json& json, const fs::path& list) {
  ExplainedPhotograph photograph{json.at("name"),
                                 json.at("chosen"),
                                 json.at("image"),
                                 json.at("truth"),
                                 json.at("decision"),
                                 json.at("probability"),
                                 json.at("against"),
                                 json.at("against_probability"),
                                 json.at("evidence_words"),
                                 json.at("evidence"),
                                 json.at("weak")};
  ensure(is_plain_name(photograph.name), "{}: '{}' is no photograph's name", list.string(),
         photograph.name);
  for (const auto& part : json.at("parts")) {
    photograph.parts.push_back({part.at("name"), part.at("share"), part.at("colour")});
    ensure(is_colour(photograph.parts.back().colour), "{}: '{}' is no colour", list.string(),
           photograph.parts.back().colour);
  }
  return photograph;
}

nlohmann::json explained_json(const ExplainedPhotograph& of) {
  auto parts = nlohmann::json::array();
  for (const auto& part : of.parts)
    parts.push_back({{"name", part.part}, {"share", part.share}, {"colour", part.colour}});
  return {{"name", of.name},
          {"file", of.name + ".png"},
          {"chosen", of.chosen},
          {"image", of.image},
          {"truth", of.truth},
          {"decision", of.decision},
          {"probability", of.probability},
          {"against", of.other},
          {"against_probability", of.other_probability},
          {"evidence_words", of.evidence_words},
          {"evidence", of.evidence},
          {"weak", of.weak},
          {"parts", std::move(parts)}};
}

}  // namespace

fs::path ExplainedPhotograph::file_in(const fs::path& run) const {
  return run / "explanations" / (name + ".png");
}

ExplainedPhotographs explained_photographs(const RunFolder& run) {
  const auto list = explained_list(run);
  ExplainedPhotographs explained;
  if (!fs::exists(list)) return explained;
  const auto json = read_json(list);
  try {
    explained.rule = json.at("rule");
    explained.made_of = json.at("made_of");
    for (const auto& one : json.at("photographs"))
      explained.photographs.push_back(photograph_from_json(one, list));
  } catch (const nlohmann::json::exception& problem) {
    throw Error(fmt::format("{}: damaged ({}); delete its folder and write the report again",
                            list.string(), reason_in(problem)));
  }
  return explained;
}

void record_explained(const RunFolder& run,
                      const ExplainedPhotographs& explained,
                      const std::vector<std::string>& pngs) {
  expects(pngs.size() == explained.photographs.size(), "{} pictures of {} photographs", pngs.size(),
          explained.photographs.size());
  make_writable_folder(explained_list(run).parent_path());
  auto photographs = nlohmann::json::array();
  for (std::size_t i = 0; i < pngs.size(); ++i) {
    const auto& one = explained.photographs[i];
    expects(is_plain_name(one.name), "'{}' is no photograph's name", one.name);
    write_file_atomically(one.file_in(run.path()), pngs[i]);
    photographs.push_back(explained_json(one));
  }
  write_sealed_json(explained_list(run), {{"rule", explained.rule},
                                          {"made_of", explained.made_of},
                                          {"photographs", std::move(photographs)}});
}

void forget_explained(const RunFolder& run) {
  const auto folder = explained_list(run).parent_path();
  remove_folder(folder);
  ensure(!fs::exists(folder),
         "{}: holds explanations of another state of the run and cannot be removed",
         folder.string());
}

}  // namespace partwise::runs
