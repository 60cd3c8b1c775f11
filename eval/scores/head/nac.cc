#include "eval/scores/head/nac.h"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "core/random.h"
#include "core/status_macros.h"
#include "eval/scores/features/features.h"
#include "eval/scores/features/row_blocks.h"
#include "eval/scores/logits/score_rows.h"

namespace openset {
namespace {

std::vector<double> Thresholds(int count) {
  const int half = count / 2;
  const double last = std::sqrt(1000.0);
  std::vector<double> lower;
  for (int i = 0; i < half; ++i) {
    const double u = i + 1 == half ? last : 1 + i * ((last - 1) / (half - 1));
    lower.push_back(std::log(u) / std::log(1000.0));
  }
  std::vector<double> thresholds(lower.begin(), lower.end() - 1);
  for (auto t = lower.rbegin(); t != lower.rend(); ++t) thresholds.push_back(1 - *t);
  thresholds.back() += 0.01;
  thresholds.push_back(1.2);
  return thresholds;
}

// The rows that are counted.
std::vector<bool> Balanced(absl::Span<const int32_t> labels, int64_t classes, int64_t samples) {
  std::vector<std::vector<int64_t>> rows(classes);
  for (int64_t row = 0; row < static_cast<int64_t>(labels.size()); ++row) rows[labels[row]].push_back(row);
  int64_t present = 0;
  int64_t smallest = static_cast<int64_t>(labels.size());
  for (const std::vector<int64_t>& of_class : rows) {
    if (of_class.empty()) continue;
    ++present;
    smallest = std::min<int64_t>(smallest, of_class.size());
  }
  const int64_t each = std::min(smallest, std::max<int64_t>(samples / present, 1));
  std::vector<bool> counted(labels.size(), false);
  for (int64_t c = 0; c < classes; ++c) {
    if (rows[c].empty()) continue;
    const std::vector<int64_t> order =
        RandomStream(1, absl::StrCat("nac/", c)).Permutation(static_cast<int64_t>(rows[c].size()));
    for (int64_t i = 0; i < each; ++i) counted[rows[c][order[i]]] = true;
  }
  return counted;
}

}  // namespace

void Nac::ToIntervals(const LinearHead& head, Eigen::MatrixXd* block) const {
  Eigen::MatrixXd difference = (head.weight * *block).colwise() + head.bias;  // softmax(z) - 1/K
  for (int64_t j = 0; j < difference.cols(); ++j) {
    const double max = difference.col(j).maxCoeff();
    Eigen::VectorXd p = (difference.col(j).array() - max).exp();
    p /= p.sum();
    difference.col(j) = p.array() - 1.0 / static_cast<double>(p.size());
  }
  const Eigen::MatrixXd gradient = head.weight.transpose() * difference;
  for (int64_t j = 0; j < block->cols(); ++j) {
    for (int64_t d = 0; d < block->rows(); ++d) {
      const double state = 1 / (1 + std::exp(-options_.steepness * (*block)(d, j) * gradient(d, j)));
      const auto above = std::upper_bound(thresholds_.begin(), thresholds_.end(), state);
      (*block)(d, j) = static_cast<double>(above - thresholds_.begin() - 1);
    }
  }
}

absl::Status Nac::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckFeatures(train));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(train));
  thresholds_ = Thresholds(options_.thresholds);
  const std::vector<bool> counted = options_.samples == 0 ? std::vector<bool>(labels.size(), true)
                                                          : Balanced(labels, train.num_outputs, options_.samples);
  Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(train.feature_dim, static_cast<int64_t>(thresholds_.size()) - 1);
  std::mutex mutex;
  // Counts are whole numbers: their sum does not depend on the order.
  ForEachRowBlockInParallel(train.features, train.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              ToIntervals(head, block);
                              const std::lock_guard<std::mutex> lock(mutex);
                              for (int64_t j = 0; j < count; ++j) {
                                if (!counted[first + j]) continue;
                                for (int64_t d = 0; d < block->rows(); ++d)
                                  counts(d, static_cast<int64_t>((*block)(d, j))) += 1;
                              }
                            });
  counts_ = counts.cwiseMin(options_.full);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Nac::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, counts_.rows(), "nac"));
  OPENSET_ASSIGN_OR_RETURN(const LinearHead head, HeadOf(input));
  std::vector<double> scores(input.num_samples);
  ForEachRowBlockInParallel(input.features, input.feature_dim,
                            [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                              ToIntervals(head, block);
                              for (int64_t j = 0; j < count; ++j) {
                                double sum = 0;  // exact where `full` is a whole number
                                for (int64_t d = 0; d < block->rows(); ++d)
                                  sum += counts_(d, static_cast<int64_t>((*block)(d, j)));
                                scores[first + j] = -sum / (options_.full * static_cast<double>(block->rows()));
                              }
                            });
  return scores;
}

}  // namespace openset
