#pragma once

#include "partwise/findings/run_findings.h"
#include "partwise/metrics/catalogue.h"

namespace partwise::judging {

// What was measured of a layer beside what is known of it, as findings.json has it; no cards.
findings::LayerFindings layer_findings(const metrics::LayerMaps& layer,
                                       const metrics::Exam& exam,
                                       const metrics::LayerMeasures& measures);

}  // namespace partwise::judging
