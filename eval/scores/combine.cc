#include "eval/scores/combine.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "core/proto/traits.h"
#include "core/status_macros.h"
#include "eval/scores/score_members.h"
#include "eval/statistics/intervals.h"

namespace openset {
namespace {

// Some samples of an input.
class Selection {
 public:
  Selection(const ScoreInput& from, const std::vector<int64_t>& rows) : from_(from), rows_(rows) {
    logits_ = Take(from.logits);
    features_ = Take(from.features);
    perturbed_ = Take(from.perturbed_features);
    member_uncertainty_ = Take(from.member_uncertainty);
    stage_values_ = Take(from.stage_values);
  }

  // Refers to this.
  ScoreInput Input() const {
    ScoreInput input = from_;
    input.num_samples = static_cast<int64_t>(rows_.size());
    input.logits = logits_;
    input.features = features_;
    input.perturbed_features = perturbed_;
    input.member_uncertainty = member_uncertainty_;
    input.stage_values = stage_values_;
    return input;
  }

 private:
  // An array without the same number of values for each sample stays empty; the scores report what they lack.
  std::vector<float> Take(absl::Span<const float> values) const {
    std::vector<float> taken;
    if (from_.num_samples < 1 || values.size() % from_.num_samples != 0) return taken;
    const int64_t width = static_cast<int64_t>(values.size()) / from_.num_samples;
    for (const int64_t row : rows_) {
      taken.insert(taken.end(), values.begin() + row * width, values.begin() + (row + 1) * width);
    }
    return taken;
  }

  ScoreInput from_;
  std::vector<int64_t> rows_;
  std::vector<float> logits_, features_, perturbed_, member_uncertainty_, stage_values_;
};

// p_i of a score.
double PValue(const std::vector<double>& known, double score) {
  const auto [first, last] = std::equal_range(known.begin(), known.end(), score);
  const double larger = static_cast<double>(known.end() - last);
  return (larger + 0.5 * static_cast<double>(last - first) + 0.5) / (static_cast<double>(known.size()) + 1);
}

}  // namespace

absl::Status Combine::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  if (static_cast<int64_t>(labels.size()) != train.num_samples) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", labels.size(), " labels for ", train.num_samples, " samples"));
  }
  const bool any_fit = std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.fit; });
  std::vector<int64_t> fit_rows, known_rows;
  std::map<int32_t, int64_t> count;  // by class
  for (int64_t row = 0; row < train.num_samples; ++row) {
    (any_fit && count[labels[row]]++ % 2 == 0 ? fit_rows : known_rows).push_back(row);
  }
  if (known_rows.empty()) {
    return absl::InvalidArgumentError(
        "combine needs known samples for its p-values in addition to those that its scores are fitted to: two of a "
        "class");
  }
  std::vector<int32_t> fit_labels;
  for (const int64_t row : fit_rows) fit_labels.push_back(labels[row]);
  const Selection fit(train, fit_rows), known(train, known_rows);
  std::vector<std::vector<double>> of_parts;
  for (const Part& part : parts_) {
    if (part.fit) OPENSET_RETURN_IF_ERROR(part.score->Fit(fit.Input(), fit_labels));
    OPENSET_ASSIGN_OR_RETURN(of_parts.emplace_back(), part.score->Compute(known.Input()));
    std::sort(of_parts.back().begin(), of_parts.back().end());
  }
  known_ = std::move(of_parts);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> Combine::Compute(const ScoreInput& input) const {
  if (known_.empty()) return absl::FailedPreconditionError("combine must be fitted before it can score");
  std::vector<double> combined(input.num_samples, 0);
  const double parts = static_cast<double>(parts_.size());
  for (size_t i = 0; i < parts_.size(); ++i) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<double> scores, parts_[i].score->Compute(input));
    for (size_t row = 0; row < scores.size(); ++row) {
      const double p = PValue(known_[i], scores[row]);
      switch (rule_) {
        case CombineSpec::RULE_UNSPECIFIED:  // the default
        case CombineSpec::RANKS:
          combined[row] += (1 - p) / parts;
          break;
        case CombineSpec::FISHER:
          combined[row] -= 2 * std::log(p);
          break;
        case CombineSpec::STOUFFER:
          combined[row] -= NormalQuantile(p) / std::sqrt(parts);
          break;
      }
    }
  }
  return combined;
}

absl::StatusOr<std::unique_ptr<Score>> Make(const CombineSpec& spec) {
  std::vector<Combine::Part> parts;
  for (const ScoreSpec& part : spec.score()) {
    OPENSET_ASSIGN_OR_RETURN(std::unique_ptr<Score> score, Make(part));
    parts.push_back({std::move(score), TraitsOf(part).fit()});
  }
  return std::make_unique<Combine>(spec.rule(), std::move(parts));
}

}  // namespace openset
