// How long a study takes on this machine, for `plan` and for the time left that `run` begins with.
#ifndef OPENSET_TOOLS_CLI_RUN_STUDY_COST_H_
#define OPENSET_TOOLS_CLI_RUN_STUDY_COST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/engine/run_progress.h"
#include "experiments/plan/cost.h"
#include "experiments/study/study.h"

namespace openset {

// A cost with what it is of, and where.
struct NamedCost {
  std::string what, where;  // "the whole study"
  PlanCost cost;
  double hours;  // with as many actions at once as there are seats and trainings for
  bool on_gpu;
};

// By the rates of the store's records, and of probes: those that are remembered in ~/.cache/openset/probes and, with
// `may_probe`, new ones, which take some seconds each (tools/cli/run/probes.h); none for Slurm's machines, or GPUs that
// are not here. What keeps a probe from its figure is a line on standard error.
absl::StatusOr<std::vector<NamedCost>> CostsOf(const Study& study, bool may_probe);

// What the figures of a cost are from: "100 % by a probe of some seconds".
std::string BasisText(const PlanCost& cost, bool on_gpu);

// Of what is missing, without a new probe: how fast it will go, and in words ("about 4 min on 2 CPU slots, ... (...)";
// "roughly ..." where most of it is by multiply-adds; "" where nothing is known).
struct Expectation {
  ExpectedPace pace;
  std::string text;
};
absl::StatusOr<Expectation> ExpectationOf(const Study& study);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_STUDY_COST_H_
