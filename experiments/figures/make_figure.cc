#include "experiments/figures/make_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/openness.h"
#include "core/random.h"
#include "eval/metrics/evaluation_input.h"
#include "eval/metrics/ranked_input.h"
#include "eval/report/curve_files.h"

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

namespace {

constexpr int kCurveRows = 1000;

// ---- Metrics over the TPR of the unknown class.

ThresholdCurves CurvesOf(const MadeUpTask& task, RandomStream* random) {
  std::vector<double> score;
  std::vector<int32_t> prediction, label;
  const int classes = task.known_classes();
  for (int i = 0; i < task.known_samples() + task.unknown_samples(); ++i) {
    const bool known = i < task.known_samples();
    label.push_back(known ? i % classes : kUnknownLabel);
    const bool right = known && random->Uniform() < task.accuracy();
    const auto other = static_cast<int32_t>(random->Below(known ? classes - 1 : classes));
    prediction.push_back(right ? label.back() : other + (known && other >= label.back() ? 1 : 0));
    score.push_back(random->Normal() + (right ? 0 : known ? task.wrong_mean() : task.unknown_mean()));
  }
  EvaluationInput::Arrays arrays;
  arrays.unknown_score = score;
  arrays.prediction = prediction;
  arrays.label = label;
  arrays.num_classes = classes;
  return MakeThresholdCurves(RankedInput(EvaluationInput::Create(arrays).value()), kCurveRows);
}

Figure MetricsOverTpr(const FigureSpec& spec) {
  Figure figure;
  std::vector<Plot> plots;
  for (const MadeUpTask& task : spec.metrics_over_tpr().task()) {
    RandomStream random(spec.seed(), absl::StrCat("figure/", task.name()));
    ThresholdCurves curves = CurvesOf(task, &random);
    if (figure.data.header.empty()) {
      figure.data.header = curves.table.header;
      figure.data.header.insert(figure.data.header.begin(), "task");
    }
    for (std::vector<std::string>& row : curves.table.rows) {
      row.insert(row.begin(), task.name());
      figure.data.rows.push_back(std::move(row));
    }
    curves.plot.title = task.name();
    plots.push_back(std::move(curves.plot));
  }
  figure.chart = ToVegaLite(std::vector<std::vector<Plot>>{plots});
  return figure;
}

// ---- Base metrics of random predictions.

constexpr const char* kBaseMetrics[] = {"f1", "accuracy", "balanced_accuracy"};

// The three base metrics of one repetition. F1 is 0 if no sample is predicted to be known; so is 0/0.
std::vector<double> RandomPredictions(int64_t known, int64_t unknown, double chance, RandomStream* random) {
  const auto called_known = [&](int64_t samples) {
    int64_t count = 0;
    for (int64_t i = 0; i < samples; ++i) count += random->Uniform() < chance;
    return static_cast<double>(count);
  };
  const double true_positive = called_known(known);
  const double false_positive = called_known(unknown);
  const double all = static_cast<double>(known + unknown);
  const double true_negative = unknown - false_positive;
  return {2 * true_positive / (true_positive + false_positive + known), (true_positive + true_negative) / all,
          (true_positive / known + true_negative / unknown) / 2};
}

Figure BaseMetrics(const FigureSpec& spec) {
  const RandomPredictionsSpec& random_spec = spec.random_predictions();
  Figure figure;
  figure.data.header = {"chance", "known_classes", "unknown_classes", "metric", "low", "high", "repetitions"};
  std::vector<std::vector<Plot>> rows;
  for (const int chance : random_spec.chance()) {
    for (const int known : random_spec.known_classes()) {
      rows.emplace_back();
      for (const int unknown : random_spec.unknown_classes()) {
        const bool prior = chance == RandomPredictionsSpec::PRIOR;
        const char* chance_name = prior ? "prior" : "1/2";
        const double p = prior ? static_cast<double>(known) / (known + unknown) : 0.5;
        RandomStream random(spec.seed(), absl::StrCat("figure/", chance_name, "/", known, "/", unknown));
        std::vector<std::vector<int64_t>> count(std::size(kBaseMetrics), std::vector<int64_t>(random_spec.bins(), 0));
        const int64_t samples = random_spec.samples_per_class();
        for (int repetition = 0; repetition < random_spec.repetitions(); ++repetition) {
          const std::vector<double> values = RandomPredictions(known * samples, unknown * samples, p, &random);
          for (size_t m = 0; m < values.size(); ++m) {
            ++count[m][std::min<int>(static_cast<int>(values[m] * random_spec.bins()), random_spec.bins() - 1)];
          }
        }
        Plot plot;
        plot.width = 150;
        plot.height = 100;
        plot.title = absl::StrFormat("%d known, %d unknown, %s", known, unknown, chance_name);
        plot.x_high = 1;
        for (size_t m = 0; m < count.size(); ++m) {
          PlotSeries series;
          series.name = rows.size() == 1 && rows.back().empty() ? kBaseMetrics[m] : "";
          series.kind = SeriesKind::kArea;
          series.color = static_cast<int>(m);
          for (int bin = 0; bin < random_spec.bins(); ++bin) {
            const double low = static_cast<double>(bin) / random_spec.bins();
            const double high = static_cast<double>(bin + 1) / random_spec.bins();
            series.points.emplace_back(low, count[m][bin]);
            series.points.emplace_back(high, count[m][bin]);
            if (count[m][bin] == 0) continue;
            figure.data.rows.push_back({chance_name, absl::StrCat(known), absl::StrCat(unknown), kBaseMetrics[m],
                                        FullPrecision(low), FullPrecision(high), absl::StrCat(count[m][bin])});
          }
          plot.series.push_back(std::move(series));
        }
        rows.back().push_back(std::move(plot));
      }
    }
  }
  figure.chart = ToVegaLite(rows);
  return figure;
}

// ---- Imbalance over openness.

Figure Imbalance(const FigureSpec& spec) {
  const ImbalanceSpec& imbalance = spec.imbalance();
  Figure figure;
  figure.data.header = {"known_classes", "unknown_classes", "openness",
                        "known_samples", "unknown_samples", "known_per_unknown"};
  PlotSeries known_dots, unknown_dots;
  known_dots.name = "known samples";
  known_dots.kind = SeriesKind::kDots;
  known_dots.color = 6;
  unknown_dots = known_dots;
  unknown_dots.name = "unknown samples";
  unknown_dots.hollow = true;
  const int classes = imbalance.classes();
  for (int known = 1; known < classes; ++known) {
    for (int unknown = 1; known + unknown <= classes; ++unknown) {
      figure.data.rows.push_back({absl::StrCat(known), absl::StrCat(unknown), FullPrecision(Openness(known, unknown)),
                                  absl::StrCat(int64_t{known} * imbalance.samples_per_class()),
                                  absl::StrCat(int64_t{unknown} * imbalance.samples_per_class()),
                                  FullPrecision(static_cast<double>(known) / unknown)});
      // Dots whose areas are the numbers of samples, next to each other.
      known_dots.points.emplace_back(known - 0.2, unknown);
      known_dots.size.push_back(static_cast<double>(known) / classes);
      unknown_dots.points.emplace_back(known + 0.2, unknown);
      unknown_dots.size.push_back(static_cast<double>(unknown) / classes);
    }
  }
  Plot plot;
  plot.title = spec.title();
  plot.x_label = "known classes";
  plot.y_label = "unknown classes";
  plot.x_low = plot.y_low = 0;
  plot.x_high = plot.y_high = classes;
  plot.width = 60 * classes;
  plot.height = 48 * classes;
  plot.series = {std::move(known_dots), std::move(unknown_dots)};
  figure.chart = ToVegaLite(plot);
  return figure;
}

// ---- Softmax outputs over a plane.

Figure ToySoftmax(const FigureSpec& spec) {
  const ToySoftmaxSpec& toy = spec.toy_softmax();
  Figure figure;
  figure.data.header = {"method", "x", "y", "max_softmax"};
  std::vector<HeatMap> maps;
  for (const ToyMap& of : ToySoftmaxMaps(toy, spec.seed())) {
    HeatMap map;
    map.title = of.method;
    map.row_label = "y";
    map.column_label = "x";
    map.show_names = false;
    for (int i = 0; i < toy.grid(); ++i) {
      map.columns.push_back(absl::StrFormat("%.4g", ToyCoordinate(toy, i)));
      map.rows.push_back(absl::StrFormat("%.4g", ToyCoordinate(toy, toy.grid() - 1 - i)));
    }
    map.values = of.value;
    for (int i = 0; i < toy.grid() * toy.grid(); ++i) {
      figure.data.rows.push_back(
          {of.method, map.columns[i % toy.grid()], map.rows[i / toy.grid()], FullPrecision(of.value[i])});
    }
    maps.push_back(std::move(map));
  }
  figure.chart = ToVegaLite({maps}, 1.0 / toy.classes(), 1, "largest softmax output");
  return figure;
}

}  // namespace

Figure MakeFigure(const FigureSpec& spec) {
  switch (spec.kind_case()) {
    case FigureSpec::kMetricsOverTpr:
      return MetricsOverTpr(spec);
    case FigureSpec::kRandomPredictions:
      return BaseMetrics(spec);
    case FigureSpec::kImbalance:
      return Imbalance(spec);
    case FigureSpec::kToySoftmax:
      return ToySoftmax(spec);
    case FigureSpec::KIND_NOT_SET:
      break;
  }
  std::abort();  // the schema's rules require a member
}

}  // namespace openset
