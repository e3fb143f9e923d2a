#include "partwise/tensors/ranks.h"

#include "partwise/base/interrupt.h"
#include "partwise/base/options.h"
#include "partwise/base/printable.h"
#include "partwise/base/progress.h"
#include "partwise/tensors/torch.h"

#include <torch/cuda.h>
#include <torch/version.h>
#if defined(PARTWISE_GLOO) || defined(PARTWISE_NCCL)
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#endif
#ifdef PARTWISE_GLOO
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#endif
#ifdef PARTWISE_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace partwise::tensors {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

int number_of(const char* name, int least, int most) {
  const auto text = variable(name);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  ensure(
      error == std::errc() && end == text.data() + text.size() && value >= least && value <= most,
      "{} = '{}', where WORLD_SIZE asks for several ranks: expected a number in [{}, {}], as "
      "torchrun sets it",
      name, text, least, most);
  return value;
}

}  // namespace

RankPlace rank_place_from_environment() {
  RankPlace place;
  if (variable("WORLD_SIZE").empty()) return place;
  place.count = number_of("WORLD_SIZE", 1, 65'536);
  if (place.count == 1) return place;
  place.rank = number_of("RANK", 0, place.count - 1);
  place.local_count =
      variable("LOCAL_WORLD_SIZE").empty() ? 1 : number_of("LOCAL_WORLD_SIZE", 1, place.count);
  place.local_rank = variable("LOCAL_RANK").empty() ? 0 : number_of("LOCAL_RANK", 0, 1023);
  place.host = variable("MASTER_ADDR");
  ensure(!place.host.empty(), "MASTER_ADDR is not set, where WORLD_SIZE asks for {} ranks",
         place.count);
  place.port = number_of("MASTER_PORT", 1, 65'535);
  if (variable("TORCHELASTIC_USE_AGENT_STORE") == "True") {
    const auto attempt = variable("TORCHELASTIC_RESTART_COUNT");
    place.agent_attempt = attempt.empty() ? "0" : attempt;
  }
  return place;
}

void require_ranks(const std::string& device) {
#ifdef PARTWISE_GLOO
  constexpr bool kGloo = true;
#else
  constexpr bool kGloo = false;
#endif
#ifdef PARTWISE_NCCL
  constexpr bool kNccl = true;
#else
  constexpr bool kNccl = false;
#endif
  ensure(kGloo || (kNccl && device.starts_with("cuda")),
         "this build runs one process only on device '{}': several ranks need Gloo (Debian: "
         "libgloo-dev), or NCCL for CUDA, when it is built",
         device);
}

std::string device_of_rank(const std::string& device, const RankPlace& place) {
  if (!device.starts_with("cuda") || place.count == 1) return device;
  ensure(device == "cuda",
         "device = '{}' cannot serve {} ranks; with --device cuda each takes its own", device,
         place.count);
  const auto devices = static_cast<int>(torch::cuda::device_count());
  ensure(place.local_rank < devices,
         "rank {} would need a CUDA device of its own, and this machine has {}; use fewer ranks",
         place.rank, devices);
  return fmt::format("cuda:{}", place.local_rank);
}

int free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  const bool found = listener >= 0 && ::bind(listener, plain, size) == 0 &&
                     ::getsockname(listener, plain, &size) == 0;
  if (listener >= 0) ::close(listener);
  ensure(found, "no free TCP port on 127.0.0.1 for the ranks to meet at");
  return ntohs(address.sin_port);
}

Share Ranks::share(int64_t rows) const {
  return {rank_ * rows / count_, (rank_ + 1) * rows / count_};
}

Tensor Ranks::logsumexp(const Tensor& own) const {
  if (alone()) return own;
  const auto top = max(own).clamp_min(std::numeric_limits<float>::lowest());
  return top + sum((own - top).exp()).log();
}

Tensor Ranks::rows_of_all(const Tensor& own, int64_t rows) const {
  if (alone()) return own;
  auto shape = own.sizes().vec();
  shape.front() = rows;
  auto all = torch::zeros(shape, own.options());
  const auto [begin, end] = share(rows);
  all.slice(0, begin, end).copy_(own);
  return sum(all);
}

std::string Ranks::text_of_leader(const std::string& own) const {
  if (alone()) return own;
  auto length = torch::full({1}, static_cast<int64_t>(own.size()), torch::kInt64);
  take_from_leader(length);
  auto bytes = torch::zeros({length.item<int64_t>()}, torch::kUInt8);
  if (leads()) std::copy(own.begin(), own.end(), bytes.data_ptr<uint8_t>());
  take_from_leader(bytes);
  return {bytes.data_ptr<uint8_t>(), bytes.data_ptr<uint8_t>() + bytes.numel()};
}

bool Ranks::leaders(bool decision) const {
  const auto value = torch::full({1}, decision ? 1.0 : 0.0);
  take_from_leader(value);
  return value.item<double>() > 0.0;
}

void Ranks::meet() const {
  sum(torch::ones({1}));
}

Tensor Ranks::sum(const Tensor& own) const {
  return alone() ? own : start_sum(own)();
}

#if defined(PARTWISE_GLOO) || defined(PARTWISE_NCCL)

namespace {

#if TORCH_VERSION_MAJOR >= 2
using Collectives = c10d::Backend;
#else
using Collectives = c10d::ProcessGroup;
#endif

c10::intrusive_ptr<c10d::Store> meeting_place(const RankPlace& place,
                                              std::chrono::seconds patience) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(place.port);
  options.isServer = place.rank == 0 && place.agent_attempt.empty();
  options.numWorkers = static_cast<std::size_t>(place.count);
  options.waitWorkers = false;
  options.timeout = patience;
  auto store = c10::make_intrusive<c10d::TCPStore>(place.host, options);
  const auto attempt = place.agent_attempt.empty() ? "0" : place.agent_attempt;
  return c10::make_intrusive<c10d::PrefixStore>("partwise/" + attempt, std::move(store));
}

#ifdef PARTWISE_GLOO
c10::intrusive_ptr<Collectives> gloo(const RankPlace& place, std::chrono::seconds patience) {
  using Gloo = c10d::ProcessGroupGloo;
  const auto options = Gloo::Options::create(patience);
  const auto interface = variable("GLOO_SOCKET_IFNAME");
  const bool local = place.host == "127.0.0.1" || place.host == "localhost";
  options->devices.push_back(!interface.empty() ? Gloo::createDeviceForInterface(interface)
                             : local            ? Gloo::createDeviceForHostname("127.0.0.1")
                                                : Gloo::createDefaultDevice());
  return c10::make_intrusive<Gloo>(meeting_place(place, patience), place.rank, place.count,
                                   options);
}
#endif

#ifdef PARTWISE_NCCL
c10::intrusive_ptr<Collectives> nccl(const RankPlace& place, std::chrono::seconds patience) {
  using Nccl = c10d::ProcessGroupNCCL;
  const auto options = Nccl::Options::create();
  options->timeout = patience;
  return c10::make_intrusive<Nccl>(meeting_place(place, patience), place.rank, place.count,
                                   options);
}
#endif

// Says a line where it exists for longer than a few seconds.
class SayIfLong {
 public:
  explicit SayIfLong(std::string line)
      : teller_([this, line = std::move(line)] {
          std::unique_lock lock(guard_);
          if (!over_.wait_for(lock, std::chrono::seconds(3), [this] { return is_over_; }))
            say(line);
        }) {}
  ~SayIfLong() {
    {
      const std::lock_guard lock(guard_);
      is_over_ = true;
    }
    over_.notify_one();
    teller_.join();
  }
  SayIfLong(const SayIfLong&) = delete;
  SayIfLong& operator=(const SayIfLong&) = delete;

 private:
  std::mutex guard_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread teller_;  // last: it uses the others
};

// Whatever c10d throws means that somebody is not there.
template <typename Step>
auto reaching_others(int rank, Step&& step) {
  try {
    return step();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& problem) {
    throw LostRank(
        fmt::format("rank {} lost the others ({}); go on from the last checkpoint with --resume",
                    rank, first_line(problem.what())));
  }
}

}  // namespace

