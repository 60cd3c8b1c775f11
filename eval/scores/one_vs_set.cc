// The 1-vs-set machine (Scheirer et al. 2013): a linear support vector machine for each class against the others, and a
// second plane behind the class.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {
namespace {

// f(x) = weight (x - mean) + bias, large for samples of the class.
struct Separation {
  Eigen::VectorXd weight;
  double bias = 0;
  bool converged = false;
};

constexpr int64_t kMaxPasses = 20000;
// By how much the conditions of an optimum may be violated, in units of f: while as many factors were solved for, and
// afterwards, as in libsvm.
constexpr int64_t kExactSteps = 20000000;
constexpr double kExactViolation = 1e-6, kViolation = 1e-3;

// Minimises |weight|^2 / 2 + c sum_i max(0, 1 - y_i f(x_i)) over the columns of `centred`, y_i = 1 for samples of the
// class and -1 for others. The dual has a factor in [0, c] for each sample, weight = sum_i y_i a_i x_i, and is solved
// for one after the other (Hsieh et al. 2008): for all samples, then for those strictly between the limits until they
// violate ten times less. The bias is not penalised, so that sum_i y_i a_i = 0: it is the multiplier of this
// constraint, found by an augmented Lagrangian. Centring changes nothing but the number of passes.
Separation Separate(const Eigen::MatrixXd& centred, const std::vector<bool>& of_class, double c) {
  const Eigen::Index n = centred.cols();
  const Eigen::VectorXd square = centred.colwise().squaredNorm();
  const double mean_square = square.sum() / static_cast<double>(n), stiffness = mean_square > 0 ? 0.1 * mean_square : 1;
  const auto sign = [&](Eigen::Index i) { return of_class[i] ? 1.0 : -1.0; };
  std::vector<Eigen::Index> all(n), free;
  std::iota(all.begin(), all.end(), 0);
  Eigen::VectorXd factor = Eigen::VectorXd::Zero(n);
  Separation found;
  found.weight = Eigen::VectorXd::Zero(centred.rows());
  int64_t left = kMaxPasses * n;
  const auto allowed = [&] { return kMaxPasses * n - left < kExactSteps ? kExactViolation : kViolation; };
  // Returns the largest violation.
  const auto solve = [&](const std::vector<Eigen::Index>& samples) {
    double violation = 0;
    for (const Eigen::Index i : samples) {
      const double slope = sign(i) * (found.weight.dot(centred.col(i)) + found.bias) - 1;
      const double next = std::min(std::max(factor(i) - slope / (square(i) + stiffness), 0.0), c);
      if (next == factor(i)) continue;
      violation = std::max(violation, std::abs(slope));
      const double step = sign(i) * (next - factor(i));
      found.weight += step * centred.col(i);
      found.bias += stiffness * step;
      factor(i) = next;
    }
    left -= static_cast<int64_t>(samples.size());
    return violation;
  };
  while (!found.converged && left > 0) {
    const double violation = solve(all);
    if (violation < allowed()) {
      double imbalance = 0;
      for (Eigen::Index i = 0; i < n; ++i) imbalance += sign(i) * factor(i);
      found.converged = std::abs(imbalance) * stiffness < allowed();
      if (!found.converged) found.bias += stiffness * imbalance;
      continue;
    }
    free.clear();
    for (Eigen::Index i = 0; i < n; ++i) {
      if (factor(i) > 0 && factor(i) < c) free.push_back(i);
    }
    while (!free.empty() && left > 0 && solve(free) > std::max(violation / 10, allowed() / 2)) {
    }
  }
  return found;
}

// The part of space that a class has: f in [near, far].
struct Slab {
  double near = 0, far = 0;
};

// Both planes lie at training samples. From the largest value below 0 of another class, unless a sample of the class
// comes just before it, and the sample behind the last one of the class, the plane moves by one sample that lowers the
// risk most, as long as one does. The risk is width / class width + class width / width, neither below 1, plus 2 / F
// (F: the harmonic mean of precision and recall; the widths are at least 1e-4).
// Precondition: both kinds of samples. Empty if all values are equal.
std::optional<Slab> FindSlab(const Eigen::VectorXd& values, const std::vector<bool>& of_class,
                             const OneVsSetSpec& options) {
  const auto n = static_cast<int64_t>(values.size());
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return values(a) < values(b); });
  std::vector<double> value(n);
  std::vector<int64_t> before(n + 1);  // samples of the class among the i least
  int64_t first = n, last = -1, near = 0;
  for (int64_t i = 0; i < n; ++i) {
    value[i] = values(order[i]);
    before[i + 1] = before[i] + (of_class[order[i]] ? 1 : 0);
    if (of_class[order[i]]) {
      first = std::min(first, i);
      last = i;
    } else if (value[i] < 0 && last != i - 1) {
      near = i;
    }
  }
  const auto is_of_class = [&](int64_t i) { return before[i + 1] > before[i]; };
  int64_t far = std::min(last + 1, n - 1);
  if (near >= far) near = 0;
  const double class_width = value[last] - value[first];
  const auto risk = [&](int64_t a, int64_t b) {
    if (a < 0 || b >= n || !(value[a] < value[b])) return std::numeric_limits<double>::infinity();
    const auto inside = static_cast<double>(before[b + 1] - before[a]);
    if (inside == 0) return std::numeric_limits<double>::infinity();
    const double ratio = std::max(value[b] - value[a], 1e-4) / std::max(class_width, 1e-4);
    // 2 / F = 1 / precision + 1 / recall.
    return std::max(ratio, 1.0) + std::max(1 / ratio, 1.0) +
           (static_cast<double>(b + 1 - a) + static_cast<double>(before[n])) / inside;
  };
  for (double least = risk(near, far);;) {
    const std::array<std::array<int64_t, 2>, 4> moves = {
        {{near - 1, far}, {near + 1, far}, {near, far - 1}, {near, far + 1}}};
    const auto best = std::min_element(
        moves.begin(), moves.end(), [&](const auto& a, const auto& b) { return risk(a[0], a[1]) < risk(b[0], b[1]); });
    const double moved = risk((*best)[0], (*best)[1]);
    if (!(moved < least)) break;
    least = moved;
    near = (*best)[0];
    far = (*best)[1];
  }
  if (!(value[near] < value[far])) return std::nullopt;
  Slab slab{value[near], value[far]};
  if (is_of_class(near)) {
    if (near == 0) slab.near -= class_width * options.near_pressure() / 2;
    if (near > 0 && !is_of_class(near - 1)) slab.near += (value[near - 1] - value[near]) * options.near_pressure() / 2;
  }
  if (far == n - 1 || (is_of_class(far) && !is_of_class(far + 1) && value[far] < value[last])) {
    slab.far += class_width * options.far_pressure() / 2;
  }
  return slab;
}

