#include "partwise/formats/pth.h"

#include "partwise/base/error.h"
#include "partwise/formats/convert.h"
#include "partwise/formats/pth_fixture.h"

#include <gtest/gtest.h>

#include <array>

namespace partwise::formats {
namespace {

using fixture::global;
using fixture::integer;
using fixture::program;
using fixture::pth;
using fixture::storage;
using fixture::tensor;
using fixture::text;

NamedArrays parsed(std::string bytes) {
  return parse_pth(bytes_in_memory("x.pth", std::move(bytes)));
}

std::string reason(const std::string& words) {
  try {
    parsed(pth(program(words)));
    return "read";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string twelve() {
  return storage("FloatStorage", "0", 12);
}

// The tensor that one-tensor pickles hold, as numbers.
std::vector<float> floats(int32_t offset,
                          const std::vector<int32_t>& shape,
                          const std::vector<int32_t>& strides) {
  const auto file =
      parsed(pth(program("}" + text("a") + tensor(twelve(), offset, shape, strides) + "s")));
  return floats_of(file.arrays.at("a"));
}

constexpr auto kSaveAgain =
    "; load it in a PyTorch you trust it with and save its state_dict() alone";

TEST(Pth, AStateDictIsReadWithItsNamesAndShapes) {
  // What torch.save makes of a state_dict(): an OrderedDict with a _metadata attribute.
  const auto file =
      parsed(pth(program(global("collections", "OrderedDict") + ")R(" + text("conv.weight") +
                         tensor(twelve(), 0, {2, 1, 2, 2}, {4, 4, 2, 1}) + text("conv.bias") +
                         tensor(twelve(), 8, {2}, {1}) + "u}" + text("_metadata") + "}sb"),
                 "little"));
  ASSERT_EQ(file.arrays.size(), 2U);
  EXPECT_EQ(file.arrays.at("conv.weight").shape, (std::vector<int64_t>{2, 1, 2, 2}));
  EXPECT_EQ(floats_of(file.arrays.at("conv.bias")), (std::vector<float>{8.0F, 9.0F}));
  EXPECT_EQ(file.format, "PyTorch");
  EXPECT_TRUE(file.skipped.empty());
}

TEST(Pth, ViewsOfASharedStorageAreUnfolded) {
  EXPECT_EQ(floats(0, {2, 3}, {1, 2}), (std::vector<float>{0, 2, 4, 1, 3, 5}));  // transposed
  EXPECT_EQ(floats(3, {2, 2}, {6, 2}), (std::vector<float>{3, 5, 9, 11}));       // every other
  EXPECT_EQ(floats(7, {3}, {0}), (std::vector<float>{7, 7, 7}));                 // expanded
  EXPECT_EQ(floats(11, {}, {}), (std::vector<float>{11}));                       // a scalar
  EXPECT_EQ(floats(0, {0, 5}, {5, 1}), (std::vector<float>{}));
}

TEST(Pth, AParameterIsItsTensor) {
  const auto file =
      parsed(pth(program("}" + text("p") + global("torch._utils", "_rebuild_parameter") + "(" +
                         tensor(twelve(), 0, {3}, {1}) + "\x88NtRs")));
  EXPECT_EQ(floats_of(file.arrays.at("p")), (std::vector<float>{0, 1, 2}));
}

TEST(Pth, NestedDictionariesAndListsGiveDottedNames) {
  const auto one = tensor(twelve(), 1, {1}, {1});
  const auto file =
      parsed(pth(program("}(" + text("net") + "}(" + text("w") + one + text("list") + "](" + one +
                         one + "eu" + text("epoch") + integer(90) + "u")));
  EXPECT_EQ(file.arrays.size(), 3U);
  EXPECT_TRUE(file.arrays.contains("net.w"));
  EXPECT_TRUE(file.arrays.contains("net.list.0"));
  EXPECT_TRUE(file.arrays.contains("net.list.1"));
  EXPECT_EQ(file.skipped, (std::vector<std::string>{"epoch: the number 90"}));
}

TEST(Pth, ACheckpointsWeightsAreTakenOutOfTheirShell) {
  const auto one = tensor(twelve(), 1, {1}, {1});
  for (const char* shell : {"state_dict", "model_state_dict", "model"}) {
    const auto file = parsed(
        pth(program("}(" + text("optimizer") + "}" + text("m") + one + "s" + text(shell) + "}" +
                    text("conv.weight") + one + "s" + text("arch") + text("resnet\x1B[1m") + "u")));
    ASSERT_EQ(file.arrays.size(), 1U) << shell;
    EXPECT_TRUE(file.arrays.contains("conv.weight")) << shell;
    EXPECT_EQ(file.skipped, (std::vector<std::string>{"optimizer: a dictionary of 1",
                                                      "arch: the text 'resnet\\x1b[1m'"}));
  }
  // A module that is merely called "model", beside other tensors, is part of the names.
  const auto plain = parsed(
      pth(program("}(" + text("model") + "}" + text("w") + one + "s" + text("scale") + one + "u")));
  EXPECT_TRUE(plain.arrays.contains("model.w"));
}

TEST(Pth, APickleThatAsksForCodeIsRefusedByName) {
  EXPECT_EQ(
      reason(global("os", "system") + "(" + text("true") + "tR"),
      std::string("x.pth: refused: the pickle asks for os.system, and could run any code with "
                  "it") +
          kSaveAgain);
  EXPECT_EQ(reason(text("builtins") + text("eval") + "\x93"),
            std::string("x.pth: refused: the pickle asks for builtins.eval, and could run any code "
                        "with it") +
                kSaveAgain);
  EXPECT_EQ(
      reason("(ios\nsystem\n"),
      std::string("x.pth: refused: the pickle asks for os.system, and could run any code with "
                  "it") +
          kSaveAgain);
  for (const auto& [module, name] : std::vector<std::pair<std::string, std::string>>{
           {"torch", "load"},
           {"torch.FloatStorage", "from_file"},
           {"torch", "FloatStorage.from_file"},
           {"torch._utils", "_rebuild_tensor_v2.__globals__"},
           {"collections", "OrderedDict.__init__"},
           {"numpy.core.multiarray", "_reconstruct"}}) {
    EXPECT_NE(reason(global(module, name)).find("asks for " + module + "." + name + ","),
              std::string::npos)
        << name;
  }
  EXPECT_EQ(reason("c\x1B[2J\nb\nR").find('\x1B'), std::string::npos);
}

TEST(Pth, OpcodesThatBuildObjectsAreRefused) {
  for (const char op : {'\x81', '\x92', 'o', 'P', '\x82', '\x8F', '\x97', 'S', '\x01'}) {
    EXPECT_NE(reason(std::string("(") + op).find("refused: the pickle uses opcode 0x"),
              std::string::npos)
        << int{op};
  }
}

TEST(Pth, FunctionsAreOnlyCalledAsTorchSaveCallsThem) {
  const auto od = global("collections", "OrderedDict");
  EXPECT_NE(reason(od + "(]tR").find("not made empty"), std::string::npos);
  EXPECT_NE(reason("})R").find("calls something that is no function"), std::string::npos);
  EXPECT_NE(reason(global("torch", "FloatStorage") + ")R").find("calls a storage type"),
            std::string::npos);
  EXPECT_NE(reason("]}b").find("it takes a list of 0 for an OrderedDict"), std::string::npos);
  EXPECT_NE(reason("}}b").find("no OrderedDict"), std::string::npos);
  EXPECT_NE(reason(global("torch._utils", "_rebuild_tensor_v2") + ")R").find("made of 0 things"),
            std::string::npos);
  EXPECT_NE(reason("(" + text("module") + "tQ").find("no tuple of five"), std::string::npos);
}

TEST(Pth, TensorsOutsideTheirStorageAreRefused) {
  const auto with = [](int32_t offset, const std::vector<int32_t>& shape,
                       const std::vector<int32_t>& strides, int32_t count) {
    return reason("}" + text("a") +
                  tensor(storage("FloatStorage", "0", count), offset, shape, strides) + "s");
  };
  EXPECT_EQ(with(0, {12}, {1}, 12), "read");
  EXPECT_NE(with(1, {12}, {1}, 12).find("tensor a: damaged"), std::string::npos);
  EXPECT_NE(with(0, {2}, {12}, 12).find("tensor a: damaged"), std::string::npos);
  EXPECT_NE(with(-1, {2}, {1}, 12).find("tensor a: damaged"), std::string::npos);
  EXPECT_NE(with(0, {-2}, {1}, 12).find("tensor a: refused"), std::string::npos);
  EXPECT_NE(with(0, {1}, {1}, 13).find("a storage of 13 F32 in 48 bytes"), std::string::npos);
  EXPECT_NE(with(0, {1}, {1}, -1).find("a storage of -1 F32"), std::string::npos);
  EXPECT_NE(reason("}" + text("a") + tensor(storage("FloatStorage", "9", 1), 0, {1}, {1}) + "s")
                .find("no zip entry net/data/9"),
            std::string::npos);
}

TEST(Pth, AnExpandedTensorCantFillTheMemory) {
  const auto words = tensor(twelve(), 0, {1'000'000, 1'000'000}, {0, 0});
  EXPECT_EQ(
      reason("}" + text("a") + words + "s"),
      "x.pth: tensor a: refused: [1000000, 1000000] and all before it are far larger than the "
      "file");
}

TEST(Pth, ListsThatContainThemselvesOrUnfoldForeverAreRefused) {
  EXPECT_EQ(reason("]q\1h\1a"), "x.pth: refused: 0 contains itself");
  std::string bomb = "]q\1";  // each list holds the one before it twice
  for (char level = 2; level < 30; ++level) {
    const char before = static_cast<char>(level - 1);
    bomb += std::string("](h") + before + "h" + before + "eq" + level;
  }
  EXPECT_EQ(reason(bomb), "x.pth: refused: more than 250000 things in it");
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "]";
  deep += std::string(99'999, 'a');
  EXPECT_NE(reason(deep).find("is nested more than 32 deep"), std::string::npos);
  EXPECT_NE(reason(std::string(3'000'000, 'N')).find("more than 2000000 values"),
            std::string::npos);
}

TEST(Pth, DamagedPicklesAreRefusedInOneLine) {
  const auto good = program(global("collections", "OrderedDict") + ")R(" + text("w") +
                            tensor(twelve(), 0, {3, 4}, {4, 1}) + text("n") + integer(7) + "u");
  for (std::size_t keep = 0; keep < good.size(); ++keep) {
    try {
      parsed(pth(good.substr(0, keep)));
      ADD_FAILURE() << keep;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).rfind("x.pth: ", 0), 0U) << keep;
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << keep;
    }
  }
  for (const char* words : {"", "0", "a", "s", "u", "t", "h\7", "e", "\x85", "(1", "}N", "\x94",
                            "NNa", "}(Nu", "R", "Q", "b"}) {
    const auto why = reason(words);
    EXPECT_TRUE(why == "read" || why.rfind("x.pth: damaged", 0) == 0) << words << why;
  }
  EXPECT_NE(reason("X\2\0\0" + std::string("\0\xFF\xFE", 3)), "read");
}

TEST(Pth, EveryTruncationOfTheFileIsRefused) {
  const auto whole = pth(program("}" + text("a") + tensor(twelve(), 0, {12}, {1}) + "s"));
  for (std::size_t keep = 0; keep < whole.size(); ++keep) {
    EXPECT_THROW(parsed(whole.substr(0, keep)), Error) << keep;
  }
  EXPECT_EQ(parsed(whole).arrays.size(), 1U);
}

TEST(Pth, OtherArchivesAreToldApart) {
  const auto why = [](const fixture::ZipWriter& zip) -> std::string {
    try {
      parsed(zip.finished());
      return "read";
    } catch (const Error& error) {
      return error.what();
    }
  };
  fixture::ZipWriter office;
  office.add("word/document.xml", "<xml>");
  EXPECT_EQ(why(office), "x.pth: a zip archive, but not one of torch.save (no data.pkl in it)");
  fixture::ZipWriter script;
  script.add("net/code/__torch__.py", "import os");
  script.add("net/data.pkl", program("}"));
  EXPECT_EQ(why(script),
            "x.pth: refused: a TorchScript archive, which carries code; save its state_dict() with "
            "torch.save");
  try {
    parsed(pth(program("}"), "big"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "x.pth: its numbers are big-endian; save it again on a little-endian machine");
  }
}

TEST(Pth, TheSameNameTwiceIsRefused) {
  const auto one = tensor(twelve(), 1, {1}, {1});
  EXPECT_EQ(reason("}(" + text("a") + one + text("a") + one + "u"),
            "x.pth: tensor a: the name occurs twice");
}

}  // namespace
}  // namespace partwise::formats
