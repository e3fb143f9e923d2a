#pragma once

namespace partwise::cli {

// From here on what the library says is printed on standard error and, where that is a terminal,
// how far it has come as one line with rate and time left.
void speak_to_console();

}  // namespace partwise::cli
