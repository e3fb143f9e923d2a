#include "partwise/explaining/verification.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/progress.h"
#include "partwise/base/random.h"
#include "partwise/datasets/crops.h"
#include "partwise/explaining/changed_scenes.h"
#include "partwise/models/activations.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <utility>

namespace partwise::explaining {
namespace {

constexpr int kVerificationFormat = 1;
constexpr uint64_t kChoiceStream = 0x63686f696365;
constexpr int64_t kMostParts = 16;  // 2^16 sets would still be asked one by one

// Up to `images` rows of each category.
std::vector<int64_t> choose_rows(const models::Examples& examples,
                                 int64_t categories,
                                 const VerifyOptions& options) {
  const auto category = models::to_vector(examples.category);
  std::vector<int64_t> chosen;
  for (int64_t c = 0; c < categories; ++c) {
    std::vector<int64_t> rows;
    for (std::size_t i = 0; i < category.size(); ++i) {
      if (category[i] == c) rows.push_back(static_cast<int64_t>(i));
    }
    Random random(derive_seed(
        {static_cast<uint64_t>(options.seed), kChoiceStream, static_cast<uint64_t>(c)}));
    shuffle(rows, random);
    rows.resize(std::min(rows.size(), static_cast<std::size_t>(options.images)));
    std::sort(rows.begin(), rows.end());
    chosen.insert(chosen.end(), rows.begin(), rows.end());
  }
  return chosen;
}

// The image behind one trial.
struct Scene {
  datasets::SceneKey key;
  Box box;
  std::vector<std::string> parts;  // visible

  [[nodiscard]] ChangedScene without(PartSet set) const {
    ChangedScene changed{key, box, {}};
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (((set >> p) & 1U) != 0) changed.change.without.push_back(parts[p]);
    }
    return changed;
  }
};

Scene scene_of(const datasets::PartDataset& dataset, const datasets::Sample& sample) {
  const auto& annotation = dataset.annotations[static_cast<std::size_t>(sample.annotation_index)];
  const auto category =
      std::find_if(dataset.categories.begin(), dataset.categories.end(),
                   [&](const auto& one) { return one.id == annotation.category_id; });
  Scene scene{datasets::scene_of_image(dataset, sample.image_index), annotation.bbox, {}};
  for (const auto& part : category->parts) {
    if (annotation.parts.contains(part)) scene.parts.push_back(part);
  }
  expects(std::ssize(scene.parts) <= kMostParts, "{} parts", scene.parts.size());
  return scene;
}

metrics::PixelSet animal_of(const datasets::PartDataset& dataset,
                            const datasets::Sample& sample,
                            int64_t side) {
  const auto& annotation = dataset.annotations[static_cast<std::size_t>(sample.annotation_index)];
  metrics::PixelSet set(side);
  expects(annotation.segmentation.has_value(), "a synthetic animal without its outline");
  const auto pixels = datasets::crop_mask(*annotation.segmentation, annotation.bbox, side);
  for (int64_t y = 0; y < side; ++y) {
    for (int64_t x = 0; x < side; ++x) {
      if (pixels[static_cast<std::size_t>(y * side + x)] != 0) set.insert(x, y);
    }
  }
  return set;
}

// The trials of a run: rows decided right, their scenes and what is asked of them.
struct Bench {
  std::vector<int64_t> rows;  // of the examples
  std::vector<Scene> scenes;
  std::vector<ClaimedRow> claimed;
  std::vector<Trial> trials;
  std::vector<std::vector<double>> elsewhere;  // scores in another place
};

// The file of every chosen image must be what the generator draws, or its changed scenes would
// differ from it by more than the change.
void require_own_drawings(const datasets::PartDataset& dataset,
                          const models::Examples& examples,
                          std::span<const Scene> scenes,
                          std::span<const int64_t> rows,
                          int threads) {
  std::vector<ChangedScene> unchanged;
  for (const auto& scene : scenes) unchanged.push_back(scene.without(0));
  const auto drawn = draw_crops(unchanged, examples.pixels.size(2), threads);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& sample = examples.samples[static_cast<std::size_t>(rows[i])];
    ensure(torch::equal(drawn[static_cast<int64_t>(i)], examples.pixels[rows[i]]),
           "{}: is not what the generator draws; make the dataset anew with 'partwise data synth'",
           (dataset.root / dataset.images[static_cast<std::size_t>(sample.image_index)].file_name)
               .string());
  }
}

