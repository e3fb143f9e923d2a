#include "partwise/explaining/shown_objects.h"

#include <gtest/gtest.h>

namespace partwise::explaining {
namespace {

using Chosen = std::vector<std::pair<Shown, int64_t>>;

Chosen chosen(const std::vector<JudgedObject>& drawn, int64_t pool = 96) {
  Chosen all;
  for (const auto& one : choose_shown(drawn, pool)) all.emplace_back(one.why, one.index);
  return all;
}

TEST(ShownObjects, AreTheMedianTheWeakestAndTheFirstWrong) {
  const std::vector<JudgedObject> drawn{{true, 0.9},  {true, 0.1}, {false, 0.01}, {true, 0.5},
                                        {false, 0.6}, {true, 0.4}, {true, 0.8}};
  EXPECT_EQ(chosen(drawn), (Chosen{{Shown::typical, 3}, {Shown::weak, 1}, {Shown::wrong, 2}}));
}

TEST(ShownObjects, WithoutAWrongOneAreTheMedianTheWeakestAndTheStrongest) {
  const std::vector<JudgedObject> drawn{{true, 0.9}, {true, 0.1}, {true, 0.5}, {true, {}}};
  EXPECT_EQ(chosen(drawn), (Chosen{{Shown::typical, 2}, {Shown::weak, 1}, {Shown::strong, 0}}));
}

TEST(ShownObjects, ThatAreRightComeFromThePoolTheWrongOneFromAll) {
  const std::vector<JudgedObject> drawn{{true, 0.9}, {true, 0.5}, {true, 0.1}, {false, 0.3}};
  EXPECT_EQ(chosen(drawn, 2), (Chosen{{Shown::typical, 0}, {Shown::weak, 1}, {Shown::wrong, 3}}));
}

TEST(ShownObjects, AreFewerWhereThereIsNothingToShow) {
  EXPECT_TRUE(chosen({}).empty());
  EXPECT_EQ(chosen({{true, 0.4}}), (Chosen{{Shown::typical, 0}}));
  EXPECT_EQ(chosen({{false, {}}}), (Chosen{{Shown::wrong, 0}}));
  EXPECT_EQ(chosen({{true, {}}, {true, 0.5}, {true, 0.5}}),
            (Chosen{{Shown::typical, 2}, {Shown::weak, 1}}));
}

}  // namespace
}  // namespace partwise::explaining
