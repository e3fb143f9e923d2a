#include "partwise/experiments/explain_errors.h"

#include "partwise/base/files.h"
#include "partwise/experiments/file_stems.h"
#include "partwise/explaining/explanation_picture.h"
#include "partwise/images/codec.h"
#include "partwise/models/examples.h"
#include "partwise/models/run_data.h"

namespace partwise::experiments {
namespace {

// The picture of a mistake: the photograph itself, with the object's own box.
std::string mistake_png(const explaining::Explainer& explainer,
                        const datasets::PartDataset& dataset,
                        const datasets::Sample& sample,
                        const explaining::ConfusedPair& pair) {
  const auto& record = dataset.images[static_cast<std::size_t>(sample.image_index)];
  const auto photo = images::read_image(dataset.root / record.file_name);
  const auto explanation =
      explainer.explain(photo, datasets::crop_box(dataset, sample), {pair.truth});
  const auto title = fmt::format("wrong: it is {}   ·   {}", pair.truth, record.file_name);
  return images::encode_png(explaining::explanation_picture(photo, explanation, title).image(1.5));
}

}  // namespace

ErrorsOutcome explain_errors(const ErrorsRequest& request, const Machine& machine) {
  const auto run = runs::RunFolder::open(request.run);
  const auto resources = start_session(machine);
  const auto dataset = models::data_of(run, request.data);
  explaining::provide_part_book_from(dataset, run, resources, request.checkpoint);
  const explaining::Explainer explainer(run, request.checkpoint, resources.device);
  const auto task = models::task_on(dataset, explainer.model().design.task);
  const auto examples =
      models::load_examples(dataset, task, request.split, explainer.model().design.input.side,
                            resources.threads, resources.cache);
  ErrorsOutcome outcome;
  outcome.objects = examples.rows();
  outcome.pairs = explaining::confused_pairs(explainer, task, examples, resources.device);
  if (!request.out.empty()) make_writable_folder(request.out);
  auto all = nlohmann::json::array();
  FileStems stems;
  for (const auto& pair : outcome.pairs) {
    auto& files = outcome.files.emplace_back();
    auto json = to_json(pair);
    const auto stem = stems.take(fmt::format("{}-as-{}", pair.truth, pair.decided));
    for (std::size_t i = 0; i < pair.mistakes.size(); ++i) {
      const auto& sample = examples.samples[static_cast<std::size_t>(pair.mistakes[i].row)];
      files.push_back(dataset.images[static_cast<std::size_t>(sample.image_index)].file_name);
      json["mistakes"][i]["image"] = files.back();
      if (request.out.empty() || std::cmp_greater_equal(i, request.pictures)) continue;
      const auto name = fmt::format("{}-{}.png", stem, i + 1);
      write_file_atomically(request.out / name, mistake_png(explainer, dataset, sample, pair));
      json["mistakes"][i]["picture"] = name;
    }
    outcome.wrong += std::ssize(pair.mistakes);
    all.push_back(std::move(json));
  }
  outcome.json = {{"run", request.run},
                  {"split", request.split},
                  {"objects", outcome.objects},
                  {"pairs", std::move(all)}};
  if (!request.out.empty()) write_json_atomically(request.out / "errors.json", outcome.json);
  return outcome;
}

}  // namespace partwise::experiments
