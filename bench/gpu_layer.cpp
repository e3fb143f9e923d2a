// One interpretable layer on a GPU, bfloat16: each kernel that touches maps against a copy of the
// same bytes, then the whole layer, forward and backward, against ReLU alone and against the
// composed operators. At last what stands behind the other convolutions of a net: biases, ReLU,
// joins and poolings.
//   gpu_layer [REPEATS]
#include "partwise/interpretable.h"
#include "partwise/kernels/gpu_kernels.h"
#include "partwise/networks/opening.h"
#include "partwise/parts/fused_maps.h"
#include "partwise/tensors/gpu_stream.h"
#include "partwise/tensors/torch.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/cuda.h>

#include "side_by_side.h"
#include <optional>

namespace {

using partwise::Interpretable;
using partwise::Tensor;
using partwise::bench::Side;
using partwise::networks::MaxPool;
namespace kernels = partwise::kernels;

constexpr int64_t kCategories = 6;
constexpr double kBytesInTurn = 2.4e8;  // of maps: several times what the cache holds

struct Shape {
  const char* net;
  int64_t images;
  int64_t filters;
  int64_t side;
};

// Of `run` on one of `sets` after the other, recorded once: the processor's part does not count.
double microseconds(int repeats, int sets, const std::function<void(int)>& run) {
  const int runs = std::max(48, sets);
  for (int i = 0; i < 4; ++i) run(i);
  torch::cuda::synchronize();
  at::cuda::CUDAGraph graph;
  {
    const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
    graph.capture_begin();
    for (int i = 0; i < runs; ++i) run(i % sets);
    graph.capture_end();
  }
  std::vector<double> found;
  for (int repeat = 0; repeat < repeats + 2; ++repeat) {
    torch::cuda::synchronize();
    const double seconds = partwise::bench::seconds_of([&] {
      graph.replay();
      torch::cuda::synchronize();
    });
    if (repeat >= 2) found.push_back(seconds);
  }
  return 1e6 * partwise::bench::quartiles(found).median / runs;
}

// A layer's numbers, made up.
struct Layer {
  explicit Layer(const Shape& shape)
      : images(static_cast<int>(shape.images)),
        filters(static_cast<int>(shape.filters)),
        side(static_cast<int>(shape.side)),
        of_maps(torch::rand({24, shape.images, shape.filters}, torch::kCUDA)),
        of_filters(torch::rand({40, shape.filters}, torch::kCUDA)),
        of_categories(torch::rand({8, kCategories, shape.filters}, torch::kCUDA)),
        cells(torch::zeros({2, shape.images, shape.filters},
                           torch::TensorOptions(torch::kCUDA).dtype(torch::kInt32))),
        labels(torch::arange(shape.images, torch::TensorOptions(torch::kCUDA).dtype(torch::kInt64))
                   .remainder(kCategories)),
        category(torch::arange(shape.filters, cells.options()).remainder(kCategories)),
        arrived(torch::zeros({2}, cells.options())),
        fits(torch::rand({shape.images, side * side + 1, shape.filters}, torch::kCUDA)),
        of_templates(torch::rand({2, side * side + 1, shape.filters}, torch::kCUDA)),
        dense(torch::empty({shape.images, side, side, shape.filters}, torch::kCUDA)) {
    of_filters[0].fill_(4.0 / side);  // the templates' slopes
    // Every seventh filter is to be lifted.
    of_filters[1].copy_(
        (torch::arange(shape.filters, torch::kCUDA).remainder(7) == 0).to(torch::kFloat32));
    of_filters[2].copy_(category);
  }

  float* map(int i) const { return of_maps[i].data_ptr<float>(); }
  float* filter(int i) const { return of_filters[i].data_ptr<float>(); }
  float* per_category(int i) const { return of_categories[i].data_ptr<float>(); }

