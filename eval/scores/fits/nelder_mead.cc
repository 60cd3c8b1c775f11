#include "eval/scores/fits/nelder_mead.h"

#include <algorithm>
#include <cmath>
#include <utility>

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

}  // namespace openset
