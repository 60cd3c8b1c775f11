#include "eval/statistics/distributions.h"

#include <cmath>
#include <functional>

#include "unsupported/Eigen/SpecialFunctions"

namespace openset {
namespace {

// x in [low, high] where the decreasing function `tail` is p, to the last bits.
double Inverse(const std::function<double(double)>& tail, double p, double low, double high) {
  for (int step = 0; step < 200 && high - low > 1e-15 * high; ++step) {
    const double middle = (low + high) / 2;
    (tail(middle) > p ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double NormalCdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

double NormalQuantile(double p) { return Eigen::numext::ndtri(p); }

double StudentTTwoSidedTail(double t, double degrees_of_freedom) {
  if (std::isinf(t)) return 0;
  const double half = degrees_of_freedom / 2;
  const double sum = degrees_of_freedom + t * t;
  if (t * t < degrees_of_freedom) return 1 - Eigen::numext::betainc(0.5, half, t * t / sum);
  return Eigen::numext::betainc(half, 0.5, degrees_of_freedom / sum);
}

double StudentTTwoSidedQuantile(double p, double degrees_of_freedom) {
  const auto tail = [degrees_of_freedom](double t) { return StudentTTwoSidedTail(t, degrees_of_freedom); };
  double high = 1;
  while (tail(high) > p) high *= 2;
  return Inverse(tail, p, 0, high);
}

double ChiSquaredTail(double x, double degrees_of_freedom) {
  return Eigen::numext::igammac(degrees_of_freedom / 2, x / 2);
}

double NormalRangeTail(double q, int groups) {
  // P(range <= q) = k * integral of phi(z) (Phi(z) - Phi(z - q))^(k - 1) over z, the largest of the k. The trapezoid
  // rule converges faster than any power of its step on this integrand.
  constexpr double kStep = 1.0 / 16;
  double inside = 0;
  for (double z = -9; z <= 9 + q; z += kStep) {
    const double density = std::exp(-z * z / 2) * 0.3989422804014327;  // 1 / sqrt(2 pi)
    inside += density * std::pow(NormalCdf(z) - NormalCdf(z - q), groups - 1);
  }
  return std::fmax(0, 1 - groups * inside * kStep);
}

double NormalRangeQuantile(double p, int groups) {
  return Inverse([groups](double q) { return NormalRangeTail(q, groups); }, p, 0, 40);
}

}  // namespace openset
