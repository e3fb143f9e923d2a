#pragma once

#include <cstdint>
#include <functional>

namespace partwise {

// Calls body(i) for every i in [0, count), each exactly once, on `threads` threads (0: all cores).
// The first exception stops the rest and is thrown again here.
void parallel_for(int64_t count, int threads, const std::function<void(int64_t)>& body);

int hardware_threads();

// As many of the threads that were asked for as there are cores; says so where those are fewer.
int usable_threads(int asked);

}  // namespace partwise
