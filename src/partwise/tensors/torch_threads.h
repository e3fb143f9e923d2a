#pragma once

#include <cstdint>
#include <functional>

namespace partwise::tensors {

// Calls `work` for consecutive ranges of 0 .. count - 1, on the threads that LibTorch's own
// operators use; fewer than `grain` are left to one thread. `work` may not multiply matrices: two
// threads in OpenBLAS at once destroy its memory.
void in_parallel(int64_t count,
                 int64_t grain,
                 const std::function<void(int64_t begin, int64_t end)>& work);

}  // namespace partwise::tensors
