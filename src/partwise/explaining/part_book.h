#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/explaining/additive.h"
#include "partwise/explaining/naming.h"
#include "partwise/judging/trained_run.h"
#include "partwise/models/model.h"
#include "partwise/runs/run_folder.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace partwise::explaining {

// One tapped layer's filters.
struct LayerParts {
  std::string layer;
  std::vector<FilterName> filters;
  std::vector<double> strength;  // [filter]: its mean peak over its sightings: what loud means
};

// How strong the evidence for a class was on the training images of that class that were decided
// right.
struct ClassEvidence {
  std::string name;
  int64_t images = 0;
  std::vector<double> quantiles;  // 101 of them, 0 to 100 %; empty without images
};

// What explaining needs to know and only the training images can tell: parts.json in the run's
// folder. It belongs to one checkpoint.
struct PartBook {
  models::Position position;
  std::string data_hash;
  std::vector<LayerParts> layers;       // in the order of the taps
  std::vector<ClassEvidence> evidence;  // [class], see models::class_names

  std::optional<AdditiveExplainer> additive;  // of the top layer; additive.safetensors beside it

  // The share of those training images whose evidence was below this; nothing where there were
  // none.
  std::optional<double> standing(std::size_t which, double evidence) const;
};

struct LearningOptions {
  int64_t images = 16;    // per filter: those of its category it fires on most
  bool by_place = false;  // names from places even where the data knows parts
  NamingOptions naming;
};

// Looks at the training images of a run.
PartBook learn_parts(const judging::TrainedRun& trained,
                     const datasets::PartDataset& dataset,
                     const models::Resources& resources,
                     const LearningOptions& options = {});

std::filesystem::path part_book_file(const runs::RunFolder& run);
void write_part_book(const runs::RunFolder& run, const PartBook& book);
// Nothing where there is none, half of one (parts.json beside another's additive.safetensors), or
// one of another checkpoint; an Error where it is damaged.
std::optional<PartBook> read_part_book(const runs::RunFolder& run, const models::Model& model);

// Sees to it that the run has a book of its newest checkpoint: learns it from the training images
// where it lacks one. False, and a line that says why, where its own dataset cannot serve: it is
// gone, has changed or is damaged. An Error where the one that `data` names cannot.
bool provide_part_book(const runs::RunFolder& run,
                       const std::filesystem::path& data,
                       const models::Resources& resources,
                       const std::string& checkpoint = "last",
                       const LearningOptions& options = {});

// The same from this dataset where it is described as the one that the run was trained on, wherever
// it lies; otherwise from the run's own: the book stays with the run, and evidence is weak as
// compared with the images that the network learnt from.
void provide_part_book_from(const datasets::PartDataset& dataset,
                            const runs::RunFolder& run,
                            const models::Resources& resources,
                            const std::string& checkpoint = "last",
                            const LearningOptions& options = {});

// Learns it even where there is one, which stays until then.
void learn_part_book(const datasets::PartDataset& dataset,
                     const runs::RunFolder& run,
                     const models::Resources& resources,
                     const std::string& checkpoint = "last",
                     const LearningOptions& options = {});

// A row's evidence for a class: how far its score lies above that of a layer that sees nothing.
//   scores, baseline [classes]
double evidence_for(const Tensor& scores, const Tensor& baseline, int64_t which);

}  // namespace partwise::explaining
