#include "experiments/arrays/fitted_heads.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "Eigen/Cholesky"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/in_parallel.h"

namespace openset {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using FloatRows = Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

// Rows are divided into blocks by their number alone; each is summed on its own, and the sums in order.
constexpr int64_t kMostBlocks = 16;
constexpr int64_t kFewestRows = 256;

struct Blocks {
  explicit Blocks(int64_t rows)
      : rows(rows),
        size(std::max(kFewestRows, (rows + kMostBlocks - 1) / kMostBlocks)),
        count((rows + size - 1) / size) {}

  int64_t begin(int64_t block) const { return block * size; }
  int64_t length(int64_t block) const { return std::min(size, rows - block * size); }

  int64_t rows, size, count;
};

// c * sum of cross entropies + penalty * |W|^2 / 2, divided by c * N, as a function of [W, b'] (row by row, then b'),
// where b' = b + W m and m is the mean of the features: the bias isn't penalised, so that features without their mean
// have the same W, and are far better conditioned.
class LogisticLoss {
 public:
  LogisticLoss(absl::Span<const float> features, absl::Span<const int64_t> labels, int classes, double c)
      : features_(features.data(), static_cast<Eigen::Index>(labels.size()),
                  static_cast<Eigen::Index>(features.size() / labels.size())),
        labels_(labels),
        classes_(classes),
        penalty_((classes == 2 ? 2 : 1) / (c * static_cast<double>(labels.size()))),
        blocks_(static_cast<int64_t>(labels.size())),
        loss_(blocks_.count),
        gradient_(blocks_.count, Eigen::VectorXd(size())) {
    mean_ = Eigen::RowVectorXd::Zero(features_.cols());
    for (Eigen::Index i = 0; i < features_.rows(); ++i) mean_ += features_.row(i).cast<double>();
    mean_ /= static_cast<double>(features_.rows());
  }

  const Eigen::RowVectorXd& mean() const { return mean_; }
  int classes() const { return classes_; }

  // An estimate of the Hessian's block of one class's weights: a probability p has the curvature p (1 - p), on average
  // (1 - 1 / classes) / classes if all classes are as likely.
  Eigen::MatrixXd Curvature() const {
    // A part sums its blocks in order; few parts, because each has D^2 numbers.
    const int64_t parts = std::min<int64_t>(4, blocks_.count);
    std::vector<Eigen::MatrixXd> part(parts);
    InParallel(parts, [&](int64_t p) {
      part[p].setZero(features_.cols(), features_.cols());
      for (int64_t block = p; block < blocks_.count; block += parts) {
        const RowMajor x =
            features_.middleRows(blocks_.begin(block), blocks_.length(block)).cast<double>().rowwise() - mean_;
        part[p].selfadjointView<Eigen::Lower>().rankUpdate(x.transpose());
      }
    });
    Eigen::MatrixXd sum = part[0];
    for (int64_t p = 1; p < parts; ++p) sum += part[p];
    sum *= MeanCurvature() / static_cast<double>(features_.rows());
    sum.diagonal().array() += penalty_;
    return sum;
  }
  double MeanCurvature() const { return (1 - 1.0 / classes_) / classes_; }

  Eigen::Index size() const { return classes_ * (features_.cols() + 1); }
  Eigen::Index weights() const { return classes_ * features_.cols(); }

  double operator()(const Eigen::VectorXd& at, Eigen::VectorXd* gradient) {
    const Eigen::Map<const RowMajor> weight(at.data(), classes_, features_.cols());
    const auto bias = at.tail(classes_);
    InParallel(blocks_.count, [&](int64_t block) {
      const int64_t begin = blocks_.begin(block), length = blocks_.length(block);
      const RowMajor x = features_.middleRows(begin, length).cast<double>().rowwise() - mean_;
      RowMajor p = x * weight.transpose();
      p.rowwise() += bias.transpose();
      double loss = 0;
      for (int64_t i = 0; i < length; ++i) {
        auto row = p.row(i);
        const double most = row.maxCoeff(), of_label = row[labels_[begin + i]];
        row = (row.array() - most).exp();
        const double sum = row.sum();
        loss += std::log(sum) + most - of_label;
        row /= sum;
        row[labels_[begin + i]] -= 1;
      }
      loss_[block] = loss;
      Eigen::VectorXd& part = gradient_[block];
      Eigen::Map<RowMajor>(part.data(), classes_, features_.cols()).noalias() = p.transpose() * x;
      part.tail(classes_) = p.colwise().sum();
    });
    double loss = 0;
    gradient->setZero(size());
    for (int64_t block = 0; block < blocks_.count; ++block) {
      loss += loss_[block];
      *gradient += gradient_[block];
    }
    const auto n = static_cast<double>(labels_.size());
    *gradient /= n;
    gradient->head(weights()) += penalty_ * at.head(weights());
    return loss / n + penalty_ / 2 * at.head(weights()).squaredNorm();
  }

