#pragma once

#include <cstdint>
#include <filesystem>

namespace partwise::runs {

// Gives a run more epochs; its manifest says so. What was found about the network as it is now
// stays beside it: findings.json becomes findings-epoch-N.json, so that nobody takes it for the new
// network's. An Error where a process trains the run.
void lengthen_run(const std::filesystem::path& path, int64_t epochs);

}  // namespace partwise::runs
