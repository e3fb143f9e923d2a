#include "partwise/explaining/additive.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/networks/tensor_file.h"
#include "partwise/tensors/torch.h"

#include <cmath>
#include <filesystem>

namespace partwise::explaining {
namespace {

std::filesystem::path additive_file(const runs::RunFolder& run) {
  return run.path() / "additive.safetensors";
}

// Adam with the usual constants, on tensors of our own.
class Descent {
 public:
  Descent(std::vector<Tensor*> parameters, double rate)
      : parameters_(std::move(parameters)), rate_(rate) {
    for (const auto* one : parameters_) {
      mean_.push_back(torch::zeros_like(*one));
      square_.push_back(torch::zeros_like(*one));
    }
  }

  void step(const Tensor& loss) {
    std::vector<Tensor> inputs;
    for (const auto* one : parameters_) inputs.push_back(*one);
    const auto gradients = torch::autograd::grad({loss}, inputs);
    const torch::NoGradGuard no_grad;
    ++steps_;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      mean_[i].mul_(kMean).add_(gradients[i], 1.0 - kMean);
      square_[i].mul_(kSquare).addcmul_(gradients[i], gradients[i], 1.0 - kSquare);
      const auto steps = static_cast<double>(steps_);
      const auto denominator = (square_[i] / (1.0 - std::pow(kSquare, steps))).sqrt_().add_(1e-8);
      parameters_[i]->addcdiv_(mean_[i], denominator, -rate_ / (1.0 - std::pow(kMean, steps)));
    }
  }

 private:
  static constexpr double kMean = 0.9;
  static constexpr double kSquare = 0.999;
  std::vector<Tensor*> parameters_;
  double rate_;
  std::vector<Tensor> mean_;
  std::vector<Tensor> square_;
  int64_t steps_ = 0;
};

}  // namespace

Tensor activity_of(const Tensor& features) {
  return features.detach().sum({2, 3}).to(torch::kCPU, torch::kFloat32);
}

Tensor AdditiveExplainer::coefficients(const Tensor& activity) const {
  const auto seen = torch::tanh(torch::matmul(activity / scale_, look_.t()));
  return mean_ +
         torch::matmul(seen, free_.t()).view({activity.size(0), mean_.size(0), mean_.size(1)});
}

Tensor AdditiveExplainer::contributions(const Tensor& activity) const {
  return coefficients(activity) * activity.unsqueeze(2);
}

Tensor AdditiveExplainer::answers(const Tensor& activity) const {
  return contributions(activity).sum(1) + bias_;
}

AdditiveExplainer AdditiveExplainer::distil(const Tensor& all_activity,
                                            const Tensor& all_answers,
                                            const Tensor& costs,
                                            const AdditiveOptions& options) {
  const int64_t every = (all_activity.size(0) + options.rows - 1) / options.rows;
  const auto activity = all_activity.slice(0, 0, all_activity.size(0), every).contiguous();
  const auto answers = all_answers.slice(0, 0, all_answers.size(0), every).contiguous();
  const int64_t filters = activity.size(1);
  const int64_t outputs = answers.size(1);
  AdditiveExplainer explainer;
  explainer.scale_ = activity.mean(0).clamp_min(1e-6);
  const auto start = costs.to(torch::kFloat32) / explainer.scale_.unsqueeze(1);
  // Drawn by a generator of its own: what else the process draws does not matter.
  auto generator = torch::make_generator<torch::CPUGeneratorImpl>(options.seed);
  // Coefficients are fitted in units of 1 / s, so that one rate suits all filters.
  auto mean = torch::zeros_like(start).requires_grad_();  // above `start`
  auto free = torch::zeros({filters * outputs, options.hidden}).requires_grad_();
  explainer.look_ = (torch::randn({options.hidden, filters}, generator, torch::kFloat32) /
                     std::sqrt(static_cast<double>(filters)))
                        .requires_grad_();
  explainer.bias_ = torch::zeros({outputs}).requires_grad_();
  const auto spread = answers.var(0, /*unbiased=*/false).clamp_min(1e-6).sqrt();
  const auto relative = activity / explainer.scale_;
  const auto missing = (answers - torch::matmul(activity, start)) / spread;
  Descent descent({&mean, &free, &explainer.look_, &explainer.bias_}, options.rate);
  for (int64_t step = 0; step < options.steps; ++step) {
    const auto seen = torch::tanh(torch::matmul(relative, explainer.look_.t()));
    // How far coefficients stray from `start`, each in what it moves: spreads per typical activity.
    const auto strayed = mean + torch::matmul(seen, free.t()).view({-1, filters, outputs});
    const auto said = (strayed * relative.unsqueeze(2)).sum(1) + explainer.bias_;
    const auto misfit = (said - missing).square().mean();
    descent.step(misfit + options.prior * strayed.square().sum(1).mean());
  }
  const auto per_activity = spread / explainer.scale_.unsqueeze(1);  // [filters, outputs]
  explainer.mean_ = (start + mean * per_activity).detach();
  explainer.free_ = (free * per_activity.flatten().unsqueeze(1)).detach();
  explainer.look_ = explainer.look_.detach();
  explainer.bias_ = (explainer.bias_ * spread).detach();
  return explainer;
}

void AdditiveExplainer::save(const runs::RunFolder& run) const {
  networks::save_tensors(
      additive_file(run),
      {{{"scale", scale_}, {"mean", mean_}, {"free", free_}, {"look", look_}, {"bias", bias_}},
       {{"format", "1"}}});
}

std::string AdditiveExplainer::hash() const {
  ContentHash hash;
  for (const auto& tensor : {scale_, mean_, free_, look_, bias_}) {
    const auto numbers = tensor.cpu().contiguous();
    hash.add({static_cast<const char*>(numbers.data_ptr()), numbers.nbytes()});
  }
  return hash.text();
}

std::optional<AdditiveExplainer> AdditiveExplainer::load(const runs::RunFolder& run,
                                                         int64_t filters,
                                                         int64_t outputs) {
  const auto path = additive_file(run);
  if (!std::filesystem::exists(path)) return std::nullopt;
  const auto file = networks::load_tensors(path);
  const auto get = [&](const std::string& name) {
    const auto found = file.tensors.find(name);
    ensure(found != file.tensors.end() && found->second.scalar_type() == torch::kFloat32,
           "{}: lacks '{}'; delete it and run `partwise names {} --learn`", path.string(), name,
           run.path().string());
    return found->second;
  };
  AdditiveExplainer explainer;
  explainer.scale_ = get("scale");
  explainer.mean_ = get("mean");
  explainer.free_ = get("free");
  explainer.look_ = get("look");
  explainer.bias_ = get("bias");
  const bool fits =
      explainer.scale_.sizes() == at::IntArrayRef({filters}) &&
      explainer.mean_.sizes() == at::IntArrayRef({filters, outputs}) &&
      explainer.bias_.sizes() == at::IntArrayRef({outputs}) && explainer.look_.dim() == 2 &&
      explainer.look_.size(1) == filters &&
      explainer.free_.sizes() == at::IntArrayRef({filters * outputs, explainer.look_.size(0)});
  ensure(fits, "{}: of another network; delete it and run `partwise names {} --learn`",
         path.string(), run.path().string());
  return explainer;
}

}  // namespace partwise::explaining
