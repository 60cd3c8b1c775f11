// Reads golden values from eval/testdata: inputs and expected numbers.
#ifndef OPENSET_EVAL_TESTING_GOLDEN_H_
#define OPENSET_EVAL_TESTING_GOLDEN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "eval/metrics/evaluation_input.h"
#include "eval/metrics/metric_value.h"
#include "eval/metrics/ranked_input.h"
#include "gtest/gtest.h"

namespace openset {
// One object of a file, flattened.
struct GoldenCase {
  std::string name;
  // Dies if there is no such number; null is absent, "-inf" is -infinity. Path: "best_over_thresholds/nacc/value".
  std::optional<double> at(const std::string& path) const { return numbers.at(path); }

  std::map<std::string, std::optional<double>> numbers;
  std::map<std::string, std::vector<double>> arrays;
};

// The objects in the list at `path` of eval/testdata/`file`, or the one object there; the whole file for "".
std::vector<GoldenCase> ReadGolden(absl::string_view file, absl::string_view path);

// Arrays that an EvaluationInput refers to.
struct Samples {
  std::string name;
  std::vector<double> unknown_score;
  std::vector<int32_t> prediction;
  std::vector<int32_t> label;
  int32_t num_classes = 1;
  std::vector<int32_t> group;
  std::vector<int64_t> cluster;
  std::vector<float> loss;
  std::vector<float> logits;
  int32_t num_outputs = 0;

  // Dies if the arrays are not valid.
  EvaluationInput Input() const;
};

// The samples of a case of open_set_metrics.json or selective.json.
Samples OpenSetSamples(const GoldenCase& golden);
// The samples of a detection case of unknown_detection.json: one class, all predictions right.
Samples DetectionSamples(const GoldenCase& golden);
// The samples of a selective case of unknown_detection.json: all known, errors are wrong predictions.
Samples SelectiveSamples(const GoldenCase& golden);

// The samples of a case of deployment.json: a loss, and unknown samples.
Samples DeploymentSamples(const GoldenCase& golden);

// The metric of a MetricSpec's text, such as "auroc { tied: NOTHING }".
MetricResult Compute(absl::string_view metric, const RankedInput& ranked);

// Whether `result` is within `tolerance` of `expected`, or absent if `expected` is.
::testing::AssertionResult Agrees(const MetricResult& result, std::optional<double> expected, double tolerance = 1e-12);

}  // namespace openset

#endif  // OPENSET_EVAL_TESTING_GOLDEN_H_
