#pragma once

#include "partwise/base/files.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace partwise {

// What a child process may take.
struct ChildLimits {
  double seconds = 600.0;
  std::size_t memory = std::size_t{6} << 30U;  // bytes, over what this process has
  std::size_t handed = std::size_t{5} << 30U;  // bytes that it hands over
};

using HandOver = std::function<void(std::string_view)>;

// Does `work` in a child process, for libraries that crash, hang or corrupt memory on damaged
// files, and gives what it handed over, piece behind piece: bytes that are to be read like a
// stranger's. Nothing where it crashed, which is the file's fault. An Error where it went beyond a
// limit or the machine had no room for it, which need not be; one that it throws is thrown here.
// Interrupted within a moment of an interrupt. May be called on several threads.
std::optional<FileBytes> done_by_child(const std::string& name,
                                       const std::function<void(const HandOver&)>& work,
                                       const ChildLimits& limits = {});

}  // namespace partwise
