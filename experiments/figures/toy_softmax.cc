#include "experiments/figures/toy_softmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/random.h"

namespace openset {
namespace {

using Point = std::array<double, 2>;

constexpr double kPi = 3.14159265358979323846;
constexpr int kAttempts = 1000;  // to find each outlier

// A sample and its target: the cross-entropy weight of each class; their sum is the sample's weight.
struct Sample {
  Point at;
  std::vector<double> target;
};

class Network {
 public:
  Network(int hidden, int classes, RandomStream* random)
      : hidden_(hidden), classes_(classes), in_(3 * hidden), out_((hidden + 1) * classes) {
    for (int h = 0; h < hidden_; ++h) {
      for (int d = 0; d < 2; ++d) in_[3 * h + d] = random->Normal();  // 2 inputs: variance 1
    }
    const double scale = std::sqrt(2.0 / hidden);
    for (int c = 0; c < classes_; ++c) {
      for (int h = 0; h < hidden_; ++h) out_[c * (hidden_ + 1) + h] = scale * random->Normal();
    }
  }

  std::vector<double> Softmax(const Point& x) const {
    std::vector<double> active(hidden_);
    return Softmax(x, &active);
  }

  void Step(const std::vector<Sample>& samples, double learning_rate) {
    std::vector<double> in_gradient(in_.size(), 0), out_gradient(out_.size(), 0), active(hidden_);
    for (const Sample& sample : samples) {
      const std::vector<double> softmax = Softmax(sample.at, &active);
      double weight = 0;
      for (const double target : sample.target) weight += target;
      std::vector<double> back(hidden_, 0);
      for (int c = 0; c < classes_; ++c) {
        const double error = weight * softmax[c] - sample.target[c];
        double* gradient = &out_gradient[c * (hidden_ + 1)];
        const double* row = &out_[c * (hidden_ + 1)];
        for (int h = 0; h < hidden_; ++h) {
          gradient[h] += error * active[h];
          back[h] += error * row[h];
        }
        gradient[hidden_] += error;
      }
      for (int h = 0; h < hidden_; ++h) {
        if (active[h] <= 0) continue;
        in_gradient[3 * h] += back[h] * sample.at[0];
        in_gradient[3 * h + 1] += back[h] * sample.at[1];
        in_gradient[3 * h + 2] += back[h];
      }
    }
    for (size_t i = 0; i < in_.size(); ++i) in_[i] -= learning_rate * in_gradient[i];
    for (size_t i = 0; i < out_.size(); ++i) out_[i] -= learning_rate * out_gradient[i];
  }

 private:
  // `active`: the hidden units' outputs.
  std::vector<double> Softmax(const Point& x, std::vector<double>* active) const {
    for (int h = 0; h < hidden_; ++h) {
      (*active)[h] = std::max(0.0, in_[3 * h] * x[0] + in_[3 * h + 1] * x[1] + in_[3 * h + 2]);
    }
    std::vector<double> softmax(classes_);
    for (int c = 0; c < classes_; ++c) {
      const double* row = &out_[c * (hidden_ + 1)];
      softmax[c] = row[hidden_];
      for (int h = 0; h < hidden_; ++h) softmax[c] += row[h] * (*active)[h];
    }
    const double largest = *std::max_element(softmax.begin(), softmax.end());
    double sum = 0;
    for (double& value : softmax) sum += value = std::exp(value - largest);
    for (double& value : softmax) value /= sum;
    return softmax;
  }

  const int hidden_, classes_;
  std::vector<double> in_;   // [hidden, 3]: x, y, bias
  std::vector<double> out_;  // [classes, hidden + 1]: hidden units, bias
};

Point Centre(const ToySoftmaxSpec& spec, int c) {
  const double angle = kPi / 2 + 2 * kPi * c / spec.classes();
  return {spec.radius() * std::cos(angle), spec.radius() * std::sin(angle)};
}

std::vector<Sample> KnownSamples(const ToySoftmaxSpec& spec, uint64_t seed) {
  RandomStream random(seed, "figure/toy/known");
  const double weight = 1.0 / (spec.classes() * spec.samples_per_class());
  std::vector<Sample> samples;
  for (int c = 0; c < spec.classes(); ++c) {
    const Point centre = Centre(spec, c);
    for (int i = 0; i < spec.samples_per_class(); ++i) {
      Sample sample;
      for (int d = 0; d < 2; ++d) sample.at[d] = centre[d] + spec.spread() * random.Normal();
      sample.target.assign(spec.classes(), 0);
      sample.target[c] = weight;
      samples.push_back(std::move(sample));
    }
  }
  return samples;
}

void AddOutliers(const ToySoftmaxSpec& spec, uint64_t seed, std::vector<Sample>* samples) {
  RandomStream random(seed, "figure/toy/outliers");
  const int wanted = spec.classes() * spec.samples_per_class();
  std::vector<Point> found;
  for (int attempt = 0; attempt < kAttempts * wanted && static_cast<int>(found.size()) < wanted; ++attempt) {
    Point at;
    for (double& coordinate : at) coordinate = random.Uniform(-spec.range(), spec.range());
    bool far = true;
    for (int c = 0; c < spec.classes(); ++c) {
      const Point centre = Centre(spec, c);
      const double x = at[0] - centre[0], y = at[1] - centre[1];
      far &= std::sqrt(x * x + y * y) >= spec.outlier_distance();
    }
    if (far) found.push_back(at);
  }
  const double weight = spec.outlier_weight() / static_cast<double>(found.size() * spec.classes());
  for (const Point& at : found) samples->push_back({at, std::vector<double>(spec.classes(), weight)});
}

Network Trained(const ToySoftmaxSpec& spec, uint64_t seed, int member, const std::vector<Sample>& samples) {
  RandomStream random(seed, absl::StrCat("figure/toy/member ", member));
  Network network(spec.hidden(), spec.classes(), &random);
  for (int step = 0; step < spec.steps(); ++step) network.Step(samples, spec.learning_rate());
  return network;
}

ToyMap MapOf(const std::string& method, const ToySoftmaxSpec& spec, const std::vector<Network>& networks) {
  ToyMap map;
  map.method = method;
  for (int row = spec.grid() - 1; row >= 0; --row) {
    for (int column = 0; column < spec.grid(); ++column) {
      std::vector<double> mean(spec.classes(), 0);
      for (const Network& network : networks) {
        const std::vector<double> softmax = network.Softmax({ToyCoordinate(spec, column), ToyCoordinate(spec, row)});
        for (int c = 0; c < spec.classes(); ++c) mean[c] += softmax[c] / static_cast<double>(networks.size());
      }
      map.value.push_back(*std::max_element(mean.begin(), mean.end()));
    }
  }
  return map;
}

}  // namespace

double ToyCoordinate(const ToySoftmaxSpec& spec, int i) { return spec.range() * (2.0 * i / (spec.grid() - 1) - 1); }

std::vector<ToyMap> ToySoftmaxMaps(const ToySoftmaxSpec& spec, uint64_t seed) {
  std::vector<Sample> samples = KnownSamples(spec, seed);
  std::vector<Network> members;
  for (int m = 0; m < spec.members(); ++m) members.push_back(Trained(spec, seed, m, samples));
  AddOutliers(spec, seed, &samples);
  return {MapOf("MCP", spec, {members[0]}), MapOf("Deep Ensemble", spec, members),
          MapOf("Outlier Exposure", spec, {Trained(spec, seed, 0, samples)})};
}

}  // namespace openset