// Asks for every (trial, set) that has no answer yet.
void ask(const judging::TrainedRun& trained,
         const models::Resources& resources,
         const std::vector<std::pair<std::size_t, PartSet>>& questions,
         Bench& bench) {
  std::vector<std::pair<std::size_t, PartSet>> open;
  std::set<std::pair<std::size_t, PartSet>> seen;
  for (const auto& question : questions) {
    if (!bench.trials[question.first].answers.contains(question.second) &&
        seen.insert(question).second)
      open.push_back(question);
  }
  std::vector<ChangedScene> scenes;
  for (const auto& [trial, set] : open) scenes.push_back(bench.scenes[trial].without(set));
  const auto answers = scores_of_scenes(trained.network, trained.task, scenes, resources);
  for (std::size_t i = 0; i < open.size(); ++i)
    bench.trials[open[i].first].answers[open[i].second] = answers[i];
}

Bench make_bench(const judging::TrainedRun& trained,
                 const datasets::PartDataset& dataset,
                 const models::Examples& examples,
                 const metrics::Truth& truth,
                 const std::vector<int64_t>& chosen,
                 const models::Resources& resources) {
  Bench all;
  all.rows = chosen;
  for (const int64_t row : chosen)
    all.scenes.push_back(scene_of(dataset, examples.samples[static_cast<std::size_t>(row)]));
  require_own_drawings(dataset, examples, all.scenes, chosen, resources.threads);
  std::vector<ChangedScene> whole;
  std::vector<ChangedScene> moved;
  for (const auto& scene : all.scenes) {
    whole.push_back(scene.without(0));
    moved.push_back({scene.key, scene.box, {{}, true}});
  }
  const auto scores = scores_of_scenes(trained.network, trained.task, whole, resources);
  const auto in_other_place = scores_of_scenes(trained.network, trained.task, moved, resources);
  const int64_t none = trained.task.may_be_none ? 1 : 0;  // classes before the outputs
  Bench bench;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto& row = truth.rows[static_cast<std::size_t>(chosen[i])];
    Trial trial;
    trial.parts = std::ssize(all.scenes[i].parts);
    trial.decided = row.category + none;
    trial.answers[0] = scores[i];
    if (trial.parts == 0 || !trial.still_decided(0)) continue;
    ClaimedRow claimed;
    claimed.names = all.scenes[i].parts;
    claimed.decided = row.category;
    for (int64_t output = 0; output < trained.task.outputs(); ++output) {
      if (output == row.category) continue;
      if (claimed.runner_up < 0 ||
          scores[i][static_cast<std::size_t>(output + none)] >
              scores[i][static_cast<std::size_t>(claimed.runner_up + none)])
        claimed.runner_up = output;
    }
    if (claimed.runner_up >= 0) trial.runner_up = claimed.runner_up + none;
    const auto& names = truth.categories[static_cast<std::size_t>(row.category)].parts;
    for (const auto& name : claimed.names) {
      const auto part = std::find(names.begin(), names.end(), name) - names.begin();
      claimed.parts.push_back(row.parts[static_cast<std::size_t>(part)]);
    }
    claimed.animal =
        animal_of(dataset, examples.samples[static_cast<std::size_t>(chosen[i])], truth.input_side);
    bench.rows.push_back(chosen[i]);
    bench.scenes.push_back(all.scenes[i]);
    bench.claimed.push_back(std::move(claimed));
    bench.trials.push_back(std::move(trial));
    bench.elsewhere.push_back(in_other_place[i]);
  }
  return bench;
}

// Neighbours in the list fall into different halves, so a category's images are halved too.
void ask_everything(const judging::TrainedRun& trained,
                    const models::Resources& resources,
                    const std::map<Method, std::vector<Claim>>& claims,
                    Bench& bench) {
  std::vector<std::pair<std::size_t, PartSet>> questions;
  for (std::size_t i = 0; i < bench.trials.size(); ++i) {
    const auto parts = bench.trials[i].parts;
    for (int64_t a = 0; a < parts; ++a) {
      for (int64_t b = a; b < parts; ++b)
        questions.emplace_back(i, PartSet{1} << a | PartSet{1} << b);
    }
    for (const auto& [method, of_rows] : claims) {
      for (const auto set : asked_sets(of_rows[i].decided)) questions.emplace_back(i, set);
    }
  }
  ask(trained, resources, questions, bench);
}

