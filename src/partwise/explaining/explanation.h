#pragma once

#include "partwise/base/geometry.h"
#include "partwise/explaining/part_book.h"
#include "partwise/explaining/people_names.h"
#include "partwise/images/image.h"
#include "partwise/models/model.h"
#include "partwise/networks/head.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace partwise::explaining {

// What filters that stand for no part are called together.
inline constexpr const char* kOtherFilters = "other filters";

// One part behind a decision: the filters of one name at the top interpretable layer.
struct PartShare {
  std::string name;
  std::string of;  // the category its filters stand for, where that is not the asked one
  std::vector<int64_t> filters;  // those that fire on this image
  double share = 0.0;            // Shapley value: how much of the decision's evidence it gave
  double error = 0.0;            // standard error of the drawing; 0: exact
  double contrast = 0.0;         // the same for the decision's score minus the other class's
  double contrast_error = 0.0;
  double silenced = 0.0;  // what the decision's score loses when this part alone is silenced
  std::optional<double> additive;            // its part of the distilled sum, see AdditiveExplainer
  std::optional<Point> place;                // where its evidence lies, in pixels of the photograph
  std::vector<std::vector<Point>> outlines;  // around it; empty where it was not looked for

  // "head", or "shell (turtle)" on an animal that is none.
  std::string label() const { return of.empty() ? name : name + " (" + of + ")"; }
};

struct FilterShare {
  int64_t filter = 0;
  std::string category;
  std::string name;  // "": none
  double share = 0.0;
  double error = 0.0;
};

// Why a network decided as it did about one object of one photograph. All shares are in units of
// the scores (logits).
struct Explanation {
  Box box;  // what was looked at, in pixels of the photograph
  std::string decision;
  double probability = 0.0;
  std::string other;  // the class it is held against: the runner-up, unless another was asked for
  double other_probability = 0.0;
  std::string
      asked;  // the class whose evidence the shares add up to: the decision, or, where that is
              // "none of them", the class that was denied
  double score = 0.0;              // of the asked class
  double baseline = 0.0;           // the same when the layer sees nothing
  std::optional<double> standing;  // share of the training images of that class with less evidence
  bool exact = true;               // shares from all coalitions; else from `orders` random orders
  int64_t orders = 0;
  double completeness_error = 0.0;
  std::optional<double> additive_error;  // what the distilled sum says above the asked score
  std::vector<PartShare> parts;          // the largest share first, whatever its sign
  std::vector<FilterShare> filters;      // likewise
  std::string layer;

  double evidence() const { return score - baseline; }
  // Its score is no higher than that of a layer that sees nothing: it won because others lost.
  bool by_default() const { return evidence() <= 0.0; }
  // Less evidence than all but one in twenty training images of the class gave.
  bool weak() const { return standing && *standing < 0.05; }
};

nlohmann::json to_json(const Explanation& explanation);

// Of a class by its scores [classes], as decision_scores gives them.
double probability_of(const models::Task& task, const Tensor& scores, int64_t which);

struct ExplainOptions {
  std::string against;   // class to hold the decision against; "": the runner-up
  int64_t outlined = 6;  // parts that are looked for in the image
  bool filters = true;   // single filters' shares too
};

// A run's network, ready to explain.
class Explainer {
 public:
  // From the run's folder alone where it knows its parts (parts.json); else filters go by the
  // category they stand for.
  Explainer(const runs::RunFolder& run, const std::string& checkpoint, const std::string& device);

  // The object in this box of the photograph; an Error where the box lies outside it.
  Explanation explain(const images::Image& photo,
                      const Box& box,
                      const ExplainOptions& options = {}) const;
  // The same of a crop that is the network's input already: [3, side, side] uint8. Places are in
  // its pixels.
  Explanation explain_crop(const Tensor& pixels, const ExplainOptions& options = {}) const;

  // From now on filters are called as these people say.
  void call_by(const PeopleNames& people);

  const models::Model& model() const { return model_; }
  const std::optional<PartBook>& book() const { return book_; }
  bool knows_parts() const { return book_.has_value(); }
  // What filters of the top layer are called; "": no part.
  const std::vector<std::string>& called() const { return called_; }
  std::vector<std::string> classes() const;

 private:
  std::vector<FilterShare> filter_shares(const networks::Head& head,
                                         const Tensor& added,
                                         int64_t output) const;

  models::Model model_;
  std::optional<PartBook> book_;
  std::vector<std::string> called_;
  std::vector<std::string> category_;  // [filter]
  std::string device_;
};

}  // namespace partwise::explaining
