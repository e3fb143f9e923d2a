#pragma once

#include <span>
#include <string>

namespace partwise::report {

enum class Better { higher, lower, neither };

// What a number means, for someone who has not read the paper.
struct MetricWords {
  const char* key;
  const char* name;
  Better better;
  bool is_share;  // shown in percent
  const char* axis;
  const char* meaning;   // two plain sentences
  const char* controls;  // what it is held against
  const char* cannot_show;
  int decimals = 3;
};

// Measures that answer one question.
struct MetricFamily {
  const char* title;
  const char* question;
  std::span<const MetricWords> metrics;
  bool of_network;  // not of a layer
};

struct ArmWords {
  const char* arm;
  const char* article_name;  // "the ordinary network"
  const char* meaning;
};

// In the order in which the report shows them.
std::span<const MetricWords> run_metrics();       // of the whole network
std::span<const MetricWords> layer_metrics();     // of one layer's filters
std::span<const MetricFamily> metric_families();  // what is measured on demand
std::span<const ArmWords> arms();                 // from the plainest to the full method

const MetricWords* find_metric(const std::string& key);

// Position in arms(); one past the end for an arm this program does not know.
std::size_t arm_rank(const std::string& arm);

// "uniform_map" -> "uniform map": controls are named well enough by their keys.
std::string control_name(const std::string& key);

}  // namespace partwise::report
