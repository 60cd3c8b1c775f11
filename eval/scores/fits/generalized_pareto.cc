#include "eval/scores/fits/generalized_pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "eval/scores/fits/nelder_mead.h"

namespace openset {
namespace {

// The negative log likelihood of parameters (shape, location, scale). A value outside the support counts like one with
// density 1 / (the largest double)^100.
double Cost(const std::vector<double>& values, const std::vector<double>& parameters) {
  const double shape = parameters[0], location = parameters[1], scale = parameters[2];
  if (!(scale > 0) || !std::isfinite(shape)) return std::numeric_limits<double>::infinity();
  const double penalty = 100 * std::log(std::numeric_limits<double>::max());
  double cost = 0;
  int outside = 0;
  for (const double value : values) {
    const double y = (value - location) / scale;
    const double term = shape == 0 ? y : (shape + 1) * std::log1p(shape * y) / shape;
    if (y < 0 || (shape < 0 && y > -1 / shape) || !std::isfinite(term)) {
      ++outside;
    } else {
      cost += term;
    }
  }
  return cost + outside * penalty + static_cast<double>(values.size()) * std::log(scale);
}

}  // namespace

double GeneralizedPareto::Cdf(double x) const {
  const double y = (x - location) / scale;
  if (y <= 0) return 0;
  if (shape == 0) return -std::expm1(-y);
  if (shape < 0 && y >= -1 / shape) return 1;
  return -std::expm1(-std::log1p(shape * y) / shape);
}

absl::StatusOr<GeneralizedPareto> FitGeneralizedPareto(std::vector<double> values) {
  if (values.size() < 2) {
    return absl::InvalidArgumentError(absl::StrCat("a generalised Pareto distribution needs at least 2 values, there ",
                                                   values.size() == 1 ? "is 1" : "are none"));
  }
  for (const double value : values) {
    if (!std::isfinite(value)) {
      return absl::InvalidArgumentError("a generalised Pareto distribution needs finite values");
    }
  }
  std::sort(values.begin(), values.end());
  // For shape 1 neither the mean nor the variance is finite, and the moments say nothing about the start.
  double location = 0;
  if (!(values.front() > 0)) location = values.front() - 0.1 * (values.back() - values.front());
  const std::vector<double> found = NelderMead(
      [&values](const std::vector<double>& parameters) { return Cost(values, parameters); }, {1, location, 1});
  return GeneralizedPareto{found[0], found[1], found[2]};
}

}  // namespace openset
