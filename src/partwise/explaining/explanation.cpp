#include "partwise/explaining/explanation.h"

#include "partwise/base/error.h"
#include "partwise/base/names.h"
#include "partwise/datasets/crops.h"
#include "partwise/evidence/peak_gradients.h"
#include "partwise/evidence/receptive_field.h"
#include "partwise/explaining/shapley.h"
#include "partwise/images/resize.h"
#include "partwise/tensors/torch.h"
#include "partwise/views/contour.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace partwise::explaining {
namespace {

constexpr double kLeastShareOutlined = 0.05;  // of all shares' absolute values
constexpr double kLeastArea = 0.002;          // of the crop; smaller outlines are specks

// Which classes are asked about, and the outputs their scores come from (-1: "none of them", always
// 0).
struct Question {
  int64_t decision = 0;
  int64_t other = 0;
  int64_t asked = 0;
  int64_t decision_output = 0;
  int64_t other_output = 0;
  int64_t asked_output = 0;
};

Question question_for(const models::Task& task, const Tensor& scores, const std::string& against) {
  const auto names = models::class_names(task);
  const int64_t nobody = task.may_be_none ? 1 : 0;
  const auto order = models::to_vector(scores.argsort(0, /*descending=*/true));
  Question question;
  question.decision = order[0];
  question.other = order[1];
  if (!against.empty()) {
    const auto wanted = static_cast<int64_t>(index_of_name("class", against, names));
    if (wanted != question.decision) question.other = wanted;
  }
  const auto output = [&](int64_t which) { return which - nobody; };
  question.decision_output = output(question.decision);
  question.other_output = output(question.other);
  question.asked = question.decision_output >= 0 ? question.decision : question.other;
  question.asked_output = output(question.asked);
  return question;
}

// Filters of one name, those that fire on this image.
struct Group {
  std::string name;
  std::vector<int64_t> filters;
};

std::vector<Group> groups_of(std::span<const std::string> called, const Tensor& added) {
  const auto fires = added.ne(0).any(1).to(torch::kCPU);
  std::map<std::string, std::vector<int64_t>> by_name;
  for (std::size_t filter = 0; filter < called.size(); ++filter) {
    const auto number = static_cast<int64_t>(filter);
    const auto& name = called[filter].empty() ? kOtherFilters : called[filter];
    if (fires[number].item<bool>()) by_name[name].push_back(number);
  }
  std::vector<Group> groups;
  for (auto& [name, filters] : by_name) groups.push_back({name, std::move(filters)});
  return groups;
}

// The category all these filters stand for, unless one of them stands for `asked`; "" for a
// mixture.
std::string other_category(std::span<const int64_t> filters,
                           std::span<const std::string> category_of,
                           const std::string& asked) {
  const auto category = [&](int64_t filter) {
    return category_of[static_cast<std::size_t>(filter)];
  };
  const auto first = category(filters.front());
  const bool one = std::all_of(filters.begin(), filters.end(),
                               [&](int64_t filter) { return category(filter) == first; });
  return one && first != asked ? first : "";
}

Tensor sum_of_groups(const Tensor& added, std::span<const Group> groups) {
  std::vector<Tensor> sums;
  for (const auto& group : groups) {
    const auto index = torch::tensor(group.filters, torch::kInt64).to(added.device());
    sums.push_back(added.index_select(0, index).sum(0));
  }
  return torch::stack(sums);
}

double area_of(std::span<const Point> outline) {
  double twice = 0.0;
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const auto& a = outline[i];
    const auto& b = outline[(i + 1) % outline.size()];
    twice += a.x * b.y - b.x * a.y;
  }
  return std::abs(twice) / 2.0;
}