  kernels::GpuMaps maps(const Tensor& values) const {
    kernels::GpuMaps maps;
    maps.values[0] = values.data_ptr();
    maps.biases[0] = filter(3);
    maps.filters_of[0] = maps.filters = filters;
    maps.pieces = 1;
    maps.narrow = true;
    maps.images = images;
    maps.side = side;
    return maps;
  }

  kernels::GpuGather gather() const {
    kernels::GpuGather work;
    work.images = images;
    work.filters = filters;
    work.cells = side * side;
    work.labels = labels.data_ptr<int64_t>();
    work.response = work.masses = map(1);
    work.tops = map(0);
    work.fits = map(3);
    auto& memory = work.memory;
    memory.categories = static_cast<int>(kCategories);
    memory.relative = true;
    memory.category_share = memory.scale_share = 0.01F;
    memory.peak_scale = filter(4);
    memory.scale_seen = filter(5);
    memory.peak_best = filter(6);
    memory.peak_all = filter(7);
    memory.fit_spread = filter(8);
    memory.fit_sum = filter(9);
    memory.calm = filter(10);
    memory.all_seen = filter(11);
    memory.category_seen = filter(12);
    memory.category_mean = per_category(0);
    memory.assigned = filter(2);
    work.counts = filter(13);
    work.top_sums = per_category(1);
    work.fit_sums = per_category(2);
    work.spread_sums = per_category(3);
    work.all_sums = filter(14);
    return work;
  }

  kernels::GpuState state() const {
    kernels::GpuState state;
    state.category = category.data_ptr<int>();
    state.mean_peak = filter(15);
    state.mean_all = filter(16);
    state.scale = filter(17);
    state.inverse = filter(32);
    state.need = filter(18);
    state.per_vote = filter(19);
    state.numbers = filter(20);
    return state;
  }

  kernels::GpuWeigh weigh() const {
    kernels::GpuWeigh work;
    work.batch = gather();
    work.state = state();
    work.foreign = map(4);
    work.squares = map(2);
    work.balance_batch = work.kept = true;
    work.power = 2;
    work.tau = 2.0F / static_cast<float>(side * side);
    work.weight_limit = 10.0F;
    work.vote = 1.0F;
    work.constant = map(5);
    work.pull = map(6);
    work.scaling = filter(21);
    work.raise = map(7);
    work.effective = filter(22);  // and the next
    work.losses = map(12);
    work.arrived = reinterpret_cast<unsigned*>(arrived.data_ptr<int>());
    work.sums = filter(24);
    return work;
  }

  kernels::GpuPush push(const Tensor& values, const Tensor& task, const Tensor& out) const {
    kernels::GpuPush work;
    work.maps = maps(values);
    work.templates = templates();
    work.gradient = task.data_ptr();
    work.through_relu = true;
    work.peaks = cells[0].data_ptr<int>();
    work.strongest = cells[1].data_ptr<int>();
    work.constant = map(5);
    work.pull = map(6);
    work.scaling = filter(21);
    work.raise = map(7);
    work.need = filter(1);
    work.labels = labels.data_ptr<int64_t>();
    work.category = category.data_ptr<int>();
    work.task_squares = map(8);
    work.push_squares = map(9);
    work.lift_squares = map(10);
    work.factor = filter(25);
    work.lift = filter(26);
    work.seed = labels.data_ptr<int64_t>();
    work.gradients[0] = out.data_ptr();
    work.bias_sums = map(11);
    return work;
  }

  kernels::GpuBalance balance() const {
    kernels::GpuBalance work;
    work.images = images;
    work.filters = filters;
    work.unit = kernels::GpuUnit::filter_share;
    work.strength = 0.03F;
    work.keep_alive = 0.1F;
    work.need = filter(1);
    work.task_squares = map(8);
    work.push_squares = map(9);
    work.lift_squares = map(10);
    work.norms = filter(27);  // and the next two
    work.arrived = reinterpret_cast<unsigned*>(arrived.data_ptr<int>()) + 1;
    work.factor = filter(25);
    work.lift = filter(26);
    work.sums = filter(24);
    return work;
  }

