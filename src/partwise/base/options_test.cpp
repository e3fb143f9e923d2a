#include "partwise/base/options.h"

#include <gtest/gtest.h>

namespace partwise {
namespace {

enum class Tip { round, flat };

}  // namespace

template <>
inline constexpr auto kWords<Tip> = words("round", "flat");

namespace {

struct Brush {
  double width = 2.0;
  int64_t strokes = 3;
  Tip tip = Tip::round;
  std::string paint = "ink";

  static auto fields() {
    return std::tuple{
        Field<Brush, double>{"width", &Brush::width, "px", 0.5, 9.0},
        Field<Brush, int64_t>{"strokes", &Brush::strokes, "how many", 1},
        Field{"tip", &Brush::tip, "shape"},
        Field<Brush, std::string>{"paint", &Brush::paint, "what with", {"ink", "oil"}},
    };
  }
};

std::string message_of(const nlohmann::json& json) {
  Brush brush;
  try {
    merge_json(brush, json, "brush.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Options, SurviveAJsonRoundTrip) {
  Brush brush;
  merge_json(brush, {{"width", 4.5}, {"tip", "flat"}}, "test");
  Brush copy;
  merge_json(copy, to_json(brush), "test");
  EXPECT_EQ(copy.width, 4.5);
  EXPECT_EQ(copy.strokes, 3);
  EXPECT_EQ(copy.tip, Tip::flat);
  EXPECT_EQ(to_json(brush)["tip"], "flat");
}

TEST(Options, OutOfRangeNamesFieldAndRange) {
  EXPECT_EQ(message_of({{"width", 10.0}}), "width = 10 is outside [0.5, 9]");
}

TEST(Options, AreRefusedInOneShortLineWhateverTheFileHolds) {
  const auto text = "w\npartwise: all is well \x1B[2J" + std::string(100'000, 'x');
  for (const auto& said : {message_of({{text, 1}}), message_of({{"paint", text}}),
                           message_of({{"tip", text}}), message_of({{"width", text}})}) {
    EXPECT_FALSE(said.empty());
    EXPECT_LT(said.size(), 700U);
    EXPECT_EQ(said.find_first_of("\n\x1B"), std::string::npos) << said;
  }
}

TEST(Options, UnknownKeySuggestsTheNearest) {
  EXPECT_EQ(message_of({{"widht", 1.0}}),
            "brush.json: unknown key 'widht' (did you mean 'width'?)");
}

TEST(Options, WrongTypeIsNamed) {
  EXPECT_EQ(message_of({{"strokes", "many"}}), "brush.json: strokes = \"many\" has the wrong type");
  EXPECT_EQ(message_of({{"strokes", 2.5}}), "brush.json: strokes = 2.5 has the wrong type");
}

TEST(Options, TextThatNoFileOfOptionsCouldHoldIsRefused) {
  EXPECT_EQ(message_of({{"paint", "ink\xFF"}}),
            "brush.json: paint = \"ink\xEF\xBF\xBD\" is not UTF-8; rename it");
}

TEST(Options, UnknownWordListsTheValidOnes) {
  EXPECT_EQ(message_of({{"tip", "flot"}}),
            "no tip 'flot'; valid: round, flat (did you mean 'flat'?)");
  EXPECT_EQ(message_of({{"paint", "oli"}}),
            "no paint 'oli'; valid: ink, oil (did you mean 'oil'?)");
}

TEST(Options, OfAnEnumRefuseWhatIsNoText) {
  EXPECT_EQ(message_of({{"tip", 1}}), "brush.json: tip = 1 has the wrong type");
}

}  // namespace
}  // namespace partwise
