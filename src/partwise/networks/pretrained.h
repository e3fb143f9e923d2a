#pragma once

#include "partwise/base/options.h"
#include "partwise/networks/network.h"

#include <filesystem>
#include <map>
#include <string>

namespace partwise::networks {

// What the first convolution of a weights file was trained to see; ours sees "imagenet".
//   imagenet  RGB, (x / 255 - mean) / std with ImageNet's mean and std
//   rgb255    RGB, 0 to 255 minus a mean (MatConvNet)
//   bgr255    the same in the order blue, green, red (Caffe)
//   auto      rgb255 for a MatConvNet file, imagenet otherwise
enum class InputConvention { automatic, imagenet, rgb255, bgr255 };

struct Pretrained {
  std::map<std::string, Tensor> state;  // by our names, float32: what load_backbone takes
  std::string summary;                  // one line: what was taken, renamed, folded, left
};

// The weights of `net`'s backbone from any file that weights::read_weights understands. Names are
// taken as they are, or translated where they are torchvision's VGG-16 (batch norm folded into the
// convolutions), DataParallel's ("module."), or MatConvNet's DagNN ("conv1f", "conv1_filter").
// Another input convention is folded into the first convolution: exact inside the image; at a
// padded border the difference of the two means remains. Missing or misshaped arrays are an Error
// that lists them.
Pretrained read_pretrained(const std::string& net,
                           const std::filesystem::path& path,
                           InputConvention convention = InputConvention::automatic);

// Weights from elsewhere give features of any scale; new layers and the learning rate expect about
// one. The root mean square of the first tapped layer's maps over `images`.
double feature_scale(const Network& network, const Tensor& images);

// Multiplies these maps by `factor` > 0 through the last weights before them: ReLU, pooling,
// dropout and concatenation let a positive factor pass, so the network computes the same features
// in another unit. False, and nothing changed, where a skip connection lies between.
bool scale_features(Network& network, double factor);

}  // namespace partwise::networks

template <>
inline constexpr auto partwise::kWords<partwise::networks::InputConvention> =
    partwise::words("auto", "imagenet", "rgb255", "bgr255");
