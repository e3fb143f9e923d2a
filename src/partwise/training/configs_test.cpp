#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/training/rates.h"
#include "partwise/training/trainer.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace partwise::training {
namespace {

namespace fs = std::filesystem;

const fs::path kConfigs = fs::path(PARTWISE_SOURCE_DIR) / "configs";

Recipe config(const fs::path& path) {
  return recipe_from_json(read_json(path), path.string());
}

TEST(Configs, AllLoadAndNameOnlyLayersTheirNetHas) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(kConfigs)) {
    if (entry.path().extension() != ".json") continue;
    ++files;
    const auto recipe = config(entry.path());
    for (const auto arm : {networks::Arm::ordinary, networks::Arm::interpretable}) {
      const auto net = networks::build_architecture(recipe.train.net, arm, 2, recipe.parts);
      EXPECT_FALSE(rate_factors(recipe.train, net).empty()) << entry.path();
    }
  }
  EXPECT_GE(files, 15);
}

// Batch and learning-rate factor of each net in the authors' release; for C categories its rate is
// C times that. With softmax it divides that rate by 5 and the filter loss's 1e-6 by 5, but
// multiplies the softmax gradient by C: a mean loss takes C times the rate, a C-th of the filter
// loss and of the weight decay.
TEST(Configs, OfTheReleaseHaveItsSchedules) {
  struct Row {
    const char* net;
    int64_t batch;
    double factor;
  };
  for (const auto& row : {Row{"alexnet", 512, 30.0}, Row{"vgg-m", 196, 30.0},
                          Row{"vgg-s", 128, 10.0}, Row{"vgg-16", 32, 1.0}}) {
    const auto [binary, filters] =
        config(kConfigs / fmt::format("release-binary-{}.json", row.net));
    EXPECT_EQ(partwise::to_json(filters),
              partwise::to_json(parts::method_options(parts::Method::release)));
    EXPECT_EQ(binary.net, row.net);
    EXPECT_EQ(binary.batch, row.batch);
    EXPECT_DOUBLE_EQ(binary.learning_rate, 1e-4 * row.factor);
    EXPECT_EQ(binary.epochs, 50);
    EXPECT_EQ(binary.dropout, 0.8);
    EXPECT_EQ(binary.positives, 3000);
    EXPECT_EQ(binary.negatives, 1000);
    for (const auto loss : values_of<models::Loss>()) {
      const auto recipe =
          config(kConfigs / fmt::format("release-voc-{}-{}.json", word_of(loss), row.net));
      const auto& multi = recipe.train;
      const double strength = recipe.parts.strength;
      const bool softmax = loss == models::Loss::softmax;
      EXPECT_DOUBLE_EQ(multi.learning_rate, 6.0 * 1e-4 * row.factor * (softmax ? 6.0 / 5.0 : 1.0));
      EXPECT_NEAR(multi.weight_decay, softmax ? 5e-4 / 6.0 : 5e-4, 1e-10);
      EXPECT_NEAR(strength, softmax ? 1e-6 / 5.0 / 6.0 : 1e-6, 1e-13);
      EXPECT_EQ(multi.loss, loss);
      EXPECT_EQ(multi.epochs, 80);
    }
  }
  // Above ten categories a tenth of the rate: 30 animals.
  for (const auto& [net, rate] : {std::pair{"vgg-m", 0.009}, std::pair{"vgg-s", 0.003}}) {
    const auto path = kConfigs / fmt::format("release-animal-part-logistic-{}.json", net);
    EXPECT_DOUBLE_EQ(config(path).train.learning_rate, rate);
  }
}

}  // namespace
}  // namespace partwise::training
