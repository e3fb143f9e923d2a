#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace partwise::experiments {

// The backbone of net tiny that the program carries with it: backbones/tiny.safetensors, trained by
// tools/make_backbone.py on images drawn by kBackboneSeed. No demo may draw by that seed, so that
// none shows its test images to a backbone that has seen them.
inline constexpr int64_t kBackboneSeed = std::numeric_limits<int64_t>::max();
inline constexpr std::string_view kBackboneHash = "2707ad4514964307";  // content_hash

// The file's bytes: float16, names as in docs/networks.md.
std::string_view carried_backbone();

}  // namespace partwise::experiments