PartBook book_of_run(const runs::RunFolder& run,
                     const judging::TrainedRun& trained,
                     const datasets::PartDataset& dataset,
                     const models::Resources& resources) {
  const models::Model model{trained.design, trained.network, trained.position, {}};
  if (auto book = read_part_book(run, model)) return *std::move(book);
  auto book = learn_parts(trained, dataset, resources);
  write_part_book(run, book);
  return book;
}

std::vector<JudgedPart> judged_parts(const Bench& bench,
                                     const std::map<Method, std::vector<Claim>>& claims,
                                     const datasets::PartDataset& dataset,
                                     const models::Examples& examples,
                                     const std::vector<std::string>& classes) {
  std::vector<JudgedPart> judged;
  for (std::size_t i = 0; i < bench.trials.size(); ++i) {
    const auto& trial = bench.trials[i];
    const auto& sample = examples.samples[static_cast<std::size_t>(bench.rows[i])];
    const auto drops = trial.drops(trial.decided);
    for (std::size_t p = 0; p < drops.size(); ++p) {
      auto& part = judged.emplace_back();
      part.image = dataset.images[static_cast<std::size_t>(sample.image_index)].file_name;
      part.decided = classes.at(static_cast<std::size_t>(trial.decided));
      part.part = bench.claimed[i].names[p];
      part.score = trial.answers.at(0).at(static_cast<std::size_t>(trial.decided));
      part.drop = drops[p];
      for (const auto& [method, of_rows] : claims) part.claims[method] = of_rows[i].decided[p];
    }
  }
  return judged;
}

nlohmann::json number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json finding_json(const metrics::Finding& finding) {
  nlohmann::json json{{"value", number(finding.value)},
                      {"low", number(finding.low)},
                      {"high", number(finding.high)}};
  for (const auto& item : finding.facts.items()) json[item.key()] = item.value();
  for (const auto& [name, control] : finding.controls) json["controls"][name] = number(control);
  return json;
}

nlohmann::json gains_json(const Verification& verification, Method method) {
  auto json = nlohmann::json::object();
  for (const auto protocol : values_of<Protocol>()) {
    const auto gain = verification.gain_over(method, protocol);
    if (!std::isfinite(gain.difference)) continue;
    json[word_of(protocol)] = {{"difference", number(gain.difference)},
                               {"low", number(gain.low)},
                               {"high", number(gain.high)},
                               {"verdict", metrics::words_for(metrics::relation(gain))}};
  }
  return json;
}

}  // namespace

metrics::Comparison Verification::gain_over(Method other, Protocol protocol) const {
  return metrics::compare(methods.at(other).scores.at(protocol),
                          methods.at(Method::parts_by_name).scores.at(protocol),
                          /*drawn_together=*/true);
}

