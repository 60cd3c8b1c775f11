// MCM: maximum concept matching, of image and text features (Ming et al. 2022).
#include <cmath>
#include <memory>
#include <vector>

#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// -max_c softmax(cos(x, t_c) / temperature)_c in [-1, -1/K], for an image's features x [D] and the features t_c [D] of
// the classes' texts, which are the rows of head_weight [K, D]; MAX_COSINE: -max_c cos(x, t_c) in [-1, 1]. Ignores
// head_bias. The cosine with zeros is 0.
class Mcm : public Score {
 public:
  explicit Mcm(const McmSpec& spec)
      : temperature_(spec.form() == McmSpec::MAX_COSINE ? 1 : spec.temperature()),
        is_cosine_(spec.form() == McmSpec::MAX_COSINE) {}

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  double temperature_;
  bool is_cosine_;
};

absl::StatusOr<std::vector<double>> Mcm::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeatures(input));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  Eigen::MatrixXd texts = head.weight.transpose();
  NormaliseColumns(&texts);
  const Eigen::MatrixXd directions = texts.transpose() / temperature_;
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(input.features, input.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              NormaliseColumns(block);
                              const Eigen::MatrixXd logits = directions * *block;
                              for (int64_t j = 0; j < count; ++j) {
                                const Eigen::VectorXd z = logits.col(j);
                                scores[first + j] = is_cosine_ ? -z.maxCoeff() : -std::exp(z.maxCoeff() - LogSumExp(z));
                              }
                            });
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const McmSpec& spec) { return std::make_unique<Mcm>(spec); }

}  // namespace openset
