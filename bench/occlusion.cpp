// What a covered patch does to every filter's peak (Zhou et al. 2015), on the patches of a
// receptive field: ours, which computes again only what a patch can reach, beside the loop that
// runs the whole network on every covered image. One image, one thread: on a busy machine threads
// wait for each other, and the smaller the work the longer.
//   occlusion [REPEATS]
#include "partwise/networks/occlusion.h"

#include "partwise/tensors/session.h"
#include "partwise/tensors/torch.h"

#include "side_by_side.h"
#include <algorithm>
#include <cstdlib>

namespace {

using partwise::Tensor;
using namespace partwise::networks;

constexpr std::size_t kPatches = 64;  // of some 700, evenly spread; a field takes all

struct Question {
  const Network& network;
  std::size_t tap = 0;
  Tensor image;
  std::vector<Corner> corners;
  int64_t size = 0;
  Tensor peaks;  // [1, filters, 1]: where the uncovered image's maps have theirs
};

Tensor covered(const Question& question, const Corner& corner) {
  auto image = question.image.clone();
  image.slice(1, corner.y, corner.y + question.size)
      .slice(2, corner.x, corner.x + question.size)
      .zero_();
  return image;
}

// `at_once` covered images per run of the network. [patches, filters]
Tensor naive(const Question& question, std::size_t at_once) {
  std::vector<Tensor> rows;
  for (std::size_t first = 0; first < question.corners.size(); first += at_once) {
    std::vector<Tensor> images;
    for (std::size_t i = first; i < std::min(first + at_once, question.corners.size()); ++i)
      images.push_back(covered(question, question.corners[i]));
    const auto maps = question.network.evaluate(torch::stack(images)).taps[question.tap].maps;
    rows.push_back(
        maps.flatten(2).gather(2, question.peaks.expand({maps.size(0), -1, -1})).squeeze(2));
  }
  return torch::cat(rows);
}

Tensor ours(const Question& question) {
  return occluded_peaks(question.network, question.tap, question.image, question.corners,
                        question.size);
}

void compare_on(const char* net, Arm arm, std::size_t tap, int repeats) {
  const Network network{build_architecture(net, arm, 2, {}, {}), 2, {}, 1};
  const int64_t side = network.architecture().input_side;
  Question question{network, tap, torch::rand({3, side, side}), {}, side / 10, {}};
  const auto all = patch_corners(side, question.size, side / 28);
  for (std::size_t i = 0; i < kPatches; ++i)
    question.corners.push_back(all[i * all.size() / kPatches]);
  question.peaks =
      network.evaluate(question.image.unsqueeze(0)).taps[tap].maps.flatten(2).argmax(2, true);
  const auto wanted = naive(question, 1);
  const double gap = ((ours(question) - wanted).abs().max() / wanted.abs().max()).item<double>();
  partwise::bench::compare(
      fmt::format("{}, {}, layer {}: {} patches of {} pixels on {}; largest difference {:.1e} of "
                  "the largest peak",
                  net, arm == Arm::interpretable ? "interpretable" : "ordinary", tap,
                  question.corners.size(), question.size, side, gap),
      {{"only what a patch can reach", [&] { ours(question); }},
       {"whole images, one by one", [&] { naive(question, 1); }},
       {"whole images, 32 at once", [&] { naive(question, 32); }}},
      repeats);
}

}  // namespace

int main(int count, char** arguments) {
  const torch::NoGradGuard no_grad;
  partwise::tensors::start_session(1);
  torch::manual_seed(1);
  const int repeats = count > 1 ? std::atoi(arguments[1]) : 3;
  compare_on("tiny", Arm::interpretable, 0, repeats);
  compare_on("tiny", Arm::interpretable, 1, repeats);
  compare_on("squeezenet1-1", Arm::ordinary, 0, repeats);
  compare_on("squeezenet1-1", Arm::interpretable, 1, repeats);
}
