// How to measure the speed of networks without a record.
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
  int at_once = 1;     // trainings at a time
  std::string build;   // of the worker; speeds of other builds are not used
  std::string folder;  // of the remembered speeds; "" for none
  // Returns the training images per second of an action (experiments/engine/probe_rate.h). Absent: only remembered
  // speeds are used.
  std::function<absl::StatusOr<double>(const TrainAction& action)> probe;
};

// The largest number of networks that are probed for a plan, those with the most work first. The others are estimated
// from multiply-adds.
inline constexpr int kMostProbes = 3;

// Adds to `throughputs` the rates of networks that the plan's missing trainings need and that no record has. Uses the
// remembered speed of the same network, input, batch size, precision, threads, device, number at a time and build;
// otherwise probes the network and remembers the speed. If a step is expected to take longer than about two seconds,
// the probe has a smaller batch. Returns a line for each probe that failed.
std::vector<std::string> AddProbes(const Plan& plan, const ProbeOptions& options, Throughputs* throughputs);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_PROBES_H_
