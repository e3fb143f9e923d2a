#include "partwise/tensors/gradient_sum.h"

#include "partwise/tensors/torch.h"

#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>

namespace partwise::tensors {

struct GradientSum::Buckets {
  struct Bucket {
    std::vector<Tensor> parameters;
    int64_t arrived = 0;
    std::function<Tensor()> sum;  // of the gradients one after another, on its way

    bool complete() const { return arrived == static_cast<int64_t>(parameters.size()); }
  };

  Ranks ranks;
  std::vector<Bucket> list;
  std::size_t started = 0;
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators;  // they carry the hooks

  // In the same order on every rank, whatever the order of arrival.
  void arrive(std::size_t bucket) {
    ++list[bucket].arrived;
    while (started < list.size() && list[started].complete()) start_next();
  }

  void start_next() {
    const torch::NoGradGuard no_grad;
    auto& bucket = list[started++];
    std::vector<Tensor> gradients;
    for (const auto& parameter : bucket.parameters) {
      const auto& gradient = parameter.grad();
      gradients.push_back(gradient.defined() ? gradient.flatten()
                                             : torch::zeros_like(parameter).flatten());
    }
    bucket.sum = ranks.start_sum(torch::cat(gradients));
  }

  void give_back(Bucket& bucket) {
    const auto sum = bucket.sum();
    int64_t at = 0;
    for (auto& parameter : bucket.parameters) {
      const auto part = sum.slice(0, at, at + parameter.numel());
      if (parameter.grad().defined()) parameter.mutable_grad() = part.view(parameter.sizes());
      at += parameter.numel();
    }
    bucket.sum = nullptr;
    bucket.arrived = 0;
  }
};

GradientSum::GradientSum(const Ranks& ranks,
                         const std::vector<Tensor>& parameters,
                         int64_t bucket_bytes) {
  if (ranks.alone()) return;
  buckets_ = std::make_shared<Buckets>();
  buckets_->ranks = ranks;
  int64_t bytes = bucket_bytes;
  for (auto parameter = parameters.rbegin(); parameter != parameters.rend(); ++parameter) {
    if (bytes >= bucket_bytes) {
      buckets_->list.emplace_back();
      bytes = 0;
    }
    bytes += static_cast<int64_t>(parameter->nbytes());
    buckets_->list.back().parameters.push_back(*parameter);
    const auto accumulator = torch::autograd::impl::grad_accumulator(*parameter);
    const auto bucket = buckets_->list.size() - 1;
    accumulator->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
        [weak = std::weak_ptr(buckets_), bucket](const auto& outputs, const auto&) {
          if (const auto buckets = weak.lock()) buckets->arrive(bucket);
          return outputs;
        }));
    buckets_->accumulators.push_back(accumulator);
  }
}

void GradientSum::finish() {
  if (!buckets_) return;
  while (buckets_->started < buckets_->list.size()) buckets_->start_next();
  for (auto& bucket : buckets_->list) buckets_->give_back(bucket);
  buckets_->started = 0;
}

int64_t GradientSum::started() const {
  return buckets_ ? static_cast<int64_t>(buckets_->started) : 0;
}

}  // namespace partwise::tensors
