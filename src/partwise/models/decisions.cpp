#include "partwise/models/decisions.h"

#include "partwise/models/activations.h"
#include "partwise/tensors/torch.h"

namespace partwise::models {

Decisions decide(const networks::Network& network,
                 const Task& task,
                 const Examples& examples,
                 const std::string& device) {
  Decisions decisions;
  decisions.truth = to_vector(decision_classes(task, examples.category));
  for_each_output(network, examples, device, [&](int64_t, const networks::Output& output) {
    const auto some = to_vector(decision_scores(task, output.logits).argmax(1));
    decisions.decided.insert(decisions.decided.end(), some.begin(), some.end());
  });
  return decisions;
}

}  // namespace partwise::models
