#include "partwise/base/error.h"

#include "partwise/base/printable.h"

namespace partwise {

Error::Error(std::string_view message) : std::runtime_error(one_line(message)) {}

}  // namespace partwise
