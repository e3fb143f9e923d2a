#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/runs/run_folder.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace partwise::models {

// What a run's manifest says of its dataset: where it lies, a hash of its description, one of the
// sizes of its image files and one of the times they were written. No image is read for it.
nlohmann::json data_record(const datasets::PartDataset& dataset);

// The dataset of a run: at `given`, or where it lay when the run was made; see hold_to_its_data.
datasets::PartDataset data_of(const runs::RunFolder& run, const std::filesystem::path& given = {});

// Whether a dataset lies where the run's own lay when it was made.
bool is_its_own(const runs::RunFolder& run, const datasets::PartDataset& dataset);

// Whether it is described as the one that the run was trained on, wherever it lies.
bool is_as_it_was_trained_on(const runs::RunFolder& run, const datasets::PartDataset& dataset);

// Holds a dataset against the one the run was trained on. Its own: an Error where its description
// or the size of an image file has changed since; `named` by the person, it is used, and a line
// says so. One in another place: a line where it has the same description beside other image files,
// or another one beside image files of the same sizes. A line also where nothing can be known:
// files of the same sizes were written anew, or an older program made the run.
void hold_to_its_data(const runs::RunFolder& run, const datasets::PartDataset& dataset, bool named);

}  // namespace partwise::models
