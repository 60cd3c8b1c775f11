#include "eval/statistics/distributions.h"

#include <cmath>
#include <cstdint>

#include "boost/math/distributions/beta.hpp"
#include "boost/math/distributions/binomial.hpp"
#include "boost/math/distributions/chi_squared.hpp"
#include "boost/math/distributions/complement.hpp"
#include "boost/math/distributions/fisher_f.hpp"
#include "boost/math/distributions/normal.hpp"
#include "boost/math/distributions/students_t.hpp"
#include "boost/math/tools/roots.hpp"

namespace openset {
namespace {

namespace policies = boost::math::policies;

// Overflow gives infinity, never an exception.
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>, policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>>;
using Normal = boost::math::normal_distribution<double, Quiet>;
using StudentT = boost::math::students_t_distribution<double, Quiet>;

}  // namespace

double NormalCdf(double z) { return boost::math::cdf(Normal(), z); }

double NormalQuantile(double p) { return boost::math::quantile(Normal(), p); }

double StudentTTwoSidedTail(double t, double degrees_of_freedom) {
  return 2 * boost::math::cdf(boost::math::complement(StudentT(degrees_of_freedom), std::abs(t)));
}

double StudentTTwoSidedQuantile(double p, double degrees_of_freedom) {
  return boost::math::quantile(boost::math::complement(StudentT(degrees_of_freedom), p / 2));
}

double ChiSquaredTail(double x, double degrees_of_freedom) {
  return boost::math::cdf(
      boost::math::complement(boost::math::chi_squared_distribution<double, Quiet>(degrees_of_freedom), x));
}

double FisherTail(double x, double df1, double df2) {
  if (std::isinf(x)) return 0;
  return boost::math::cdf(boost::math::complement(boost::math::fisher_f_distribution<double, Quiet>(df1, df2), x));
}

double BetaQuantile(double p, double a, double b) {
  return boost::math::quantile(boost::math::beta_distribution<double, Quiet>(a, b), p);
}

double NormalRangeTail(double q, int groups) {
  // P(range <= q) = k * integral of phi(z) (Phi(z) - Phi(z - q))^(k - 1) over z, the largest of the k. The trapezoid
  // rule converges faster than any power of its step on this integrand.
  constexpr double kStep = 1.0 / 16;
  double inside = 0;
  for (double z = -9; z <= 9 + q; z += kStep) {
    inside += boost::math::pdf(Normal(), z) * std::pow(NormalCdf(z) - NormalCdf(z - q), groups - 1);
  }
  return std::fmax(0, 1 - groups * inside * kStep);
}

double NormalRangeQuantile(double p, int groups) {
  const auto excess = [&](double q) { return NormalRangeTail(q, groups) - p; };
  std::uintmax_t steps = 200;
  const auto [low, high] = boost::math::tools::toms748_solve(
      excess, 0.0, 40.0, 1 - p, excess(40), boost::math::tools::eps_tolerance<double>(50), steps, Quiet());
  return (low + high) / 2;
}

}  // namespace openset