 private:
  const FloatRows features_;
  const absl::Span<const int64_t> labels_;
  const int classes_;
  const double penalty_;
  const Blocks blocks_;
  Eigen::RowVectorXd mean_;
  std::vector<double> loss_;
  std::vector<Eigen::VectorXd> gradient_;
};

// A point, the loss there and its gradient.
struct Point {
  Eigen::VectorXd at, gradient;
  double loss = 0;
};

// The inverse of an estimate of the Hessian, the same for each class.
class InverseCurvature {
 public:
  explicit InverseCurvature(const LogisticLoss& loss)
      : factor_(loss.Curvature()), of_bias_(1 / loss.MeanCurvature()), classes_(loss.classes()) {}

  Eigen::VectorXd operator*(const Eigen::VectorXd& v) const {
    const Eigen::Index dim = factor_.rows();
    Eigen::VectorXd result(v.size());
    // Row by row, the weights of a class are a column of the solver's right side.
    Eigen::Map<Eigen::MatrixXd>(result.data(), dim, classes_) =
        factor_.solve(Eigen::Map<const Eigen::MatrixXd>(v.data(), dim, classes_));
    result.tail(classes_) = of_bias_ * v.tail(classes_);
    return result;
  }

 private:
  const Eigen::LLT<Eigen::MatrixXd, Eigen::Lower> factor_;
  const double of_bias_;
  const int classes_;
};

// L-BFGS (Nocedal 1980) with the last kMemory steps, which starts from InverseCurvature.
class Lbfgs {
 public:
  explicit Lbfgs(const LogisticLoss& loss) : first_(loss) {}

  // -H gradient, H the approximation of the inverse Hessian.
  Eigen::VectorXd Direction(const Eigen::VectorXd& gradient) const {
    Eigen::VectorXd d = -gradient;
    std::vector<double> alpha(steps_.size());
    for (size_t i = steps_.size(); i-- > 0;) {
      alpha[i] = steps_[i].rho * steps_[i].s.dot(d);
      d -= alpha[i] * steps_[i].y;
    }
    d = first_ * d;
    if (!steps_.empty()) d *= 1 / (steps_.back().rho * steps_.back().y.dot(steps_.back().first_y));
    for (size_t i = 0; i < steps_.size(); ++i) d += (alpha[i] - steps_[i].rho * steps_[i].y.dot(d)) * steps_[i].s;
    return d;
  }

  void Add(Eigen::VectorXd s, Eigen::VectorXd y) {
    const double curvature = s.dot(y);
    if (!(curvature > 0)) return;
    if (steps_.size() == kMemory) steps_.pop_front();
    Eigen::VectorXd first_y = first_ * y;
    steps_.push_back({std::move(s), std::move(y), std::move(first_y), 1 / curvature});
  }

  void Forget() { steps_.clear(); }
  bool empty() const { return steps_.empty(); }

