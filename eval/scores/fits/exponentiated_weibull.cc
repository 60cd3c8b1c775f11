#include "eval/scores/fits/exponentiated_weibull.h"

#include <cmath>
#include <limits>

#include "eval/scores/fits/nelder_mead.h"

namespace openset {
namespace {

// x ln y, 0 for x = 0.
double XLogY(double x, double y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); }

double LogDensity(double t, double a, double c) {
  const double power = std::pow(t, c);
  return std::log(a) + std::log(c) + XLogY(a - 1, -std::expm1(-power)) - power + XLogY(c - 1, t);
}

// The negative log likelihood, with SciPy's penalty for impossible values.
double Cost(const std::vector<double>& theta, const std::vector<double>& values) {
  const double a = theta[0], c = theta[1], location = theta[2], scale = theta[3];
  if (!(a > 0 && c > 0 && scale > 0)) return std::numeric_limits<double>::infinity();
  double sum = 0;
  int impossible = 0;
  for (const double value : values) {
    const double t = (value - location) / scale;
    const double log_density = t >= 0 ? LogDensity(t, a, c) : std::nan("");
    if (std::isfinite(log_density)) {
      sum += log_density;
    } else {
      ++impossible;
    }
  }
  return -sum + 100 * impossible * std::log(std::numeric_limits<double>::max()) +
         static_cast<double>(values.size()) * std::log(scale);
}

}  // namespace

double ExponentiatedWeibull::Cdf(double x) const {
  const double t = (x - location) / scale;
  return t <= 0 ? 0 : std::pow(-std::expm1(-std::pow(t, c)), a);
}

ExponentiatedWeibull FitExponentiatedWeibull(const std::vector<double>& values) {
  const auto cost = [&values](const std::vector<double>& theta) { return Cost(theta, values); };
  const std::vector<double> best = NelderMead(cost, {1, 1, 0, 0.2});
  return {best[0], best[1], best[2], best[3]};
}

}  // namespace openset