// Where the filters' evidence lies, each weighted by what the answer loses without it.
void outline(const evidence::PeakGradients& gradients,
             const Tensor& filter_weights,
             PartShare& part) {
  const auto index = torch::tensor(part.filters, torch::kInt64);
  auto weights = torch::zeros_like(filter_weights);
  weights.index_copy_(0, index, filter_weights.index_select(0, index));
  const auto energy = gradients.energy(weights.unsqueeze(0))[0];
  part.place = evidence::centroid(energy);
  if (!part.place) return;
  part.place =
      Point{part.place->x + 0.5, part.place->y + 0.5};  // pixels are centred on halves there
  const int64_t side = energy.size(0);
  const auto map = evidence::evidence_map(energy);
  const double level = evidence::level_holding(map, evidence::kOutlinedShare);
  for (auto& shape : views::contours(map, side, side, level)) {
    if (area_of(shape) >= kLeastArea * static_cast<double>(side * side))
      part.outlines.push_back(std::move(shape));
  }
}

// The same decision as the distilled sum tells it.
void add_distilled(const AdditiveExplainer& explainer,
                   const Tensor& features,
                   int64_t output,
                   Explanation& explanation) {
  const torch::NoGradGuard no_grad;
  const auto activity = activity_of(features);
  const auto by_filter = explainer.contributions(activity)[0].select(1, output);
  for (auto& part : explanation.parts) {
    const auto index = torch::tensor(part.filters, torch::kInt64);
    part.additive = by_filter.index_select(0, index).sum().item<double>();
  }
  explanation.additive_error =
      explainer.answers(activity)[0][output].item<double>() - explanation.score;
}

template <typename Share>
void sort_by_size(std::vector<Share>& shares) {
  std::stable_sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
    return std::abs(a.share) > std::abs(b.share);
  });
}

nlohmann::json to_json(const std::vector<std::vector<Point>>& outlines) {
  auto json = nlohmann::json::array();
  for (const auto& outline : outlines) {
    auto points = nlohmann::json::array();
    for (const auto& point : outline)
      points.push_back({std::round(10.0 * point.x) / 10.0, std::round(10.0 * point.y) / 10.0});
    json.push_back(std::move(points));
  }
  return json;
}

}  // namespace

double probability_of(const models::Task& task, const Tensor& scores, int64_t which) {
  if (!task.logistic) return scores.softmax(0)[which].item<double>();
  if (task.may_be_none && which == 0)
    return torch::sigmoid(-scores.slice(0, 1)).prod().item<double>();
  return torch::sigmoid(scores[which]).item<double>();
}

nlohmann::json to_json(const Explanation& of) {
  auto parts = nlohmann::json::array();
  for (const auto& part : of.parts) {
    parts.push_back(
        {{"name", part.name},
         {"of", part.of},
         {"share", part.share},
         {"share_error", part.error},
         {"share_of_evidence", of.evidence() != 0.0 ? nlohmann::json(part.share / of.evidence())
                                                    : nlohmann::json(nullptr)},
         {"contrast", part.contrast},
         {"contrast_error", part.contrast_error},
         {"silenced", part.silenced},
         {"additive", part.additive ? nlohmann::json(*part.additive) : nlohmann::json(nullptr)},
         {"filters", part.filters},
         {"place",
          part.place ? nlohmann::json({part.place->x, part.place->y}) : nlohmann::json(nullptr)},
         {"outlines", to_json(part.outlines)}});
  }
  auto filters = nlohmann::json::array();
  for (const auto& filter : of.filters) {
    filters.push_back({{"filter", filter.filter},
                       {"category", filter.category},
                       {"name", filter.name},
                       {"share", filter.share},
                       {"share_error", filter.error}});
  }
  return {{"box", {of.box.x, of.box.y, of.box.width, of.box.height}},
          {"decision", of.decision},
          {"probability", of.probability},
          {"against", of.other},
          {"against_probability", of.other_probability},
          {"evidence",
           {{"for", of.asked},
            {"score", of.score},
            {"baseline", of.baseline},
            {"above_baseline", of.evidence()},
            {"training_images_with_less",
             of.standing ? nlohmann::json(*of.standing) : nlohmann::json(nullptr)},
            {"weak", of.weak()},
            {"by_default", of.by_default()}}},
          {"layer", of.layer},
          {"exact", of.exact},
          {"orders", of.orders},
          {"completeness_error", of.completeness_error},
          {"additive_error",
           of.additive_error ? nlohmann::json(*of.additive_error) : nlohmann::json(nullptr)},
          {"parts", std::move(parts)},
          {"filters", std::move(filters)}};
}

