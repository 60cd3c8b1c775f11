// NAC, neuron activation coverage (Liu et al. 2024), over several stages.
#ifndef OPENSET_EVAL_SCORES_STAGES_NAC_STAGES_H_
#define OPENSET_EVAL_SCORES_STAGES_NAC_STAGES_H_

#include <cstdint>
#include <vector>

#include "Eigen/Core"
#include "eval/scores/score.h"

namespace openset {

// The mean over stages of the score nac of each (eval/scores/head/nac.h), in [-1, 0]: minus the mean over the stage's
// channels c of min(n_c(a_c) / full, 1), with the activation state a_c = 1 / (1 + exp(-steepness v_c)) of the stage's
// values v_c, activations times gradients (StageValuesSpec, STATE), and n_c(a) the number of training samples whose
// state is in the interval of a. With only the last stage, and features that are the means of its last map, it equals
// nac.
//
// As in the authors' code with several layer_names (coverage.py: single_ood_test); their last layer is avgpool. They
// search each layer's settings with unknown validation samples; here they are given.
class NacStages : public Score {
 public:
  struct Stage {
    double full = 50;        // > 0
    int thresholds = 50;     // >= 4
    double steepness = 100;  // > 0
  };
  struct Options {
    std::vector<Stage> stages;  // from the last one backwards; empty: the defaults for all
    int64_t samples = 1000;     // as in Nac
  };
  explicit NacStages(Options options);

  // Errors: those of CheckFitInput and CheckStageValues; kInvalidArgument for more settings than stages.
  absl::Status Fit(const ScoreInput& train, absl::Span<const int32_t> labels) override;

  absl::StatusOr<std::vector<double>> Compute(const ScoreInput& input) const override;

 private:
  struct Fitted {
    Stage options;
    int64_t stage = 0;  // from the first one
    std::vector<double> thresholds;
    Eigen::MatrixXd counts;  // [width, intervals], min(n, full)
  };
  int64_t IntervalOf(const Fitted& of, double value) const;

  const Options options_;
  std::vector<Fitted> fitted_;
  std::vector<int64_t> widths_;
};

}  // namespace openset

#endif  // OPENSET_EVAL_SCORES_STAGES_NAC_STAGES_H_
