#pragma once

#include <filesystem>
#include <ftw.h>
#include <unistd.h>

namespace partwise {

// What std::filesystem::remove_all does. That one crashes in a process with PyTorch's own LibTorch,
// which brings a libstdc++ of another version along.
inline void remove_folder(const std::filesystem::path& folder) {
  constexpr int kOpenFolders = 16;
  const auto remove_one = [](const char* path, const struct stat*, int, struct FTW*) {
    return ::remove(path);
  };
  ::nftw(folder.c_str(), remove_one, kOpenFolders, FTW_DEPTH | FTW_PHYS);
}

}  // namespace partwise
