#include "partwise/report/glossary.h"

#include <algorithm>
#include <array>
#include <vector>

namespace partwise::report {

namespace {

constexpr std::array<MetricWords, 2> kRunMetrics = {{
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
     "It treats all categories as equally important, which may not be so in an application."},
}};

constexpr std::array<MetricWords, 4> kLayerMetrics = {{
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
     "what a constant detector gains."},
}};

constexpr std::array<ArmWords, 4> kArms = {{
    {"ordinary", "the ordinary network",
     "A plain convolutional network, trained on the labels and nothing else. The baseline."},
    {"ordinary+layer", "the ordinary network with an extra layer",
     "The same network with one more plain convolutional layer, so that the arms below are "
     "compared with a network of their own depth."},
    {"masked", "the masked network",
     "As above, and after each of the two top layers a mask keeps only the neighbourhood of every "
     "filter's peak. No filter loss: it shows what the mask alone does."},
    {"interpretable", "the interpretable network",
     "The full method: the masks, and a filter loss that pulls each filter towards a single part "
     "of one category and silences it on the others. No part is ever annotated in training; the "
     "loss uses only the labels."},
}};

}  // namespace

std::span<const MetricWords> run_metrics() {
  return kRunMetrics;
}
std::span<const MetricWords> layer_metrics() {
  return kLayerMetrics;
}
std::span<const ArmWords> arms() {
  return kArms;
}

const MetricWords* find_metric(const std::string& key) {
  std::vector<std::span<const MetricWords>> all{run_metrics(), layer_metrics()};
  for (const MetricFamily& family : metric_families()) all.push_back(family.metrics);
  for (const auto metrics : all) {
    const auto found = std::find_if(metrics.begin(), metrics.end(),
                                    [&](const MetricWords& words) { return words.key == key; });
    if (found != metrics.end()) return &*found;
  }
  return nullptr;
}

std::size_t arm_rank(const std::string& arm) {
  const auto* const found = std::find_if(kArms.begin(), kArms.end(),
                                         [&](const ArmWords& words) { return words.arm == arm; });
  return static_cast<std::size_t>(found - kArms.begin());
}

std::string control_name(const std::string& key) {
  std::string name = key;
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace partwise::report
