#include "partwise/judging/trained_run.h"

#include <utility>

namespace partwise::judging {

TrainedRun open_trained_run(const runs::RunFolder& run,
                            const datasets::PartDataset& dataset,
                            const models::Resources& resources,
                            const std::string& checkpoint) {
  auto model = models::open_model(run, checkpoint, dataset.root);
  model.network.to_device(resources.device);
  auto task = models::task_on(dataset, model.design.task);
  auto train = models::load_examples(dataset, task, "train", model.design.input.side,
                                     resources.threads, resources.cache);
  return {std::move(model.design), std::move(task), std::move(model.network), model.position,
          std::move(train)};
}

models::TrainingView view_training(const networks::Network& network,
                                   const TrainedRun& trained,
                                   const models::Resources& resources) {
  return models::view_training(network, trained.train, trained.task.outputs(), resources.device,
                               resources.threads);
}

}  // namespace partwise::judging
