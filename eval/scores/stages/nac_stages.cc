#include "eval/scores/stages/nac_stages.h"

#include <cmath>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/head/nac_counts.h"
#include "eval/scores/input.h"
#include "eval/scores/stages/stage_values.h"

namespace openset {

NacStages::NacStages(Options options) : options_(std::move(options)) {}

int64_t NacStages::IntervalOf(const Fitted& of, double value) const {
  return NacInterval(of.thresholds, 1 / (1 + std::exp(-of.options.steepness * value)));
}

absl::Status NacStages::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckStageValues(train));
  const auto count = static_cast<int64_t>(train.stage_widths.size());
  std::vector<Stage> settings = options_.stages;
  if (settings.empty()) settings.resize(count);
  if (static_cast<int64_t>(settings.size()) > count) {
    return absl::InvalidArgumentError(
        absl::StrCat("nac_stages has settings of ", settings.size(), " stages; the network has ", count));
  }
  const std::vector<bool> counted = NacCountedRows(labels, train.num_outputs, options_.samples);
  std::vector<Fitted> fitted;
  for (size_t i = 0; i < settings.size(); ++i) {
    Fitted of{settings[i], count - 1 - static_cast<int64_t>(i), NacThresholds(settings[i].thresholds), {}};
    const int64_t width = train.stage_widths[of.stage];
    of.counts = Eigen::MatrixXd::Zero(width, static_cast<int64_t>(of.thresholds.size()) - 1);
    std::mutex mutex;
    // Counts are whole numbers: their sum does not depend on the order.
    ForEachRowBlockInParallel(ValuesOfStage(train, of.stage), width,
                              [&](int64_t first, int64_t rows, Eigen::MatrixXd* block) {
                                const std::lock_guard<std::mutex> lock(mutex);
                                for (int64_t j = 0; j < rows; ++j) {
                                  if (!counted[first + j]) continue;
                                  for (int64_t c = 0; c < width; ++c) of.counts(c, IntervalOf(of, (*block)(c, j))) += 1;
                                }
                              });
    of.counts = of.counts.cwiseMin(of.options.full).eval();
    fitted.push_back(std::move(of));
  }
  fitted_ = std::move(fitted);
  widths_.assign(train.stage_widths.begin(), train.stage_widths.end());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> NacStages::Compute(const ScoreInput& input) const {
  OPENSET_RETURN_IF_ERROR(CheckStageValuesLikeFitted(input, widths_, "nac_stages"));
  std::vector<double> scores(input.num_samples, 0);
  for (const Fitted& of : fitted_) {
    const int64_t width = widths_[of.stage];
    const double whole = of.options.full * static_cast<double>(width) * static_cast<double>(fitted_.size());
    ForEachRowBlockInParallel(ValuesOfStage(input, of.stage), width,
                              [&](int64_t first, int64_t rows, Eigen::MatrixXd* block) {
                                for (int64_t j = 0; j < rows; ++j) {
                                  double sum = 0;  // exact if `full` is an integer
                                  for (int64_t c = 0; c < width; ++c)
                                    sum += of.counts(c, IntervalOf(of, (*block)(c, j)));
                                  scores[first + j] -= sum / whole;
                                }
                              });
  }
  return scores;
}

}  // namespace openset
