#include "partwise/networks/tensor_file.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/formats/safetensors.h"
#include "partwise/tensors/torch.h"

#include <gtest/gtest.h>

namespace partwise::networks {
namespace {

namespace fs = std::filesystem;

class TensorFiles : public testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }
  void expect_refused(const std::string& bytes) {
    write_file_atomically(path_, bytes);
    EXPECT_THROW(load_tensors(path_), Error);
  }
  fs::path path_ = fs::path(testing::TempDir()) / "partwise-test.safetensors";
};

TEST_F(TensorFiles, ComeBackBitForBit) {
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

TEST_F(TensorFiles, AFlippedBitIsNoticed) {
  save_tensors(path_, {{{"a", torch::zeros({8})}}, {}});
  auto bytes = read_file(path_);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  expect_refused(bytes);
}

TEST_F(TensorFiles, MayBeWrittenToOnceTheyAreLoaded) {
  save_tensors(path_, {{{"a", torch::zeros({8})}}, {}});
  const auto loaded = load_tensors(path_);
  loaded.tensors.at("a").add_(1.0);
  EXPECT_EQ(load_tensors(path_).tensors.at("a").sum().item<float>(), 0.0F);
}

// What a stranger's header may say is in formats/safetensors_test.cpp.
TEST_F(TensorFiles, TruncatedOnesAndTypesUnknownToTorchAreRefused) {
  save_tensors(path_, {{{"a", torch::zeros({8})}}, {}});
  const auto good = read_file(path_);
  for (std::size_t keep = 0; keep < good.size(); ++keep) expect_refused(good.substr(0, keep));
  formats::NamedArrays wide;
  wide.arrays["a"] = formats::make_array(formats::Dtype::u64, {1}, std::string(8, '\0'));
  expect_refused(formats::format_safetensors(wide));
}

}  // namespace
}  // namespace partwise::networks
