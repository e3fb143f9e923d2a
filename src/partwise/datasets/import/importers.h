#pragma once

#include "partwise/datasets/import/plan.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace partwise::datasets {

struct ImportFormat {
  std::string name;
  std::string what;  // for --help
  bool needs_matlab = false;
  // What `source` holds of the categories asked for (none: all); an Error says what is not as the
  // original has it.
  ImportPlan (*plan)(const std::filesystem::path& source, std::span<const std::string> asked);
};

const std::vector<ImportFormat>& import_formats();

// An unknown name is an Error that lists the valid ones.
const ImportFormat& import_format(const std::string& name);

// One file each.
ImportPlan plan_animal_part(const std::filesystem::path& source,
                            std::span<const std::string> asked);
ImportPlan plan_cub200(const std::filesystem::path& source, std::span<const std::string> asked);
ImportPlan plan_voc_part(const std::filesystem::path& source, std::span<const std::string> asked);
ImportPlan plan_coco(const std::filesystem::path& source, std::span<const std::string> asked);
ImportPlan plan_folder(const std::filesystem::path& source, std::span<const std::string> asked);

}  // namespace partwise::datasets
