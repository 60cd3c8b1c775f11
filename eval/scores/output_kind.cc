#include "eval/scores/output_kind.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/proto/traits.h"

namespace openset {
namespace {

constexpr double kHalfPrecision = 0.01;
constexpr double kHalfPrecisionOfLogarithms = 0.02;

}  // namespace

OutputKind KindOf(absl::Span<const float> outputs, int64_t num_outputs) {
  if (num_outputs < 2 || outputs.empty()) return OutputKind::kLogits;
  const double rounding = std::min(0.1, std::max(kHalfPrecision, 0.005 * static_cast<double>(num_outputs)));
  const auto sums_to = [](double sum, double wanted, double tolerance) {
    return std::abs(sum - wanted) <= (tolerance + 1e-6) * wanted;
  };
  bool within_one = true, probabilities = true, percentages = true, logarithms = true, of_percentages = true;
  for (size_t row = 0; row < outputs.size(); row += num_outputs) {
    const absl::Span<const float> values = outputs.subspan(row, num_outputs);
    double sum = 0;
    bool negative = false, above_one = false;
    for (const float value : values) {
      sum += value;
      negative |= !(value >= 0);
      above_one |= !(value <= 1.001f);
    }
    within_one = within_one && !negative && !above_one;
    probabilities = probabilities && within_one && sums_to(sum, 1, rounding);
    percentages = percentages && !negative && sums_to(sum, 100, rounding);
    if (logarithms || of_percentages) {
      double exponentials = 0;
      for (const float value : values) exponentials += std::exp(static_cast<double>(value));
      logarithms = logarithms && sums_to(exponentials, 1, kHalfPrecisionOfLogarithms);
      of_percentages = of_percentages && sums_to(exponentials, 100, kHalfPrecisionOfLogarithms);
    }
    if (!within_one && !percentages && !logarithms && !of_percentages) return OutputKind::kLogits;
  }
  if (probabilities) return OutputKind::kProbabilities;
  if (percentages) return OutputKind::kPercentages;
  return logarithms || of_percentages ? OutputKind::kLogProbabilities : OutputKind::kWithinOne;
}

absl::Status CheckLevel(const ScoreSpec& spec, OutputKind kind) {
  if (kind != OutputKind::kLogProbabilities || !TraitsOf(spec).logit_level()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "these are log-probabilities; energy is 0 for every sample, and the score reads this level of the logits; save "
      "the outputs before the softmax, or take a score that doesn't read it, as max_softmax, entropy or gen");
}

bool TakesOutputsForClasses(const ScoreSpec& spec) {
  if (spec.has_combine()) return absl::c_any_of(spec.combine().score(), &TakesOutputsForClasses);
  const Traits traits = TraitsOf(spec);
  return !traits.extra_output() && !traits.no_logits();
}

std::string ExtraOutputText(const ScoreSpec& spec, int64_t num_outputs, int64_t num_classes) {
  if (num_outputs <= num_classes || !TakesOutputsForClasses(spec)) return "";
  return absl::StrCat(
      "takes each of ", num_outputs, " outputs for a class, and there are ", num_classes, ": a sample looks known if ",
      num_outputs == num_classes + 1 ? "the output for the unknown is large" : "an output beyond the classes is large",
      "; the score extra_output reads the last output as the unknown's");
}

}  // namespace openset
