// OpenMax (Bendale and Boult 2016): the probability of an additional class for the unknown.
#include "eval/scores/openmax.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/fits/extreme_values.h"
#include "eval/scores/input.h"
#include "eval/scores/score_members.h"

namespace openset {

std::vector<double> OpenMaxProbabilities(absl::Span<const double> logits, absl::Span<const double> removed) {
  std::vector<double> revised(logits.size() + 1, 0.0);
  for (size_t c = 0; c < logits.size(); ++c) {
    revised[c] = logits[c] - removed[c];
    revised.back() += removed[c];
  }
  const double max = *std::max_element(revised.begin(), revised.end());
  double sum = 0;
  for (double& value : revised) sum += value = std::exp(value - max);
  for (double& value : revised) value /= sum;
  return revised;
}

namespace {

// Fit: for each class c, the mean m_c of the logits of its correctly classified training samples, and a Weibull
// distribution of their `tail` largest distances to m_c.
// Score: w_c = CDF_c(distance of z to m_c), omega_c the weight of c's rank among the logits, removed_c = z_c w_c
// omega_c; the last entry, in [0, 1], of softmax(z_1 - removed_1, ..., z_K - removed_K, sum_c removed_c). This
// is only meaningful for logits >= 0; negative ones are used unchanged, as in released code. Equal logits get the mean
// of the weights of their ranks.
class OpenMax : public Score {
 public:
  explicit OpenMax(const OpenMaxSpec& spec) : spec_(spec) {}

  // Outputs that are not the label of any sample get no distribution (w_c = 0).
  // Errors: also kInvalidArgument, with the class, for a label with fewer than two correctly classified samples or with
  // a tail of equal distances.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

  // K + 1 outputs: z_c - removed_c, and sum_c removed_c for the unknown.
  absl::StatusOr<std::optional<ProbabilityLogits>> Probabilities(const ScoreInput& input) const override;

  // Empty without revised_prediction. Otherwise the index of the largest of the K + 1 outputs (the first if several are
  // equal); those after the first num_classes mean unknown.
  absl::StatusOr<std::optional<std::vector<int32_t>>> Predictions(const ScoreInput& input,
                                                                  int64_t num_classes) const override;

 private:
  double DistanceOf(const Eigen::VectorXd& logits, const Eigen::VectorXd& mean) const;
  double WeightOfRank(int64_t rank) const;  // from 0
  absl::Status CheckOutputs(const ScoreInput& input) const;
  std::vector<double> RemovedFrom(const ScoreInput& input, int64_t row) const;  // [K]
  bool IsUnrevised(const ScoreInput& input, int64_t row) const;
  double ScoreOf(const ScoreInput& input, int64_t row) const;

  struct ClassModel {
    bool fitted = false;
    Eigen::VectorXd mean;
    WeibullTail tail;
    ExponentiatedWeibull exponentiated;
  };
  absl::Status FitTail(std::vector<double> distances, ClassModel* model) const;

  const OpenMaxSpec spec_;
  std::vector<ClassModel> classes_;  // [K]
};

Eigen::VectorXd Row(absl::Span<const float> logits, int64_t row, int64_t k) {
  return Eigen::Map<const Eigen::VectorXf>(logits.data() + row * k, k).cast<double>();
}

double CosineDistance(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  const double norms = a.norm() * b.norm();
  return norms == 0 ? 1 : 1 - a.dot(b) / norms;
}

double OpenMax::DistanceOf(const Eigen::VectorXd& logits, const Eigen::VectorXd& mean) const {
  switch (spec_.distance()) {
    case OpenMaxSpec::EUCLIDEAN:
      return (logits - mean).norm();
    case OpenMaxSpec::COSINE:  // 1 - cosine of the angle; 1 to or from a row of zeros
      return CosineDistance(logits, mean);
    case OpenMaxSpec::DISTANCE_UNSPECIFIED:  // the default
    case OpenMaxSpec::EUCOS:
      break;
  }
  return spec_.euclidean_weight() * (logits - mean).norm() + CosineDistance(logits, mean);
}

double OpenMax::WeightOfRank(int64_t rank) const {
  if (rank >= spec_.alpha()) return 0;
  if (spec_.has_rank_weight()) return spec_.rank_weight();
  return static_cast<double>(spec_.alpha() - rank) / spec_.alpha();
}

absl::Status OpenMax::FitTail(std::vector<double> distances, ClassModel* model) const {
  if (spec_.tail_distribution() != OpenMaxSpec::EXPONENTIATED_WEIBULL) {
    OPENSET_ASSIGN_OR_RETURN(model->tail, FitWeibullTail(std::move(distances), spec_.tail(), spec_.translation()));
    return absl::OkStatus();
  }
  model->fitted = static_cast<int>(distances.size()) > spec_.tail();
  if (!model->fitted) return absl::OkStatus();
  std::sort(distances.begin(), distances.end());
  distances.erase(distances.begin(), distances.end() - spec_.tail());
  for (const double distance : distances) {
    if (!std::isfinite(distance)) return absl::InvalidArgumentError("a value of the tail is not finite");
  }
  model->exponentiated = FitExponentiatedWeibull(distances);
  return absl::OkStatus();
}

absl::Status OpenMax::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  const int64_t k = train.num_outputs;
  const auto [correct, labelled] = RowsByClass(train, labels);
  std::vector<ClassModel> classes(k);
  for (int64_t c = 0; c < k; ++c) {
    if (!labelled[c]) continue;
    ClassModel& model = classes[c];
    model.fitted = true;
    model.mean = Eigen::VectorXd::Zero(k);
    for (const int64_t row : correct[c]) model.mean += Row(train.logits, row, k) / correct[c].size();
    std::vector<double> distances;
    for (const int64_t row : correct[c]) distances.push_back(DistanceOf(Row(train.logits, row, k), model.mean));
    const absl::Status status = FitTail(std::move(distances), &model);
    if (!status.ok()) {
      return Annotate(status, absl::StrCat("the distances of the ", correct[c].size(),
                                           " correctly classified training samples of class ", c));
    }
  }
  classes_ = std::move(classes);
  return absl::OkStatus();
}

bool OpenMax::IsUnrevised(const ScoreInput& input, int64_t row) const {
  if (spec_.unrevised_of_batch() == 0) return false;
  const int64_t place = row % spec_.unrevised_of_batch();
  const int64_t batch = std::min<int64_t>(spec_.unrevised_of_batch(), input.num_samples - (row - place));
  return input.num_outputs > 2 ? place < 2 && batch > 1 : place == 0;
}

std::vector<double> OpenMax::RemovedFrom(const ScoreInput& input, int64_t sample) const {
  const absl::Span<const float> row = LogitsOf(input, sample);
  if (IsUnrevised(input, sample)) return std::vector<double>(row.size(), 0.0);
  const int64_t k = static_cast<int64_t>(row.size());
  const Eigen::VectorXd logits = Row(row, 0, k);
  std::vector<int64_t> order(k);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&row](int64_t a, int64_t b) { return row[a] > row[b]; });
  std::vector<double> removed(k, 0.0);
  for (int64_t begin = 0, end = 0; begin < std::min<int64_t>(k, spec_.alpha()); begin = end) {
    double weight = 0;
    for (end = begin; end < k && row[order[end]] == row[order[begin]]; ++end) weight += WeightOfRank(end);
    weight /= end - begin;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t c = order[i];
      if (!classes_[c].fitted) continue;
      const double x = spec_.cdf_of() == OpenMaxSpec::LOGIT ? logits[c] : DistanceOf(logits, classes_[c].mean);
      const double cdf = spec_.tail_distribution() == OpenMaxSpec::EXPONENTIATED_WEIBULL
                             ? classes_[c].exponentiated.Cdf(x)
                             : classes_[c].tail.Cdf(x);
      removed[c] = logits[c] * cdf * weight;
    }
  }
  return removed;
}

