#include "partwise/experiments/carried_backbone.h"

// The assembler takes the file in as it is (PARTWISE_BACKBONE: its path); as an array of numbers it
// would be five times as long to compile.
__asm__(
    ".pushsection .rodata\n"
    ".balign 16\n"
    "partwise_backbone_begin:\n"
    ".incbin \"" PARTWISE_BACKBONE
    "\"\n"
    "partwise_backbone_end:\n"
    ".popsection\n");
extern "C" {
__attribute__((visibility("hidden"))) extern const char partwise_backbone_begin[];
__attribute__((visibility("hidden"))) extern const char partwise_backbone_end[];
}

namespace partwise::experiments {

std::string_view carried_backbone() {
  return {partwise_backbone_begin, partwise_backbone_end};
}

}  // namespace partwise::experiments
