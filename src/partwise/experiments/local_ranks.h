#pragma once

#include <string>
#include <vector>

namespace partwise::experiments {

struct Command {
  std::string program;                 // its file
  std::vector<std::string> arguments;  // the program's name first
};
Command this_command();  // what this process was started with

// Runs a command, this very one as a rule, as `count` processes of this machine, with torchrun's
// environment variables, and waits for them. Rank 0 speaks as this process would; the others are
// silent. Interrupts are handed on. If a rank ends before its time the others are stopped within
// seconds, and one line says which and why. Returns the exit code.
int run_local_ranks(int count, const Command& command = this_command());

// True in a process that run_local_ranks started.
bool is_local_rank();

// Ends such a process that lost the others; who is to blame is for run_local_ranks to say.
[[noreturn]] void leave_quietly();

}  // namespace partwise::experiments
