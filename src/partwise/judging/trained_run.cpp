#include "partwise/judging/trained_run.h"

#include "partwise/metrics/filter_category.h"
#include "partwise/tensors/torch.h"

#include <utility>

namespace partwise::judging {

TrainedRun open_trained_run(const runs::RunFolder& run,
                            const datasets::PartDataset& dataset,
                            const models::Resources& resources,
                            const std::string& checkpoint) {
  auto recipe = training::recipe_from_json(run.options(), run.path() / "options.json");
  auto task = models::make_task(recipe.train.task, recipe.train.loss, dataset);
  auto network = training::load_network(run, task, checkpoint);
  network.to_device(resources.device);
  auto train = models::load_examples(dataset, task, "train", network.architecture().input_side,
                                     resources.threads, resources.cache);
  return {std::move(recipe), std::move(task), std::move(network), std::move(train)};
}

TrainingView view_training(const networks::Network& network,
                           const TrainedRun& trained,
                           const models::Resources& resources) {
  TrainingView view;
  view.summaries =
      models::collect_summaries(network, trained.train, resources.device, resources.threads);
  view.row_category = to_vector(trained.train.category);
  for (const auto& layer : view.summaries) {
    view.filter_category.push_back(
        metrics::strongest_category(layer, view.row_category, trained.task.outputs()));
  }
  return view;
}

std::vector<int64_t> to_vector(const Tensor& tensor) {
  const auto plain = tensor.to(torch::kInt64).contiguous();
  return {plain.data_ptr<int64_t>(), plain.data_ptr<int64_t>() + plain.numel()};
}

}  // namespace partwise::judging
