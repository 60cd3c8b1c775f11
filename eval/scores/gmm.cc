// A Gaussian mixture with a component for each class (Mukhoti et al. 2023).
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "Eigen/Cholesky"
#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/fits/gaussian.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// -log sum_c w_c N(x; m_c, S_c + ridge I), in nats, for features x [D]: w_c is the share of class c among
// the training samples, m_c and S_c = (1/n) sum_i (x_i - m_c) (x_i - m_c)^T mean and covariance of its features.
// OpenOOD's gmm differs: a mixture with one covariance, found by EM from random centres.
class Gmm : public Score {
 public:
  // Precondition: ridge >= 0.
  explicit Gmm(double ridge) : ridge_(ridge) {}

  // Errors: also kInvalidArgument, with the class, if S_c + ridge I is not positive definite, and for more classes and
  // features than fit in memory.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  struct Component {
    Eigen::VectorXd mean;       // [D]
    Eigen::MatrixXd whitening;  // [D, D]
    double log_factor = 0;      // log w_c - log det(S_c + ridge I) / 2 - D log(2 pi) / 2
  };
  double ridge_;
  int64_t feature_dim_ = 0;
  std::vector<Component> components_;
};

absl::Status Gmm::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckFeatures(train));
  const int64_t dim = train.feature_dim;
  OPENSET_ASSIGN_OR_RETURN(const std::vector<FeaturesOfClass> classes, FeaturesByClass(train, labels));
  std::vector<Component> components;
  for (const FeaturesOfClass& of : classes) {
    Component& component = components.emplace_back();
    component.mean = Mean(of.features, dim);
    Eigen::MatrixXd covariance = CovarianceAbout(of.features, component.mean);
    covariance.diagonal().array() += ridge_;
    const Eigen::LLT<Eigen::MatrixXd> cholesky(covariance);
    if (cholesky.info() != Eigen::Success || !(cholesky.matrixLLT().diagonal().minCoeff() > 0)) {
      return absl::InvalidArgumentError(absl::StrCat("the covariance of class ", of.label,
                                                     " is not positive definite; gmm needs a larger ridge (is ", ridge_,
                                                     ")"));
    }
    component.whitening = cholesky.matrixL().solve(Eigen::MatrixXd::Identity(dim, dim));
    const double share = static_cast<double>(of.features.size() / dim) / static_cast<double>(train.num_samples);
    component.log_factor = std::log(share) - Eigen::VectorXd(cholesky.matrixLLT().diagonal()).array().log().sum() -
                           0.5 * static_cast<double>(dim) * std::log(2 * M_PI);
  }
  components_ = std::move(components);
  feature_dim_ = dim;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Gmm::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, feature_dim_, "gmm"));
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(
      input.features, input.feature_dim, [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
        Eigen::MatrixXd log_densities(components_.size(), count);
        for (size_t c = 0; c < components_.size(); ++c) {
          const Eigen::MatrixXd white = components_[c].whitening * (block->colwise() - components_[c].mean);
          for (int64_t j = 0; j < count; ++j) {
            log_densities(c, j) = components_[c].log_factor - 0.5 * Eigen::VectorXd(white.col(j)).squaredNorm();
          }
        }
        for (int64_t j = 0; j < count; ++j) scores[first + j] = -LogSumExp(Eigen::VectorXd(log_densities.col(j)));
      });
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const GmmSpec& spec) { return std::make_unique<Gmm>(spec.ridge()); }

}  // namespace openset
