#include "partwise/tensors/safetensors.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::tensors {
namespace {

namespace fs = std::filesystem;

class Safetensors : public testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }
  void expect_refused(const std::string& bytes) {
    write_file_atomically(path_, bytes);
    EXPECT_THROW(load_tensors(path_), Error);
  }
  fs::path path_ = fs::path(testing::TempDir()) / "partwise-test.safetensors";
};

std::string with_header(const std::string& header, const std::string& data) {
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 4; ++i)
    bytes[i] = static_cast<char>(header.size() >> (8 * i) & 0xFFU);
  return bytes + header + data;
}

TEST_F(Safetensors, RoundTripIsBitExact) {
  TensorFile file;
  file.tensors["a"] = torch::randn({3, 1, 5});
  file.tensors["half"] = torch::randn({4}).to(torch::kBFloat16);
  file.tensors["count"] = torch::tensor(int64_t{7});
  file.tensors["none"] = torch::empty({0, 3});
  file.metadata["net"] = "tiny";
  save_tensors(path_, file);
  const auto loaded = load_tensors(path_);
  EXPECT_EQ(loaded.metadata.at("net"), "tiny");
  ASSERT_EQ(loaded.tensors.size(), 4U);
  for (const auto& [name, tensor] : file.tensors) {
    EXPECT_TRUE(torch::equal(loaded.tensors.at(name), tensor)) << name;
    EXPECT_EQ(loaded.tensors.at(name).scalar_type(), tensor.scalar_type()) << name;
  }
}

TEST_F(Safetensors, AFlippedBitIsNoticed) {
  save_tensors(path_, {{{"a", torch::zeros({8})}}, {}});
  auto bytes = read_file(path_);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  expect_refused(bytes);
}

TEST_F(Safetensors, DamagedAndHostileFilesAreRefused) {
  save_tensors(path_, {{{"a", torch::zeros({8})}}, {}});
  const auto good = read_file(path_);
  for (const std::size_t keep :
       {std::size_t{0}, std::size_t{7}, std::size_t{20}, good.size() - 1}) {
    expect_refused(good.substr(0, keep));
  }
  expect_refused(std::string(8, '\xFF') + "{}");
  expect_refused(with_header("[1, 2", ""));
  expect_refused(with_header(R"({"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}})", "0000"));
  expect_refused(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "0000"));
  expect_refused(with_header(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "0000"));
  expect_refused(with_header(
      R"({"a":{"dtype":"F32","shape":[4611686018427387905,4],"data_offsets":[0,4]}})", "0000"));
  expect_refused(with_header(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "0000"));
  expect_refused(with_header(R"({"a":7})", "0000"));
}

}  // namespace
}  // namespace partwise::tensors