// -max_c min(far_c - f_c(x), f_c(x) - near_c) / (far_c - near_c) in [-1/2, inf): below 0 inside of a class's slab.
class OneVsSet : public Score {
 public:
  explicit OneVsSet(const OneVsSetSpec& options) : options_(options) {}

  // A class without samples has no slab. Errors: also kInvalidArgument if all samples have one label or equal features,
  // or a support vector machine needs more than kMaxPasses passes.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  OneVsSetSpec options_;
  Eigen::VectorXd mean_;
  Eigen::MatrixXd weight_;  // [D, slabs]
  Eigen::VectorXd bias_;    // [slabs]
  std::vector<Slab> slab_;
};

absl::Status OneVsSet::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckFeatures(train));
  std::vector<std::vector<bool>> of_class(train.num_outputs, std::vector<bool>(labels.size()));
  for (size_t i = 0; i < labels.size(); ++i) of_class[labels[i]][i] = true;
  std::vector<int64_t> classes;
  for (int64_t c = 0; c < train.num_outputs; ++c) {
    if (std::count(of_class[c].begin(), of_class[c].end(), true) > 0) classes.push_back(c);
  }
  if (classes.size() < 2) {
    return absl::InvalidArgumentError("one_vs_set separates classes: all its training samples are of one");
  }
  Eigen::MatrixXd centred =
      Eigen::Map<const Eigen::MatrixXf>(train.features.data(), train.feature_dim, train.num_samples).cast<double>();
  mean_ = centred.rowwise().mean();
  centred.colwise() -= mean_;
  std::vector<Separation> found(classes.size());
  std::vector<std::optional<Slab>> slab(classes.size());
  ForEachRowInParallel(static_cast<int64_t>(classes.size()), [&](int64_t i) {
    const std::vector<bool>& members = of_class[classes[i]];
    found[i] = Separate(centred, members, options_.c());
    const Eigen::VectorXd values = (centred.transpose() * found[i].weight).array() + found[i].bias;
    slab[i] = FindSlab(values, members, options_);
  });
  slab_.clear();
  weight_.resize(train.feature_dim, static_cast<Eigen::Index>(classes.size()));
  bias_.resize(static_cast<Eigen::Index>(classes.size()));
  for (size_t i = 0; i < classes.size(); ++i) {
    if (!found[i].converged) {
      return absl::InvalidArgumentError(absl::StrCat("one_vs_set: the support vector machine of class ", classes[i],
                                                     " has not converged after ", kMaxPasses,
                                                     " passes over its training samples; set a smaller c"));
    }
    if (!slab[i].has_value()) continue;
    const auto column = static_cast<Eigen::Index>(slab_.size());
    weight_.col(column) = found[i].weight;
    bias_(column) = found[i].bias;
    slab_.push_back(*slab[i]);
  }
  if (slab_.empty()) return absl::InvalidArgumentError("one_vs_set: the features of all training samples are equal");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> OneVsSet::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckFeaturesLikeFitted(input, slab_.empty() ? 0 : mean_.size(), "one_vs_set"));
  std::vector<double> scores(input.num_samples);
  ForEachRowInParallel(input.num_samples, [&](int64_t row) {
    const Eigen::VectorXd f = weight_.transpose() * (FeaturesOf(input, row) - mean_) + bias_;
    double inside = -std::numeric_limits<double>::infinity();
    for (size_t c = 0; c < slab_.size(); ++c) {
      const auto [near, far] = slab_[c];
      const double value = f(static_cast<Eigen::Index>(c));
      inside = std::max(inside, std::min(far - value, value - near) / (far - near));
    }
    scores[row] = -inside;
  });
  return scores;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const OneVsSetSpec& options) { return std::make_unique<OneVsSet>(options); }

}  // namespace openset
