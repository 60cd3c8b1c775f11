#include "eval/scores/fits/yeo_johnson.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace openset {
namespace {

constexpr double kLargestLambda = 64;

// (exp(m u) - 1) / m, and its derivative by m; u and u^2 / 2 for m = 0.
struct PowerOf {
  PowerOf(double u, double m) {
    const double mu = m * u;
    if (std::abs(mu) < 1e-4) {  // u (1 + mu / 2 + ...), u^2 (1/2 + mu / 3 + ...)
      value = u * (1 + mu / 2 * (1 + mu / 3 * (1 + mu / 4)));
      slope = u * u * (0.5 + mu / 3 * (1 + 3 * mu / 8 * (1 + 4 * mu / 15)));
    } else {
      value = std::expm1(mu) / m;
      slope = (u * std::exp(mu) - value) / m;
    }
  }
  double value = 0;
  double slope = 0;
};

// All values are equal except for rounding.
bool IsConstant(const Eigen::VectorXd& values, double mean, double variance) {
  const double n = static_cast<double>(values.size());
  const double rounding = n * std::numeric_limits<double>::epsilon();
  return variance <= rounding * variance + (rounding * mean) * (rounding * mean);
}

// The derivative of the log likelihood -n/2 log(variance) + (lambda - 1) sum_i sign(x_i) log(1 + |x_i|), over n.
double Slope(const Eigen::VectorXd& values, double lambda) {
  const int64_t n = values.size();
  Eigen::VectorXd y(n), dy(n);
  double jacobian = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double u = std::log1p(std::abs(values[i]));
    const PowerOf power(u, values[i] < 0 ? 2 - lambda : lambda);
    y[i] = values[i] < 0 ? -power.value : power.value;
    dy[i] = power.slope;  // also for x < 0: two minus signs cancel
    jacobian += values[i] < 0 ? -u : u;
  }
  const Eigen::VectorXd centred = y.array() - y.mean();
  return jacobian / static_cast<double>(n) - centred.dot(dy) / centred.squaredNorm();
}

}  // namespace

double YeoJohnson(double x, double lambda) {
  return x < 0 ? -PowerOf(std::log1p(-x), 2 - lambda).value : PowerOf(std::log1p(x), lambda).value;
}

double LikeliestYeoJohnsonLambda(const Eigen::VectorXd& values) {
  const double mean = values.mean();
  const double variance = (values.array() - mean).square().mean();
  if (IsConstant(values, mean, variance)) return 1;
  // The slope falls: a bracket around its root, then halving with steps of the secant in between.
  double low = -2, high = 2;
  double low_slope = Slope(values, low), high_slope = Slope(values, high);
  while (low_slope < 0 && low > -kLargestLambda) low_slope = Slope(values, low *= 2);
  while (high_slope > 0 && high < kLargestLambda) high_slope = Slope(values, high *= 2);
  if (low_slope < 0) return low;
  if (high_slope > 0) return high;
  for (int step = 0; step < 200 && high - low > 1e-14 * (1 + std::abs(low)); ++step) {
    double middle = (low + high) / 2;
    if (step % 3 != 2) {
      const double secant = low + (high - low) * low_slope / (low_slope - high_slope);
      if (secant > low && secant < high) middle = secant;
    }
    const double slope = Slope(values, middle);
    if (slope == 0) return middle;
    if (slope > 0) {
      low = middle;
      low_slope = slope;
    } else {
      high = middle;
      high_slope = slope;
    }
  }
  return (low + high) / 2;
}

PowerTransform::Standard PowerTransform::StandardOf(const Eigen::VectorXd& values) {
  Standard standard;
  standard.mean = values.mean();
  const double variance = (values.array() - standard.mean).square().mean();
  if (!IsConstant(values, standard.mean, variance)) standard.deviation = std::sqrt(variance);
  return standard;
}

PowerTransform::PowerTransform(const Eigen::VectorXd& values) : before_(StandardOf(values)) {
  Eigen::VectorXd x = (values.array() - before_.mean) / before_.deviation;
  lambda_ = LikeliestYeoJohnsonLambda(x);
  for (double& value : x) value = YeoJohnson(value, lambda_);
  after_ = StandardOf(x);
}

double PowerTransform::operator()(double x) const {
  return (YeoJohnson((x - before_.mean) / before_.deviation, lambda_) - after_.mean) / after_.deviation;
}

}  // namespace openset
