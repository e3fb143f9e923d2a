// Where a training step of the demo goes on the CPU: net tiny, batch 32, every part of the step and
// every operator in it, and each convolution against the most this machine's convolutions reach.
//   training_step [REPEATS [THREADS]]
#include "partwise/base/error.h"
#include "partwise/base/parallel.h"
#include "partwise/models/examples.h"
#include "partwise/networks/network.h"
#include "partwise/networks/pooling.h"
#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"
#include "partwise/training/augmentation.h"
#include "partwise/training/optimizer.h"

#include <ATen/Parallel.h>
#include <ATen/record_function.h>

#include "side_by_side.h"
#include <chrono>
#include <ctime>
#include <map>

namespace {

using partwise::Tensor;
using partwise::bench::quartiles;
using partwise::bench::Quartiles;
using partwise::networks::Arm;
using Clock = std::chrono::steady_clock;

constexpr int64_t kBatch = 32;
constexpr int64_t kCategories = 6;
constexpr uint64_t kSeed = 1;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double processor_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
}

// Time by name of whatever is entered and left in turn; inner things are not counted twice.
class Ledger {
 public:
  void enter() { open_.push_back({Clock::now(), 0.0}); }
  void leave(const std::string& name) {
    const double whole = milliseconds_since(open_.back().start);
    spent_[name] += whole - open_.back().inner;
    open_.pop_back();
    if (!open_.empty()) open_.back().inner += whole;
  }
  std::map<std::string, double> take() { return std::exchange(spent_, {}); }

 private:
  struct Open {
    Clock::time_point start;
    double inner;
  };
  std::vector<Open> open_;
  std::map<std::string, double> spent_;
};
Ledger ledger;

std::unique_ptr<at::ObserverContext> operator_begins(const at::RecordFunction&) {
  ledger.enter();
  return nullptr;
}

void operator_ends(const at::RecordFunction& function, at::ObserverContext*) {
  ledger.leave(function.name());
}

// The demo's step, put together as training/trainer.cpp does it.
class Step {
 public:
  explicit Step(Arm arm)
      : network_(partwise::networks::build_architecture("tiny", arm, kCategories, {}),
                 kCategories,
                 {},
                 kSeed),
        optimizer_({}, options_.weight_decay, network_.parameters()) {
    network_.to_device("cpu");
    optimizer_ = {options_.optimizer, options_.weight_decay, network_.parameters()};
    const auto side = network_.architecture().input_side;
    pixels_ = torch::randint(256, {256, 3, side, side}, torch::kUInt8);
    category_ = torch::arange(kBatch, torch::kInt64).remainder(kCategories);
  }

  void run() {
    begin();
    const auto rows = torch::randint(256, {kBatch}, torch::kInt64);
    auto crops = torch::empty({kBatch, 3, pixels_.size(2), pixels_.size(3)}, torch::kUInt8);
    partwise::training::augment(pixels_, rows, options_, static_cast<uint64_t>(count_++), 0,
                                at::get_num_threads(), crops);
    done("augmentation");
    const auto images = partwise::models::normalised(crops);
    done("normalisation");
    optimizer_.zero_gradients();
    const auto logits = network_.train(images, category_).logits;
    const auto loss = torch::nll_loss(torch::log_softmax(logits, 1), category_);
    done("forward");
    loss.backward();
    done("backward");
    const double norm = optimizer_.gradient_norm().item<double>();
    optimizer_.limit_gradients(norm, options_.gradient_limit);
    optimizer_.step(1e-3);
    done("optimizer");
  }

  std::map<std::string, std::vector<double>> phases;

  const partwise::networks::Network& network() const { return network_; }

 private:
  void begin() { started_ = Clock::now(); }
  void done(const std::string& phase) {
    phases[phase].push_back(milliseconds_since(started_));
    started_ = Clock::now();
  }

  partwise::training::TrainOptions options_;
  partwise::networks::Network network_;
  partwise::training::Optimizer optimizer_;
  Tensor pixels_;
  Tensor category_;
  int64_t count_ = 0;
  Clock::time_point started_;
};

struct Shape {
  std::string name;
  int64_t in, out, kernel, stride, padding, side, side_out;

  double gigaflops() const {
    return 2e-9 * static_cast<double>(kBatch * out * side_out * side_out * in * kernel * kernel);
  }
};

// Forward, backward to the data and to the weights, each alone.
std::array<Quartiles, 3> convolution_times(const Shape& shape, int repeats) {
  const torch::NoGradGuard no_grad;
  const auto input = torch::randn({kBatch, shape.in, shape.side, shape.side});
  const auto weight = torch::randn({shape.out, shape.in, shape.kernel, shape.kernel});
  const auto bias = torch::randn({shape.out});
  const auto gradient = torch::randn({kBatch, shape.out, shape.side_out, shape.side_out});
  const auto backward = [&](std::array<bool, 3> wanted) {
    const std::vector<int64_t> stride{shape.stride, shape.stride};
    const std::vector<int64_t> padding{shape.padding, shape.padding};
    at::convolution_backward(gradient, input, weight, at::IntArrayRef{shape.out}, stride, padding,
                             {1, 1}, false, {0, 0}, 1, wanted);
  };
  std::array<std::vector<double>, 3> times;
  for (int repeat = -1; repeat < repeats; ++repeat) {
    auto start = Clock::now();
    torch::conv2d(input, weight, bias, shape.stride, shape.padding);
    const double forward = milliseconds_since(start);
    start = Clock::now();
    backward({true, false, false});
    const double data = milliseconds_since(start);
    start = Clock::now();
    backward({false, true, true});
    if (repeat < 0) continue;
    times[0].push_back(forward);
    times[1].push_back(data);
    times[2].push_back(milliseconds_since(start));
  }
  return {quartiles(times[0]), quartiles(times[1]), quartiles(times[2])};
}