 private:
  static constexpr size_t kMemory = 20;
  struct Step {
    Eigen::VectorXd s, y, first_y;  // first_y: first_ * y
    double rho;
  };
  const InverseCurvature first_;
  std::deque<Step> steps_;
};

// Looks for a step along `direction` that meets Wolfe's conditions, or their approximation by slopes where rounding
// hides the decrease (Hager and Zhang 2005). Returns whether there is one.
bool Search(const Point& from, const Eigen::VectorXd& direction, LogisticLoss* loss, Point* to) {
  constexpr double kDecrease = 1e-4, kCurvature = 0.9, kRounding = 1e-13;
  constexpr int kMostTries = 60;
  const double slope = from.gradient.dot(direction);
  if (!(slope < 0)) return false;
  double low = 0, high = 0, t = 1;  // high is 0 until a step is too long
  for (int i = 0; i < kMostTries; ++i) {
    to->at = from.at + t * direction;
    to->loss = (*loss)(to->at, &to->gradient);
    const double slope_there = to->gradient.dot(direction);
    const bool decreases = to->loss <= from.loss + kDecrease * t * slope;
    const bool is_flat = to->loss <= from.loss + kRounding * std::abs(from.loss) && slope_there <= -0.8 * slope;
    if (!std::isfinite(to->loss) || (!decreases && !is_flat)) {
      high = t;
    } else if (slope_there < kCurvature * slope) {
      low = t;
    } else {
      return true;
    }
    t = high > 0 ? (low + high) / 2 : 2 * t;
  }
  return false;
}

}  // namespace

absl::StatusOr<LinearMap> FitLogisticRegression(const LogisticRegressionSpec& spec, absl::Span<const float> features,
                                                absl::Span<const int64_t> labels, int num_classes) {
  if (num_classes < 2) return absl::InvalidArgumentError("logistic_regression: there is one known class only");
  LogisticLoss loss(features, labels, num_classes, spec.c());
  Point now;
  now.at = Eigen::VectorXd::Zero(loss.size());
  now.loss = loss(now.at, &now.gradient);
  Lbfgs lbfgs(loss);
  for (int step = 0; now.gradient.lpNorm<Eigen::Infinity>() > spec.tolerance(); ++step) {
    if (step >= spec.steps()) {
      return absl::OutOfRangeError(
          absl::StrCat("logistic_regression: after ", step, " steps, the largest gradient is ",
                       now.gradient.lpNorm<Eigen::Infinity>(), ", above the tolerance ", spec.tolerance(),
                       "; allow more steps, or scale the features (divide them by their standard deviation)"));
    }
    Point next;
    bool found = Search(now, lbfgs.Direction(now.gradient), &loss, &next);
    if (!found && !lbfgs.empty()) {  // start again with the steepest descent
      lbfgs.Forget();
      found = Search(now, lbfgs.Direction(now.gradient), &loss, &next);
    }
    if (!found) break;  // rounding allows no better point
    lbfgs.Add(next.at - now.at, next.gradient - now.gradient);
    now = std::move(next);
  }
  const Eigen::Index dim = loss.weights() / num_classes;
  const Eigen::Map<const RowMajor> weight(now.at.data(), num_classes, dim);
  return LinearMap{weight, now.at.tail(num_classes) - weight * loss.mean().transpose()};
}

LinearMap FitClassMeans(absl::Span<const float> features, absl::Span<const int64_t> labels, int num_classes) {
  const auto n = static_cast<int64_t>(labels.size());
  const FloatRows rows(features.data(), n, static_cast<Eigen::Index>(features.size()) / n);
  LinearMap head{RowMajor::Zero(num_classes, rows.cols()), Eigen::VectorXd::Zero(num_classes)};
  Eigen::VectorXd count = Eigen::VectorXd::Zero(num_classes);
  for (int64_t i = 0; i < n; ++i) {
    head.weight.row(labels[i]) += rows.row(i).cast<double>();
    count[labels[i]] += 1;
  }
  for (int c = 0; c < num_classes; ++c) head.weight.row(c) /= std::max(1.0, count[c]);
  head.bias = -head.weight.rowwise().squaredNorm() / 2;
  return head;
}

std::vector<float> Logits(const LinearMap& head, absl::Span<const float> features) {
  const Eigen::Index dim = head.weight.cols(), classes = head.weight.rows();
  const auto n = static_cast<int64_t>(features.size()) / dim;
  const FloatRows rows(features.data(), n, dim);
  std::vector<float> logits(n * classes);
  InParallelRanges(n, kFewestRows, [&](int64_t begin, int64_t end) {
    RowMajor of_rows = rows.middleRows(begin, end - begin).cast<double>() * head.weight.transpose();
    of_rows.rowwise() += head.bias.transpose();
    for (Eigen::Index i = 0; i < of_rows.size(); ++i) {
      logits[begin * classes + i] = static_cast<float>(of_rows.data()[i]);
    }
  });
  return logits;
}

}  // namespace openset
