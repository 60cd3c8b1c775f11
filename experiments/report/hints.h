// What looks like a mistake in the results of trials, for a person to look at.
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
    kOtherOrder,  // or those of its own in another order
    kNearChance,  // the closed-set accuracy is no better than guessing
    kBelowHalf,   // AUROC is below 50 %
  };
  Kind kind = Kind::kNearChance;
  // The first trial that it is about.
  const TrialSpec* trial = nullptr;
  int split = -1;                  // of kOtherSplit
  std::vector<int> prediction_of;  // of kOtherOrder: the output that stands for each known class
  // What is seen, without advice, in the words of eval/report/evaluation_hints.h.
  std::string text;
};

// Of a task, by its name: the known classes of each of its splits, in the order of a network's outputs.
using KnownClassesOfTasks = std::map<std::string, std::vector<std::vector<int>>>;

// In the order of the trials, by the rules of eval/statistics/plausibility.h. Trials that share a checkpoint share a
// hint on their accuracy, which is that of the one that classifies best; AUROC is looked at where the accuracy is not
// suspicious, and all trials of it share one hint. Another split is named where the lower end of Clopper and Pearson's
// interval (0.999, shared among the splits) of its accuracy is 0.2 above the own split's and 0.5, on the accepted
// samples of all classes, known or not, of the same data set; of two such splits, and of a split and another order of
// the own classes, it is the better one. Trials without a record, and records without decisions by class, have none.
std::vector<ResultHint> FindHints(absl::Span<const TrialResult> results, const KnownClassesOfTasks& splits);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_REPORT_HINTS_H_
