// The rejection score of class anchor clustering (Miller et al., WACV 2021).
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// min_c d_c (1 - softmin(d)_c) >= 0 with d_c = |z - m_c|_2, for the logits z [K] and the centre m_c of class c: the
// mean of the logits of the training samples of class c that are classified correctly, as in the paper and the authors'
// code (find_anchor_means; it also counts the mirrored training images), or anchor e_c, where e_c is a unit vector. 0
// at a centre that is far from the others. pytorch-ood 0.4.0 (CACLoss.score) uses minus the largest of the squared
// distances from anchor e_c instead.
class ClassAnchorScore : public Score {
 public:
  explicit ClassAnchorScore(const ClassAnchorScoreSpec& spec) : spec_(spec) {}

  // Classes without a label among the samples have no centre. Errors: also kInvalidArgument, with the class, for a
  // class of the labels of which no sample is classified correctly.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  bool is_fitted() const { return spec_.centre() == ClassAnchorScoreSpec::TRAINING_MEAN; }

  const ClassAnchorScoreSpec spec_;
  std::vector<Eigen::VectorXd> means_;  // [K], empty for classes without one
};

absl::Status ClassAnchorScore::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  if (!is_fitted()) return absl::OkStatus();
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  absl::StatusOr<std::vector<Eigen::VectorXd>> means = MeansOfCorrect(train.logits, train.num_outputs, train, labels);
  if (!means.ok()) {
    return absl::Status(means.status().code(), absl::StrCat(means.status().message(), "; centre: ANCHOR needs none"));
  }
  means_ = *std::move(means);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> ClassAnchorScore::Compute(const ScoreInput& input) const {
  if (is_fitted()) OPENSET_RETURN_IF_ERROR(CheckLogitsLikeFitted(input, means_.size(), "class_anchor"));
  return ScoreLogitRows(input, [this](absl::Span<const float> logits) {
    const Eigen::VectorXd z = Eigen::Map<const Eigen::VectorXf>(logits.data(), logits.size()).cast<double>();
    if (!std::isfinite(z.squaredNorm())) return std::numeric_limits<double>::quiet_NaN();
    std::vector<double> distance;
    for (Eigen::Index c = 0; c < z.size(); ++c) {
      if (!is_fitted()) {
        distance.push_back((z - spec_.anchor() * Eigen::VectorXd::Unit(z.size(), c)).norm());
      } else if (means_[c].size() > 0) {
        distance.push_back((z - means_[c]).norm());
      }
    }
    const double least = *std::min_element(distance.begin(), distance.end());
    double sum = 0;
    for (const double d : distance) sum += std::exp(least - d);
    double score = std::numeric_limits<double>::infinity();
    for (const double d : distance) score = std::min(score, d * (1 - std::exp(least - d) / sum));
    return score;
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const ClassAnchorScoreSpec& spec) {
  return std::make_unique<ClassAnchorScore>(spec);
}

}  // namespace openset
