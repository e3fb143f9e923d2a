#include "partwise/metrics/catalogue.h"

#include "partwise/base/names.h"
#include "partwise/metrics/accuracy.h"
#include "partwise/metrics/activation_magnitude.h"
#include "partwise/metrics/class_selectivity.h"
#include "partwise/metrics/evidence_place.h"
#include "partwise/metrics/network_dissection.h"
#include "partwise/metrics/part_labels.h"
#include "partwise/metrics/purity.h"
#include "partwise/metrics/served_categories.h"
#include "partwise/metrics/silent_filters.h"
#include "partwise/metrics/single_filter_accuracy.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace partwise::metrics {
namespace {

void decisions(const NetworkExam& exam, const BootstrapOptions& bootstrap, Findings& found) {
  found["accuracy"] = accuracy(exam.scores, exam.classes, exam.labels, bootstrap);
  found["balanced_accuracy"] = balanced_accuracy(exam.scores, exam.classes, exam.labels, bootstrap);
}

void yes_no_answers(const NetworkExam& exam, const BootstrapOptions& bootstrap, Findings& found) {
  found["output_accuracy"] = output_accuracy(exam.logits, exam.outputs, exam.category, bootstrap);
}

void distortions_by_attacks(const NetworkExam& exam,
                            const BootstrapOptions& bootstrap,
                            Findings& found) {
  found["adversarial_distortion"] = adversarial_distortion(exam.by_lbfgs, bootstrap);
  found["adversarial_distortion_cw"] = adversarial_distortion(exam.by_carlini_wagner, bootstrap);
}

void parts_of_objects(const LayerExam& of, LayerMeasures& found) {
  const auto& [layer, exam, options, summaries] = of;
  auto place = location_instability(summaries, layer.grid, exam.truth, exam.filter_category,
                                    options.instability, options.bootstrap);
  auto parts =
      part_interpretability(layer.masked, layer.masked_grid, exam.truth, exam.filter_category,
                            options.interpretability, options.bootstrap);
  found.findings["purity"] = purity(layer.maps, options.bootstrap);
  found.findings["location_instability"] = std::move(place.instability);
  found.findings["instability_ratio"] = std::move(place.ratio);
  found.findings["part_interpretability"] = std::move(parts.finding);
  found.empty_share = parts.empty_share;
  found.interpretability = std::move(parts.filters);
  found.instability = std::move(place.filters);
}

void filters_at_work(const LayerExam& of, LayerMeasures& found) {
  auto filters = silent_filters(of.summaries, of.options.bootstrap);
  found.findings["silent_share"] = std::move(filters.silent_share);
  found.findings["effective_filters"] = std::move(filters.effective_filters);
}

// A task with one category gives it all filters.
void filters_of_categories(const LayerExam& of, LayerMeasures& found) {
  std::vector<std::string> names;
  for (const auto& category : of.exam.truth.categories) names.push_back(category.name);
  if (names.size() < 2) return;
  found.findings["smallest_category_share"] =
      smallest_category_share(of.summaries, of.exam.filter_category, names, of.options.bootstrap);
}

void parts_in_fields(const LayerExam& of, LayerMeasures& found) {
  const auto& [layer, exam, options, summaries] = of;
  auto parts =
      part_interpretability(layer.masked, layer.masked_grid, exam.truth, exam.filter_category,
                            options.interpretability, options.bootstrap, {.shapes = exam.fields});
  found.findings["part_interpretability_field"] = std::move(parts.finding);
}

void parts_at_evidence(const LayerExam& of, LayerMeasures& found) {
  const auto& [layer, exam, options, summaries] = of;
  const PlacedLayer placed{summaries,         layer.grid, layer.masked,
                           layer.masked_grid, exam.truth, exam.filter_category};
  auto parts = interpretability_at_evidence(placed, exam.evidence, options.interpretability,
                                            options.bootstrap);
  auto place = location_instability(summaries, layer.grid, exam.truth, exam.filter_category,
                                    options.instability, options.bootstrap, exam.evidence);
  found.findings["part_interpretability_evidence"] = std::move(parts.finding);
  found.findings["instability_ratio_evidence"] = std::move(place.ratio);
  found.findings["location_instability_evidence"] = std::move(place.instability);
  found.findings["part_label_iou_evidence"] =
      labels_at_evidence(placed, exam.evidence, options.interpretability, options.bootstrap);
  found.at_evidence = std::move(parts.filters);
}

void part_labels_of_filters(const LayerExam& of, LayerMeasures& found) {
  const auto& [layer, exam, options, summaries] = of;
  auto labels = part_labels(layer.masked, layer.masked_grid, exam.truth, exam.filter_category,
                            options.interpretability, options.bootstrap);
  found.findings["part_label_iou"] = std::move(labels.iou.finding);
  found.findings["part_label_margin"] = std::move(labels.margin.finding);
}

void single_filters(const LayerExam& of, LayerMeasures& found) {
  const auto& [layer, exam, options, summaries] = of;
  // Without training rows no threshold exists, and so none of the numbers that need one.
  const LabelledRows none{{0, summaries.filters, summaries.side, {}, {}, {}}, {}};
  const LabelledRows& training = exam.training ? *exam.training : none;
  auto accuracy =
      single_filter_accuracy(*exam.judged, training, exam.filter_category, options.bootstrap);
  found.findings["single_filter_accuracy"] = std::move(accuracy.fitted.finding);
  found.findings["single_filter_honest_accuracy"] = std::move(accuracy.accuracy.finding);
  found.findings["single_filter_balanced_accuracy"] = std::move(accuracy.balanced.finding);
  found.findings["single_filter_auc"] = std::move(accuracy.auc.finding);
}

void activation_magnitudes(const LayerExam& of, LayerMeasures& found) {
  const auto& [layer, exam, options, summaries] = of;
  auto magnitude = activation_magnitude(exam.judged->summaries, exam.judged->category,
                                        exam.filter_category, options.bootstrap);
  found.findings["activation_on_target"] = std::move(magnitude.on_target);
  found.findings["activation_on_other"] = std::move(magnitude.on_other);
  found.findings["activation_ratio"] = std::move(magnitude.ratio);
}

void part_detectors(const LayerExam& of, LayerMeasures& found) {
  const auto share = [&](const DissectionOptions& convention) {
    return network_dissection(of.layer.masked, of.layer.masked_grid, of.exam.truth, convention,
                              of.options.bootstrap)
        .detectors;
  };
  found.findings["detectors_2017"] = share(kDissection2017);
  found.findings["detectors_2020"] = share(kDissection2020);
}

void patches_about_peaks(const LayerExam& of, LayerMeasures& found) {
  auto patches = patch_purity(of.summaries, of.layer.grid, of.exam.truth, of.options.patches,
                              of.options.bootstrap);
  found.findings["patch_purity"] = std::move(patches.purity.finding);
  found.findings["patch_purity_strict"] = std::move(patches.strict.finding);
}

void consistency_of_boxes(const LayerExam& of, LayerMeasures& found) {
  found.findings["part_consistency"] =
      part_consistency(of.summaries, of.layer.grid, of.exam.truth, of.exam.filter_category,
                       of.options.consistency, of.options.bootstrap)
          .finding;
}

void stability_of_boxes(const LayerExam& of, LayerMeasures& found) {
  found.findings["part_stability"] =
      part_stability(of.summaries, *of.exam.noisy, of.layer.grid, of.exam.truth,
                     of.exam.filter_category, of.options.consistency, of.options.bootstrap);
}

// A task with one category tells it from everything else: two classes.
void selectivity_of_filters(const LayerExam& of, LayerMeasures& found) {
  auto row_class = of.exam.judged->category;
  auto classes = std::ssize(of.exam.truth.categories);
  if (classes == 1) {
    for (auto& shown : row_class) ++shown;
    ++classes;
  }
  found.findings["class_selectivity"] =
      class_selectivity(of.exam.judged->summaries, row_class, classes, of.options.bootstrap)
          .finding;
}

const std::vector<NumberWords> kDecisions{
    {"accuracy", "Accuracy", Better::higher, true, "images classified correctly, %",
     "The share of images whose highest score belongs to the right category. It is the price tag: "
     "a network that explains itself but classifies worse has paid for the explanation.",
     "Majority class is what always answering the most frequent category would score; chance is "
     "one over the number of categories.",
     "A high accuracy says nothing about which parts of the object the network looked at, and on "
     "easy data all networks end up close together."},
    {"balanced_accuracy", "Balanced accuracy", Better::higher, true,
     "mean share correct per category, %",
     "The share of correct answers within each category, averaged over categories. Unlike plain "
     "accuracy it cannot be raised by favouring the frequent ones.",
     "Chance is one over the number of categories.",
     "It treats all categories as equally important, which may not be so in an application."}};

const std::vector<NumberWords> kParts{
    {"purity", "Purity", Better::higher, false, "share of activation around the peak",
     "Of everything a layer's filters fire on an image, the share that lies close to each filter's "
     "own peak. A filter that stands for one part fires in one place; a filter that mixes several "
     "patterns fires all over the object.",
     "The uniform-map control is the purity of a map that is equally active everywhere: it has no "
     "preference at all.",
     "Purity says that activation is concentrated, not that it sits on a meaningful part. It is "
     "measured before the mask, so the mask of that layer cannot raise it by cutting away what "
     "lies outside."},
    {"instability_ratio", "Instability ratio", Better::lower, false,
     "location instability / the same with landmarks shuffled between images",
     "Location instability divided by what the same peaks give when the landmarks of other images "
     "are used instead. Below 1, the peak moves with the landmark; at 1, it knows nothing about "
     "where the landmark is.",
     "A detector that always fires at the same spot has ratio 1, whatever its instability.",
     "It shows that peaks follow landmarks, not which part the filter stands for; a filter may "
     "follow the object as a whole and still score below 1."},
    {"part_interpretability", "Part interpretability", Better::higher, false,
     "share of images on which the best part is hit",
     "The share of images on which the filter's strongest region overlaps the annotated part that "
     "fits it best. The region is drawn with discs around the strongest units; share, disc size "
     "and required overlap are options (see How it was made).",
     "Shuffled images pairs each map with the parts of another image of the category; constant "
     "centre is a single disc in the middle of the picture. A filter that only knows where parts "
     "usually are reaches these.",
     "It is measured after the mask, which by itself makes regions compact: compare the masked "
     "with the interpretable network to see what the filter loss adds. Taking the best of several "
     "parts flatters every filter a little, the controls included."},
    {"location_instability", "Location instability", Better::lower, false,
     "spread of the peak-to-landmark distance / image diagonal",
     "How much the distance between a filter's peak and a landmark (say, the head) varies from "
     "image to image, in units of the image diagonal. A filter that sticks to one part keeps its "
     "distance to every landmark.",
     "Constant centre is a detector that always fires in the middle of the picture; uniform random "
     "fires anywhere; shuffled landmarks keeps the filter's peaks and swaps the landmarks between "
     "images.",
     "Objects are cropped to their box, so a constant detector that looks at nothing often beats "
     "trained filters here. Do not read this number alone; the instability ratio above removes "
     "what a constant detector gains."}};

const std::vector<NumberWords> kAlive{
    {"silent_share", "Silent filters", Better::lower, true, "share of filters, %",
     "The share of a layer's filters that hardly fire even on the sixth of the images they like "
     "best: below a twentieth of what a strong filter does there.",
     "Compare with the masked network: it shows what falls silent without any filter loss.",
     "A filter that fires may still stand for nothing. Numbers that are means over filters count a "
     "silent one like any other."},
    {"effective_filters", "Effective filters", Better::higher, false,
     "number of equally busy filters",
     "Of how many equally busy filters a layer's activation could come: all of them where each "
     "does its share, one where a single filter does everything.",
     "The most is the number of filters the layer has. Compare with the masked network.",
     "It weighs by loudness: quiet filters may still decide.", 1}};

const std::vector<NumberWords> kServed{
    {"smallest_category_share", "Filters of the least served category", Better::higher, false,
     "its filters / its fair share of them",
     "Each filter stands for the category it fires most on. This is how many filters the category "
     "with the fewest has, as a share of what it would have were all served alike; 0: it has none.",
     "Random categories is the mean were each filter's category drawn by lot.",
     "A category may need fewer filters than another."}};

const std::vector<NumberWords> kYesNoAnswers{
    {"output_accuracy", "Accuracy of all outputs", Better::higher, true, "answers right, %",
     "With the logistic loss every output answers yes or no: the share of right answers over all "
     "outputs of all images. It is what the paper calls accuracy there.",
     "Always no is what answering no to everything scores: with six categories, five in six.",
     "High numbers come free where a category is rare: read accuracy first."}};

const std::vector<NumberWords> kFields{
    {"part_interpretability_field", "Part interpretability in receptive fields", Better::higher,
     false, "share of images on which a filter's field overlaps its best part",
     "Part interpretability with each filter's image-resolution receptive field at its units, "
     "found "
     "by covering patches of training images, in place of a disc at their centres.",
     "Shuffled images lays the regions over other images; constant centre is the filter's own "
     "field "
     "in the middle.",
     "The field is a mean over few images: where a filter sees different things, it fits none."}};

const std::vector<NumberWords> kEvidence{
    {"part_interpretability_evidence", "Part interpretability at the place of the evidence",
     Better::higher, false, "share of images on which the best part is hit",
     "As part interpretability, but with one disc where the peak comes from: the centre of the "
     "pixels that would change it most. A filter may look at a head and fire beside it.",
     "Unit centre is the same disc at the unit that fires; other offset moves it as the evidence "
     "of "
     "another image lies; constant centre and uniform random know nothing of the filter; shuffled "
     "images lays the discs over other images.",
     "What is gained over other offset is what the evidence follows from image to image; the rest "
     "of the gain is a constant shift. Pixels that change a peak need not be those that made it."},
    {"instability_ratio_evidence", "Instability ratio at the place of the evidence", Better::lower,
     false, "location instability / the same with landmarks shuffled between images",
     "As the instability ratio, with the place of the evidence for the peak.",
     "A detector that always fires at the same spot has ratio 1.",
     "Evidence is drawn to where the object is: part of a low ratio is the object's, not the "
     "part's."},
    {"location_instability_evidence", "Location instability at the place of the evidence",
     Better::lower, false, "spread of the evidence-to-landmark distance / image diagonal",
     "As location instability, with the place of the evidence for the peak.",
     "Constant centre; uniform random; shuffled landmarks.",
     "A centre of mass moves less than a peak, so this is lower for anything: read the ratio."},
    {"part_label_iou_evidence", "Overlap with the part a filter stands for, at its evidence",
     Better::higher, false, "mean IoU with its best part",
     "Each filter is named after the part that the disc at its evidence overlaps most; this is how "
     "much it does.",
     "Unit centre is the same disc at the unit; shuffled images; constant centre.",
     "Some part is always the best. Same part is the share of filters with the same name at both "
     "places."}};

const std::vector<NumberWords> kPartLabels{
    {"part_label_iou", "Overlap with the part a filter stands for", Better::higher, false,
     "mean IoU with its best part",
     "Each filter is named after the annotated part its regions overlap most; this is how much "
     "they do.",
     "Shuffled images lays the regions over other images; constant centre is one disc in the "
     "middle.",
     "Some part is always the best: a name is worth its distance from the controls."},
    {"part_label_margin", "Margin to the second part", Better::higher, false, "difference in IoU",
     "How far the best part is ahead of the second.", "Shuffled images.",
     "Parts that touch each other share filters, and so have small margins."}};

const std::vector<NumberWords> kSingleFilters{
    {"single_filter_auc", "Ranking by one filter (AUC)", Better::higher, false,
     "P(own category fires stronger than another)",
     "Take an image of the filter's category and one of another: how often does the filter fire "
     "stronger on the first?",
     "Chance is one half.", "It says that a filter tells its category, not by which part."},
    {"single_filter_balanced_accuracy", "Balanced accuracy of one filter", Better::higher, true,
     "share right, both sides weighed alike, %",
     "A filter alone answers \u201cmy category\u201d above a threshold, which was set on training "
     "images; right answers on its category and on the others, averaged.",
     "Chance is one half.", "A threshold that suits other images may do better or worse."},
    {"single_filter_honest_accuracy", "Accuracy of one filter", Better::higher, true,
     "share right, %", "The same threshold, all answers counted alike.",
     "Majority class is what always saying \u201cno\u201d scores: with six categories, five in "
     "six.",
     "High numbers come free where a category is rare."},
    {"single_filter_accuracy", "Accuracy of one filter, the paper's way", Better::higher, true,
     "share right at the best threshold, %",
     "As the paper does it: the threshold is chosen on the very images it is judged by.",
     "Majority class; shuffled labels does the same to labels that mean nothing.",
     "Choosing the threshold on the judged images flatters every filter: compare with shuffled "
     "labels."}};

const std::vector<NumberWords> kActivations{
    {"activation_on_target", "Activation on the filter's category", Better::neither, false,
     "mean of the strongest activation",
     "How strongly filters fire at their peak on images of the category they stand for.",
     "Any row is the mean over all images.",
     "Layers differ in scale: compare the ratio between networks, not this."},
    {"activation_on_other", "Activation on other categories", Better::neither, false,
     "mean of the strongest activation", "The same on all other images.",
     "Any row is the mean over all images.", "As above."},
    {"activation_ratio", "On target / on other", Better::higher, false, "ratio",
     "How much stronger filters fire on their own category.",
     "No preference is 1; shuffled labels permutes what the images show.",
     "A filter may prefer its category for its background."}};

const std::vector<NumberWords> kDetectors{
    {"detectors_2017", "Part detectors (2017 convention)", Better::higher, true,
     "share of filters, %",
     "Network Dissection: the share of filters whose strongest half percent of activation, "
     "enlarged to the picture, overlaps one part by more than 4 % over all images.",
     "Shuffled images lays the same regions over other images.",
     "4 % is little: many filters that only know where objects are pass it."},
    {"detectors_2020", "Part detectors (2020 convention)", Better::higher, true,
     "share of filters, %",
     "The same with the strongest one percent of the enlarged maps' pixels, as its authors did "
     "later.",
     "Shuffled images.", "As above."}};

const std::vector<NumberWords> kPatches{
    {"patch_purity", "Patch purity", Better::higher, false, "share of the top ten images",
     "PIP-Net's: on the ten images it fires strongest on, how often does a small patch about the "
     "peak hold the same landmark, among the images that show it?",
     "Shuffled images; constant centre is a patch in the middle.",
     "It says nothing of images beyond the top ten."},
    {"patch_purity_strict", "Patch purity, of all ten", Better::higher, false,
     "share of the top ten images",
     "The same, but images that do not show the landmark count against the filter.",
     "Shuffled images; constant centre.", "Landmarks that are often hidden cannot score high."}};

const std::vector<NumberWords> kConsistency{
    {"part_consistency", "Consistency", Better::higher, true, "share of filters, %",
     "The share of filters whose box about the peak holds the same landmark on at least eight of "
     "ten images of their category.",
     "Shuffled images; constant centre is a box in the middle.",
     "The box covers a tenth of the picture: on centred crops a constant does well."}};

const std::vector<NumberWords> kStability{
    {"part_stability", "Stability", Better::higher, true, "share of images, %",
     "The share of images on which that box holds the same landmarks after a little noise was "
     "added to the picture.",
     "Other images is the share between two different images; a constant filter has 100 %.",
     "A filter that always fires in one place is perfectly stable."}};

const std::vector<NumberWords> kSelectivity{
    {"class_selectivity", "Class selectivity", Better::neither, false,
     "0: all categories alike, 1: one only",
     "How much more a filter fires, on average, on its favourite category than on the others: "
     "their difference over their sum.",
     "Shuffled labels permutes what the images show.",
     "It needs no parts and says nothing of where a filter fires; neither high nor low is good in "
     "itself."}};

const std::vector<NumberWords> kAttacks{
    {"adversarial_distortion", "Adversarial distortion (L-BFGS)", Better::higher, false,
     "root mean square change of a value, images in [0, 1]",
     "The smallest change of an image, over all its values, that an attack found to turn the "
     "network's decision; every attacked image was put to the network again.",
     "Random direction is how far one must go in a direction drawn at random.",
     "A better attack may find less. Images that resisted are left out; the share of successes "
     "stands in the table.",
     5},
    {"adversarial_distortion_cw", "Adversarial distortion (Carlini and Wagner)", Better::higher,
     false, "root mean square change of a value, images in [0, 1]",
     "The same by another attack, as a second opinion.", "Random direction.",
     "Where the two attacks disagree, the smaller number is nearer the truth.", 5}};

std::vector<Metric>& rows() {
  static std::vector<Metric> all{
      {"", true, Needs::decisions, "Decisions", "Is the answer right?", kDecisions, nullptr,
       decisions},
      {"", true, Needs::maps, "Parts", "Does each filter stand for one part?", kParts,
       parts_of_objects, nullptr},
      {"", true, Needs::maps, "Filters at work", "How many filters do anything?", kAlive,
       filters_at_work, nullptr},
      {"", false, Needs::maps, "Filters of each category", "Is every category served?", kServed,
       filters_of_categories, nullptr},
      {"", false, Needs::yes_no_answers, "Yes or no", "How many answers of all outputs are right?",
       kYesNoAnswers, nullptr, yes_no_answers},
      {"receptive_fields", false, Needs::fields, "Parts in receptive fields",
       "And measured with the region each filter really uses, as the paper did?", kFields,
       parts_in_fields, nullptr},
      {"evidence", false, Needs::evidence, "Parts at the place of the evidence",
       "And measured where each peak comes from, not where it fires?", kEvidence, parts_at_evidence,
       nullptr},
      {"part_labels", false, Needs::maps, "Part labels", "Which part does each filter stand for?",
       kPartLabels, part_labels_of_filters, nullptr},
      {"single_filter", false, Needs::judged_rows, "Single filters",
       "Can one filter alone tell its category?", kSingleFilters, single_filters, nullptr},
      {"activation_magnitude", false, Needs::judged_rows, "Activation on and off target",
       "Do filters keep silent on other categories?", kActivations, activation_magnitudes, nullptr},
      {"network_dissection", false, Needs::maps, "Network Dissection",
       "How many filters detect a part by its looser rule?", kDetectors, part_detectors, nullptr},
      {"patch_purity", false, Needs::maps, "Patch purity (PIP-Net)",
       "Is it always the same landmark, where a filter fires strongest?", kPatches,
       patches_about_peaks, nullptr},
      {"part_consistency", false, Needs::maps, "Consistency and stability (EvalProtoPNet)",
       "The same landmark on most images, and in noise?", kConsistency, consistency_of_boxes,
       nullptr},
      {"part_stability", false, Needs::noisy_rows, "Consistency and stability (EvalProtoPNet)",
       "The same landmark on most images, and in noise?", kStability, stability_of_boxes, nullptr},
      {"class_selectivity", false, Needs::judged_rows, "Class selectivity",
       "Does a filter favour a category?", kSelectivity, selectivity_of_filters, nullptr},
      {"adversarial_distortion", false, Needs::attacks, "Adversarial attacks",
       "How little must an image change to change the decision?", kAttacks, nullptr,
       distortions_by_attacks}};
  return all;
}

bool is_there(Needs needed, const Exam& exam) {
  return needed == Needs::judged_rows  ? exam.judged.has_value()
         : needed == Needs::fields     ? !exam.fields.empty()
         : needed == Needs::evidence   ? !exam.evidence.empty()
         : needed == Needs::noisy_rows ? exam.noisy.has_value()
                                       : true;
}

bool is_there(Needs needed, const NetworkExam& exam) {
  return needed == Needs::attacks          ? !exam.by_lbfgs.empty()
         : needed == Needs::yes_no_answers ? !exam.logits.empty()
                                           : true;
}

}  // namespace

