#include "partwise/explaining/shown_objects.h"

#include "partwise/models/activations.h"
#include "partwise/networks/head.h"
#include "partwise/tensors/torch.h"

#include <algorithm>

namespace partwise::explaining {

std::vector<JudgedObject> judge_objects(const models::Model& model,
                                        const models::Task& task,
                                        const models::Examples& examples,
                                        const PartBook& book,
                                        const std::string& device) {
  const torch::NoGradGuard no_grad;
  const networks::Head head(model.network);
  const auto nothing =
      head.logits(torch::zeros({1, head.width()}, torch::TensorOptions(torch::Device(device))));
  const auto baseline = models::decision_scores(task, nothing).to(torch::kCPU)[0];
  const auto truth = models::to_vector(models::decision_classes(task, examples.category));
  std::vector<JudgedObject> judged;
  models::for_each_output(
      model.network, examples, device, [&](int64_t first, const networks::Output& output) {
        const auto scores = models::decision_scores(task, output.logits).to(torch::kCPU);
        const auto decided = models::to_vector(scores.argmax(1));
        for (std::size_t i = 0; i < decided.size(); ++i) {
          auto& object = judged.emplace_back();
          object.right = decided[i] == truth[static_cast<std::size_t>(first) + i];
          if (task.may_be_none && decided[i] == 0) continue;
          object.standing =
              book.standing(static_cast<std::size_t>(decided[i]),
                            evidence_for(scores[static_cast<int64_t>(i)], baseline, decided[i]));
        }
      });
  return judged;
}

std::vector<ShownObject> choose_shown(std::span<const JudgedObject> drawn, int64_t pool) {
  std::vector<int64_t> right;
  for (int64_t i = 0; i < std::min(pool, std::ssize(drawn)); ++i) {
    const auto& object = drawn[static_cast<std::size_t>(i)];
    if (object.right && object.standing) right.push_back(i);
  }
  // Equal ones stay in the order they were drawn.
  std::stable_sort(right.begin(), right.end(), [&](int64_t a, int64_t b) {
    return *drawn[static_cast<std::size_t>(a)].standing <
           *drawn[static_cast<std::size_t>(b)].standing;
  });
  std::vector<ShownObject> shown;
  if (!right.empty()) shown.push_back({Shown::typical, right[right.size() / 2]});
  if (right.size() > 1) shown.push_back({Shown::weak, right.front()});
  const auto wrong = std::find_if(drawn.begin(), drawn.end(),
                                  [](const JudgedObject& object) { return !object.right; });
  if (wrong != drawn.end()) {
    shown.push_back({Shown::wrong, wrong - drawn.begin()});
  } else if (right.size() > 2) {
    shown.push_back({Shown::strong, right.back()});
  }
  return shown;
}

}  // namespace partwise::explaining