double OpenMax::ScoreOf(const ScoreInput& input, int64_t sample) const {
  const absl::Span<const float> row = LogitsOf(input, sample);
  const std::vector<double> logits(row.begin(), row.end());
  const std::vector<double> probability = OpenMaxProbabilities(logits, RemovedFrom(input, sample));
  if (spec_.value() != OpenMaxSpec::REJECTION) return probability.back();
  const double largest = *std::max_element(probability.begin(), probability.end() - 1);
  return probability.back() > largest ? 0 : -largest;
}

absl::Status OpenMax::CheckOutputs(const ScoreInput& input) const {
  if (classes_.empty()) return absl::FailedPreconditionError("openmax must be fitted before it can score");
  OPENSET_RETURN_IF_ERROR(CheckLogits(input));
  if (input.num_outputs != classes_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("openmax was fitted to ", classes_.size(), " outputs; these have ", input.num_outputs));
  }
  for (int64_t i = 0; i < input.logits.size(); ++i) {
    if (std::isinf(input.logits[i])) {
      return absl::InvalidArgumentError(absl::StrCat("logits are infinite in row ", i / input.num_outputs));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> OpenMax::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckOutputs(input));
  std::vector<double> scores(input.num_samples);
  ForEachRowInParallel(input.num_samples, [&](int64_t row) { scores[row] = ScoreOf(input, row); });
  return scores;
}

absl::StatusOr<std::optional<ProbabilityLogits>> OpenMax::Probabilities(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckOutputs(input));
  ProbabilityLogits revised{{}, input.num_outputs + 1};
  revised.logits.resize(input.num_samples * revised.num_outputs);
  ForEachRowInParallel(input.num_samples, [&](int64_t i) {
    const absl::Span<const float> row = LogitsOf(input, i);
    const std::vector<double> removed = RemovedFrom(input, i);
    float* const logits = revised.logits.data() + i * revised.num_outputs;
    double of_unknown = 0;
    for (size_t c = 0; c < row.size(); ++c) {
      logits[c] = static_cast<float>(row[c] - removed[c]);
      of_unknown += removed[c];
    }
    logits[row.size()] = static_cast<float>(of_unknown);
  });
  return revised;
}

absl::StatusOr<std::optional<std::vector<int32_t>>> OpenMax::Predictions(const ScoreInput& input,
                                                                         int64_t num_classes) const {
  OPENSET_RETURN_IF_ERROR(CheckOutputs(input));
  if (spec_.prediction() != OpenMaxSpec::REVISED) return std::nullopt;
  std::vector<int32_t> predictions(input.num_samples);
  ForEachRowInParallel(input.num_samples, [&](int64_t i) {
    const absl::Span<const float> row = LogitsOf(input, i);
    const std::vector<double> revised =
        OpenMaxProbabilities(std::vector<double>(row.begin(), row.end()), RemovedFrom(input, i));
    const int64_t largest = std::max_element(revised.begin(), revised.end()) - revised.begin();
    predictions[i] = static_cast<int32_t>(std::min(largest, num_classes));
  });
  return predictions;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const OpenMaxSpec& spec) { return std::make_unique<OpenMax>(spec); }

}  // namespace openset
