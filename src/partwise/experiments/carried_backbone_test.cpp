#include "partwise/experiments/carried_backbone.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/experiments/demo.h"

#include <gtest/gtest.h>

namespace partwise::experiments {
namespace {

TEST(CarriedBackbone, IsTheFileInTheRepository) {
  EXPECT_EQ(content_hash(carried_backbone()), kBackboneHash);
  EXPECT_EQ(carried_backbone(),
            read_file(std::filesystem::path(PARTWISE_SOURCE_DIR) / "backbones/tiny.safetensors"));
}

TEST(CarriedBackbone, HasSeenImagesOfNoDemo) {
  DemoOptions options;
  EXPECT_THROW(merge_json(options, {{"seed", kBackboneSeed}}, "command line"), Error);
  EXPECT_NO_THROW(merge_json(options, {{"seed", kBackboneSeed - 1}}, "command line"));
}

}  // namespace
}  // namespace partwise::experiments
