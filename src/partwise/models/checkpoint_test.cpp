#include "partwise/models/checkpoint.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/overheard_fixture.h"
#include "partwise/base/random.h"
#include "partwise/base/removal.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace partwise::models {
namespace {

namespace fs = std::filesystem;

class Checkpoints : public testing::Test {
 protected:
  void TearDown() override { remove_folder(root_); }

  static Checkpoint numbered(int64_t epoch) {
    return {{epoch, 3, 1.0 / 3.0, 7, 0.1},
            {{"a.weight", torch::arange(epoch, epoch + 10, torch::kFloat32)}}};
  }
  fs::path file(const char* name) const { return run_.checkpoints() / name; }
  int64_t newest_epoch() const {
    try {
      const auto found = newest_checkpoint(run_);
      return found ? found->position.epoch : -1;
    } catch (const Error&) {
      return -1;
    }
  }
  void damage(const char* name) const {
    auto bytes = read_file(file(name));
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    write_file_atomically(file(name), bytes);
  }

  fs::path root_ =
      fs::path(testing::TempDir()) / fmt::format("partwise-checkpoint-test-{}", ::getpid());
  runs::RunFolder run_ = runs::RunFolder::create(root_, nlohmann::json::object(), {});
};

TEST_F(Checkpoints, ComeBackBitForBit) {
  save_checkpoint(run_, numbered(1));
  const auto found = newest_checkpoint(run_);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->position, numbered(1).position);
  EXPECT_TRUE(torch::equal(found->tensors.at("a.weight"), numbered(1).tensors.at("a.weight")));
}

TEST_F(Checkpoints, TheOneBeforeTheLastIsKeptAndUsedWhereTheLastIsDamaged) {
  EXPECT_EQ(newest_epoch(), -1);
  for (const int64_t epoch : {1, 2, 3}) save_checkpoint(run_, numbered(epoch));
  EXPECT_EQ(newest_epoch(), 3);
  damage("last.safetensors");
  const Overheard heard;
  EXPECT_EQ(newest_epoch(), 2);
  ASSERT_EQ(heard.lines().size(), 1U);
  EXPECT_NE(heard.lines()[0].find("last.safetensors"), std::string::npos) << heard.lines()[0];
  EXPECT_THROW(load_checkpoint(run_, "last"), Error);  // the one before is another epoch
}

TEST_F(Checkpoints, AreNotSilentlyForgottenWhereAllAreDamaged) {
  EXPECT_FALSE(newest_checkpoint(run_));
  for (const int64_t epoch : {1, 2}) save_checkpoint(run_, numbered(epoch));
  damage("last.safetensors");
  damage("previous.safetensors");
  EXPECT_THROW(newest_checkpoint(run_), Error);
  EXPECT_THROW(load_checkpoint(run_, "last"), Error);
}

TEST_F(Checkpoints, KnowHowManyRowsTheLogMustHave) {
  const auto lines = [&] {
    const Overheard heard;
    name_lost_epochs(run_);
    return heard.lines();
  };
  EXPECT_TRUE(lines().empty());
  for (const int64_t epoch : {1, 2, 3}) run_.append_log({{"epoch", epoch}});
  save_checkpoint(run_, numbered(2));  // killed before the third
  EXPECT_TRUE(lines().empty());
  save_checkpoint(run_, numbered(4));
  ASSERT_EQ(lines().size(), 1U);
  EXPECT_NE(lines()[0].find("log.jsonl: 3 rows of the 4 epochs"), std::string::npos) << lines()[0];
}

TEST_F(Checkpoints, TellWhereTheyStandFromTheirHeadersAlone) {
  EXPECT_FALSE(newest_position(run_));
  for (const int64_t epoch : {1, 2}) save_checkpoint(run_, numbered(epoch));
  EXPECT_EQ(newest_position(run_), numbered(2).position);
  damage("last.safetensors");
  EXPECT_EQ(newest_position(run_), numbered(2).position);  // its data was not looked at
  EXPECT_EQ(newest_position(run_, true), numbered(1).position);
  fs::resize_file(file("last.safetensors"), fs::file_size(file("last.safetensors")) - 1);
  EXPECT_EQ(newest_position(run_), numbered(1).position);
}

