// NAC, neuron activation coverage (Liu et al. 2024), over several stages.
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "Eigen/Core"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "eval/scores/input.h"
#include "eval/scores/nac_counts.h"
#include "eval/scores/score_members.h"
#include "eval/scores/stage_values.h"

namespace openset {
namespace {

// The mean over stages of the score nac of each (nac.cc), in [-1, 0]: minus the mean over the stage's
// channels c of min(n_c(a_c) / full, 1), with the activation state a_c = 1 / (1 + exp(-steepness v_c)) of the stage's
// values v_c, activations times gradients (StageValuesSpec, STATE), and n_c(a) the number of training samples whose
// state is in the interval of a. With only the last stage, and features that are the means of its last map, it equals
// nac.
//
// As in the authors' code with several layer_names (coverage.py: single_ood_test); their last layer is avgpool. They
// search each layer's settings with unknown validation samples; here they are given.
class NacStages : public Score {
 public:
  explicit NacStages(const NacStagesSpec& spec) : spec_(spec) {}

  // Errors: also kInvalidArgument for more settings than stages.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  struct Fitted {
    NacStagesSpec::Stage options;
    int64_t stage = 0;  // from the first one
    std::vector<double> thresholds;
    Eigen::MatrixXd counts;  // [width, intervals], min(n, full)
  };
  int64_t IntervalOf(const Fitted& of, double value) const;

  const NacStagesSpec spec_;
  std::vector<Fitted> fitted_;
  std::vector<int64_t> widths_;
};

int64_t NacStages::IntervalOf(const Fitted& of, double value) const {
  return NacInterval(of.thresholds, 1 / (1 + std::exp(-of.options.steepness() * value)));
}

absl::Status NacStages::Fit(const ScoreInput& train, absl::Span<const int32_t> labels) {
  OPENSET_RETURN_IF_ERROR(CheckFitInput(train, labels));
  OPENSET_RETURN_IF_ERROR(CheckStageValues(train));
  const auto count = static_cast<int64_t>(train.stage_widths.size());
  // From the last stage backwards; none: the defaults for all.
  std::vector<NacStagesSpec::Stage> settings(spec_.stage().begin(), spec_.stage().end());
  if (settings.empty()) settings.resize(count);
  if (static_cast<int64_t>(settings.size()) > count) {
    return absl::InvalidArgumentError(
        absl::StrCat("nac_stages has settings of ", settings.size(), " stages; the network has ", count));
  }
  const std::vector<bool> counted = NacCountedRows(labels, train.num_outputs, spec_.samples());
  std::vector<Fitted> fitted;
  for (size_t i = 0; i < settings.size(); ++i) {
    Fitted of{settings[i], count - 1 - static_cast<int64_t>(i), NacThresholds(settings[i].thresholds()), {}};
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
    of.counts = of.counts.cwiseMin(of.options.full()).eval();
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
    const double whole = of.options.full() * static_cast<double>(width) * static_cast<double>(fitted_.size());
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

}  // namespace

absl::StatusOr<std::unique_ptr<Score>> Make(const NacStagesSpec& spec) { return std::make_unique<NacStages>(spec); }

}  // namespace openset
