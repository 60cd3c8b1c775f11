#include "eval/testing/golden.h"

#include <cmath>
#include <fstream>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "eval/metrics/metric.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

void Flatten(const nlohmann::json& json, const std::string& path, GoldenCase* golden) {
  const auto below = [&path](const std::string& key) { return path.empty() ? key : absl::StrCat(path, "/", key); };
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) Flatten(value, below(key), golden);
  } else if (json.is_array() && (json.empty() || json[0].is_number())) {
    golden->arrays[path] = json.get<std::vector<double>>();
  } else if (json.is_array()) {
    for (int i = 0; i < json.size(); ++i) Flatten(json[i], below(absl::StrCat(i)), golden);
  } else if (json.is_number()) {
    golden->numbers[path] = json.get<double>();
  } else if (json.is_null()) {
    golden->numbers[path] = std::nullopt;
  } else if (json == "-inf") {
    golden->numbers[path] = -std::numeric_limits<double>::infinity();
  } else if (path == "name") {
    golden->name = json;
  }
}

GoldenCase Case(const nlohmann::json& json) {
  GoldenCase golden;
  Flatten(json, "", &golden);
  return golden;
}

template <typename T>
std::vector<T> Integers(const std::vector<double>& values) {
  return std::vector<T>(values.begin(), values.end());
}

}  // namespace

std::vector<GoldenCase> ReadGolden(absl::string_view file, absl::string_view path) {
  std::ifstream stream(absl::StrCat("eval/testdata/", file));
  const nlohmann::json all = nlohmann::json::parse(stream);
  const nlohmann::json& json = all.at(nlohmann::json::json_pointer(absl::StrCat(path.empty() ? "" : "/", path)));
  if (!json.is_array()) return {Case(json)};
  std::vector<GoldenCase> cases;
  for (const nlohmann::json& object : json) cases.push_back(Case(object));
  return cases;
}

EvaluationInput Samples::Input() const {
  EvaluationInput::Arrays arrays;
  arrays.unknown_score = unknown_score;
  arrays.prediction = prediction;
  arrays.label = label;
  arrays.num_classes = num_classes;
  arrays.group = group;
  arrays.cluster = cluster;
  arrays.loss = loss;
  arrays.logits = logits;
  arrays.num_outputs = num_outputs;
  return EvaluationInput::Create(arrays).value();
}

Samples OpenSetSamples(const GoldenCase& golden) {
  Samples samples;
  samples.name = golden.name;
  samples.unknown_score = golden.arrays.at("unknown_score");
  samples.prediction = Integers<int32_t>(golden.arrays.at("prediction"));
  samples.label = Integers<int32_t>(golden.arrays.at("label"));
  samples.num_classes = static_cast<int32_t>(*golden.at("num_classes"));
  if (golden.arrays.count("logits") > 0) {
    samples.logits.assign(golden.arrays.at("logits").begin(), golden.arrays.at("logits").end());
    samples.num_outputs = static_cast<int32_t>(samples.logits.size() / samples.label.size());
  }
  return samples;
}

Samples DetectionSamples(const GoldenCase& golden) {
  Samples samples;
  samples.name = golden.name;
  for (const bool known : {true, false}) {
    for (const double confidence : golden.arrays.at(known ? "known_confidence" : "unknown_confidence")) {
      samples.unknown_score.push_back(-confidence);
      samples.label.push_back(known ? 0 : kUnknownLabel);
    }
  }
  samples.prediction.assign(samples.label.size(), 0);
  return samples;
}

Samples SelectiveSamples(const GoldenCase& golden) {
  Samples samples;
  samples.name = golden.name;
  samples.num_classes = 2;
  for (const double confidence : golden.arrays.at("confidence")) samples.unknown_score.push_back(-confidence);
  samples.label.assign(samples.unknown_score.size(), 0);
  samples.prediction = Integers<int32_t>(golden.arrays.at("error"));
  return samples;
}

Samples DeploymentSamples(const GoldenCase& golden) {
  Samples samples;
  samples.name = golden.name;
  samples.unknown_score = golden.arrays.at("score");
  for (const double unknown : golden.arrays.at("unknown")) samples.label.push_back(unknown > 0 ? kUnknownLabel : 0);
  const std::vector<double>& loss = golden.arrays.at("loss");
  samples.loss.assign(loss.begin(), loss.end());
  return samples;
}

MetricResult Compute(absl::string_view metric, const RankedInput& ranked) {
  return ComputeMetric(ParsedWithDefaults<MetricSpec>(std::string(metric)), ranked);
}

::testing::AssertionResult Agrees(const MetricResult& result, std::optional<double> expected, double tolerance) {
  if (!expected.has_value()) {
    if (result.value.has_value()) return ::testing::AssertionFailure() << "is " << *result.value << ", not absent";
    if (result.absent_reason.empty()) return ::testing::AssertionFailure() << "is absent without a reason";
    return ::testing::AssertionSuccess();
  }
  if (!result.value.has_value()) return ::testing::AssertionFailure() << "is absent: " << result.absent_reason;
  if (!(std::abs(*result.value - *expected) <= tolerance)) {
    return ::testing::AssertionFailure() << absl::StrCat("is ", *result.value, ", not ", *expected, "; off by ",
                                                         *result.value - *expected);
  }
  return ::testing::AssertionSuccess();
}

}  // namespace openset
