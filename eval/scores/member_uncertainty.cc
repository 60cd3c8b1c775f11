// The disagreement of several passes: with dropout, or through each model of an ensemble.
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// A column of ScoreInput.member_uncertainty, which inference computes from the passes m = 1 .. M with probabilities p_m
// and their mean p (experiments/infer/make_predictor.h).
class MemberUncertainty : public Score {
 public:
  enum Column {
    kMutualInformation,  // H(p) - 1/M sum_m H(p_m) >= 0, in nats (BALD: Houlsby et al. 2011; Gal 2016)
    kExpectedEntropy,    // 1/M sum_m H(p_m) >= 0, in nats
    kVariationRatio,     // 1 - (passes that predict the class that most of them predict) / M, in [0, 1 - 1/M]
    kColumns,
  };
  explicit MemberUncertainty(Column column) : column_(column) {}

  // Errors: kInvalidArgument for outputs without the array, of a wrong shape, or with values that are not finite, with
  // the row.
  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  Column column_;
};

absl::StatusOr<std::vector<double>> MemberUncertainty::Compute(const ScoreInput& input) const {
  const absl::Span<const float> values = input.member_uncertainty;
  if (values.empty() && input.num_samples > 0) {
    return absl::InvalidArgumentError(
        "the score needs member_uncertainty, which the outputs lack: infer with it (mc_dropout or ensemble with "
        "member_uncertainty: true)");
  }
  if (static_cast<int64_t>(values.size()) != input.num_samples * kColumns) {
    return absl::InvalidArgumentError(absl::StrCat("member_uncertainty has ", values.size(), " values; ",
                                                   input.num_samples, " samples need ", input.num_samples * kColumns));
  }
  std::vector<double> scores(input.num_samples);
  for (int64_t row = 0; row < input.num_samples; ++row) {
    scores[row] = values[row * kColumns + column_];
    if (!std::isfinite(scores[row])) {
      return absl::InvalidArgumentError(absl::StrCat("member_uncertainty is not finite in row ", row));
    }
  }
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const MutualInformationSpec&) {
  return std::make_unique<MemberUncertainty>(MemberUncertainty::kMutualInformation);
}

absl::StatusOr<std::unique_ptr<Score>> Make(const ExpectedEntropySpec&) {
  return std::make_unique<MemberUncertainty>(MemberUncertainty::kExpectedEntropy);
}

absl::StatusOr<std::unique_ptr<Score>> Make(const VariationRatioSpec&) {
  return std::make_unique<MemberUncertainty>(MemberUncertainty::kVariationRatio);
}

}  // namespace openset
