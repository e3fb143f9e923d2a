#pragma once

#include <functional>

namespace partwise {

// Does `work` in a child process first and tells whether it came to an end there, within `seconds`:
// for libraries that crash or hang on damaged files. An exception counts as an end. Of what the
// child did nothing is left but files.
bool survives(const std::function<void()>& work, unsigned seconds = 600);

}  // namespace partwise