  kernels::GpuLikelihood likelihood() const {
    kernels::GpuLikelihood work;
    work.images = images;
    work.filters = filters;
    work.cells = side * side;
    work.fits = fits.data_ptr<float>();
    work.inverse = filter(30);
    work.log_partition = of_templates[0].data_ptr<float>();
    work.log_sums = of_templates[1].data_ptr<float>();
    work.most = 10.0F;
    work.log_marginals = map(13);
    work.terms = map(14);  // and the next two
    return work;
  }

  kernels::GpuMixture mixture(const Tensor& values) const {
    kernels::GpuMixture work;
    work.maps = maps(values);
    work.templates = templates();
    work.fits = fits.data_ptr<float>();
    work.inverse = filter(30);
    work.log_partition = of_templates[0].data_ptr<float>();
    work.most = 10.0F;
    work.log_marginals = map(13);
    work.factor = filter(31);
    work.dense = dense.data_ptr<float>();
    work.sizes = map(17);
    work.along = map(18);
    return work;
  }

  kernels::GpuTemplates templates() const { return {filter(0), false}; }

  int images;
  int filters;
  int side;
  Tensor of_maps;
  Tensor of_filters;
  Tensor of_categories;
  Tensor cells;
  Tensor labels;
  Tensor category;
  Tensor arrived;
  Tensor fits;
  Tensor of_templates;
  Tensor dense;
};

void kernels_beside_copies(const Shape& shape, int repeats) {
  const auto type = torch::TensorOptions(torch::kCUDA).dtype(torch::kBFloat16);
  std::vector<Tensor> maps;
  std::vector<Tensor> others;
  const double bytes =
      2.0 * static_cast<double>(shape.images * shape.filters * shape.side * shape.side);
  const int sets = std::max(4, static_cast<int>(kBytesInTurn / bytes) + 1);
  for (int i = 0; i < sets; ++i) {
    maps.push_back(torch::randn({shape.images, shape.filters, shape.side, shape.side}, type)
                       .contiguous(at::MemoryFormat::ChannelsLast));
    others.push_back(torch::randn_like(maps.back()));
  }
  const Layer layer(shape);
  const auto& table = *kernels::gpu_kernels(0);
  const auto stream = [&] { return partwise::tensors::stream_of(layer.labels); };
  const auto values = [&](int i) { return maps[static_cast<std::size_t>(i % sets)]; };
  const auto other = [&](int i) { return others[static_cast<std::size_t>(i % sets)]; };
  const auto copied =
      microseconds(repeats, sets, [&](int i) { other(i).copy_(values(i), /*non_blocking=*/true); });
  std::printf("%s, %d x %d x %d^2: a copy takes %.1f us, %.2f TB/s\n", shape.net, layer.images,
              layer.filters, layer.side, copied, 2.0 * bytes / copied * 1e-6);
  const auto line = [&](const char* name, double passes, const std::function<void(int)>& run) {
    const double took = microseconds(repeats, sets, run);
    std::printf("  %-22s %6.1f us", name, took);
    if (passes > 0.0)
      std::printf("  %3.0f %% of the copy's bandwidth (%g maps read or written)",
                  50.0 * passes * copied / took, passes);
    std::puts("");
  };
  line("look and mask", 2.0, [&](int i) {
    kernels::GpuLook work;
    work.maps = layer.maps(values(i));
    work.templates = layer.templates();
    work.masked = other(i).data_ptr();
    work.peaks = layer.cells[0].data_ptr<int>();
    work.strongest = layer.cells[1].data_ptr<int>();
    work.tops = layer.map(0);
    work.masses = layer.map(1);
    work.squares = layer.map(2);
    work.fits = layer.map(3);
    table.look(work, stream());
  });
  line("foreign fits", 1.0, [&](int i) {
    kernels::GpuForeign work;
    work.maps = layer.maps(values(i));
    work.templates = layer.templates();
    work.peaks = layer.cells[0].data_ptr<int>();
    work.foreign = layer.map(4);
    work.images = layer.images;
    table.foreign(work, stream());
  });
  line("norms", 2.0,
       [&](int i) { table.norms(layer.push(values(i), other(i), other(i + 1)), stream()); });
  line("push", 3.0,
       [&](int i) { table.push(layer.push(values(i), other(i), other(i + 1)), stream()); });
  line("gather", 0.0, [&](int) { table.gather(layer.gather(), stream()); });
  line("settle", 0.0, [&](int) {
    table.settle({layer.gather(), layer.state(), 0.1F, 0.1F, false}, stream());
  });
  line("weigh", 0.0, [&](int) { table.weigh(layer.weigh(), stream()); });
  line("balance", 0.0, [&](int) { table.balance(layer.balance(), stream()); });
  line("all fits", 0.0, [&](int i) {
    table.all_fits({layer.maps(values(i)), layer.templates(), layer.fits.data_ptr<float>()},
                   stream());
  });
  line("log sums of the fits", 0.0, [&](int) { table.log_sums(layer.likelihood(), stream()); });
  line("terms of the loss", 0.0, [&](int) { table.loss_terms(layer.likelihood(), stream()); });
  line("mixture of templates", 0.0, [&](int i) { table.mix(layer.mixture(values(i)), stream()); });
}

void whole_layer(const Shape& shape, int repeats) {
  const auto type = torch::TensorOptions(torch::kCUDA).dtype(torch::kBFloat16);
  const auto values = torch::randn({shape.images, shape.filters, shape.side, shape.side}, type)
                          .contiguous(at::MemoryFormat::ChannelsLast)
                          .requires_grad_();
  const auto labels = torch::randint(0, kCategories, {shape.images}, type.dtype(torch::kInt64));
  const auto gradient = 1e-3 * torch::randn_like(values.detach());
  const auto step = [&](bool composed) {
    auto layer = std::make_shared<Interpretable>(shape.filters, shape.side, kCategories);
    (*layer)->to(torch::kCUDA);
    return [=] {
      std::unique_ptr<partwise::parts::ComposedOperators> reference;
      if (composed) reference = std::make_unique<partwise::parts::ComposedOperators>();
      const auto out = (*layer)->open_and_learn({values}, labels);
      torch::autograd::grad({out}, {values}, {gradient});
      torch::cuda::synchronize();
    };
  };
  const auto relu = [=] {
    torch::autograd::grad({torch::relu(values)}, {values}, {gradient});
    torch::cuda::synchronize();
  };
  partwise::bench::compare(
      std::string(shape.net) + ", there and back, launches included",
      {{"ReLU alone", relu}, {"kernels", step(false)}, {"composed", step(true)}}, repeats * 5);
}

// What a net opens in one go: so many pieces of so many channels.
struct Front {
  const char* name;
  int pieces;
  int64_t channels;
  int64_t side;
  std::optional<MaxPool> pool;
};

void openings_beside_copies(const Front& front, int64_t images, int repeats) {
  namespace networks = partwise::networks;
  const auto type = torch::TensorOptions(torch::kCUDA).dtype(torch::kBFloat16);
  const auto cells = static_cast<double>(images * front.channels * front.side * front.side);
  const double bytes = 2.0 * cells * front.pieces;
  const int sets = std::max(2, static_cast<int>(kBytesInTurn / bytes) + 1);
  std::vector<std::vector<Tensor>> pieces(static_cast<std::size_t>(sets));
  for (auto& of_set : pieces) {
    for (int i = 0; i < front.pieces; ++i) {
      of_set.push_back(torch::randn({images, front.channels, front.side, front.side}, type)
                           .contiguous(at::MemoryFormat::ChannelsLast)
                           .requires_grad_());
    }
  }
  std::vector<Tensor> biases;
  for (int i = 0; i < front.pieces; ++i)
    biases.push_back(torch::zeros({front.channels}, torch::kCUDA).requires_grad_());
  const auto composed = [&](const std::vector<Tensor>& given) {
    std::vector<Tensor> opened;
    for (std::size_t i = 0; i < given.size(); ++i)
      opened.push_back(torch::relu(given[i] + biases[i].view({1, -1, 1, 1}).to(torch::kBFloat16)));
    const auto joined = opened.size() == 1 ? opened.front() : torch::cat(opened, 1);
    const auto& pool = front.pool;
    return pool ? torch::max_pool2d(joined, pool->kernel, pool->stride, pool->padding) : joined;
  };
  const auto gradient = torch::randn_like(composed(pieces.front()).detach());
  const auto there_and_back = [&](const auto& open) {
    return microseconds(repeats, sets, [&](int i) {
      const auto& given = pieces[static_cast<std::size_t>(i % sets)];
      auto inputs = given;
      inputs.insert(inputs.end(), biases.begin(), biases.end());
      torch::autograd::grad({open(given)}, inputs, {gradient});
    });
  };
  const auto other = torch::empty_like(pieces.front().front());
  const double copied = front.pieces * microseconds(repeats, sets, [&](int i) {
                          const torch::NoGradGuard no_grad;
                          other.copy_(pieces[static_cast<std::size_t>(i % sets)].front(), true);
                        });
  const double ours = there_and_back([&](const std::vector<Tensor>& given) {
    std::vector<Tensor> fresh;  // a piece alone is opened in its place: the leaf stays as it is
    for (const auto& piece : given) fresh.push_back(given.size() > 1 ? piece : piece.clone());
    return networks::open({front.pool || given.size() > 1 ? given : fresh, biases, front.pool});
  });
  const double theirs = there_and_back(composed);
  // Maps read or written: there 2 (with pooling, which keeps a byte for each number, 1 + 3/2 of
  // what is left), back 3 (3/2 of what is left, and 1).
  const double left = static_cast<double>(gradient.numel()) / (cells * front.pieces);
  const double clone = front.pool || front.pieces > 1 ? 0.0 : 2.0;
  const double passes = (front.pool ? 2.0 + 3.0 * left : 5.0) + clone;
  std::printf(
      "  %-28s x %lld: ours %7.1f us, %3.0f %% of the copy's bandwidth (%.2f maps); operators "
      "%7.1f us, x %.1f\n",
      front.name, static_cast<long long>(images), ours, 50.0 * passes * copied / ours, passes,
      theirs, theirs / ours);
}

}  // namespace