std::vector<Shape> convolutions(const partwise::networks::Network& network) {
  std::vector<Shape> found;
  const auto& layers = network.architecture().layers;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto* one = std::get_if<partwise::networks::Convolution>(&layers[i].operation);
    if (!one) continue;
    const auto before = network.inputs()[i].front();
    const auto side = before < 0 ? network.architecture().input_side
                                 : network.geometry()[static_cast<std::size_t>(before)].side;
    found.push_back({layers[i].name, one->in, one->out, one->kernel, one->stride, one->padding,
                     side, network.geometry()[i].side});
  }
  return found;
}

void print_steps(int repeats) {
  std::vector<std::pair<Arm, Step>> steps;
  for (const auto arm : partwise::values_of<Arm>()) steps.emplace_back(arm, Step(arm));
  std::map<Arm, std::vector<double>> clock;
  std::map<Arm, std::vector<double>> processor;
  for (int repeat = -3; repeat < repeats; ++repeat) {
    for (auto& [arm, step] : steps) {
      const auto start = Clock::now();
      const double before = processor_milliseconds();
      step.run();
      if (repeat < 0) continue;
      processor[arm].push_back(processor_milliseconds() - before);
      clock[arm].push_back(milliseconds_since(start));
    }
  }
  fmt::print("A step, ms (median and quartiles of {}), of the processor, and its parts:\n",
             repeats);
  for (auto& [arm, step] : steps) {
    const auto time = quartiles(clock[arm]);
    fmt::print("  {:<15}{:6.1f} [{:.1f}, {:.1f}]  cpu {:6.1f} ", partwise::word_of(arm),
               time.median, time.low, time.high, quartiles(processor[arm]).median);
    for (const auto& [phase, values] : step.phases)
      fmt::print("  {} {:.1f}", phase, quartiles(values).median);
    fmt::print("\n");
    step.phases.clear();
  }
  auto& step = steps.back().second;
  const auto handle =
      at::addGlobalCallback(at::RecordFunctionCallback(operator_begins, operator_ends)
                                .scopes({at::RecordScope::FUNCTION}));
  for (int repeat = 0; repeat < repeats; ++repeat) step.run();
  at::removeCallback(handle);
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [name, time] : ledger.take()) sorted.emplace_back(time / repeats, name);
  std::sort(sorted.rbegin(), sorted.rend());
  fmt::print("Operators of the interpretable arm's step, ms of their own:\n");
  for (const auto& [time, name] : sorted) {
    if (time >= 0.25) fmt::print("  {:<44}{:7.2f}\n", name, time);
  }
}

void print_convolutions(int repeats) {
  const Shape large{"256 filters of 256 maps", 256, 256, 3, 1, 1, 28, 28};
  const auto best = convolution_times(large, std::max(3, repeats / 10));
  const double peak = 1e3 * large.gigaflops() / best[0].low;
  fmt::print("The most a convolution reaches here: {:.0f} GFLOP/s ({})\n", peak, large.name);
  double sum = 0.0;
  double floor = 0.0;
  for (const auto& shape : convolutions(Step(Arm::interpretable).network())) {
    const auto times = convolution_times(shape, repeats);
    fmt::print("  {:<7}{:6.3f} GFLOP ", shape.name, shape.gigaflops());
    const std::array<const char*, 3> names{"forward", "to data", "to weights"};
    for (std::size_t i = 0; i < 3; ++i) {
      const double part = 1e3 * shape.gigaflops() / times.at(i).median / peak;
      fmt::print("  {} {:.2f} ms ({:.0f} %)", names.at(i), times.at(i).median, 100.0 * part);
      if (i == 1 && shape.name == "conv1") continue;  // an image needs no gradient
      sum += times.at(i).median;
      floor += 1e3 * shape.gigaflops() / peak;
    }
    fmt::print("\n");
  }
  fmt::print("  all of a step {:.1f} ms, at that rate {:.1f} ms: x {:.2f}\n", sum, floor,
             sum / floor);
}

// Forward and backward of `layer`, whose result has the shape of what is sent back.
void there_and_back(const Tensor& input, const std::function<Tensor(const Tensor&)>& layer) {
  const auto leaf = input.detach().requires_grad_();
  const auto output = layer(leaf);
  output.backward(torch::ones_like(output));
}

void compare_pooling(int repeats) {
  for (const auto& [channels, side] : {std::pair<int64_t, int64_t>{24, 56}, {48, 28}}) {
    const auto input = torch::randn({kBatch, channels, side, side});
    const auto target = torch::empty_like(input);
    partwise::bench::compare(
        fmt::format("Max pooling of 2 x 2 cells, there and back, {} x {} x {}^2", kBatch, channels,
                    side),
        {{"a copy of the maps", [&] { target.copy_(input); }},
         {"ours",
          [&] {
            there_and_back(input, [](const Tensor& x) {
              return partwise::networks::max_pool(x, partwise::networks::MaxPool{});
            });
          }},
         {"LibTorch's",
          [&] {
            there_and_back(input, [](const Tensor& x) { return torch::max_pool2d(x, 2, 2); });
          }}},
        repeats);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::stoi(argv[1]) : 40;
  const int threads = argc > 2 ? std::stoi(argv[2]) : 0;
  partwise::ensure(argc <= 3 && repeats > 0, "usage: training_step [REPEATS [THREADS]]");
  partwise::tensors::start_session(threads);
  torch::manual_seed(kSeed);
  print_steps(repeats);
  print_convolutions(repeats);
  compare_pooling(repeats);
  return 0;
}