struct Ranks::Group {
  c10::intrusive_ptr<Collectives> collectives;
  torch::Device device;  // of what is exchanged
  int rank = 0;

  Tensor outgoing(const Tensor& own) const {
    return own.detach().to(device, own.scalar_type(), false, /*copy=*/true).contiguous();
  }

  std::function<Tensor()> start(const Tensor& own, c10d::ReduceOp::RedOpType operation) const {
    std::vector<Tensor> tensors{outgoing(own)};
    c10d::AllreduceOptions options;
    options.reduceOp = operation;
    auto work = reaching_others(rank, [&] { return collectives->allreduce(tensors, options); });
    return [work, result = tensors.front(), home = own.device(), rank = rank] {
      reaching_others(rank, [&] { return work->wait(); });
      return result.to(home);
    };
  }
};

Ranks Ranks::join(const RankPlace& place,
                  const std::string& device,
                  std::chrono::seconds patience) {
  Ranks ranks;
  if (place.count == 1) return ranks;
  require_ranks(device);
  ranks.rank_ = place.rank;
  ranks.count_ = place.count;
  const SayIfLong waiting(
      fmt::format("rank {} of {}: waiting for the others at {}:{}, up to {} s in all ...",
                  place.rank, place.count, place.host, place.port, patience.count()));
  const Abandonable abandonable(
      fmt::format("rank {}: interrupted while waiting for the others", place.rank));
  ranks.group_ = reaching_others(place.rank, [&] {
#ifdef PARTWISE_NCCL
    if (torch::Device(device).is_cuda()) {
      return std::make_shared<Group>(
          Group{nccl(place, patience), torch::Device(device), place.rank});
    }
#endif
#ifdef PARTWISE_GLOO
    return std::make_shared<Group>(Group{gloo(place, patience), torch::kCPU, place.rank});
#else
    return std::shared_ptr<Group>();
#endif
  });
  ranks.meet();
  return ranks;
}

Tensor Ranks::max(const Tensor& own) const {
  return alone() ? own : group_->start(own, c10d::ReduceOp::MAX)();
}

std::function<Tensor()> Ranks::start_sum(const Tensor& own) const {
  if (alone()) return [own] { return own; };
  return group_->start(own, c10d::ReduceOp::SUM);
}

void Ranks::take_from_leader(const Tensor& tensor) const {
  if (alone()) return;
  const torch::NoGradGuard no_grad;
  std::vector<Tensor> tensors{group_->outgoing(tensor)};
  reaching_others(rank_, [&] { return group_->collectives->broadcast(tensors)->wait(); });
  tensor.detach().copy_(tensors.front());
}

#else

struct Ranks::Group {};

Ranks Ranks::join(const RankPlace& place, const std::string& device, std::chrono::seconds) {
  if (place.count > 1) require_ranks(device);
  return {};
}

Tensor Ranks::max(const Tensor& own) const {
  return own;
}

std::function<Tensor()> Ranks::start_sum(const Tensor& own) const {
  return [own] { return own; };
}

void Ranks::take_from_leader(const Tensor&) const {}

#endif

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
