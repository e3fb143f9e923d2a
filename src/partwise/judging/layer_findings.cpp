#include "partwise/judging/layer_findings.h"

namespace partwise::judging {

findings::LayerFindings layer_findings(const metrics::LayerMaps& layer,
                                       const metrics::Exam& exam,
                                       const metrics::LayerMeasures& measures) {
  std::map<std::string, int64_t> per_category;
  for (const auto& category : exam.truth.categories) per_category[category.name] = 0;
  for (const int64_t category : exam.filter_category)
    ++per_category[exam.truth.categories[static_cast<std::size_t>(category)].name];
  return {.layer = layer.name,
          .role = "",
          .side = layer.maps.side,
          .filters = layer.maps.filters,
          .input_side = layer.grid.input_side,
          .unit_stride = layer.grid.stride,
          .unit_offset = layer.grid.offset,
          .dead_share = measures.dead_share,
          .empty_share = measures.empty_share,
          .filters_per_category = std::move(per_category),
          .findings = measures.findings,
          .cards = {}};
}

}  // namespace partwise::judging
