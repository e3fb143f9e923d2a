#include "partwise/findings/run_findings.h"

#include "tests/fuzz/try_read.h"

namespace fuzz = partwise::fuzz;
namespace findings = partwise::findings;

// findings.json of a run that somebody sent.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static const fuzz::ScratchFolder folder;
  const auto file = folder.put("findings.json", fuzz::text_of(data, size));
  return fuzz::does_or_refuses(file.string(), [&] {
    const auto read = findings::findings_from_json(partwise::read_json(file), file.string());
    const auto once = findings::to_json(read);
    const auto again = findings::findings_from_json(once, file.string());
    if (findings::to_json(again) != once) fuzz::broken("findings come back as they were");
  });
}
