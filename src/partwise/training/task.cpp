#include "partwise/training/task.h"

#include "partwise/base/error.h"
#include "partwise/tensors/torch.h"

namespace partwise::training {
namespace {

constexpr std::string_view kBinary = "binary:";

}  // namespace

Task make_task(const TrainOptions& options, const datasets::PartDataset& dataset) {
  Task task;
  task.logistic = options.loss == "logistic";
  std::vector<std::string> names;
  for (const auto& category : dataset.categories) names.push_back(category.name);
  if (options.task == "multi") {
    ensure(names.size() >= 2,
           "task = multi needs two categories or more, {} has {}; use --task binary:NAME",
           dataset.root.string(), names.size());
    task.categories = names;
    for (const auto& category : dataset.categories) task.category_ids.push_back(category.id);
    return task;
  }
  ensure(options.task.starts_with(kBinary), "task = '{}' is unknown; valid: multi, binary:CATEGORY",
         options.task);
  ensure(task.logistic, "task = {} needs --loss logistic", options.task);
  const auto name = options.task.substr(kBinary.size());
  const auto index = index_of_name("category", name, names);
  task.binary = true;
  task.categories = {name};
  task.category_ids = {dataset.categories[index].id};
  return task;
}

Tensor task_loss(const Task& task, const Tensor& logits, const Tensor& category) {
  if (!task.logistic) return torch::cross_entropy_loss(logits, category);
  const auto outputs = torch::arange(task.outputs(), category.options());
  const auto sign = category.unsqueeze(1).eq(outputs).to(logits.scalar_type()) * 2.0 - 1.0;
  return torch::softplus(-sign * logits).sum(1).mean();
}

Tensor decision_scores(const Task& task, const Tensor& logits) {
  return task.binary ? torch::cat({torch::zeros_like(logits), logits}, 1) : logits;
}

Tensor decision_classes(const Task& task, const Tensor& category) {
  return task.binary ? category + 1 : category;
}

std::vector<std::string> class_names(const Task& task) {
  if (!task.binary) return task.categories;
  return {"not " + task.categories.front(), task.categories.front()};
}

}  // namespace partwise::training
