#include "partwise/explaining/changed_scenes.h"

#include "partwise/base/interrupt.h"
#include "partwise/base/parallel.h"
#include "partwise/base/progress.h"
#include "partwise/datasets/crops.h"
#include "partwise/tensors/torch.h"

#include <algorithm>

namespace partwise::explaining {
namespace {

constexpr std::size_t kScenesAtOnce = 64;

}  // namespace

Tensor draw_crops(std::span<const ChangedScene> scenes, int64_t side, int threads) {
  auto crops = torch::empty({std::ssize(scenes), 3, side, side}, torch::kUInt8);
  auto* pixels = crops.data_ptr<uint8_t>();
  parallel_for(std::ssize(scenes), threads, [&](int64_t i) {
    const auto& [key, box, change] = scenes[static_cast<std::size_t>(i)];
    const auto scene = datasets::draw_scene(key, change);
    const auto crop = images::resize_antialiased(
        scene.image, datasets::window_from_box(box, scene.image.width, scene.image.height), side,
        side);
    auto* out = pixels + i * 3 * side * side;
    for (int64_t p = 0; p < side * side; ++p) {
      for (int64_t c = 0; c < 3; ++c)
        out[c * side * side + p] = crop.pixels[static_cast<std::size_t>(3 * p + c)];
    }
  });
  return crops;
}

std::vector<std::vector<double>> scores_of_scenes(const networks::Network& network,
                                                  const models::Task& task,
                                                  std::span<const ChangedScene> scenes,
                                                  const models::Resources& resources) {
  const torch::NoGradGuard no_grad;
  std::vector<std::vector<double>> answers;
  Progress progress("taking parts away", std::ssize(scenes), "scenes");
  for (std::size_t first = 0; first < scenes.size(); first += kScenesAtOnce) {
    if (interrupt_requested()) throw Interrupted("interrupted while taking parts away");
    const auto some = scenes.subspan(first, std::min(kScenesAtOnce, scenes.size() - first));
    auto pixels = draw_crops(some, network.architecture().input_side, resources.threads);
    const int64_t missing = static_cast<int64_t>(kScenesAtOnce) - pixels.size(0);
    if (missing > 0)
      pixels = torch::cat({pixels, pixels.slice(0, 0, 1).repeat({missing, 1, 1, 1})});
    const auto images = models::normalised(pixels.to(torch::Device(resources.device)));
    const auto scores = models::decision_scores(task, network.evaluate(images).logits)
                            .to(torch::kCPU, torch::kFloat64)
                            .contiguous();
    const auto* values = scores.data_ptr<double>();
    const int64_t classes = scores.size(1);
    for (std::size_t i = 0; i < some.size(); ++i, values += classes)
      answers.emplace_back(values, values + classes);
    progress.advance(std::ssize(some));
  }
  return answers;
}

}  // namespace partwise::explaining
