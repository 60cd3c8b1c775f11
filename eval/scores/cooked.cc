// COOkeD: an ensemble of classifiers of different kinds (Humblot-Renaux et al. 2025).
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// With z_m [K] the outputs of classifier m of M, p = (sum_{m < M} softmax(z_m) + softmax(z_M / last_temperature)) / M:
// -max_c p_c in [-1, -1/K], or -sum_c p_c ln p_c in [0, ln K]. ood_eval() of the authors' eval.py, whose zero-shot
// outputs are 100 times the cosines.
class Cooked : public Score {
 public:
  explicit Cooked(const CookedSpec& spec) : spec_(spec) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override {
    OPENSET_ASSIGN_OR_RETURN(const int64_t classes, ClassesOf(input));
    return ScoreLogitRows(input, [&](absl::Span<const float> logits) {
      const std::vector<double> mean = MeanOf(logits, classes);
      if (spec_.value() == CookedSpec::MAX_SOFTMAX) return -*std::max_element(mean.begin(), mean.end());
      double entropy = 0;
      for (const double p : mean) entropy -= p > 0 ? p * std::log(p) : 0;
      return entropy;
    });
  }

  absl::StatusOr<std::optional<ProbabilityLogits>> Probabilities(const ScoreInput& input) const override {
    OPENSET_ASSIGN_OR_RETURN(const int64_t classes, ClassesOf(input));
    OPENSET_RETURN_IF_ERROR(CheckLogits(input));
    ProbabilityLogits own;
    own.num_outputs = classes;
    for (int64_t i = 0; i < input.num_samples; ++i) {
      for (const double p : MeanOf(LogitsOf(input, i), classes)) own.logits.push_back(static_cast<float>(std::log(p)));
    }
    return own;
  }

  absl::StatusOr<std::optional<std::vector<int32_t>>> Predictions(const ScoreInput& input,
                                                                  int64_t num_classes) const override {
    OPENSET_ASSIGN_OR_RETURN(const int64_t classes, ClassesOf(input));
    if (classes != num_classes) {
      return absl::InvalidArgumentError(absl::StrCat("cooked: ", input.num_outputs, " outputs of ", spec_.classifiers(),
                                                     " classifiers are ", classes, " classes, and there are ",
                                                     num_classes, " (num_classes)"));
    }
    OPENSET_RETURN_IF_ERROR(CheckLogits(input));
    std::vector<int32_t> predictions(input.num_samples);
    for (int64_t i = 0; i < input.num_samples; ++i) {
      const std::vector<double> mean = MeanOf(LogitsOf(input, i), classes);
      predictions[i] = static_cast<int32_t>(std::max_element(mean.begin(), mean.end()) - mean.begin());
    }
    return predictions;
  }

 private:
  absl::StatusOr<int64_t> ClassesOf(const ScoreInput& input) const {
    if (input.num_outputs > 0 && input.num_outputs % spec_.classifiers() == 0) {
      return input.num_outputs / spec_.classifiers();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "cooked: ", input.num_outputs, " outputs are not as many for each of ", spec_.classifiers(), " classifiers"));
  }

  std::vector<double> MeanOf(absl::Span<const float> logits, int64_t classes) const {
    std::vector<double> mean(classes, 0);
    for (int m = 0; m < spec_.classifiers(); ++m) {
      const absl::Span<const float> of_one = logits.subspan(m * classes, classes);
      const double temperature = m + 1 < spec_.classifiers() ? 1 : spec_.last_temperature();
      const SoftmaxSum sum = SumSoftmax(of_one, temperature);
      for (int64_t c = 0; c < classes; ++c) {
        mean[c] += std::exp((of_one[c] - sum.max) / temperature) / (1 + sum.rest) / spec_.classifiers();
      }
    }
    return mean;
  }

  const CookedSpec spec_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const CookedSpec& spec) { return std::make_unique<Cooked>(spec); }

}  // namespace openset
