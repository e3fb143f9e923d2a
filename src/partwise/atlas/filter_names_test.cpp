#include "partwise/atlas/filter_names.h"

#include "partwise/atlas/naming_sheet.h"
#include "partwise/base/error.h"
#include "partwise/base/removal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <unistd.h>

namespace partwise::atlas {
namespace {

class NamedRun : public testing::Test {
 protected:
  ~NamedRun() override { remove_folder(root_); }

  FilterWords words(int64_t filter) const {
    const explaining::LayerParts learnt{"new",
                                        {{0, "head", explaining::NameSource::regions, 0.8, 0.2, 16},
                                         {1, "part A", explaining::NameSource::place, 0.0, 0.0, 9},
                                         {0, "", explaining::NameSource::nobody, 0.0, 0.0, 3}},
                                        {}};
    return words_of_layer("new", 3, &learnt, explaining::read_people_names(run_))
        .at(static_cast<std::size_t>(filter));
  }

  std::filesystem::path root_ = std::filesystem::path(testing::TempDir()) /
                                ("partwise-named-run-" + std::to_string(::getpid()));
  runs::RunFolder run_ = runs::RunFolder::create(root_, {{"arm", "masked"}}, {});
};

TEST_F(NamedRun, KnowsWhoGaveAName) {
  EXPECT_EQ(words(0).by, NamedBy::parts);
  EXPECT_EQ(words(0).rate, 0.8);
  EXPECT_EQ(words(1).by, NamedBy::place);
  EXPECT_FALSE(words(1).rate);
  EXPECT_EQ(words(2).by, NamedBy::nobody);
  EXPECT_TRUE(name_filter(run_, {"new", 2, "snout", "", 0}));
  EXPECT_EQ(words(2).name, "snout");
  EXPECT_EQ(words(2).by, NamedBy::people);
}

TEST_F(NamedRun, KeepsWhateverPeopleWrite) {
  for (const std::string name : {"<script>alert(1)</script>", "\"quoted\" 'twice'",
                                 "Schnäuzchen 鼻", "two\nlines", "a\\b\t{}"}) {
    EXPECT_TRUE(name_filter(run_, {"new", 1, name, name, words(1).revision}));
    EXPECT_EQ(words(1).name, name);
    EXPECT_EQ(words(1).note, name);
  }
  EXPECT_THROW(name_filter(run_, {"new", 1, "\xFF", "", words(1).revision}), Error);
  EXPECT_THROW(name_filter(run_, {"new", 1, std::string(201, 'x'), "", words(1).revision}), Error);
}

TEST_F(NamedRun, RefusesWordsForWhatHasChangedSince) {
  const auto seen = words(0).revision;
  EXPECT_TRUE(name_filter(run_, {"new", 0, "nose", "", seen}));
  EXPECT_FALSE(name_filter(run_, {"new", 0, "mouth", "", seen}));
  EXPECT_EQ(words(0).name, "nose");
  EXPECT_TRUE(name_filter(run_, {"new", 2, "ear", "", 0}));  // another filter is another matter
}

TEST_F(NamedRun, TakesANameBackToWhatTheProgramSaid) {
  EXPECT_TRUE(name_filter(run_, {"new", 0, "nose", "", 0}));
  EXPECT_TRUE(name_filter(run_, {"new", 0, "", "", words(0).revision}));
  EXPECT_EQ(words(0).name, "head");
  EXPECT_EQ(words(0).revision, 0);
}

TEST_F(NamedRun, LosesNothingOfManyPeople) {
  constexpr int64_t kPeople = 8;
  constexpr int64_t kNames = 12;
  std::vector<std::thread> people;
  for (int64_t person = 0; person < kPeople; ++person) {
    people.emplace_back([&, person] {
      for (int64_t i = 0; i < kNames; ++i)
        name_filter(run_, {"new", person * kNames + i, "mine " + std::to_string(person), "", 0});
    });
  }
  for (auto& person : people) person.join();
  EXPECT_EQ(explaining::read_people_names(run_).names.at("new").size(),
            static_cast<std::size_t>(kPeople * kNames));
}

TEST_F(NamedRun, GivesOneOfTwoWhoNameTheSameFilter) {
  std::atomic<int> written{0};
  std::vector<std::thread> people;
  for (int person = 0; person < 8; ++person) {
    people.emplace_back([&, person] {
      if (name_filter(run_, {"new", 0, "by " + std::to_string(person), "", 0})) ++written;
    });
  }
  for (auto& person : people) person.join();
  EXPECT_EQ(written, 1);
}

TEST_F(NamedRun, MergesAndTakesItBack) {
  merge_parts(run_, "head", "front");
  EXPECT_EQ(words(0).name, "front");
  EXPECT_THROW(merge_parts(run_, "front", "head"), Error);  // a circle
  merge_parts(run_, "head", "");
  EXPECT_EQ(words(0).name, "head");
}

TEST_F(NamedRun, HasASheetForEachRater) {
  name_on_sheet(run_, "ann", {"new", 1}, "ear");
  name_on_sheet(run_, "ann", {"new", 2}, "leg");
  name_on_sheet(run_, "bob", {"new", 1}, "Ear ");
  name_on_sheet(run_, "ann", {"new", 2}, "");
  EXPECT_EQ(read_sheet(run_, "ann").size(), 1U);
  EXPECT_EQ(raters_of(run_), (std::vector<std::string>{"ann", "bob"}));
  EXPECT_EQ(words(1).name, "part A");  // it is not a name yet
  for (const auto* rater : {"", "../ann", "a/b", "a.b", "ä", "a b"})
    EXPECT_THROW(read_sheet(run_, rater), Error) << rater;
}

TEST(SheetOrder, IsTheSameForARaterAndAnotherForAnother) {
  std::vector<FilterPlace> filters;
  for (int64_t i = 0; i < 40; ++i) filters.push_back({"new", i});
  const auto ann = sheet_order(filters, "ann");
  EXPECT_EQ(ann, sheet_order(filters, "ann"));
  EXPECT_NE(ann, sheet_order(filters, "bob"));
  EXPECT_EQ(std::set<FilterPlace>(ann.begin(), ann.end()).size(), 40U);
}

// Cohen's own kind of table: 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no gives 0.4.
TEST(Agreement, IsCohensKappa) {
  Sheet first;
  Sheet second;
  int64_t filter = 0;
  const auto add = [&](int count, const char* one, const char* other) {
    for (int i = 0; i < count; ++i, ++filter) {
      first[{"new", filter}] = one;
      second[{"new", filter}] = other;
    }
  };
  add(20, "yes", "yes");
  add(5, "yes", "No");
  add(10, "no", "YES ");
  add(15, "no", "no");
  first[{"new", 99}] = "alone";
  const auto found = agreement_of(first, second, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->n, 50);
  EXPECT_NEAR(found->same, 0.7, 1e-12);
  EXPECT_NEAR(found->by_chance, 0.5, 1e-12);
  EXPECT_NEAR(found->kappa.value, 0.4, 1e-12);
  EXPECT_LT(found->kappa.low, 0.4);
  EXPECT_GT(found->kappa.high, 0.4);
  EXPECT_FALSE(agreement_of(first, {}, {}));
}

}  // namespace
}  // namespace partwise::atlas
