#pragma once

#include "partwise/datasets/part_dataset.h"
#include "partwise/runs/run_folder.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace partwise::models {

// What a run's manifest says of its dataset: where it lies, a hash of its description, one of the
// sizes of its image files and one of the times they were written. No image is read for it.
nlohmann::json data_record(const datasets::PartDataset& dataset);

// The dataset of a run: at `given`, or where it lay when the run was made. An Error where its
// description or the size of an image file has changed there since; `given` by name, changed data is
// used, and a line says so; so it does of a changed description beside the same image files in
// another place. A line also where nothing can be known: files of the same sizes were written anew,
// or an older program made the run.
datasets::PartDataset data_of(const runs::RunFolder& run, const std::filesystem::path& given = {});

}  // namespace partwise::models