Explainer::Explainer(const runs::RunFolder& run,
                     const std::string& checkpoint,
                     const std::string& device)
    : model_(models::open_model(run, checkpoint)), device_(device) {
  model_.network.to_device(device);
  book_ = read_part_book(run, model_);
  const auto& layer = model_.network.architecture().taps.back();
  const auto filters = model_.network.geometry()[static_cast<std::size_t>(layer.relu)].channels;
  category_.resize(static_cast<std::size_t>(filters));
  const auto& categories = model_.design.task.categories;
  if (book_) {
    const auto& parts = book_->layers.back();
    call_by(read_people_names(run));
    for (std::size_t i = 0; i < parts.filters.size(); ++i) {
      const auto category = parts.filters[i].category;
      if (category >= 0) category_[i] = categories[static_cast<std::size_t>(category)];
    }
    return;
  }
  called_.resize(category_.size());
  for (const auto& known : model_.categories) {
    if (known.layer != layer.name || known.category.size() != category_.size()) continue;
    for (std::size_t i = 0; i < category_.size(); ++i) {
      category_[i] = categories.at(static_cast<std::size_t>(known.category[i]));
      called_[i] = "filters of " + category_[i];
    }
  }
}

void Explainer::call_by(const PeopleNames& people) {
  if (book_) called_ = called_names(book_->layers.back(), people);
}

std::vector<std::string> Explainer::classes() const {
  return models::class_names(model_.design.task);
}

Explanation Explainer::explain(const images::Image& photo,
                               const Box& box,
                               const ExplainOptions& options) const {
  const auto width = static_cast<double>(photo.width);
  const auto height = static_cast<double>(photo.height);
  ensure(box.width > 0.0 && box.height > 0.0 && box.x < width && box.y < height &&
             box.x + box.width > 0.0 && box.y + box.height > 0.0,
         "box {},{},{},{} lies outside the image of {} x {} pixels", box.x, box.y, box.width,
         box.height, photo.width, photo.height);
  const auto window = datasets::window_from_box(box, photo.width, photo.height);
  const int64_t side = model_.design.input.side;
  const auto crop = images::resize_antialiased(photo, window, side, side);
  const auto pixels =
      torch::tensor(at::ArrayRef<uint8_t>(crop.pixels), torch::kUInt8).view({side, side, 3});
  auto explanation = explain_crop(pixels.permute({2, 0, 1}).contiguous(), options);
  const auto scale = [&](int64_t extent) {
    return static_cast<double>(extent) / static_cast<double>(side);
  };
  const auto placed = [&](Point point) -> Point {
    return {static_cast<double>(window.x) + point.x * scale(window.width),
            static_cast<double>(window.y) + point.y * scale(window.height)};
  };
  explanation.box = {static_cast<double>(window.x), static_cast<double>(window.y),
                     static_cast<double>(window.width), static_cast<double>(window.height)};
  for (auto& part : explanation.parts) {
    if (part.place) part.place = placed(*part.place);
    for (auto& shape : part.outlines) {
      for (auto& point : shape) point = placed(point);
    }
  }
  return explanation;
}

std::vector<FilterShare> Explainer::filter_shares(const networks::Head& head,
                                                  const Tensor& added,
                                                  int64_t output) const {
  ShapleyOptions cheaply;  // a game of its own: a tenth of the work is precise enough beside it
  cheaply.most_work = 2e8;
  const auto single = shapley_values(head, added, cheaply);
  std::vector<FilterShare> shares;
  for (int64_t filter = 0; filter < added.size(0); ++filter) {
    const double share = single.values[filter][output].item<double>();
    if (share == 0.0) continue;
    const auto at = static_cast<std::size_t>(filter);
    shares.push_back(
        {filter, category_[at], called_[at], share, single.errors[filter][output].item<double>()});
  }
  sort_by_size(shares);
  return shares;
}

