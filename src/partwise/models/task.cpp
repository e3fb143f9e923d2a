#include "partwise/models/task.h"

#include "partwise/base/error.h"
#include "partwise/base/names.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <set>

namespace partwise::models {
namespace {

constexpr std::string_view kBinary = "binary:";

bool has_negatives(const datasets::PartDataset& dataset) {
  std::set<int64_t> with_object;
  for (const auto& annotation : dataset.annotations) with_object.insert(annotation.image_id);
  return std::any_of(dataset.images.begin(), dataset.images.end(),
                     [&](const auto& image) { return !with_object.contains(image.id); });
}

}  // namespace

Task make_task(const std::string& asked, Loss loss, const datasets::PartDataset& dataset) {
  Task task;
  task.logistic = loss == Loss::logistic;
  std::vector<std::string> names;
  for (const auto& category : dataset.categories) names.push_back(category.name);
  if (asked == "multi") {
    ensure(names.size() >= 2,
           "task = multi needs two categories or more, {} has {}; use --task binary:NAME",
           dataset.root.string(), names.size());
    task.categories = names;
    task.may_be_none = task.logistic && has_negatives(dataset);
    for (const auto& category : dataset.categories) task.category_ids.push_back(category.id);
    return task;
  }
  ensure(asked.starts_with(kBinary), "task = '{}' is unknown; valid: multi, binary:CATEGORY",
         asked);
  ensure(task.logistic, "task = {} needs --loss logistic", asked);
  const auto name = asked.substr(kBinary.size());
  const auto index = index_of_name("category", name, names);
  task.binary = true;
  task.may_be_none = true;
  task.categories = {name};
  task.category_ids = {dataset.categories[index].id};
  return task;
}

std::string task_name(const Task& task) {
  return task.binary ? std::string(kBinary) + task.categories.front() : "multi";
}

std::string loss_name(const Task& task) {
  return word_of(task.logistic ? Loss::logistic : Loss::softmax);
}

Task task_on(const datasets::PartDataset& dataset, Task task) {
  for (std::size_t i = 0; i < task.categories.size(); ++i) {
    const auto found =
        std::find_if(dataset.categories.begin(), dataset.categories.end(),
                     [&](const auto& category) { return category.name == task.categories[i]; });
    ensure(found != dataset.categories.end(),
           "{}: has no category '{}', which the network was trained to tell apart",
           dataset.root.string(), task.categories[i]);
    task.category_ids[i] = found->id;
  }
  return task;
}

Tensor task_loss(const Task& task,
                 const Tensor& logits,
                 const Tensor& category,
                 const Tensor& class_weights) {
  const bool weighted = class_weights.defined();
  if (!task.logistic) {
    if (!weighted) return torch::cross_entropy_loss(logits, category);
    const auto loss = torch::cross_entropy_loss(logits, category, {}, at::Reduction::None);
    return (loss * class_weights.select(1, 1).index_select(0, category)).mean();
  }
  const auto outputs = torch::arange(task.outputs(), category.options());
  const auto own = category.unsqueeze(1).eq(outputs);
  const auto sign = own.to(logits.scalar_type()) * 2.0 - 1.0;
  const auto loss = torch::softplus(-sign * logits);
  if (!weighted) return loss.sum(1).mean();
  return (loss * torch::where(own, class_weights.select(1, 1), class_weights.select(1, 0)))
      .sum(1)
      .mean();
}

std::vector<double> category_shares(const Task& task, const Tensor& category) {
  std::vector<double> shares;
  for (int64_t c = 0; c < task.outputs(); ++c)
    shares.push_back(category.eq(c).to(torch::kFloat64).mean().item<double>());
  return shares;
}

Tensor class_weights(const Task& task, const Tensor& category) {
  const auto share = category_shares(task, category);
  const auto present = static_cast<double>(
      std::count_if(share.begin(), share.end(), [](double rho) { return rho > 0.0; }));
  auto weights = torch::ones({task.outputs(), 2});
  for (int64_t c = 0; c < task.outputs(); ++c) {
    const double rho = share[static_cast<std::size_t>(c)];
    if (rho == 0.0 || rho == 1.0) continue;  // nothing to balance
    weights[c][0] = task.logistic ? 0.5 / (1.0 - rho) : 1.0;
    weights[c][1] = task.logistic ? 0.5 / rho : 1.0 / (present * rho);
  }
  return weights.to(category.device());
}

Tensor decision_scores(const Task& task, const Tensor& logits) {
  if (!task.may_be_none) return logits;
  return torch::cat({torch::zeros_like(logits.narrow(1, 0, 1)), logits}, 1);
}

Tensor decision_classes(const Task& task, const Tensor& category) {
  return task.may_be_none ? category + 1 : category;
}

std::vector<std::string> class_names(const Task& task) {
  auto names = task.categories;
  if (task.binary) {
    names.insert(names.begin(), "not " + task.categories.front());
  } else if (task.may_be_none) {
    names.insert(names.begin(), "none of them");
  }
  return names;
}

}  // namespace partwise::models
