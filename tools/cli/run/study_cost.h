// Estimates how long a study takes on this machine, for `plan` and for the time left at the start of `run`.
#ifndef OPENSET_TOOLS_CLI_RUN_STUDY_COST_H_
#define OPENSET_TOOLS_CLI_RUN_STUDY_COST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/engine/run_progress.h"
#include "experiments/plan/cost.h"
#include "experiments/study/study.h"

namespace openset {

// The cost of a part of a study on a machine.
struct NamedCost {
  std::string what, where;  // "the whole study"
  PlanCost cost;
  double hours;  // with as many actions at a time as seats and trainings allow
  bool on_gpu;
};

// Estimates from the rates in the store's records and from probes: those in ~/.cache/openset/probes and, with
// `may_probe`, new ones of some seconds each (tools/cli/run/probes.h). There are no new probes for Slurm's machines and
// for GPUs that this machine doesn't have. Prints a line to standard error if a probe fails.
absl::StatusOr<std::vector<NamedCost>> CostsOf(const Study& study, bool may_probe);

// Says what a cost was estimated from: "100 % by a probe of some seconds".
std::string BasisText(const PlanCost& cost, bool on_gpu);

// The expected pace of the missing actions, without a new probe, and a text about it: "about 4 min on 2 CPU slots, ...
// (...)"; "roughly ..." if most of it is estimated from multiply-adds; "" if nothing is known.
struct Expectation {
  ExpectedPace pace;
  std::string text;
};
absl::StatusOr<Expectation> ExpectationOf(const Study& study);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_STUDY_COST_H_
