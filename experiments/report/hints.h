// Finds results that look like a mistake, for a person to check.
#ifndef OPENSET_EXPERIMENTS_REPORT_HINTS_H_
#define OPENSET_EXPERIMENTS_REPORT_HINTS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "experiments/report/report.h"

namespace openset {

struct ResultHint {
  enum class Kind {
    kOtherSplit,  // the outputs of an imported network fit the classes of another split of the task
    kOtherOrder,  // the outputs fit the known classes in another order
    kNearChance,  // the closed-set accuracy is no better than guessing
    kBelowHalf,   // AUROC is below 50 %
  };
  Kind kind = Kind::kNearChance;
  // The first trial that the hint is about.
  const TrialSpec* trial = nullptr;
  int split = -1;                  // kOtherSplit: that split
  std::vector<int> prediction_of;  // kOtherOrder: for each known class, the output that predicts it
  // The observation without advice, in the words of eval/report/evaluation_hints.h.
  std::string text;
};

// For each task, by name: the known classes of each split, in the order of the network's outputs.
using KnownClassesOfTasks = std::map<std::string, std::vector<std::vector<int>>>;

// Hints by the rules of eval/statistics/plausibility.h, in the order of the trials.
//   Accuracy: trials that share a checkpoint share one hint, about the trial with the highest accuracy.
//   AUROC: checked only if the accuracy is not suspicious. One hint for all trials names methods with a trial that is
//   below 50 % by itself, then methods whose mean over three or more splits (or seeds of one split) is below it by a t
//   test at 0.01.
//   Another split: named if its accuracy on the accepted samples of all classes of the data set, known or not, is
//   clearly higher. The lower end of its Clopper-Pearson interval (0.999, corrected for the number of splits) must be
//   0.2 above the accuracy of the trial's own split, and above 0.5. Of several explanations, the one with the highest
//   accuracy wins.
// Trials without a record, and records without decisions by class, have no hints.
std::vector<ResultHint> FindHints(absl::Span<const TrialResult> results, const KnownClassesOfTasks& splits);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_HINTS_H_
