#pragma once

namespace partwise::cli {

// Runs this very command again as `count` processes of this machine, with torchrun's environment
// variables, and waits for them. Rank 0 speaks as this process would; the others are silent. SIGINT
// and SIGTERM are handed on. If a rank ends before its time the others are stopped within seconds,
// and one line says which and why. Returns the exit code.
int run_local_ranks(int count);

// True in a process that run_local_ranks started.
bool is_local_rank();

// Ends such a process that lost the others; who is to blame is for run_local_ranks to say.
[[noreturn]] void leave_quietly();

}  // namespace partwise::cli
