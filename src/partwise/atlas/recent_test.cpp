#include "partwise/atlas/recent.h"

#include "partwise/atlas/workbench.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace partwise::atlas {
namespace {

TEST(Recent, LetsGoWhatWasNotAskedForLongest) {
  Recent<int, std::string> kept(3);
  for (const int i : {1, 2, 3}) kept.keep(i, std::to_string(i));
  EXPECT_EQ(kept.find(1), "1");
  kept.keep(4, "4");
  EXPECT_FALSE(kept.find(2));
  EXPECT_TRUE(kept.find(1) && kept.find(3) && kept.find(4));
}

TEST(Recent, CountsWeights) {
  Recent<int, std::string> kept(100);
  for (int i = 0; i < 50; ++i) kept.keep(i, "x", 30);
  EXPECT_EQ(kept.size(), 3U);
  kept.keep(49, "y", 90);  // in place of itself
  EXPECT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept.find(49), "y");
}

TEST(Workbench, GivesResultsAndWhatIsThrown) {
  Workbench bench([] {});
  EXPECT_EQ(bench.ask([] { return 6 * 7; }), 42);
  EXPECT_THROW(bench.ask([]() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_EQ(bench.ask([] { return std::string("still there"); }), "still there");
}

TEST(Workbench, WorksOnOneThread) {
  std::thread::id prepared;
  Workbench bench([&] { prepared = std::this_thread::get_id(); });
  const auto first = bench.ask([] { return std::this_thread::get_id(); });
  EXPECT_EQ(bench.ask([] { return std::this_thread::get_id(); }), first);
  EXPECT_EQ(prepared, first);
  EXPECT_NE(first, std::this_thread::get_id());
}

}  // namespace
}  // namespace partwise::atlas
