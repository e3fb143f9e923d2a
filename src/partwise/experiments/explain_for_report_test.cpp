#include "partwise/experiments/explain_for_report.h"

#include "partwise/base/files.h"
#include "partwise/experiments/application_fixture.h"
#include "partwise/explaining/part_book.h"
#include "partwise/findings/run_findings.h"
#include "partwise/images/codec.h"
#include "partwise/models/model.h"
#include "partwise/models/run_data.h"
#include "partwise/runs/explained_photographs.h"

namespace partwise::experiments {
namespace {

class AReportsOpening : public Application {
 protected:
  // An untrained network that knows its parts and says it was measured.
  runs::RunFolder measured_run(const datasets::PartDataset& dataset) const {
    const nlohmann::json options{
        {"net", "tiny"}, {"arm", "interpretable"}, {"task", "multi"}, {"loss", "softmax"},
        {"seed", 3},     {"hidden", 16},           {"epochs", 1}};
    auto run = runs::RunFolder::create(root_ / "run", options, models::data_record(dataset));
    const auto design = models::make_design(options, dataset);
    models::claim_model(run, design);
    models::save_checkpoint(run, {{.epoch = 1}, models::draw_network(design).state()});
    explaining::provide_part_book_from(dataset, run, models::Resources{.threads = 1}, "last",
                                       {.images = 2, .by_place = false, .naming = {}});
    findings::RunFindings found;
    found.net = "tiny";
    found.arm = "interpretable";
    found.split = "test";
    found.checkpoint = "last";
    found.findings["accuracy"] = {0.5, 0.4, 0.6};
    write_json_atomically(run.path() / "findings.json", findings::to_json(found));
    return run;
  }
};

TEST_F(AReportsOpening, ExplainsChangedPhotographsOnlyWhereTheyAreNamed) {
  const auto dataset = draw_animals();
  const auto run = measured_run(dataset);
  const auto& replaced = dataset.images.front();
  write_file_atomically(
      dataset.root / replaced.file_name,
      images::encode_png(images::Image::blank(replaced.width, replaced.height, 99)));
  explain_for_report({run}, {}, machine());
  EXPECT_TRUE(runs::explained_photographs(run).photographs.empty());
  const auto& last = said().back();
  EXPECT_NE(last.find("no photographs are explained in the report"), std::string::npos) << last;
  EXPECT_NE(last.find("have changed since it was trained"), std::string::npos) << last;
  explain_for_report({run}, dataset.root, machine());
  EXPECT_FALSE(runs::explained_photographs(run).photographs.empty()) << said().back();
}

}  // namespace
}  // namespace partwise::experiments
