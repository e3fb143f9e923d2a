#pragma once

#include "partwise/explaining/explanation.h"
#include "partwise/views/figure.h"

#include <optional>
#include <string>
#include <vector>

namespace partwise::explaining {

// One picture of an explanation: the photograph with the parts outlined and named; the decision,
// how strong its evidence is, and each part's share of it, beside the same held against the other
// class.
views::Figure explanation_picture(const images::Image& photo,
                                  const Explanation& explanation,
                                  const std::string& title);

// The photograph alone, cut to the object and a little around it: outlined parts carry their place
// in explanation.parts, counted from 1. For small pictures that stand beside a numbered list.
views::Figure explained_photograph(const images::Image& photo, const Explanation& explanation);

// The colour of each part's outlines in both pictures; nothing where it has none.
//   [parts]
std::vector<std::optional<views::Colour>> outline_colours(const Explanation& explanation);

// The same in one line: "fox 97 % (deer 2 %): head +41 %, tail +22 %; evidence above 43 % of ...".
std::string explanation_line(const Explanation& explanation);

// How strong the evidence is against what training images gave, in words.
std::string evidence_words(const Explanation& explanation);

// How the shares were found and how exactly they add up, in words.
std::string completeness_words(const Explanation& explanation);

}  // namespace partwise::explaining
