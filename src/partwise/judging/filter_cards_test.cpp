#include "partwise/judging/filter_cards.h"

#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace partwise::judging {
namespace {

std::vector<metrics::FilterInterpretability> filters(const std::vector<double>& numbers) {
  std::vector<metrics::FilterInterpretability> all(numbers.size());
  for (std::size_t f = 0; f < numbers.size(); ++f) {
    all[f].category = 0;
    all[f].best_part = 1;
    all[f].interpretability = numbers[f];
  }
  return all;
}

TEST(ChooseFilters, TakesTheBestTheWorstAndNoneTwice) {
  std::vector<double> numbers(30);
  for (std::size_t f = 0; f < 30; ++f) numbers[f] = 0.01 * static_cast<double>((f * 7) % 30);
  const auto chosen = choose_filters(filters(numbers), 1);
  ASSERT_EQ(chosen.size(), 12U);
  std::set<int64_t> once;
  for (const auto& one : chosen) once.insert(one.filter);
  EXPECT_EQ(once.size(), 12U);
  const auto value = [&](std::size_t i) {
    return numbers[static_cast<std::size_t>(chosen[i].filter)];
  };
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(chosen[i].chosen, "best");
    EXPECT_NEAR(value(i), 0.29 - 0.01 * static_cast<double>(i), 1e-12);
    EXPECT_EQ(chosen[4 + i].chosen, "random");
    EXPECT_EQ(chosen[8 + i].chosen, "worst");
    EXPECT_NEAR(value(8 + i), 0.01 * static_cast<double>(i), 1e-12);
  }
}

TEST(ChooseFilters, DrawsTheRandomOnesByTheSeed) {
  const auto drawn = [](uint64_t seed) {
    std::vector<int64_t> random;
    for (const auto& one : choose_filters(filters(std::vector<double>(60)), seed)) {
      if (one.chosen == "random") random.push_back(one.filter);
    }
    return random;
  };
  EXPECT_EQ(drawn(1), drawn(1));
  EXPECT_NE(drawn(1), drawn(2));
}

TEST(ChooseFilters, CallsNoneTheBestWhereNoPartsAreKnown) {
  const auto chosen = choose_filters(filters(std::vector<double>(60, std::nan(""))), 1);
  EXPECT_EQ(chosen.size(), 12U);
  for (const auto& one : chosen) EXPECT_EQ(one.chosen, "random");
}

// One category of two names its parts: undefined numbers once passed for the highest.
TEST(ChooseFilters, RanksNoneThatIsUndefined) {
  std::vector<double> numbers(60, std::nan(""));
  for (const std::size_t f : {3, 11, 20, 21, 40, 41, 55})
    numbers[f] = 0.01 * static_cast<double>(f);
  const auto chosen = choose_filters(filters(numbers), 1);
  ASSERT_EQ(chosen.size(), 12U);
  std::set<int64_t> once;
  for (const auto& one : chosen) once.insert(one.filter);
  EXPECT_EQ(once.size(), 12U);
  const std::vector<ChosenFilter> ends{{55, "best"}, {41, "best"}, {3, "worst"}, {11, "worst"}};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& one = chosen[i < 2 ? i : 8 + i];
    EXPECT_EQ(one.filter, ends[i].filter);
    EXPECT_EQ(one.chosen, ends[i].chosen);
  }
  EXPECT_EQ(std::count_if(chosen.begin(), chosen.end(),
                          [](const auto& one) { return one.chosen == "random"; }),
            8);
}

TEST(ChooseFilters, OfFewFiltersTakesFewer) {
  EXPECT_EQ(choose_filters(filters({0.1, 0.2, 0.3, 0.4}), 1).size(), 3U);
  EXPECT_TRUE(choose_filters(filters({0.1, 0.2}), 1).empty());
}

// Three filters over five rows of one cell; rows 0, 2 and 4 show foxes, the others deer.
class Cards : public testing::Test {
 protected:
  Cards() {
    for (int64_t row = 0; row < 5; ++row) {
      for (int64_t f = 0; f < 3; ++f) values_.push_back(static_cast<float>((row * 3 + f * 2) % 5));
    }
    truth_.input_side = 8;
    truth_.categories = {{"fox", {}, {"head", "tail"}}, {"deer", {}, {"head", "tail"}}};
    measures_.interpretability = filters({0.5, 0.25, 0.0});
    measures_.instability.resize(3);
    measures_.instability[0].ratio = 0.75;
    const metrics::UnitGrid grid{.offset = 3.5, .stride = 8.0, .input_side = 8};
    const metrics::Maps maps{values_, 5, 3, 1};
    cards_ = layer_cards({"conv", grid, grid, metrics::source_of(maps, 2), {}},
                         metrics::summarise(maps, 1), objects_, truth_, measures_, 1);
  }

  std::vector<float> values_;
  const std::vector<int64_t> objects_{0, 1, 0, 1, 0};
  metrics::Truth truth_;
  metrics::LayerMeasures measures_;
  std::vector<FilterCard> cards_;
};

TEST_F(Cards, ShowTheStrongestRowsOfTheFiltersCategory) {
  ASSERT_EQ(cards_.size(), 3U);
  for (const auto& card : cards_) {
    ASSERT_EQ(card.rows.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(objects_[static_cast<std::size_t>(card.rows[i])], 0);
      const auto place = static_cast<std::size_t>(card.rows[i] * 3 + card.card.filter);
      EXPECT_EQ(card.maps[i], std::vector<float>{values_[place]});
      if (i > 0) {
        EXPECT_LE(card.maps[i][0], card.maps[i - 1][0]);
      }
    }
  }
}

TEST_F(Cards, NameTheirPartOnlyWhereItWasHit) {
  EXPECT_EQ(cards_[0].card.part, "tail");
  EXPECT_EQ(cards_[0].card.ratio, 0.75);
  EXPECT_EQ(cards_[0].card.category, "fox");
  EXPECT_EQ(cards_[2].card.chosen, "worst");
  EXPECT_EQ(cards_[2].card.part, "");
  double sum = 0.0;
  for (std::size_t row = 0; row < 5; ++row) sum += values_[row * 3];
  EXPECT_DOUBLE_EQ(cards_[0].card.mean_peak, sum / 5.0);
}

TEST_F(Cards, ArePicturesOfTheCropsAboveTheMaps) {
  models::Examples objects;
  objects.pixels = torch::full({5, 3, 8, 8}, 77, torch::kUInt8);
  const auto picture =
      card_picture(objects, {.offset = 3.5, .stride = 8.0, .input_side = 8}, cards_[0]);
  EXPECT_GE(picture.width, 3 * 8);
  EXPECT_LT(picture.width, 3 * 8 + 4 * 4);  // gaps of four pixels
  EXPECT_GE(picture.height, 2 * 8);
}

}  // namespace
}  // namespace partwise::judging
