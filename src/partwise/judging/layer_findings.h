#pragma once

#include "partwise/findings/run_findings.h"
#include "partwise/metrics/catalogue.h"

namespace partwise::judging {

// What was measured of a layer beside what is known of it, as findings.json has it; no cards.
findings::LayerFindings layer_findings(const metrics::LayerMaps& layer,
                                       const metrics::Exam& exam,
                                       const metrics::LayerMeasures& measures);

// The options of measuring, flat: two runs measured with others cannot be compared.
nlohmann::json options_json(const metrics::LayerOptions& options);

}  // namespace partwise::judging
