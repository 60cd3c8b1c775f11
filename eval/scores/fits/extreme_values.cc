#include "eval/scores/fits/extreme_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace openset {
namespace {

constexpr double kTolerance = 1e-4;

struct Vertex {
  std::vector<double> x;
  double value = 0;
};

class Simplex {
 public:
  Simplex(const std::function<double(const std::vector<double>&)>& f, const std::vector<double>& start)
      : f_(f), budget_(200 * static_cast<int>(start.size())) {
    vertices_.push_back(At(start));
    for (size_t i = 0; i < start.size(); ++i) {
      std::vector<double> moved = start;
      moved[i] = moved[i] == 0 ? 0.00025 : 1.05 * moved[i];
      vertices_.push_back(At(std::move(moved)));
    }
    Sort();
  }

  bool Converged() const {
    double distance = 0, spread = 0;
    for (const Vertex& vertex : vertices_) {
      for (size_t i = 0; i < vertex.x.size(); ++i) {
        distance = std::max(distance, std::abs(vertex.x[i] - vertices_[0].x[i]));
      }
      spread = std::max(spread, std::abs(vertex.value - vertices_[0].value));
    }
    return distance <= kTolerance && spread <= kTolerance;
  }

  bool Exhausted() const { return evaluations_ >= budget_; }
  int budget() const { return budget_; }
  const std::vector<double>& best() const { return vertices_[0].x; }

  void Step() {
    Vertex& worst = vertices_.back();
    const Vertex reflected = Towards(-1);
    if (reflected.value < vertices_[0].value) {
      Vertex expanded = Towards(-2);
      worst = expanded.value < reflected.value ? std::move(expanded) : reflected;
    } else if (reflected.value < vertices_[vertices_.size() - 2].value) {
      worst = reflected;
    } else {
      const bool outside = reflected.value < worst.value;
      Vertex contracted = Towards(outside ? -0.5 : 0.5);
      if (outside ? contracted.value <= reflected.value : contracted.value < worst.value) {
        worst = std::move(contracted);
      } else {
        Shrink();
      }
    }
    Sort();
  }

 private:
  Vertex At(std::vector<double> x) {
    ++evaluations_;
    const double value = f_(x);
    return {std::move(x), value};
  }

  // The point at `share` of the way from the mean of all other vertices to the worst one.
  Vertex Towards(double share) {
    std::vector<double> x(vertices_[0].x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      double mean = 0;
      for (size_t v = 0; v + 1 < vertices_.size(); ++v) mean += vertices_[v].x[i];
      mean /= static_cast<double>(vertices_.size() - 1);
      x[i] = (1 - share) * mean + share * vertices_.back().x[i];
    }
    return At(std::move(x));
  }

  void Shrink() {
    for (size_t v = 1; v < vertices_.size(); ++v) {
      std::vector<double> x = vertices_[v].x;
      for (size_t i = 0; i < x.size(); ++i) x[i] = vertices_[0].x[i] + 0.5 * (x[i] - vertices_[0].x[i]);
      vertices_[v] = At(std::move(x));
    }
  }

  void Sort() {
    std::stable_sort(vertices_.begin(), vertices_.end(),
                     [](const Vertex& a, const Vertex& b) { return a.value < b.value; });
  }

  const std::function<double(const std::vector<double>&)>& f_;
  const int budget_;
  int evaluations_ = 0;
  std::vector<Vertex> vertices_;  // ascending values
};

}  // namespace

std::vector<double> NelderMead(const std::function<double(const std::vector<double>&)>& f,
                               const std::vector<double>& start) {
  Simplex simplex(f, start);
  for (int step = 1; step < simplex.budget() && !simplex.Exhausted() && !simplex.Converged(); ++step) simplex.Step();
  return simplex.best();
}

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

namespace {

// Over u = ln(x / max x) <= 0, weighted by exp(k u).
struct Moments {
  double weight = 0;  // sum of the weights
  double mean = 0;
  double variance = 0;
};

Moments MomentsAt(double k, const std::vector<double>& u) {
  Moments moments;
  for (const double value : u) {
    const double w = std::exp(k * value);
    moments.weight += w;
    moments.mean += w * value;
  }
  moments.mean /= moments.weight;
  for (const double value : u) {
    moments.variance += std::exp(k * value) * (value - moments.mean) * (value - moments.mean) / moments.weight;
  }
  return moments;
}

// The root k of mean_k(u) - mean(u) - 1 / k, which rises from -infinity to a positive value: Newton's method within a
// bracket.
double LikeliestShape(const std::vector<double>& u) {
  double mean = 0;
  for (const double value : u) mean += value / u.size();
  double low = 0;
  double high = -1 / mean;
  while (MomentsAt(high, u).mean - mean - 1 / high < 0) {
    low = high;
    high *= 2;
  }
  double k = high;
  for (int step = 0; step < 200; ++step) {
    const Moments moments = MomentsAt(k, u);
    const double slope = moments.mean - mean - 1 / k;
    (slope < 0 ? low : high) = k;
    const double next = k - slope / (moments.variance + 1 / (k * k));
    const double last = k;
    k = next > low && next < high ? next : (low + high) / 2;
    if (std::abs(k - last) <= 1e-15 * k) break;
  }
  return k;
}

}  // namespace

double WeibullTail::Cdf(double x) const {
  const double z = x + shift;
  return z <= 0 ? 0 : -std::expm1(-std::exp(shape * std::log(z / scale)));
}

absl::StatusOr<WeibullTail> FitWeibullTail(std::vector<double> values, int tail, double translation) {
  for (const double value : values) {
    if (!std::isfinite(value)) return absl::InvalidArgumentError("a value of the tail is not finite");
  }
  if (values.size() < 2) {
    return absl::InvalidArgumentError(absl::StrCat("a tail needs at least 2 values (has ", values.size(), ")"));
  }
  std::sort(values.begin(), values.end(), std::greater<double>());
  if (values.size() > tail) values.resize(tail);
  const double smallest = values.back();
  const double largest = translation + (values.front() - smallest);
  std::vector<double> u;
  for (const double value : values) u.push_back(std::log1p((value - values.front()) / largest));
  if (u.back() == 0) return absl::InvalidArgumentError(absl::StrCat("all ", values.size(), " values are equal"));
  WeibullTail fitted;
  fitted.shape = LikeliestShape(u);
  fitted.scale = largest * std::exp(std::log(MomentsAt(fitted.shape, u).weight / u.size()) / fitted.shape);
  fitted.shift = translation - smallest;
  return fitted;
}

namespace {

// x ln y, 0 for x = 0.
double XLogY(double x, double y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log(y); }

double LogDensity(double t, double a, double c) {
  const double power = std::pow(t, c);
  return std::log(a) + std::log(c) + XLogY(a - 1, -std::expm1(-power)) - power + XLogY(c - 1, t);
}

// The negative log likelihood, with SciPy's penalty for impossible values.
double ExponentiatedWeibullCost(const std::vector<double>& theta, const std::vector<double>& values) {
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
  const auto cost = [&values](const std::vector<double>& theta) { return ExponentiatedWeibullCost(theta, values); };
  const std::vector<double> best = NelderMead(cost, {1, 1, 0, 0.2});
  return {best[0], best[1], best[2], best[3]};
}

}  // namespace openset
