// What is asked of the machine where no record says how fast its networks are.
#ifndef OPENSET_TOOLS_CLI_RUN_PROBES_H_
#define OPENSET_TOOLS_CLI_RUN_PROBES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "experiments/plan/cost.h"
#include "experiments/plan/plan.h"
#include "experiments/spec/action.proto.h"

namespace openset {

struct ProbeOptions {
  CostDevice device;
  int at_once = 1;     // trainings that run side by side
  std::string build;   // of the worker: a figure of another one is not used
  std::string folder;  // of the figures that are remembered; "" for none
  // Training images a second of an action (experiments/engine/probe_rate.h). Absent: only what is remembered is used.
  std::function<absl::StatusOr<double>(const TrainAction& action)> probe;
};

// At most so many networks are probed for a plan, those with most of the work; the others go by multiply-adds.
inline constexpr int kMostProbes = 3;

// Adds to `throughputs` the rates of the networks of the plan's trainings that are not done and that it has no record
// of: by the remembered figure of the same network, input, batch size, precision, threads, device, number at once and
// build, or else by a probe, which is remembered. Where a step would take longer than about two seconds, by what is
// known so far, the probe has a smaller batch. Returns a line for each probe that failed.
std::vector<std::string> AddProbes(const Plan& plan, const ProbeOptions& options, Throughputs* throughputs);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_PROBES_H_