int main(int arguments, char** words) {
  const int repeats = arguments > 1 ? std::atoi(words[1]) : 5;
  if (kernels::gpu_kernels(0) == nullptr || !torch::cuda::is_available()) {
    std::puts("gpu_layer: no GPU, or a program built without CUDA");
    return 0;
  }
  const std::vector<Shape> shapes{{"SqueezeNet", 32, 512, 13},
                                  {"SqueezeNet", 256, 512, 13},
                                  {"VGG-16", 32, 512, 14},
                                  {"VGG-16", 256, 512, 14}};
  for (const auto& shape : shapes) kernels_beside_copies(shape, repeats);
  for (const auto& shape : shapes) whole_layer(shape, repeats);
  std::puts("Behind a convolution, there and back:");
  const std::vector<Front> fronts{{"VGG-16 conv1_1: ReLU", 1, 64, 224, {}},
                                  {"VGG-16 conv1_2: ReLU, pool", 1, 64, 224, MaxPool{2, 2}},
                                  {"VGG-16 conv4_3: ReLU, pool", 1, 512, 28, MaxPool{2, 2}},
                                  {"SqueezeNet conv1: ReLU, pool", 1, 64, 111, MaxPool{3, 2}},
                                  {"SqueezeNet fire3: join", 2, 64, 55, {}},
                                  {"SqueezeNet fire7: join, pool", 2, 128, 27, MaxPool{3, 2}}};
  for (const auto& front : fronts)
    for (const int64_t images : {32, 128}) openings_beside_copies(front, images, repeats);
}
