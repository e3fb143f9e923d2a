#include "partwise/report/glossary.h"

#include <array>

namespace partwise::report {

namespace {

constexpr std::array<MetricWords, 4> kSingleFilters = {{
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
     "labels."},
}};

constexpr std::array<MetricWords, 3> kActivations = {{
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
     "A filter may prefer its category for its background."},
}};

constexpr std::array<MetricWords, 2> kPartLabels = {{
    {"part_label_iou", "Overlap with the part a filter stands for", Better::higher, false,
     "mean IoU with its best part",
     "Each filter is named after the annotated part its regions overlap most; this is how much "
     "they do.",
     "Shuffled images lays the regions over other images; constant centre is one disc in the "
     "middle.",
     "Some part is always the best: a name is worth its distance from the controls."},
    {"part_label_margin", "Margin to the second part", Better::higher, false, "difference in IoU",
     "How far the best part is ahead of the second.", "Shuffled images.",
     "Parts that touch each other share filters, and so have small margins."},
}};

constexpr std::array<MetricWords, 2> kDetectors = {{
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
     "Shuffled images.", "As above."},
}};

constexpr std::array<MetricWords, 2> kPatches = {{
    {"patch_purity", "Patch purity", Better::higher, false, "share of the top ten images",
     "PIP-Net's: on the ten images it fires strongest on, how often does a small patch about the "
     "peak hold the same landmark, among the images that show it?",
     "Shuffled images; constant centre is a patch in the middle.",
     "It says nothing of images beyond the top ten."},
    {"patch_purity_strict", "Patch purity, of all ten", Better::higher, false,
     "share of the top ten images",
     "The same, but images that do not show the landmark count against the filter.",
     "Shuffled images; constant centre.", "Landmarks that are often hidden cannot score high."},
}};

constexpr std::array<MetricWords, 2> kConsistency = {{
    {"part_consistency", "Consistency", Better::higher, true, "share of filters, %",
     "The share of filters whose box about the peak holds the same landmark on at least eight of "
     "ten images of their category.",
     "Shuffled images; constant centre is a box in the middle.",
     "The box covers a tenth of the picture: on centred crops a constant does well."},
    {"part_stability", "Stability", Better::higher, true, "share of images, %",
     "The share of images on which that box holds the same landmarks after a little noise was "
     "added to the picture.",
     "Other images is the share between two different images; a constant filter has 100 %.",
     "A filter that always fires in one place is perfectly stable."},
}};

constexpr std::array<MetricWords, 1> kSelectivity = {{
    {"class_selectivity", "Class selectivity", Better::neither, false,
     "0: all categories alike, 1: one only",
     "How much more a filter fires, on average, on its favourite category than on the others: "
     "their difference over their sum.",
     "Shuffled labels permutes what the images show.",
     "It needs no parts and says nothing of where a filter fires; neither high nor low is good in "
     "itself."},
}};

constexpr std::array<MetricWords, 2> kAttacks = {{
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
     "Where the two attacks disagree, the smaller number is nearer the truth.", 5},
}};

constexpr std::array<MetricFamily, 8> kFamilies = {{
    {"Part labels", "Which part does each filter stand for?", kPartLabels, false},
    {"Single filters", "Can one filter alone tell its category?", kSingleFilters, false},
    {"Activation on and off target", "Do filters keep silent on other categories?", kActivations,
     false},
    {"Network Dissection", "How many filters detect a part by its looser rule?", kDetectors, false},
    {"Patch purity (PIP-Net)", "Is it always the same landmark, where a filter fires strongest?",
     kPatches, false},
    {"Consistency and stability (EvalProtoPNet)", "The same landmark on most images, and in noise?",
     kConsistency, false},
    {"Class selectivity", "Does a filter favour a category?", kSelectivity, false},
    {"Adversarial attacks", "How little must an image change to change the decision?", kAttacks,
     true},
}};

}  // namespace

std::span<const MetricFamily> metric_families() {
  return kFamilies;
}

}  // namespace partwise::report
