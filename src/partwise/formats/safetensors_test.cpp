#include "partwise/formats/safetensors.h"

#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/interrupt.h"
#include "partwise/base/removal.h"
#include "partwise/formats/convert.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

namespace partwise::formats {
namespace {

namespace fs = std::filesystem;

std::string with_header(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header + data;
}

NamedArrays parsed(std::string bytes) {
  return parse_safetensors(bytes_in_memory("x.safetensors", std::move(bytes)));
}

std::string reason(std::string bytes) {
  try {
    parsed(std::move(bytes));
    return "read";
  } catch (const Error& error) {
    return error.what();
  }
}

// The complaint about a header with these entries over four bytes of data.
std::string about(const std::string& entries) {
  return reason(with_header("{" + entries + "}", "0000"));
}

NamedArrays example() {
  NamedArrays file;
  file.arrays["conv.weight"] =
      make_array(Dtype::f32, {2, 1, 1, 1}, std::string("\0\0\x80?\0\0\0@", 8));
  file.arrays["count"] = make_array(Dtype::i64, {}, std::string("\7\0\0\0\0\0\0\0", 8));
  file.arrays["flags"] = make_array(Dtype::boolean, {3}, std::string("\1\0\1", 3));
  file.arrays["none"] = make_array(Dtype::bf16, {0, 3}, "");
  file.metadata["net"] = "tiny";
  return file;
}

TEST(SafetensorsFile, ComesBackAsItWas) {
  const auto file = example();
  const auto back = parsed(format_safetensors(file));
  EXPECT_EQ(back.metadata.at("net"), "tiny");
  ASSERT_EQ(back.arrays.size(), file.arrays.size());
  for (const auto& [name, array] : file.arrays) {
    EXPECT_EQ(back.arrays.at(name).dtype, array.dtype) << name;
    EXPECT_EQ(back.arrays.at(name).shape, array.shape) << name;
    EXPECT_EQ(back.arrays.at(name).bytes, array.bytes) << name;
  }
}

TEST(SafetensorsFile, EveryTypeHasItsName) {
  for (const char* name : {"F64", "F32", "F16", "BF16", "F8_E5M2", "F8_E4M3", "I64", "I32", "I16",
                           "I8", "U64", "U32", "U16", "U8", "BOOL"}) {
    const auto dtype = dtype_named(name);
    ASSERT_TRUE(dtype) << name;
    EXPECT_EQ(name_of(*dtype), name);
    NamedArrays file;
    file.arrays["a"] = make_array(*dtype, {2}, std::string(2 * size_of(*dtype), '\1'));
    EXPECT_EQ(parsed(format_safetensors(file)).arrays.at("a").dtype, *dtype);
  }
}

TEST(SafetensorsFile, ArraysOutliveTheFileTheyWereMappedFrom) {
  const auto path = fs::path(testing::TempDir()) / "partwise-weights.safetensors";
  write_safetensors(path, example());
  auto file = parse_safetensors(map_file(path));
  fs::remove(path);
  const auto weight = file.arrays.at("conv.weight");
  file = {};
  EXPECT_EQ(floats_of(weight), (std::vector<float>{1.0F, 2.0F}));
}

TEST(SafetensorsFile, TheHeaderIsReadWithoutALookAtTheData) {
  auto bytes = format_safetensors(example());
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  const auto header = parse_safetensors_header(bytes_in_memory("x", bytes));
  EXPECT_EQ(header.metadata.at("net"), "tiny");
  EXPECT_EQ(header.arrays.at("conv.weight").shape, (std::vector<int64_t>{2, 1, 1, 1}));
  bytes.pop_back();
  EXPECT_THROW(parse_safetensors_header(bytes_in_memory("x", bytes)), Error);
}

class SafetensorsOnDisk : public testing::Test {
 protected:
  void TearDown() override { remove_folder(folder_); }
  void SetUp() override { fs::create_directories(folder_); }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-safetensors";
  fs::path path_ = folder_ / "x.safetensors";
};

TEST_F(SafetensorsOnDisk, IsTheSameInWhateverOrderItsPiecesCome) {
  const auto file = example();
  write_safetensors(path_, file);
  EXPECT_EQ(read_file(path_), format_safetensors(file));
  {
    SafetensorsWriter writer(path_, file);
    const auto& weight = file.arrays.at("conv.weight").bytes;
    writer.write("flags", 0, file.arrays.at("flags").bytes);
    writer.write("conv.weight", 4, weight.substr(4));
    writer.write("conv.weight", 0, weight.substr(0, 4));
    writer.write("count", 0, file.arrays.at("count").bytes);
    EXPECT_ANY_THROW(writer.write("count", 4, "12345"));
    fs::remove(path_);
    writer.finish();
  }
  EXPECT_EQ(read_file(path_), format_safetensors(file));
}

TEST_F(SafetensorsOnDisk, IsNotThereBeforeItIsFinished) {
  {
    SafetensorsWriter writer(path_, example());
    writer.write("count", 0, "12345678");
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(SafetensorsOnDisk, IsReadIntoMemoryOfTheCallersAndVerified) {
  const auto file = example();
  write_safetensors(path_, file);
  std::map<std::string, std::string> read;
  const auto memory = [&](const std::string& name, const Array& array) {
    auto& bytes = read[name];
    bytes.resize(byte_count(array.dtype, array.shape).value());
    return std::span<char>(bytes);
  };
  EXPECT_EQ(read_safetensors(path_, memory).metadata.at("net"), "tiny");
  for (const auto& [name, array] : file.arrays) EXPECT_EQ(read.at(name), array.bytes) << name;
  const auto sound = read_file(path_);
  for (const std::size_t damaged : {std::size_t{9}, sound.size() - 1}) {
    auto bytes = sound;
    bytes[damaged] = static_cast<char>(bytes[damaged] ^ 1);
    write_file_atomically(path_, bytes);
    EXPECT_THROW(read_safetensors(path_, memory), Error) << damaged;
  }
  EXPECT_THROW(read_safetensors(folder_ / "none", memory), Error);
}

TEST(SafetensorsFile, EveryTruncationIsRefused) {
  auto file = example();
  const auto whole = format_safetensors(file);
  for (std::size_t keep = 0; keep < whole.size(); ++keep) {
    const auto why = reason(whole.substr(0, keep));
    EXPECT_EQ(why.rfind("x.safetensors: ", 0), 0U) << keep;
    EXPECT_EQ(why.find('\n'), std::string::npos) << keep;
  }
  EXPECT_EQ(reason(whole), "read");
  EXPECT_EQ(reason(whole + "x"), "x.safetensors: 1 bytes of data belong to no array");
}

TEST(SafetensorsFile, AFlippedBitIsNoticed) {
  auto bytes = format_safetensors(example());
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  EXPECT_EQ(reason(bytes),
            "x.safetensors: contents do not match their checksum; the file is damaged");
}

TEST(SafetensorsFile, HostileHeadersAreRefusedInOneLine) {
  EXPECT_EQ(reason(std::string(8, '\xFF') + "{}"),
            "x.safetensors: not a safetensors file, or truncated (header of 18446744073709551615 "
            "bytes in a file of 10)");
  EXPECT_EQ(about(R"("a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]})"),
            "x.safetensors: array a: type \"F99\" is not supported");
  EXPECT_EQ(about(R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]})"),
            "x.safetensors: array a: F32 [2] does not fill bytes 0 to 4");
  EXPECT_EQ(about(R"("a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"),
            "x.safetensors: array a: -1 is no size");
  EXPECT_EQ(about(R"("a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]})"),
            "x.safetensors: array a: 1.0 is no size");
  EXPECT_EQ(about(R"("a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]})"),
            "x.safetensors: array a: F32 [4611686018427387904, 4] does not fill bytes 0 to 4");
  EXPECT_EQ(about(R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]})"),
            "x.safetensors: array a ends at byte 8 of 4 bytes of data; the file is truncated");
  EXPECT_EQ(about(R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})"),
            "x.safetensors: 2 bytes of data belong to no array");
  EXPECT_EQ(about(R"("a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},
                     "b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]})"),
            "x.safetensors: array b begins at byte 2 of the data, expected 3 (overlap)");
  EXPECT_EQ(about(R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},
                     "b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]})"),
            "x.safetensors: array b begins at byte 2 of the data, expected 1 (gap)");
  EXPECT_EQ(about(R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},
                     "a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})"),
            "x.safetensors: damaged safetensors header: the name a occurs twice");
  EXPECT_EQ(about(R"("__metadata__":{"k":"1","k":"2"})"),
            "x.safetensors: damaged safetensors header: the name k occurs twice");
  EXPECT_EQ(about(R"("__metadata__":{"k":1})"), "x.safetensors: metadata k is no text");
  EXPECT_EQ(about(R"("a":7)"), "x.safetensors: array a: no dtype in the header");
  EXPECT_EQ(about(R"("a":)" + std::string(100'000, '[')),
            "x.safetensors: damaged safetensors header: nested too deeply");
  EXPECT_EQ(reason(with_header("[1]", "")),
            "x.safetensors: damaged safetensors header: it is no object");
  EXPECT_EQ(about("\"\xFF\":1").rfind("x.safetensors: damaged safetensors header: ", 0), 0U);
}

TEST(SafetensorsFile, AnArrayCantTakeTheMetadatasName) {
  NamedArrays file;
  file.arrays["__metadata__"] = make_array(Dtype::u8, {1}, "a");
  EXPECT_THROW(format_safetensors(file), Error);
}

// Exits with 7 where the reading of what was written ended.
void finish_interrupted(const fs::path& path) {
  watch_for_interrupts();
  const Heeding heeding;
  NamedArrays file;
  file.arrays["a"] = make_array(Dtype::u8, {1}, "a");
  file.arrays["b"] = make_array(Dtype::u8, {1}, "b");
  try {
    SafetensorsWriter writer(path, file);
    writer.write("b", 0, "b");
    writer.write("a", 0, "a");
    std::raise(SIGINT);
    writer.finish();
  } catch (const Interrupted&) {
    std::_Exit(7);
  }
  std::_Exit(1);
}

TEST(SafetensorsFile, AnInterruptWhileItIsReadOnceMoreLeavesNothing) {
  const auto folder = fs::path(testing::TempDir()) / "partwise-interrupted-test";
  fs::create_directories(folder);
  EXPECT_EXIT(finish_interrupted(folder / "a"), testing::ExitedWithCode(7), "^$");
  EXPECT_TRUE(fs::is_empty(folder));
  remove_folder(folder);
}

// The script knows the format from its description alone: struct and json, nothing of ours.
TEST(SafetensorsFile, AgreesBitForBitWithAnIndependentWriter) {
  const auto path = fs::path(testing::TempDir()) / "partwise-independent.safetensors";
  const auto command = fmt::format("python3 '{}/tests/weights/write_safetensors.py' '{}'",
                                   PARTWISE_SOURCE_DIR, path.string());
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto file = parse_safetensors(map_file(path));
  fs::remove(path);
  EXPECT_EQ(file.metadata.at("made by"), "struct and json, größe");
  ASSERT_EQ(file.arrays.size(), 5U);
  const auto& kernel = file.arrays.at("kernel");
  EXPECT_EQ(kernel.shape, (std::vector<int64_t>{2, 3, 2, 2}));
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(floats_of(kernel)[i], static_cast<float>(i) / 7.0F - 1.5F);
  }
  EXPECT_EQ(floats_of(file.arrays.at("half")), (std::vector<float>{0.5F, -65504.0F, 0x1.0p-24F}));
  EXPECT_EQ(floats_of(file.arrays.at("double")), (std::vector<float>{0.1F}));
  EXPECT_EQ(file.arrays.at("steps").bytes, std::string(8, '\xFF'));
  EXPECT_EQ(file.arrays.at("empty").shape, (std::vector<int64_t>{0, 4}));
}

}  // namespace
}  // namespace partwise::formats
