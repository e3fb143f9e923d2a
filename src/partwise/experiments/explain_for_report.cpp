#include "partwise/experiments/explain_for_report.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/explaining/explanation_picture.h"
#include "partwise/explaining/shown_objects.h"
#include "partwise/findings/findings_file.h"
#include "partwise/images/codec.h"
#include "partwise/models/run_data.h"
#include "partwise/runs/explained_photographs.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <numeric>

namespace partwise::experiments {
namespace {

namespace fs = std::filesystem;
using explaining::Shown;

constexpr int64_t kRule = 1;    // another number where the rule or the drawing changes
constexpr int64_t kPool = 96;   // objects the right ones are chosen from
constexpr int64_t kMost = 384;  // objects looked through for a wrong one
constexpr uint64_t kShownStream = 0x73686f776eULL;
constexpr int64_t kOutlined = 4;
constexpr std::size_t kPartsListed = 5;
constexpr double kShownPixelsPerUnit = 1.4;

// The known arm nearest to the full method, as the report has it.
const runs::RunFolder* leading_run(const std::vector<runs::RunFolder>& runs) {
  const runs::RunFolder* leading = nullptr;
  int64_t best = -2;
  for (const auto& run : runs) {
    const auto rank = findings::arm_rank(run.options().value("arm", std::string()));
    const auto known = rank < findings::kArms ? static_cast<int64_t>(rank) : -1;
    if (known <= best) continue;
    leading = &run;
    best = known;
  }
  return leading;
}

std::string hash_of(const fs::path& file) {
  return fs::exists(file) ? content_hash(read_file(file)) : "";
}

nlohmann::json made_of(const runs::RunFolder& run,
                       const findings::RunFindings& found,
                       const models::Position& position) {
  nlohmann::json state{{"rule", kRule},
                       {"checkpoint", found.checkpoint},
                       {"epoch", position.epoch},
                       {"step", position.step},
                       {"parts", hash_of(explaining::part_book_file(run))},
                       {"names", hash_of(run.path() / "names.json")},
                       {"data_hash", found.data_hash},
                       {"split", found.split},
                       {"seed", run.options().value("seed", int64_t{1})}};
  if (!found.images_hash.empty()) state["images_hash"] = found.images_hash;
  return state;
}

models::Examples examples_of(const datasets::PartDataset& dataset,
                             const models::Rows& rows,
                             std::span<const int64_t> chosen,
                             int64_t side,
                             const models::Resources& resources) {
  models::Examples examples;
  std::vector<int64_t> category;
  for (const int64_t row : chosen) {
    examples.samples.push_back(rows.samples[static_cast<std::size_t>(row)]);
    category.push_back(rows.category[static_cast<std::size_t>(row)]);
  }
  const auto crops = datasets::load_crops(dataset, examples.samples, {side, resources.threads});
  examples.pixels = torch::from_blob(const_cast<uint8_t*>(crops.pixels.data()),
                                     {crops.rows, 3, side, side}, torch::kUInt8)
                        .clone();
  examples.category = torch::tensor(category, torch::kInt64);
  return examples;
}

std::string chosen_words(Shown why) {
  switch (why) {
    case Shown::typical:
      return "Right, with typical evidence";
    case Shown::weak:
      return "Right, with the least evidence";
    case Shown::strong:
      return "Right, with the most evidence";
    case Shown::wrong:
      break;
  }
  return "Wrong";
}

std::string rule_words(std::span<const explaining::ShownObject> shown,
                       int64_t drawn,
                       const std::string& split,
                       int64_t seed) {
  const bool wrong = std::any_of(shown.begin(), shown.end(),
                                 [](const auto& one) { return one.why == Shown::wrong; });
  return fmt::format(
      "Nobody picked these: of {} images of the split “{}”, drawn at random by seed {}, the right "
      "one with the median evidence, the right one with the least and {}.",
      std::min(drawn, kPool), split, seed,
      wrong && drawn > kPool ? fmt::format("the first wrong one of {} drawn", drawn)
      : wrong                ? "the first wrong one"
              : fmt::format("the one with the most, as none of {} drawn is wrong", drawn));
}

runs::ExplainedPhotograph photograph_of(const explaining::Explanation& of, Shown why) {
  runs::ExplainedPhotograph photograph;
  photograph.name = word_of(why);
  photograph.chosen = chosen_words(why);
  photograph.decision = of.decision;
  photograph.probability = of.probability;
  photograph.other = of.other;
  photograph.other_probability = of.other_probability;
  photograph.evidence_words = explaining::evidence_words(of);
  photograph.evidence = of.evidence();
  photograph.weak = of.weak();
  const auto colours = explaining::outline_colours(of);
  runs::PartOfEvidence rest{"smaller parts", 0.0, ""};
  for (std::size_t i = 0; i < of.parts.size(); ++i) {
    if (i >= kPartsListed) {
      rest.share += of.parts[i].share;
      continue;
    }
    const auto& colour = colours[i];
    photograph.parts.push_back(
        {of.parts[i].label(), of.parts[i].share,
         colour ? fmt::format("#{:02x}{:02x}{:02x}", (*colour)[0], (*colour)[1], (*colour)[2])
                : ""});
  }
  if (of.parts.size() > kPartsListed) photograph.parts.push_back(std::move(rest));
  return photograph;
}

void explain_run(const runs::RunFolder& run,
                 const datasets::PartDataset& dataset,
                 const findings::RunFindings& found,
                 const nlohmann::json& state,
                 const models::Resources& resources) {
  const explaining::Explainer explainer(run, found.checkpoint, resources.device);
  const auto& model = explainer.model();
  const auto book = explaining::read_part_book(run, model);
  ensure(book.has_value(), "its parts are not known; run: partwise names {} --learn",
         run.path().string());
  const auto task = models::task_on(dataset, model.design.task);
  const auto rows = models::task_rows(dataset, task, found.split);
  std::vector<int64_t> order(rows.samples.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto seed = state.at("seed").get<int64_t>();
  Random random(derive_seed({static_cast<uint64_t>(seed), kShownStream}));
  shuffle(order, random);

  std::vector<explaining::JudgedObject> drawn;
  const auto any_wrong = [&] {
    return std::any_of(drawn.begin(), drawn.end(), [](const auto& one) { return !one.right; });
  };
  const int64_t most = std::min(kMost, std::ssize(order));
  while (std::ssize(drawn) < most && (drawn.empty() || !any_wrong())) {
    const auto count = std::min(kPool, most - std::ssize(drawn));
    const auto next = std::span(order).subspan(drawn.size(), static_cast<std::size_t>(count));
    const auto examples = examples_of(dataset, rows, next, model.design.input.side, resources);
    const auto judged = explaining::judge_objects(model, task, examples, *book, resources.device);
    drawn.insert(drawn.end(), judged.begin(), judged.end());
  }

  const auto shown = explaining::choose_shown(drawn, kPool);
  runs::ExplainedPhotographs explained{
      rule_words(shown, std::ssize(drawn), found.split, seed), state, {}};
  const auto classes = models::class_names(task);
  std::vector<std::string> pngs;
  for (const auto& one : shown) {
    const auto row = static_cast<std::size_t>(order[static_cast<std::size_t>(one.index)]);
    const auto& sample = rows.samples[row];
    const auto& image = dataset.images[static_cast<std::size_t>(sample.image_index)];
    const auto photo = images::read_image(dataset.root / image.file_name);
    const auto explanation =
        explainer.explain(photo, datasets::crop_box(dataset, sample), {"", kOutlined, false});
    auto photograph = photograph_of(explanation, one.why);
    photograph.image = image.file_name;
    photograph.truth =
        classes[static_cast<std::size_t>(rows.category[row]) + (task.may_be_none ? 1U : 0U)];
    explained.photographs.push_back(std::move(photograph));
    pngs.push_back(images::encode_png(
        explaining::explained_photograph(photo, explanation).image(kShownPixelsPerUnit)));
  }
  runs::record_explained(run, explained, pngs);
}

}  // namespace

void explain_for_report(const std::vector<runs::RunFolder>& runs,
                        const fs::path& data,
                        const Machine& machine) {
  ensure(data.empty() || fs::exists(data / "dataset.json"),
         "{}: no dataset is there; --data is the folder that holds dataset.json", data.string());
  const auto* run = leading_run(runs);
  if (run == nullptr) return;
  try {
    const auto found = findings::read_findings(*run);
    if (!found) return;  // the report says what to do
    const auto position = models::newest_position(*run);
    const auto state = made_of(*run, *found, position.value_or(models::Position{}));
    const auto there = runs::explained_photographs(*run);
    const bool drawn = std::all_of(
        there.photographs.begin(), there.photographs.end(),
        [&](const auto& photograph) { return fs::exists(photograph.file_in(run->path())); });
    if (!there.photographs.empty() && drawn && there.made_of == state) return;
    runs::forget_explained(*run);
    ensure(position.has_value(), "it has no checkpoint");
    ensure(fs::exists(explaining::part_book_file(*run)),
           "its parts are not known; run: partwise names {} --learn", run->path().string());
    const auto dataset = models::data_of(*run, data);
    ensure(findings::was_measured_on(*found, models::data_record(dataset)),
           "{} is not the dataset it was measured on; say with --data where that lies",
           dataset.root.string());
    say("explaining three photographs ...");
    explain_run(*run, dataset, *found, state, start_session(machine));
  } catch (const Error& problem) {
    say(fmt::format("{}: no photographs are explained in the report: {}", run->path().string(),
                    problem.what()));
  }
}

}  // namespace partwise::experiments