Explanation Explainer::explain_crop(const Tensor& pixels, const ExplainOptions& options) const {
  const auto& task = model_.design.task;
  const auto image = models::normalised(pixels.unsqueeze(0).to(torch::Device(device_)));
  const auto& architecture = model_.network.architecture();
  const evidence::PeakGradients gradients(model_.network, image, architecture.taps.size() - 1);
  const networks::Head head(model_.network);
  Tensor added;
  {
    const torch::NoGradGuard no_grad;
    added = head.by_filter(gradients.output().features.detach())[0];
  }
  const auto scores = models::decision_scores(task, gradients.output().logits.detach())
                          .to(torch::kCPU, torch::kFloat64)[0];
  const auto names = models::class_names(task);
  const auto asked = question_for(task, scores, options.against);

  Explanation result;
  const auto side = static_cast<double>(pixels.size(1));
  result.box = {0.0, 0.0, side, side};
  result.layer = architecture.taps.back().name;
  result.decision = names[static_cast<std::size_t>(asked.decision)];
  result.probability = probability_of(task, scores, asked.decision);
  result.other = names[static_cast<std::size_t>(asked.other)];
  result.other_probability = probability_of(task, scores, asked.other);
  result.asked = names[static_cast<std::size_t>(asked.asked)];

  const auto groups = groups_of(called_, added);
  const auto shares =
      shapley_values(head, groups.empty() ? added.slice(0, 0, 1) : sum_of_groups(added, groups));
  const auto alone =
      silenced_alone(head, groups.empty() ? added.slice(0, 0, 1) : sum_of_groups(added, groups));
  result.score = shares.whole[asked.asked_output].item<double>();
  result.baseline = shares.baseline[asked.asked_output].item<double>();
  result.exact = shares.exact;
  result.orders = shares.orders;
  result.completeness_error = shares.completeness_error();
  if (book_) {
    result.standing = book_->standing(static_cast<std::size_t>(asked.asked), result.evidence());
  }
  const auto value = [](const Tensor& of, std::size_t group, int64_t output) {
    return output < 0 ? 0.0 : of[static_cast<int64_t>(group)][output].item<double>();
  };
  for (std::size_t g = 0; g < groups.size(); ++g) {
    PartShare part;
    part.name = groups[g].name;
    part.filters = groups[g].filters;
    part.of = other_category(groups[g].filters, category_, result.asked);
    part.share = value(shares.values, g, asked.asked_output);
    part.error = value(shares.errors, g, asked.asked_output);
    part.contrast = value(shares.values, g, asked.decision_output) -
                    value(shares.values, g, asked.other_output);
    part.contrast_error = std::hypot(value(shares.errors, g, asked.decision_output),
                                     value(shares.errors, g, asked.other_output));
    part.silenced = value(alone, g, asked.asked_output);
    result.parts.push_back(std::move(part));
  }
  if (book_ && book_->additive)
    add_distilled(*book_->additive, gradients.output().features, asked.asked_output, result);
  sort_by_size(result.parts);

  if (options.filters) result.filters = filter_shares(head, added, asked.asked_output);

  double sum = 0.0;
  for (const auto& part : result.parts) sum += std::abs(part.share);
  const auto weights =
      silenced_alone(head, added).select(1, asked.asked_output).abs().to(torch::kFloat32);
  int64_t outlined = 0;
  for (auto& part : result.parts) {
    if (outlined == options.outlined) break;
    if (part.name == kOtherFilters || std::abs(part.share) < kLeastShareOutlined * sum) continue;
    outline(gradients, weights, part);
    ++outlined;
  }
  return result;
}

}  // namespace partwise::explaining
