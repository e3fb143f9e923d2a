#pragma once

#include "partwise/explaining/part_book.h"
#include "partwise/models/examples.h"
#include "partwise/models/model.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace partwise::explaining {

// How one object was decided.
struct JudgedObject {
  bool right = false;
  // The share of the training images of the decided category with less evidence; nothing where no
  // category was decided for, or none of its training images was decided right.
  std::optional<double> standing = {};
};

// Without explaining any of them: one pass of the network.
std::vector<JudgedObject> judge_objects(const models::Model& model,
                                        const models::Task& task,
                                        const models::Examples& examples,
                                        const PartBook& book,
                                        const std::string& device);

// The objects a network is shown by, in place of those somebody would pick.
enum class Shown {
  typical,  // decided right, with the median evidence
  weak,     // decided right, with the least evidence
  wrong,    // decided wrong: the first that was drawn
  strong    // decided right, with the most evidence: where none is wrong
};

struct ShownObject {
  Shown why = Shown::typical;
  int64_t index = 0;  // of those drawn
};

// Of objects in the order they were drawn. The right ones come from the first `pool`, the wrong one
// from all; no object is shown twice, and there are fewer than three where there is nothing to
// show.
std::vector<ShownObject> choose_shown(std::span<const JudgedObject> drawn, int64_t pool);

}  // namespace partwise::explaining

template <>
inline constexpr auto partwise::kWords<partwise::explaining::Shown> =
    partwise::words("typical", "weak", "wrong", "strong");