std::span<const Metric> catalogue() {
  return rows();
}

void add_metric(Metric metric) {
  rows().push_back(std::move(metric));
}

const Metric* find_metric(const std::string& key) {
  for (const auto& metric : catalogue()) {
    for (const auto& words : metric.numbers) {
      if (words.key == key) return &metric;
    }
  }
  return nullptr;
}

const NumberWords* find_number(const std::string& key) {
  const auto* metric = find_metric(key);
  if (metric == nullptr) return nullptr;
  return &*std::find_if(metric->numbers.begin(), metric->numbers.end(),
                        [&](const NumberWords& words) { return words.key == key; });
}

std::vector<std::string> option_names(bool of_network) {
  std::vector<std::string> names;
  for (const auto& metric : catalogue()) {
    if (!metric.option.empty() && (of_network || !metric.is_of_network()))
      names.push_back(metric.option);
  }
  return names;
}

std::vector<std::string> options_named(const std::string& list, bool all, bool of_network) {
  const auto known = option_names(of_network);
  std::vector<std::string> extras;
  const auto add = [&](const std::string& name) {
    if (!wants(extras, name)) extras.push_back(name);
  };
  std::istringstream words(list);
  for (std::string name; std::getline(words, name, ',');)
    add(known[index_of_name("metric", name, known)]);
  if (all) {
    for (const auto& metric : catalogue()) {
      const bool slow = metric.needs == Needs::fields || metric.needs == Needs::evidence;
      if (!metric.option.empty() && !metric.is_of_network() && !slow) add(metric.option);
    }
  }
  return extras;
}

bool wants(const std::vector<std::string>& extras, const std::string& option) {
  return std::find(extras.begin(), extras.end(), option) != extras.end();
}

LayerMeasures measure_layer(const LayerMaps& layer, const Exam& exam, const LayerOptions& options) {
  const LayerExam all{layer, exam, options,
                      summarise(layer.maps, static_cast<int>(options.bootstrap.threads))};
  LayerMeasures found;
  found.dead_share = dead_share(all.summaries);
  for (const auto& metric : catalogue()) {
    const bool asked = metric.option.empty() || wants(options.extras, metric.option);
    if (!metric.is_of_network() && asked && is_there(metric.needs, exam))
      metric.of_layer(all, found);
  }
  return found;
}

Findings measure_network(const NetworkExam& exam, const BootstrapOptions& bootstrap) {
  Findings found;
  for (const auto& metric : catalogue()) {
    if (metric.is_of_network() && is_there(metric.needs, exam))
      metric.of_network(exam, bootstrap, found);
  }
  return found;
}

}  // namespace partwise::metrics
