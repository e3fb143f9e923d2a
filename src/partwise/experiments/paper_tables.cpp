#include "partwise/experiments/paper_tables.h"

#include "partwise/base/error.h"
#include "partwise/base/names.h"
#include "partwise/experiments/paper_figures.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <sstream>

namespace partwise::experiments {
namespace {

using Place = Metric::Place;

const std::vector<std::string> kAnimals{
    "goldfish", "bird",         "frog",    "turtle",   "lizard",    "koala",
    "lobster",  "dog",          "fox",     "cat",      "lion",      "tiger",
    "bear",     "rabbit",       "hamster", "squirrel", "horse",     "zebra",
    "swine",    "hippopotamus", "cattle",  "sheep",    "antelope",  "camel",
    "otter",    "armadillo",    "monkey",  "elephant", "red panda", "giant panda"};
const std::vector<std::string> kVoc{"bird", "cat", "cow", "dog", "horse", "sheep"};
const std::vector<std::string> kBird{"bird"};

const Metric kInstability{"location_instability", Place::last_layer};
const Metric kFirstInstability{"location_instability", Place::first_layer};
const Metric kInterpretability{"part_interpretability", Place::last_layer};
const Metric kPurity{"purity", Place::first_layer};
const Metric kAccuracy{"accuracy", Place::network};
const Metric kOutputAccuracy{"output_accuracy", Place::network};
const Metric kSingleFilter{"single_filter_accuracy", Place::last_layer};
const Metric kOnTarget{"activation_on_target", Place::last_layer};
const Metric kOnOther{"activation_on_other", Place::last_layer};
const Metric kDistortion{"adversarial_distortion", Place::network};

const char* const kAnimalData = "partwise data import animal-part";
const char* const kVocData = "partwise data import voc-part";
const char* const kCubData = "partwise data import cub200 --as bird --negatives DIR";

const char* const kInstabilityNote =
    "The paper measures on all annotated crops, training images included (--split all). A detector "
    "that always fires at the crop's centre scores constant_centre: lower than it says little.";
const char* const kAccuracyNote = "The paper's figures are means over its categories.";
const char* const kOutputNote =
    "With the logistic loss the paper counts yes/no answers of all outputs (output_accuracy); no "
    "to "
    "everything scores always_no.";

std::vector<Column> each_and_mean(const std::vector<std::string>& categories,
                                  const Metric& metric) {
  std::vector<Column> columns;
  for (const auto& category : categories) columns.push_back({"logistic", category, metric.key});
  if (categories.size() > 1) columns.push_back({"logistic", "", metric.key});
  return columns;
}
std::vector<Column> only_mean(const Metric& metric) {
  return {{"logistic", "", metric.key}};
}
std::vector<Column> both_losses(const Metric& metric) {
  return {{"logistic", "", metric.key}, {"softmax", "", metric.key}};
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

// Fills in nets, arms, losses and figures from the paper's rows; scale: 0.01 for percents.
PaperTable filled(PaperTable table,
                  const std::vector<Column>& columns,
                  std::string_view rows,
                  double scale = 1.0) {
  for (const auto& column : columns) add_once(table.losses, column.loss);
  std::istringstream words{std::string(rows)};
  std::string net;
  std::string arm;
  std::size_t next = columns.size();
  for (std::string word; words >> word;) {
    if (std::isalpha(static_cast<unsigned char>(word.front())) != 0) {
      expects(next == columns.size(), "{}: {} {} has {} of {} figures", table.name, net, arm, next,
              columns.size());
      net = word;
      words >> arm;
      add_once(table.nets, net);
      add_once(table.arms, arm);
      next = 0;
      continue;
    }
    expects(next < columns.size(), "{}: {} {} has too many figures", table.name, net, arm);
    if (word != "-") table.figures.push_back({net, arm, columns[next], std::stod(word) * scale});
    ++next;
  }
  return table;
}

PaperTable binary(const std::string& name,
                  const std::string& what,
                  const std::string& data,
                  const std::vector<std::string>& categories,
                  const Metric& metric,
                  const std::string& note = "") {
  return {name, what, data, true, categories, {}, {}, {}, {metric}, {}, note};
}
PaperTable multi(const std::string& name,
                 const std::string& what,
                 const std::string& data,
                 const std::vector<Metric>& metrics,
                 const std::string& note = "") {
  return {name, what, data, false, {}, {}, {}, {}, metrics, {}, note};
}

std::vector<PaperTable> make_tables() {
  const double percent = 0.01;
  return {
      filled(binary("animal-part-instability", "location instability, one network per category",
                    kAnimalData, kAnimals, kInstability, kInstabilityNote),
             each_and_mean(kAnimals, kInstability), kAnimalPartInstability),
      filled(binary("voc-instability", "location instability, one network per category", kVocData,
                    kVoc, kInstability, kInstabilityNote),
             each_and_mean(kVoc, kInstability), kVocInstability),
      filled(binary("cub200-instability", "location instability, birds against negatives", kCubData,
                    kBird, kInstability, kInstabilityNote),
             each_and_mean(kBird, kInstability), kCubInstability),
      filled(multi("animal-part-multi-instability", "location instability, one network for all",
                   kAnimalData, {kInstability}, kInstabilityNote),
             only_mean(kInstability), kAnimalPartMultiInstability),
      filled(multi("voc-multi-instability", "location instability, one network for all", kVocData,
                   {kInstability}, kInstabilityNote),
             both_losses(kInstability), kVocMultiInstability),
      filled(binary("animal-part-first-layer-instability",
                    "location instability before the mask of the first interpretable layer",
                    kAnimalData, kAnimals, kFirstInstability, kInstabilityNote),
             each_and_mean(kAnimals, kFirstInstability), kAnimalPartFirstLayerInstability),
      filled(binary("voc-first-layer-instability",
                    "location instability before the mask of the first interpretable layer",
                    kVocData, kVoc, kFirstInstability, kInstabilityNote),
             each_and_mean(kVoc, kFirstInstability), kVocFirstLayerInstability),
      filled(binary("voc-interpretability", "part interpretability, one network per category",
                    kVocData, kVoc, kInterpretability),
             each_and_mean(kVoc, kInterpretability), kVocInterpretability),
      filled(multi("voc-multi-interpretability", "part interpretability, one network for all",
                   kVocData, {kInterpretability}),
             both_losses(kInterpretability), kVocMultiInterpretability),
      filled(binary("animal-part-purity", "semantic purity with and without the filter loss",
                    kAnimalData, kAnimals, kPurity,
                    "The means the paper prints here are up to 0.006 off those of its figures."),
             each_and_mean(kAnimals, kPurity), kAnimalPartPurity),
      filled(binary("voc-purity", "semantic purity with and without the filter loss", kVocData,
                    kVoc, kPurity),
             each_and_mean(kVoc, kPurity), kVocPurity),
      filled(binary("animal-part-accuracy", "accuracy, one network per category", kAnimalData,
                    kAnimals, kAccuracy, kAccuracyNote),
             only_mean(kAccuracy), kAnimalPartAccuracy, percent),
      filled(binary("voc-accuracy", "accuracy, one network per category", kVocData, kVoc, kAccuracy,
                    kAccuracyNote),
             only_mean(kAccuracy), kVocAccuracy, percent),
      filled(binary("cub200-accuracy", "accuracy, birds against negatives", kCubData, kBird,
                    kAccuracy),
             each_and_mean(kBird, kAccuracy), kCubAccuracy, percent),
      filled(multi("animal-part-multi-accuracy", "accuracy, one network for all", kAnimalData,
                   {kOutputAccuracy, kAccuracy}, kOutputNote),
             only_mean(kOutputAccuracy), kAnimalPartMultiAccuracy, percent),
      filled(multi("voc-multi-accuracy", "accuracy, one network for all", kVocData,
                   {kOutputAccuracy, kAccuracy}, kOutputNote),
             {{"logistic", "", kOutputAccuracy.key}, {"softmax", "", kAccuracy.key}},
             kVocMultiAccuracy, percent),
      filled(binary("cub200-single-filter", "accuracy of single filters, birds against negatives",
                    kCubData, kBird, kSingleFilter,
                    "The threshold is fitted to the images it is judged on, as in the paper."),
             each_and_mean(kBird, kSingleFilter), kCubSingleFilter, percent),
      filled(multi("voc-activation", "activations on a filter's category and on others", kVocData,
                   {kOnTarget, kOnOther},
                   "Activations have no unit: compare the two columns of a network, not networks."),
             {{"logistic", "", kOnTarget.key},
              {"logistic", "", kOnOther.key},
              {"softmax", "", kOnTarget.key},
              {"softmax", "", kOnOther.key}},
             kActivation),
      filled(binary("cub200-adversarial", "adversarial distortion, birds against negatives",
                    kCubData, kBird, kDistortion),
             each_and_mean(kBird, kDistortion), kCubAdversarial),
  };
}

}  // namespace

const std::vector<PaperTable>& paper_tables() {
  static const std::vector<PaperTable> kTables = make_tables();
  return kTables;
}

const PaperTable& find_table(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& table : paper_tables()) {
    if (table.name == name) return table;
    names.push_back(table.name);
  }
  throw Error(fmt::format("no table '{}' (did you mean '{}'?); valid: {}", name,
                          nearest_name(name, names), fmt::join(names, ", ")));
}

std::optional<double> figure_of(const PaperTable& table,
                                const std::string& net,
                                const std::string& arm,
                                const Column& column) {
  for (const auto& figure : table.figures) {
    if (figure.net == net && figure.arm == arm && figure.column.loss == column.loss &&
        figure.column.category == column.category && figure.column.metric == column.metric) {
      return figure.value;
    }
  }
  return std::nullopt;
}

}  // namespace partwise::experiments