// Written by hand as programs did before the header came in the order of widths: names in order,
// an 8-byte number not aligned, and the checksum of exactly these words.
TEST_F(Checkpoints, OfAnOlderProgramAreReadAndVerified) {
  const std::string data = std::string("\1\0\0\0", 4) + std::string("\7\0\0\0\0\0\0\0", 8);
  const std::string position = R"({"correct":5,"epoch":3,"loss_sum":0.5,"seconds":2.0,"step":4})";
  const auto checksum = content_hash(position + "\na Int [1]\nsteps Long []");
  const nlohmann::json header{
      {"a", {{"dtype", "I32"}, {"shape", {1}}, {"data_offsets", {0, 4}}}},
      {"steps", {{"dtype", "I64"}, {"shape", nlohmann::json::array()}, {"data_offsets", {4, 12}}}},
      {"__metadata__",
       {{"position", position}, {"checksum", checksum}, {"content_hash", content_hash(data)}}}};
  const auto text = header.dump();
  const uint64_t length = text.size();
  fs::create_directories(run_.checkpoints());
  write_file_atomically(
      file("last.safetensors"),
      std::string(reinterpret_cast<const char*>(&length), sizeof length) + text + data);
  const auto found = load_checkpoint(run_, "last");
  EXPECT_EQ(found.position, (Position{3, 4, 0.5, 5, 2.0}));
  EXPECT_EQ(found.tensors.at("steps").item<int64_t>(), 7);
  EXPECT_EQ(found.tensors.at("a").item<int32_t>(), 1);
  damage("last.safetensors");
  EXPECT_EQ(newest_epoch(), -1);
}

// Killed before the first renaming, and between the two.
TEST_F(Checkpoints, NoneIsLostWhereTheWriterIsKilledBetweenItsSteps) {
  for (const int64_t epoch : {1, 2}) save_checkpoint(run_, numbered(epoch));
  const auto elsewhere = runs::RunFolder::create(root_ / "other", nlohmann::json::object(), {});
  save_checkpoint(elsewhere, numbered(3));
  fs::rename(elsewhere.checkpoints() / "last.safetensors", file("next.safetensors"));
  EXPECT_EQ(newest_epoch(), 3);
  fs::rename(file("last.safetensors"), file("previous.safetensors"));
  EXPECT_EQ(newest_epoch(), 3);
  save_checkpoint(run_, numbered(4));
  EXPECT_EQ(newest_epoch(), 4);
  EXPECT_FALSE(fs::exists(file("next.safetensors")));
}

TEST_F(Checkpoints, ALeftNextIsPutInItsPlaceUnlessItIsDamaged) {
  settle_checkpoints(run_);
  for (const int64_t epoch : {1, 2, 3}) save_checkpoint(run_, numbered(epoch));
  fs::rename(file("last.safetensors"), file("next.safetensors"));
  fs::rename(file("previous.safetensors"), file("last.safetensors"));
  settle_checkpoints(run_);
  EXPECT_FALSE(fs::exists(file("next.safetensors")));
  EXPECT_EQ(newest_epoch(), 3);
  damage("last.safetensors");
  EXPECT_EQ(newest_epoch(), 2);
  fs::rename(file("last.safetensors"), file("next.safetensors"));
  settle_checkpoints(run_);
  EXPECT_FALSE(fs::exists(file("last.safetensors")));
  EXPECT_EQ(newest_epoch(), 2);
}

// A damaged bit may fall into the header's padding; then nothing is lost either.
TEST_F(Checkpoints, AnyDamagedBitIsNoticedOrHarmless) {
  save_checkpoint(run_, numbered(1));
  const auto sound = read_file(file("last.safetensors"));
  Random random(1);
  int64_t noticed = 0;
  for (std::size_t i = 0; i < sound.size(); ++i) {
    auto bytes = sound;
    bytes[i] = static_cast<char>(bytes[i] ^ (1 << random.below(8)));
    std::ofstream(file("last.safetensors"), std::ios::binary) << bytes;
    if (newest_epoch() < 0) {
      ++noticed;
      continue;
    }
    const auto found = newest_checkpoint(run_);
    EXPECT_EQ(found->position, numbered(1).position) << i;
    EXPECT_TRUE(torch::equal(found->tensors.at("a.weight"), numbered(1).tensors.at("a.weight")));
  }
  EXPECT_GE(noticed, static_cast<int64_t>(sound.size()) - 8);
}

TEST_F(Checkpoints, AFullDiskIsAnErrorAndLeavesWhatThereWas) {
  for (const int64_t epoch : {1, 2}) save_checkpoint(run_, numbered(epoch));
  const auto files_before =
      std::distance(fs::directory_iterator(run_.checkpoints()), fs::directory_iterator());
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto previous_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{200, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(save_checkpoint(run_, numbered(3)), Error);
  EXPECT_THROW(save_best(run_, numbered(3)), Error);
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, previous_handler);
  EXPECT_EQ(newest_epoch(), 2);
  damage("last.safetensors");
  EXPECT_EQ(newest_epoch(), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(run_.checkpoints()), fs::directory_iterator()),
            files_before);
}

TEST_F(Checkpoints, TheBestStandsAlone) {
  save_checkpoint(run_, numbered(5));
  EXPECT_THROW(load_checkpoint(run_, "best"), Error);
  save_best(run_, numbered(2));
  EXPECT_EQ(load_checkpoint(run_, "best").position.epoch, 2);
  EXPECT_EQ(load_checkpoint(run_, "last").position.epoch, 5);
  EXPECT_THROW(load_checkpoint(run_, "first"), Error);
}

}  // namespace
}  // namespace partwise::models
