#include "eval/scores/weiper_kld.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>

#include "core/random.h"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

constexpr double kFeatureEpsilon = 0.01;
constexpr double kLogitEpsilon = 0.025;

// Adds to `counts` [bins] the number of values with edges[i] <= value < edges[i + 1].
void Count(const Eigen::Ref<const Eigen::VectorXd>& values, const Eigen::VectorXd& edges, Eigen::VectorXd* counts) {
  const int64_t bins = edges.size() - 1;
  const double low = edges[0];
  const double high = edges[bins];
  for (int64_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    if (!(value >= low && value < high)) continue;
    int64_t bin = std::min(static_cast<int64_t>((value - low) / (high - low) * bins), bins - 1);
    while (value < edges[bin]) --bin;
    while (value >= edges[bin + 1]) ++bin;
    (*counts)[bin] += 1;
  }
}

// Each value becomes the mean of `size` around it.
Eigen::VectorXd Smoothed(const Eigen::VectorXd& values, int64_t size) {
  const int64_t last = values.size() - 1;
  const int64_t below = (size - 1) / 2;
  Eigen::VectorXd smoothed(values.size());
  for (int64_t i = 0; i <= last; ++i) {
    double sum = 0;
    for (int64_t k = 0; k < size; ++k) sum += values[std::clamp<int64_t>(i - below + k, 0, last)];
    smoothed[i] = sum / static_cast<double>(size);
  }
  return smoothed;
}

// KL(p, q) + KL(q, p) after `epsilon` is added.
double Divergence(const Eigen::VectorXd& mean, const Eigen::VectorXd& own, double epsilon) {
  Eigen::ArrayXd p = mean.array() + epsilon;
  Eigen::ArrayXd q = own.array() + epsilon;
  p /= p.sum();
  q /= q.sum();
  return ((p - q) * (p.log() - q.log())).sum();
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Include(double smallest, double largest) {
    low = std::min(low, smallest);
    high = std::max(high, largest);
  }
};

}  // namespace

WeiperKld::Histogram WeiperKld::EmptyHistogram(double low, double high) const {
  Histogram histogram;
  histogram.edges.resize(spec_.bins() + 1);
  for (int64_t i = 0; i <= spec_.bins(); ++i) {
    histogram.edges[i] = low + static_cast<double>(i) / spec_.bins() * (high + 1e-8 - low);
  }
  histogram.mean = Eigen::VectorXd::Zero(spec_.bins());
  return histogram;
}

absl::Status WeiperKld::Fit(const ScoreInput& train, absl::Span<const int32_t> /*labels*/) {
  RandomStream random(static_cast<uint64_t>(spec_.seed()), "weiper_kld");
  return FitWithNoise(train, [&random] { return random.Normal(); });
}

absl::Status WeiperKld::FitWithNoise(const ScoreInput& train, const std::function<double()>& noise) {
  OPENSET_RETURN_IF_ERROR(CheckFeatureFitInput(train));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(train));
  bias_ = head.bias;
  heads_.assign(spec_.repeats(), head.weight);
  Eigen::RowVectorXd direction(head.weight.cols());
  for (Eigen::MatrixXd& weight : heads_) {
    for (int64_t c = 0; c < weight.rows(); ++c) {
      for (double& value : direction) value = noise();
      weight.row(c) += spec_.distance() * head.weight.row(c).norm() / direction.norm() * direction;
    }
  }
  std::mutex mutex;
  Range of_features;
  Range of_logits;
  ForEachRowBlockInParallel(train.features, train.feature_dim, [&](int64_t, int64_t count, Eigen::MatrixXd* block) {
    Range logits;
    for (const Eigen::MatrixXd& weight : heads_) {
      const Eigen::MatrixXd z = (weight * *block).colwise() + bias_;
      logits.Include(z.leftCols(count).minCoeff(), z.leftCols(count).maxCoeff());
    }
    const std::lock_guard<std::mutex> lock(mutex);
    of_features.Include(block->leftCols(count).minCoeff(), block->leftCols(count).maxCoeff());
    of_logits.Include(logits.low, logits.high);
  });
  features_ = EmptyHistogram(of_features.low, of_features.high);
  logits_ = EmptyHistogram(of_logits.low, of_logits.high);
  // Counts are whole numbers: their sum does not depend on the order.
  ForEachRowBlockInParallel(train.features, train.feature_dim, [&](int64_t, int64_t count, Eigen::MatrixXd* block) {
    Eigen::VectorXd features = Eigen::VectorXd::Zero(spec_.bins());
    Eigen::VectorXd logits = Eigen::VectorXd::Zero(spec_.bins());
    for (int64_t j = 0; j < count; ++j) Count(block->col(j), features_.edges, &features);
    for (const Eigen::MatrixXd& weight : heads_) {
      const Eigen::MatrixXd z = (weight * *block).colwise() + bias_;
      for (int64_t j = 0; j < count; ++j) Count(z.col(j), logits_.edges, &logits);
    }
    const std::lock_guard<std::mutex> lock(mutex);
    features_.mean += features;
    logits_.mean += logits;
  });
  const double samples = static_cast<double>(train.num_samples);
  features_.mean /= samples * static_cast<double>(train.feature_dim);
  logits_.mean /= samples * static_cast<double>(bias_.size() * spec_.repeats());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> WeiperKld::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, heads_.empty() ? 0 : heads_[0].cols(), "weiper_kld"));
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(
      input.features, input.feature_dim, [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
        const Eigen::VectorXd none = Eigen::VectorXd::Zero(spec_.bins());
        std::vector<Eigen::VectorXd> logits(count, none);
        std::vector<double> confidence(count, 0);
        for (const Eigen::MatrixXd& weight : heads_) {
          const Eigen::MatrixXd z = (weight * *block).colwise() + bias_;
          for (int64_t j = 0; j < count; ++j) {
            Count(z.col(j), logits_.edges, &logits[j]);
            confidence[j] += std::exp(z.col(j).maxCoeff() - LogSumExp(z.col(j)));
          }
        }
        const double repeats = static_cast<double>(spec_.repeats());
        for (int64_t j = 0; j < count; ++j) {
          Eigen::VectorXd features = none;
          Count(block->col(j), features_.edges, &features);
          features /= static_cast<double>(input.feature_dim);
          logits[j] /= repeats * static_cast<double>(bias_.size());
          scores[first + j] =
              Divergence(features_.mean, Smoothed(features, spec_.smoothing()), kFeatureEpsilon) +
              spec_.lambda_1() *
                  Divergence(logits_.mean, Smoothed(logits[j], spec_.smoothing_perturbed()), kLogitEpsilon) -
              spec_.lambda_2() * confidence[j] / repeats;
        }
      });
  return scores;
}

absl::StatusOr<std::unique_ptr<Score>> Make(const WeiperKldSpec& spec) { return std::make_unique<WeiperKld>(spec); }

}  // namespace openset
