// One interpretable layer on a GPU, bfloat16: each kernel that touches maps against a copy of the
// same bytes, then the whole layer, forward and backward, against ReLU alone and against the composed
// operators.
//   gpu_layer [REPEATS]
#include "partwise/interpretable.h"
#include "partwise/kernels/gpu_kernels.h"
#include "partwise/parts/fused_maps.h"
#include "partwise/tensors/gpu_stream.h"
#include "partwise/tensors/torch.h"

#include <torch/cuda.h>

#include "side_by_side.h"

namespace {

using partwise::Interpretable;
using partwise::Tensor;
using partwise::bench::Side;
namespace kernels = partwise::kernels;

constexpr int64_t kCategories = 6;
constexpr int kSets = 6;  // of maps in turn: together more than the cache holds

struct Shape {
  const char* net;
  int64_t images;
  int64_t filters;
  int64_t side;
};

// Of `run` on one set after the other, waited for once.
double milliseconds(int repeats, const std::function<void(int)>& run) {
  for (int i = 0; i < 2 * kSets; ++i) run(i % kSets);
  std::vector<double> found;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    torch::cuda::synchronize();
    found.push_back(partwise::bench::seconds_of([&] {
      for (int i = 0; i < 10 * kSets; ++i) run(i % kSets);
      torch::cuda::synchronize();
    }));
  }
  return 1e3 * partwise::bench::quartiles(found).median / (10 * kSets);
}

void kernels_beside_copies(const Shape& shape, int repeats) {
  const auto type = torch::TensorOptions(torch::kCUDA).dtype(torch::kBFloat16);
  const auto numbers = torch::TensorOptions(torch::kCUDA);
  std::vector<Tensor> maps;
  std::vector<Tensor> others;
  for (int i = 0; i < kSets; ++i) {
    maps.push_back(torch::randn({shape.images, shape.filters, shape.side, shape.side}, type)
                       .contiguous(at::MemoryFormat::ChannelsLast));
    others.push_back(torch::randn_like(maps.back()));
  }
  const auto slopes = torch::full({shape.filters}, 4.0 / static_cast<double>(shape.side), numbers);
  const auto of_maps = torch::rand({16, shape.images, shape.filters}, numbers);
  const auto cells = torch::zeros({2, shape.images, shape.filters}, numbers.dtype(torch::kInt32));
  const auto of_filters = torch::rand({8, shape.filters}, numbers);
  const auto labels = torch::randint(0, kCategories, {shape.images}, numbers.dtype(torch::kInt64));
  const auto category =
      torch::randint(0, kCategories, {shape.filters}, numbers.dtype(torch::kInt32));
  const auto number = [&](int64_t i) { return of_maps[i].data_ptr<float>(); };
  const auto describe = [&](const Tensor& values) {
    kernels::GpuMaps described;
    described.values[0] = values.data_ptr();
    described.filters_of[0] = described.filters = static_cast<int>(shape.filters);
    described.pieces = 1;
    described.narrow = true;
    described.images = static_cast<int>(shape.images);
    described.side = static_cast<int>(shape.side);
    return described;
  };
  const auto& table = *kernels::gpu_kernels(0);
  auto* stream = partwise::tensors::stream_of(labels);
  const kernels::GpuTemplates templates{slopes.data_ptr<float>(), false};
  const auto look = [&](int i) {
    kernels::GpuLook work;
    work.maps = describe(maps[static_cast<std::size_t>(i)]);
    work.templates = templates;
    work.masked = others[static_cast<std::size_t>(i)].data_ptr();
    work.peaks = cells[0].data_ptr<int>();
    work.strongest = cells[1].data_ptr<int>();
    work.tops = number(0);
    work.masses = number(1);
    work.squares = number(2);
    work.fits = number(3);
    table.look(work, stream);
  };
  const auto foreign = [&](int i) {
    table.foreign({describe(maps[static_cast<std::size_t>(i)]), templates, cells[0].data_ptr<int>(),
                   number(4)},
                  stream);
  };
  const auto push_of = [&](int i) {
    kernels::GpuPush work;
    work.maps = describe(maps[static_cast<std::size_t>(i)]);
    work.templates = templates;
    work.gradient = others[static_cast<std::size_t>(i)].data_ptr();
    work.through_relu = true;
    work.peaks = cells[0].data_ptr<int>();
    work.strongest = cells[1].data_ptr<int>();
    work.constant = number(5);
    work.pull = number(6);
    work.scaling = of_filters[0].data_ptr<float>();
    work.raise = number(7);
    work.need = of_filters[1].data_ptr<float>();
    work.labels = labels.data_ptr<int64_t>();
    work.category = category.data_ptr<int>();
    work.task_squares = number(8);
    work.push_squares = number(9);
    work.lift_squares = number(10);
    work.factor = of_filters[2].data_ptr<float>();
    work.lift = of_filters[3].data_ptr<float>();
    work.seed = labels.data_ptr<int64_t>();
    work.gradients[0] = others[static_cast<std::size_t>((i + 1) % kSets)].data_ptr();
    return work;
  };
  const auto copied = milliseconds(repeats, [&](int i) {
    others[static_cast<std::size_t>(i)].copy_(maps[static_cast<std::size_t>(i)]);
  });
  const double bytes = static_cast<double>(maps[0].numel()) * 2.0;
  std::printf("%s, %ld x %ld x %ld^2: a copy takes %.4f ms, %.2f TB/s\n", shape.net,
              static_cast<long>(shape.images), static_cast<long>(shape.filters),
              static_cast<long>(shape.side), copied, 2.0 * bytes / copied * 1e-9);
  const auto line = [&](const char* name, double passes, const std::function<void(int)>& run) {
    const double took = milliseconds(repeats, run);
    std::printf("  %-34s %.4f ms  %4.1f %% of the copy's bandwidth (%g maps read or written)\n",
                name, took, 100.0 * passes / 2.0 * copied / took, passes);
  };
  line("look and mask", 2.0, look);
  line("foreign fits", 1.0, foreign);
  line("norms", 2.0, [&](int i) { table.norms(push_of(i), stream); });
  line("push", 3.0, [&](int i) { table.push(push_of(i), stream); });
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
                                  {"VGG-16", 128, 512, 14},
                                  {"VGG-16", 256, 512, 14}};
  for (const auto& shape : shapes) kernels_beside_copies(shape, repeats);
  for (const auto& shape : shapes) whole_layer(shape, repeats);
}
