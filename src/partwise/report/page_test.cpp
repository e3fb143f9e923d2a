#include "partwise/base/error.h"
#include "partwise/base/files.h"
#include "partwise/base/random.h"
#include "partwise/base/removal.h"
#include "partwise/findings/run_findings.h"
#include "partwise/formats/base64.h"
#include "partwise/images/codec.h"
#include "partwise/report/report.h"
#include "partwise/runs/drawn_figures.h"
#include "partwise/runs/explained_photographs.h"

#include <gtest/gtest.h>

#include <regex>

namespace partwise::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

json finding(double value, const json& controls) {
  return {{"value", value}, {"low", value - 0.02}, {"high", value + 0.02}, {"controls", controls}};
}

json layer(const std::string& name, const std::string& role, double purity) {
  const json card = {{"filter", 12},           {"category", "fox"},
                     {"part", "head"},         {"part_interpretability", 0.93},
                     {"instability", 0.04},    {"ratio", nullptr},
                     {"mean_peak", 2.1},       {"picture", "pictures/a.png"},
                     {"picture_alt", "foxes"}, {"chosen", "random"}};
  return {{"layer", name},
          {"role", role},
          {"side", 14},
          {"filters", 96},
          {"dead_share", 0.02},
          {"purity", finding(purity, {{"uniform_map", 0.13}})},
          {"location_instability", finding(0.09, {{"constant_centre", 0.07}})},
          {"instability_ratio", finding(0.7, {{"constant_filter", 1}})},
          {"part_interpretability", finding(0.5, {{"shuffled_images", 0.3}})},
          {"filters_per_category", {{"fox", 50}, {"cat", 46}}},
          {"cards", json::array({card})}};
}

json measured(const std::string& arm, double purity) {
  json layers = json::array({layer("conv4", "top layer of the backbone", purity)});
  if (arm != "ordinary") layers.push_back(layer("conv5", "new layer", purity - 0.1));
  return {{"format", 1},
          {"net", "tiny"},
          {"arm", arm},
          {"task", "multi"},
          {"loss", "softmax"},
          {"split", "test"},
          {"rows", 360},
          {"training_images", 0},
          {"train_rows", 1080},
          {"categories", {"fox", "cat"}},
          {"accuracy", finding(0.95, {{"majority_class", 0.5}, {"chance", 0.5}})},
          {"confusion", {{170, 10}, {8, 172}}},
          {"layers", layers}};
}

// Every string but those that must be something particular.
void poison(json& value, const std::string& key = "") {
  if (value.is_structured()) {
    for (auto& [name, inner] : value.items()) poison(inner, value.is_array() ? key : name);
  } else if (value.is_string() && key != "picture" && key != "chosen" && key != "sheet") {
    value = value.get<std::string>() +
            R"("'></script><script>alert(1)</script><img src=x onerror=alert(2)>)";
  }
}

