#pragma once

#include "partwise/base/options.h"
#include "partwise/datasets/part_dataset.h"
#include "partwise/tensors/tensor.h"

#include <string>
#include <vector>

namespace partwise::models {

enum class Loss { softmax, logistic };

// What the network is asked. The categories are those the filters can stand for: all of them
// (multi), or the one positive category (binary).
struct Task {
  bool binary = false;
  bool logistic = false;
  bool may_be_none =
      false;  // "none of them" is a decision too: binary, and logistic with negatives
  std::vector<int64_t> category_ids;  // of the dataset, in the order of the outputs
  std::vector<std::string> categories;

  int64_t outputs() const { return static_cast<int64_t>(categories.size()); }
  bool uses_negatives() const { return logistic; }
};

// An Error says what is impossible: a category that is not in the data, one category only, a binary
// task with softmax.
//   task: "multi" or "binary:CATEGORY"
Task make_task(const std::string& task, Loss loss, const datasets::PartDataset& dataset);

// The words it was made of: "multi" or "binary:CATEGORY", "softmax" or "logistic".
std::string task_name(const Task& task);
std::string loss_name(const Task& task);

// The same task asked of another dataset: its categories are found there by their names; an Error
// names one that is missing.
Task task_on(const datasets::PartDataset& dataset, Task task);

// Mean task loss. logits [batch, outputs]; category [batch] int64, -1: none of them (logistic
// only).
//   softmax: cross entropy;  logistic: sum over outputs of log(1 + e^{-c y}), c = +-1
// With class_weights every term counts as often as they say.
Tensor task_loss(const Task& task,
                 const Tensor& logits,
                 const Tensor& category,
                 const Tensor& class_weights = {});

// [outputs, 2]: the weight of images of other categories (0) and of its own (1) in each output's
// loss. Over rows of these categories their mean is 1 and every class's share of it the same:
//   logistic: 0.5 / rho_c for images of c, 0.5 / (1 - rho_c) for others, rho_c the share of c;
//   softmax: 1 / (C rho_c), C the number of categories that occur.
Tensor class_weights(const Task& task, const Tensor& category);

// rho_c: the share of each category among these rows, in the order of the outputs.
std::vector<double> category_shares(const Task& task, const Tensor& category);

// Scores whose argmax is the decision, [batch, classes]: the logits, with a 0 for "none of them"
// before them where that is possible; and the class of a category among them.
Tensor decision_scores(const Task& task, const Tensor& logits);
Tensor decision_classes(const Task& task, const Tensor& category);
std::vector<std::string> class_names(const Task& task);

}  // namespace partwise::models

template <>
inline constexpr auto partwise::kWords<partwise::models::Loss> = partwise::words("softmax",
                                                                                 "logistic");
