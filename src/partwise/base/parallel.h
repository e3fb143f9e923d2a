#pragma once

#include <cstdint>
#include <functional>

namespace partwise {

// Calls body(i) for every i in [0, count), each exactly once, on `threads` threads (0: all cores).
// The first exception stops the rest and is thrown again here.
void parallel_for(int64_t count, int threads, const std::function<void(int64_t)>& body);

int hardware_threads();

}  // namespace partwise