class Report : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { remove_folder(folder_); }

  runs::RunFolder run(const std::string& name, const json& found, json options = {{"seed", 1}}) {
    auto run = runs::RunFolder::create(folder_ / name, options, {{"commit", "8808d85"}});
    fs::create_directories(run.pictures());
    write_file_atomically(run.pictures() / "a.png",
                          images::encode_png(images::Image::blank(30, 10, 99)));
    for (int epoch = 1; epoch <= 5; ++epoch) {
      run.append_log({{"epoch", epoch},
                      {"loss", 2.0 / epoch},
                      {"layers", {{{"layer", "conv4"}, {"purity", 0.1 * epoch}}}}});
    }
    write_json_atomically(run.path() / "findings.json", found);
    return run;
  }

  std::vector<runs::RunFolder> four_arms() {
    std::vector<runs::RunFolder> all;
    for (const char* arm : {"interpretable", "masked", "ordinary", "ordinary+layer"}) {
      all.push_back(run(arm, measured(arm, std::string(arm) == "interpretable" ? 0.8 : 0.45)));
    }
    return all;
  }

  static runs::ExplainedPhotographs three_photographs() {
    runs::ExplainedPhotographs all{"The rule of choice.", json::object()};
    for (const char* name : {"typical", "weak", "wrong"}) {
      runs::ExplainedPhotograph one{
          name, name + std::string(" words"), "fox.png", "fox", "fox", 0.7, "cat", 0.2, "some", 4.0,
          false};
      if (name == std::string("wrong")) one.truth = "cat";
      one.parts = {{"head", 3.0, "#e86304"}, {"tail", -1.0, ""}};
      all.photographs.push_back(one);
    }
    return all;
  }

  static void explain(const runs::RunFolder& run, const runs::ExplainedPhotographs& photographs) {
    const auto png = images::encode_png(images::Image::blank(20, 10, 99));
    runs::record_explained(run, photographs, std::vector(photographs.photographs.size(), png));
  }

  std::string complaint(const json& found) {
    const auto broken = run("broken", found);
    try {
      render_report({broken}, json::object());
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  fs::path folder_ = fs::path(testing::TempDir()) / "partwise-report-test";
};

TEST_F(Report, ShowsTheFiguresThatWereDrawnOfARun) {
  auto all = four_arms();
  EXPECT_FALSE(contains(render_report(all, json::object()), "The paper’s figures"));
  const auto png = images::encode_png(images::Image::blank(20, 10, 99));
  runs::record_figure(all[0], {"filters", "What <filters> see", "Drawn by seed 1.", "foxes"}, png);
  runs::record_figure(all[0], {"mask", "From a photo", "Two images.", "a mask"}, png);
  const auto html = render_report(all, json::object());
  EXPECT_TRUE(contains(html, "The paper’s figures"));
  EXPECT_TRUE(contains(html, "What &lt;filters&gt; see"));
  EXPECT_TRUE(contains(html, "<figcaption>Two images.</figcaption>"));
  EXPECT_TRUE(contains(html, "alt=\"a mask\""));
}

TEST_F(Report, SaysWhereAFigureIsOfAnotherMomentThanTheNumbers) {
  auto found = measured("interpretable", 0.8);
  found.update({{"epoch", 10}, {"step", 0}});
  const auto one = run("interpretable", found);
  const auto png = images::encode_png(images::Image::blank(20, 10, 99));
  runs::record_figure(one, {"mask", "From a photo", "Two.", "a mask", {{10, 0}}}, png);
  runs::record_figure(one, {"places", "Places", "Three.", "places"}, png);  // an older program's
  EXPECT_FALSE(contains(render_report({one}, json::object()), "Drawn of the network at"));
  runs::record_figure(one, {"filters", "Filters", "Four.", "foxes", {{2, 17}}}, png);
  const auto html = render_report({one}, json::object());
  EXPECT_TRUE(contains(html,
                       "Drawn of the network at epoch 2 and 17 steps; the numbers here are of "
                       "epoch 10. To draw it anew: partwise draw filters "));
  EXPECT_TRUE(contains(html, "<figcaption>Two.</figcaption>"));
}

TEST_F(Report, SaysFirstOfAllThatANetworkHasGoneOnSinceItWasMeasured) {
  const auto all = four_arms();
  const json context{{"outdated", json::array({"runs/a: its <findings> are of epoch 2"})}};
  const auto html = render_report(all, context);
  const auto at = html.find("<li>runs/a: its &lt;findings&gt; are of epoch 2</li>");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LT(at, html.find("class=\"said\""));
}

TEST_F(Report, TakesNoFigureFromOutsideTheRun) {
  const auto all = four_arms();
  write_json_atomically(
      [&] {
        fs::create_directories(all[0].path() / "figures");
        return all[0].path() / "figures" / "figures.json";
      }(),
      {{"figures", {{{"name", "../../secret"}, {"title", "a"}, {"caption", "b"}}}}});
  EXPECT_THROW(render_report(all, json::object()), Error);
}

TEST_F(Report, ShowsAllFourArmsAndEveryPart) {
  const auto html =
      render_report(four_arms(), {{"title", "A title"}, {"command", "partwise demo"}});
  for (const char* arm : {"ordinary", "ordinary+layer", "masked", "interpretable"}) {
    EXPECT_TRUE(contains(html, std::string("<dt>") + arm + "</dt>")) << arm;
    EXPECT_TRUE(contains(html, std::string("<th scope=\"row\">") + arm + "</th>")) << arm;
    EXPECT_TRUE(contains(html, std::string("<summary>") + arm + " · conv4")) << arm;
  }
  std::size_t before = 0;
  for (const char* id : {"glance", "evidence", "filters", "failures", "making", "csv"}) {
    const auto at = html.find(std::string("<section id=\"") + id + "\"");
    ASSERT_NE(at, std::string::npos) << id;
    EXPECT_GT(at, before) << id;
    before = at;
    EXPECT_TRUE(contains(html, std::string("href=\"#") + id + "\"")) << id;
  }
  EXPECT_TRUE(contains(html, "<h1>A title</h1>"));
  EXPECT_TRUE(contains(html, "The interpretable network decides right on 95.0\u00A0%"));
  EXPECT_TRUE(contains(html, "id=\"chart-headline-title\""));
  EXPECT_TRUE(contains(html, "Drawn at random"));
  EXPECT_TRUE(contains(html, "curve-loss-title"));
}

TEST_F(Report, FetchesNothing) {
  const auto html = render_report(four_arms(), json::object());
  const std::regex request(
      R"rx((src|href)="(?!data:image/(png|jpeg);base64,|data:text/csv;charset=utf-8;base64,|#)|url\(|@import|<link|<iframe)rx");
  EXPECT_FALSE(std::regex_search(html, request));
  EXPECT_FALSE(contains(html, "http://"));
  EXPECT_FALSE(contains(html, "https://"));
  EXPECT_TRUE(contains(html, "default-src 'none'"));
  EXPECT_FALSE(contains(html, "<script"));
  EXPECT_FALSE(std::regex_search(html, std::regex(R"rx(\son[a-z]+=)rx")));
}

TEST_F(Report, DisarmsEveryStringThatComesFromAFile) {
  json found = measured("interpretable", 0.8);
  found["arm"] = "interpretable";
  poison(found);
  found["layers"][0]["filters_per_category"]["<script>alert(1)</script>"] = 3;
  found["layers"][0]["purity"]["controls"]["<script>alert(1)</script>"] = 0.1;
  found["layers"][0]["<script>alert(1)</script>"] = finding(0.5, json::object());
  json context = {{"title", "t"}, {"command", "c"}, {"dataset", {{"name", "n"}}}, {"seed", "s"}};
  poison(context);
  json options = {{"<script>alert(1)</script>", "<script>alert(1)</script>"}};
  const auto hostile = run("hostile", found, options);
  hostile.append_log({{"epoch", "<script>"}, {"layers", "<script>"}, {"loss", "</script>"}});
  auto photographs = three_photographs();
  for (auto& one : photographs.photographs) {
    for (auto* words : {&one.image, &one.truth, &one.decision, &one.other, &one.chosen,
                        &one.evidence_words, &one.parts[0].part})
      *words = "\"'><script>alert(1)</script>\n\xC3\xA9<img src=x onerror=alert(2)>";
  }
  photographs.rule = "</p><script>alert(1)</script>";
  explain(hostile, photographs);
  const auto html = render_report({hostile}, context);
  EXPECT_FALSE(contains(html, "<script"));
  EXPECT_FALSE(contains(html, "<img src=x"));
  EXPECT_TRUE(contains(html, "\xC3\xA9&lt;img"));
}

TEST_F(Report, OpensWithThreeExplainedPhotographsAndTheRuleTheyWereChosenBy) {
  const auto all = four_arms();
  EXPECT_TRUE(contains(render_report(all, json::object()), "No photographs are explained here"));
  explain(all[0], three_photographs());
  const auto html = render_report(all, json::object());
  const auto first = html.substr(0, html.find("<section id=\"evidence\""));
  EXPECT_FALSE(contains(html, "No photographs are explained here"));
  std::size_t before = 0;
  for (const char* words : {"typical words", "weak words", "wrong words", "The rule of choice.",
                            "class=\"verdict\"", "chart-headline"}) {
    const auto at = first.find(words);
    ASSERT_NE(at, std::string::npos) << words;
    EXPECT_GT(at, before) << words;
    before = at;
  }
  EXPECT_TRUE(contains(first, "<b>fox</b> 70\u00A0%, then cat 20\u00A0%"));
  EXPECT_TRUE(contains(first, "<b>fox</b> 70\u00A0%, but it is <b>cat</b>; then cat 20\u00A0%"));
  EXPECT_TRUE(contains(first, "--colour:#e86304\"><b>75\u00A0%</b> head</li>"));
  EXPECT_TRUE(contains(first, "class=\"against\""));
  EXPECT_TRUE(contains(first, "Outlined: 1 head."));
}

TEST_F(Report, ShowsSharesInLogitsWhereThereIsNoEvidence) {
  const auto all = four_arms();
  auto photographs = three_photographs();
  photographs.photographs[0].evidence = -1.0;
  explain(all[0], photographs);
  const auto html = render_report(all, json::object());
  EXPECT_TRUE(contains(html, "<b>+3.00</b> head"));
  EXPECT_TRUE(contains(html, "such numbers are logits"));
}

TEST_F(Report, OfARunWithoutPicturesLogAndPartnersIsStillOne) {
  json found = measured("ordinary", 0.4);
  found["task"] = "binary:fox";
  found["categories"] = {"fox"};
  found["classes"] = {"not fox", "fox"};
  for (auto& layer : found["layers"]) layer.erase("cards");
  const auto bare = runs::RunFolder::create(folder_ / "bare", {{"seed", 1}}, json::object());
  write_json_atomically(bare.path() / "findings.json", found);
  const auto html = render_report({bare}, json::object());
  EXPECT_TRUE(contains(html, "The ordinary network decides right"));
  EXPECT_TRUE(contains(html, "no other kind of network that was measured alike"));
  EXPECT_TRUE(contains(html, "not fox"));
  EXPECT_TRUE(contains(html, "hold no pictures of filters"));
  EXPECT_TRUE(contains(html, "hold no training log"));
}

// Four arms with two layers of 512 filters, every picture as large as those of 224 x 224 crops, in
// noise, which no format can pack: photographs take a third of it.
TEST_F(Report, OfManyFiltersStaysSmallEnoughToMail) {
  auto noise = images::Image::blank(6 * 224 + 20, 2 * 224 + 4);
  Random random(1);
  for (std::size_t i = 0; i < noise.pixels.size(); ++i)  // coarse, as photographs are
    noise.pixels[i] =
        i % 24 == 0 ? static_cast<uint8_t>(random.bits() & 0xFFU) : noise.pixels[i - 1];
  const auto png = images::encode_png(noise);
  std::vector<runs::RunFolder> all;
  for (const char* arm : {"ordinary", "ordinary+layer", "masked", "interpretable"}) {
    json found = measured(arm, 0.5);
    for (auto& layer : found["layers"]) {
      layer["filters"] = 512;
      const json card = layer["cards"][0];
      for (int k = 1; k < 36; ++k) {
        layer["cards"].push_back(card);
        layer["cards"].back()["chosen"] = k % 3 == 0 ? "best" : k % 3 == 1 ? "random" : "worst";
      }
    }
    all.push_back(run(arm, found));
    write_file_atomically(all.back().pictures() / "a.png", png);
  }
  const auto html = render_report(all, json::object());
  RecordProperty("bytes", std::to_string(html.size()));
  EXPECT_LT(html.size(), std::size_t{15} << 20U);
  std::size_t cards = 0;
  for (auto at = html.find("class=\"card\""); at != std::string::npos;
       at = html.find("class=\"card\"", at + 1))
    ++cards;
  EXPECT_EQ(cards, 7U * 12U + 3U);  // seven layers, and three on the first screen
}

TEST_F(Report, ListsRandomFiltersBeforeTheBestAndTheWorst) {
  json found = measured("interpretable", 0.8);
  for (const char* chosen : {"worst", "best"}) {
    found["layers"][1]["cards"].push_back(found["layers"][1]["cards"][0]);
    found["layers"][1]["cards"].back()["chosen"] = chosen;
  }
  const auto html = render_report({run("chosen", found)}, json::object());
  EXPECT_LT(html.find("<h3>Drawn at random"), html.find("<h3>Highest part"));
  EXPECT_LT(html.find("<h3>Highest part"), html.find("<h3>Lowest part"));
}

TEST_F(Report, ShowsFurtherMeasuresWhereTheyWereMeasured) {
  EXPECT_FALSE(contains(render_report(four_arms(), json::object()), "Further measures"));
  json found = measured("interpretable", 0.8);
  found["adversarial_distortion"] = finding(0.0213, {{"random_direction", 0.3}});
  found["adversarial_distortion"]["success_share"] = 0.75;
  auto& measured = found["layers"][0];
  measured["part_label_iou"] = finding(0.3, {{"shuffled_images", 0.1}, {"random_weights", 0.12}});
  measured["part_label_iou"]["share_of_filters"] = {
      {"fox", {{"torso", 0.25}, {"head", 0.75}, {"<b>", 0.0}}}, {"cat", {{"head", nullptr}}}};
  measured["detectors_2017"] = finding(0.5, {{"shuffled_images", 0.2}});
  measured["detectors_2017"]["unique"] = 3;
  const auto html = render_report({run("further", found)}, json::object());
  EXPECT_TRUE(contains(html, "Further measures"));
  EXPECT_TRUE(contains(html, "Which part does each filter stand for?"));
  EXPECT_LT(html.find("head\u00A075\u00A0%"), html.find("torso\u00A025\u00A0%"));
  EXPECT_TRUE(contains(html, "0.02130 [0.00130, 0.04130]"));
  EXPECT_TRUE(contains(html, "success share 0.75"));
  EXPECT_TRUE(contains(html, "unique 3"));
  EXPECT_TRUE(contains(html, "random weights"));
  EXPECT_FALSE(contains(html, "Can one filter alone"));  // not measured
}

TEST_F(Report, WarnsOfTrainingImages) {
  json found = measured("interpretable", 0.8);
  found["split"] = "all";
  const auto warning = [&] {
    return contains(render_report({run("seen", found)}, json::object()),
                    "of the 360 images measured of interpretable are training images");
  };
  EXPECT_FALSE(warning());
  found["training_images"] = 290;
  remove_folder(folder_ / "seen");
  EXPECT_TRUE(warning());
}

TEST_F(Report, HoldsAllNumbersAsCsvToReadAndToKeep) {
  const auto html = render_report(four_arms(), json::object());
  EXPECT_TRUE(contains(html, "\nmasked,tiny,masked,multi,test,360,0,conv4,purity,measured,0.45,"));
  EXPECT_TRUE(contains(html, "download=\"partwise-report.csv\""));
  EXPECT_TRUE(contains(html, formats::base64("run,net,arm,task,split,images,")));
}

TEST_F(Report, ShowsMissingNumbersAsADash) {
  json found = measured("interpretable", 0.8);
  found["layers"][0]["purity"] = {{"value", nullptr},
                                  {"low", nullptr},
                                  {"high", nullptr},
                                  {"controls", {{"uniform_map", nullptr}}}};
  const auto html = render_report({run("nothing", found)}, json::object());
  EXPECT_TRUE(contains(html, "<td class=\"number\">–</td>"));
  EXPECT_TRUE(contains(html, "ratio – ·"));
  EXPECT_FALSE(std::regex_search(html, std::regex(R"(\bnan\b)")));
  EXPECT_FALSE(contains(html, ">null<"));
}

TEST_F(Report, NamesInOneLineWhatTheDataCannotDefine) {
  auto found = measured("interpretable", 0.8);
  for (auto& one : found["layers"]) {
    for (const auto* key : {"location_instability", "instability_ratio", "part_interpretability"})
      one[key] = {{"value", nullptr}, {"low", nullptr}, {"high", nullptr}, {"controls", {}}};
  }
  const auto html = render_report({run("one", found)}, json::object());
  EXPECT_TRUE(contains(html, "Not defined on this data: "));
  EXPECT_FALSE(contains(html, "<th scope=\"row\">Part interpretability"));
  EXPECT_FALSE(contains(html, "The share of images on which the filter's strongest region"));
  EXPECT_TRUE(contains(render_report({run("two", measured("masked", 0.8))}, json::object()),
                       "strongest region overlaps"));
}

TEST_F(Report, AsksToMeasureARunWithoutFindings) {
  const auto bare = runs::RunFolder::create(folder_ / "bare", {{"seed", 1}}, json::object());
  try {
    render_report({bare}, json::object());
    FAIL();
  } catch (const Error& error) {
    const std::string path = (folder_ / "bare").string();
    EXPECT_TRUE(contains(error.what(), path + ": has not been measured"));
    EXPECT_TRUE(contains(error.what(), "partwise measure " + path));
  }
  EXPECT_THROW(render_report({}, json::object()), Error);
}

TEST_F(Report, RefusesMalformedFindingsAndForeignPictures) {
  EXPECT_TRUE(contains(complaint(json::array()), "broken/findings.json"));
  for (const char* picture : {"../../secret.png", "/etc/passwd", "pictures/missing.png", "."}) {
    json found = measured("masked", 0.5);
    found["layers"][0]["cards"][0]["picture"] = picture;
    EXPECT_NE(complaint(found), "accepted") << picture;
  }
}

TEST_F(Report, TellsTwoRunsOfOneArmApart) {
  const auto html = render_report(
      {run("seed-1", measured("masked", 0.5)), run("seed-2", measured("masked", 0.6))},
      json::object());
  EXPECT_TRUE(contains(html, "masked · seed-1"));
  EXPECT_TRUE(contains(html, "masked · seed-2"));
}

TEST_F(Report, IsWrittenWithTheSheetBesideIt) {
  write_file_atomically(folder_ / "sheet.png", images::encode_png(images::Image::blank(8, 8)));
  const json context = {{"dataset", {{"name", "animals"}, {"images", 12}, {"sheet", "sheet.png"}}}};
  const auto arms = four_arms();
  write_report(arms, context, folder_ / "report.html");
  const auto first = read_file(folder_ / "report.html");
  EXPECT_TRUE(contains(first, "Sample images of the data set"));
  EXPECT_FALSE(contains(first, folder_.string()));
  write_report(arms, context, folder_ / "report.html");
  EXPECT_EQ(read_file(folder_ / "report.html"), first);
}

}  // namespace
}  // namespace partwise::report
