#include "partwise/atlas/explained_photo.h"

#include "partwise/base/error.h"
#include "partwise/base/names.h"
#include "partwise/datasets/crops.h"
#include "partwise/images/codec.h"
#include "partwise/images/resize.h"
#include "partwise/networks/head.h"
#include "partwise/tensors/torch.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace partwise::atlas {
namespace {

constexpr int64_t kLargestShown = 960;  // pixels a side

std::string shown_png(const images::Image& photo) {
  const int64_t longest = std::max(photo.width, photo.height);
  if (longest <= kLargestShown) return images::encode_png(photo);
  const auto shrunk = [&](int64_t extent) {
    return std::max<int64_t>(1, extent * kLargestShown / longest);
  };
  return images::encode_png(images::resize_antialiased(photo, {0, 0, photo.width, photo.height},
                                                       shrunk(photo.width), shrunk(photo.height)));
}

Tensor features_of(const RunAtlas& atlas, const images::Image& photo, const Box& box) {
  const torch::NoGradGuard no_grad;
  const int64_t side = atlas.explainer->model().design.input.side;
  const auto crop = images::resize_antialiased(
      photo, datasets::window_from_box(box, photo.width, photo.height), side, side);
  const auto pixels =
      torch::tensor(at::ArrayRef<uint8_t>(crop.pixels), torch::kUInt8).view({1, side, side, 3});
  const auto input = pixels.permute({0, 3, 1, 2}).contiguous().to(torch::Device(atlas.device));
  return atlas.network().evaluate(models::normalised(input)).features.clone();
}

// Its filters, and what the shares say of them together.
struct Chosen {
  std::set<int64_t> filters;
  double share = 0.0;
};

Chosen chosen_by(const explaining::Explanation& explanation, const Silence& what) {
  Chosen chosen;
  std::vector<std::string> labels;
  for (const auto& part : explanation.parts) labels.push_back(part.label());
  std::set<std::size_t> taken;
  for (const auto& label : what.parts) {
    const auto which = index_of_name("part", label, labels);
    if (!taken.insert(which).second) continue;
    const auto& part = explanation.parts[which];
    chosen.filters.insert(part.filters.begin(), part.filters.end());
    chosen.share += part.share;
  }
  for (const int64_t filter : what.filters) {
    const auto found = std::find_if(explanation.filters.begin(), explanation.filters.end(),
                                    [&](const auto& one) { return one.filter == filter; });
    if (!chosen.filters.insert(filter).second) continue;
    if (found != explanation.filters.end()) chosen.share += found->share;
  }
  return chosen;
}

}  // namespace

ExplainedPhoto explain_photo(const RunAtlas& atlas,
                             const images::Image& photo,
                             const std::optional<Box>& box,
                             const std::string& against) {
  const Box whole{0.0, 0.0, static_cast<double>(photo.width), static_cast<double>(photo.height)};
  ExplainedPhoto explained;
  explained.explanation = atlas.explainer->explain(photo, box.value_or(whole), {against});
  explained.features = features_of(atlas, photo, explained.explanation.box);
  explained.width = photo.width;
  explained.height = photo.height;
  explained.png = shown_png(photo);
  return explained;
}

Silenced silence(const RunAtlas& atlas, const ExplainedPhoto& photo, const Silence& what) {
  const torch::NoGradGuard no_grad;
  const auto& task = atlas.explainer->model().design.task;
  const auto& explanation = photo.explanation;
  const auto classes = models::class_names(task);
  const auto asked = static_cast<int64_t>(index_of_name("class", explanation.asked, classes)) -
                     (task.may_be_none ? 1 : 0);
  const int64_t filters = photo.features.size(1);
  const auto chosen = chosen_by(explanation, what);
  ensure(chosen.filters.empty() ||
             (*chosen.filters.begin() >= 0 && *chosen.filters.rbegin() < filters),
         "layer {} has filters 0 to {}", explanation.layer, filters - 1);
  const std::vector<int64_t> silent(chosen.filters.begin(), chosen.filters.end());
  const auto index = torch::tensor(silent, torch::kInt64);

  const networks::Head head(atlas.network());
  auto added = head.by_filter(photo.features)[0].clone();
  added.index_fill_(0, index.to(added.device()), 0.0);
  const auto logits = head.logits(added.sum(0, true)).to(torch::kCPU, torch::kFloat64);
  const auto scores = models::decision_scores(task, logits)[0];

  Silenced result;
  result.predicted = -chosen.share;
  result.score = logits[0][asked].item<double>();
  result.actual = result.score - explanation.score;
  const auto& book = atlas.explainer->book();
  if (book && book->additive) {
    const auto by_filter =
        book->additive->contributions(explaining::activity_of(photo.features))[0].select(1, asked);
    result.additive = silent.empty() ? 0.0 : -by_filter.index_select(0, index).sum().item<double>();
  }
  const auto decided = scores.argmax(0).item<int64_t>();
  result.decision = classes[static_cast<std::size_t>(decided)];
  for (int64_t which = 0; which < std::ssize(classes); ++which)
    result.probabilities.push_back(explaining::probability_of(task, scores, which));
  result.probability = result.probabilities[static_cast<std::size_t>(decided)];
  return result;
}

}  // namespace partwise::atlas
