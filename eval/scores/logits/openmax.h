// OpenMax (Bendale and Boult 2016): the probability of an additional class for the unknown.
#ifndef OPENSET_EVAL_SCORES_LOGITS_OPENMAX_H_
#define OPENSET_EVAL_SCORES_LOGITS_OPENMAX_H_

#include <optional>
#include <vector>

#include "Eigen/Core"
#include "eval/scores/fits/extreme_values.h"
#include "eval/scores/score.h"

namespace openset {

// Fit: for each class c, the mean m_c of the logits of its correctly classified training samples, and a Weibull
// distribution of their `tail` largest distances to m_c.
// Score: w_c = CDF_c(distance of z to m_c), omega_c the weight of c's rank among the logits, removed_c = z_c w_c
// omega_c; the last entry, in [0, 1], of softmax(z_1 - removed_1, ..., z_K - removed_K, sum_c removed_c). This
// is only meaningful for logits >= 0; negative ones are used unchanged, as in released code. Equal logits get the mean
// of the weights of their ranks.
class OpenMax : public Score {
 public:
  enum class Distance {
    kEucos,  // euclidean_weight * euclidean + cosine
    kEuclidean,
    kCosine,  // 1 - cosine of the angle; 1 to or from a row of zeros
  };
  struct Options {
    Distance distance = Distance::kEucos;
    double euclidean_weight = 0.005;
    int tail = 20;                      // at least 2
    int alpha = 10;                     // at least 1: the ranks with a weight
    std::optional<double> rank_weight;  // omega of ranks 1 .. alpha; if absent, (alpha + 1 - rank) / alpha
    double translation = 10000;         // for FitWeibullTail
    bool cdf_of_logit = false;          // w_c = CDF_c(z_c)
    bool rejection = false;  // the score is 0 if the unknown has the largest probability, else -(the largest one)
    bool revised_prediction = false;  // Predictions() are those of the revised outputs
    // Replaces the Weibull distribution. Classes of at most `tail` correct samples then have none (w_c = 0).
    bool exponentiated = false;
    // 0: all samples are revised. Otherwise, a batch size, as in the released code: the first two samples of each batch
    // (for two outputs, the first one) are not revised. A batch of one sample is revised unless there are two outputs.
    // Scores then depend on the samples' positions.
    int unrevised_of_batch = 0;
  };
  explicit OpenMax(const Options& options) : options_(options) {}

  // Outputs that are not the label of any sample get no distribution (w_c = 0).
  // Errors, beyond those of CheckFitInput: kInvalidArgument, with the class, for a label with fewer than two
  // correctly classified samples or with a tail of equal distances.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

  // K + 1 outputs: z_c - removed_c, and sum_c removed_c for the unknown.
  absl::StatusOr<std::optional<ProbabilityLogits>> Probabilities(const ScoreInput& input) const override;

  // Empty without revised_prediction. Otherwise the index of the largest of the K + 1 outputs (the first if several are
  // equal); those after the first num_classes mean unknown.
  absl::StatusOr<std::optional<std::vector<int32_t>>> Predictions(const ScoreInput& input,
                                                                  int64_t num_classes) const override;

 private:
  double DistanceOf(const Eigen::VectorXd& logits, const Eigen::VectorXd& mean) const;
  double WeightOfRank(int64_t rank) const;  // from 0
  absl::Status CheckOutputs(const ScoreInput& input) const;
  std::vector<double> RemovedFrom(const ScoreInput& input, int64_t row) const;  // [K]
  bool IsUnrevised(const ScoreInput& input, int64_t row) const;
  double ScoreOf(const ScoreInput& input, int64_t row) const;

  struct ClassModel {
    bool fitted = false;
    Eigen::VectorXd mean;
    WeibullTail tail;
    ExponentiatedWeibull exponentiated;
  };
  absl::Status FitTail(std::vector<double> distances, ClassModel* model) const;

  Options options_;
  std::vector<ClassModel> classes_;  // [K]
};

// softmax(z_1 - removed_1, ..., z_K - removed_K, sum_c removed_c); the last entry is the unknown's. Precondition: both
// have the same size.
std::vector<double> OpenMaxProbabilities(absl::Span<const double> logits, absl::Span<const double> removed);

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_LOGITS_OPENMAX_H_