Verification verify_run(const runs::RunFolder& run,
                        const datasets::PartDataset& dataset,
                        const VerifyOptions& options,
                        const models::Resources& resources,
                        const std::string& checkpoint) {
  validate(options);
  ensure(!dataset.images.empty(), "{}: holds no images", dataset.root.string());
  datasets::scene_of_image(dataset, 0);  // an Error before minutes of work
  const auto trained = judging::open_trained_run(run, dataset, resources, checkpoint);
  const auto examples = models::load_examples(dataset, trained.task, "test", trained.input_side(),
                                              resources.threads, resources.cache);
  const auto truth =
      models::truth_of(dataset, trained.task.category_ids, examples.samples, trained.input_side());
  const auto book = book_of_run(run, trained, dataset, resources);

  Verification found;
  found.net = trained.design.net;
  found.arm = word_of(trained.design.arm);
  found.layer = book.layers.back().layer;
  found.run_seed = trained.design.seed;
  found.position = trained.position;
  found.data_hash = content_hash(read_file(dataset.root / "dataset.json"));
  found.options = options;

  const auto chosen = choose_rows(examples, trained.task.outputs(), options);
  auto bench = make_bench(trained, dataset, examples, truth, chosen, resources);
  found.images = std::ssize(chosen);
  found.right = std::ssize(bench.trials);
  ensure(found.right >= 2,
         "{}: decides {} of {} test images right; explanations of those are too "
         "few to be held against anything; train it longer",
         run.path().string(), found.right, found.images);
  const auto pixels = examples.pixels.index_select(0, torch::tensor(bench.rows, torch::kInt64));
  ClaimOptions claiming;
  claiming.seed = static_cast<uint64_t>(options.seed);
  const auto claims = claims_of_methods(trained.network, book.layers.back(), *book.additive, pixels,
                                        bench.claimed, resources, claiming);
  ask_everything(trained, resources, claims, bench);
  found.judged = judged_parts(bench, claims, dataset, examples, models::class_names(trained.task));

  for (const auto& [method, of_rows] : claims)
    found.methods[method] = score_method(bench.trials, of_rows, options.bootstrap);
  const auto over_trials = [&](const auto& number_of) {
    std::vector<double> numbers;
    for (std::size_t i = 0; i < bench.trials.size(); ++i) numbers.push_back(number_of(i));
    return mean_over_images(numbers, options.bootstrap);
  };
  const auto parts = [&](std::size_t i) { return static_cast<double>(bench.trials[i].parts); };
  found.parts = over_trials(parts);
  found.idle =
      over_trials([&](std::size_t i) { return std::popcount(bench.trials[i].idle()) / parts(i); });
  found.top_by_chance = over_trials([&](std::size_t i) { return 1.0 / parts(i); });
  found.other_place = over_trials([&](std::size_t i) {
    const auto& trial = bench.trials[i];
    const auto at = static_cast<std::size_t>(trial.decided);
    const double score = trial.answers.at(0)[at];
    return std::abs(bench.elsewhere[i][at] - score) / std::abs(score);
  });
  found.same_decision = over_trials([&](std::size_t i) {
    const auto& scores = bench.elsewhere[i];
    const auto decided = std::max_element(scores.begin(), scores.end()) - scores.begin();
    return decided == bench.trials[i].decided ? 1.0 : 0.0;
  });

  RegionOptions outlining;
  outlining.fields = options.occlusion_fields;
  outlining.seed = static_cast<uint64_t>(options.seed);
  const auto train_truth = models::truth_of(dataset, trained.task.category_ids,
                                            trained.train.samples, trained.input_side());
  found.regions = score_regions(trained, book.layers.back(), examples, train_truth, truth,
                                resources, outlining, options.bootstrap);
  return found;
}

nlohmann::json to_json(const Verification& verification) {
  auto methods = nlohmann::json::object();
  for (const auto& [method, scores] : verification.methods) {
    nlohmann::json json{{"threshold", scores.threshold}};
    for (const auto& [protocol, finding] : scores.scores)
      json[word_of(protocol)] = finding_json(finding);
    if (method != Method::parts_by_name)
      json["parts_by_name_minus_this"] = gains_json(verification, method);
    methods[word_of(method)] = std::move(json);
  }
  auto regions = nlohmann::json::array();
  for (const auto& of_part : verification.regions) {
    auto kinds = nlohmann::json::object();
    for (const auto& [kind, setting, iou] : of_part.kinds) {
      auto json = finding_json(iou);
      json["setting"] = number(setting);
      kinds[word_of(kind)] = std::move(json);
    }
    regions.push_back({{"part", of_part.part},
                       {"filters", of_part.filters},
                       {"pairs", of_part.pairs},
                       {"iou", std::move(kinds)}});
  }
  auto options = partwise::to_json(verification.options);
  options.update(partwise::to_json(verification.options.bootstrap));
  return {{"format", kVerificationFormat},
          {"net", verification.net},
          {"arm", verification.arm},
          {"layer", verification.layer},
          {"seed", verification.run_seed},
          {"epoch", verification.position.epoch},
          {"step", verification.position.step},
          {"data_hash", verification.data_hash},
          {"options", std::move(options)},
          {"images", verification.images},
          {"decided_right", verification.right},
          {"parts_per_image", finding_json(verification.parts)},
          {"idle_parts", finding_json(verification.idle)},
          {"top_part_by_chance", finding_json(verification.top_by_chance)},
          {"other_background",
           {{"change", finding_json(verification.other_place)},
            {"same_decision", finding_json(verification.same_decision)}}},
          {"methods", std::move(methods)},
          {"regions", std::move(regions)}};
}

void write_verification(const runs::RunFolder& run, const Verification& verification) {
  write_sealed_json(run.path() / "faithfulness.json", to_json(verification));
}

}  // namespace partwise::explaining
