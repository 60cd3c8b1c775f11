// What a study costs: by the rates of earlier results, and by probes of trainings on this machine.
#ifndef OPENSET_TOOLS_CLI_RUN_STUDY_COST_H_
#define OPENSET_TOOLS_CLI_RUN_STUDY_COST_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/engine/local_engine.h"
#include "experiments/engine/run_progress.h"
#include "experiments/plan/cost.h"
#include "experiments/plan/plan.h"
#include "experiments/spec/action.proto.h"
#include "experiments/study/study.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// ---- Measures the speed of trainings in workers on this machine.

// Returns the training images per second of one of `at_once` trainings that run side by side, on the GPU of this
// ordinal or, for -1, on the CPU: the smallest rate that the workers report (experiments/train/probe.h). This takes
// some seconds in addition to the workers' start. Leaves no files: logs go to a TemporaryFolder.
// Errors: kDeadlineExceeded after `limit`; kUnavailable if a worker dies; kNotFound if a worker's program is missing;
// kInternal if the worker reports no speed; as Probe() (experiments/train/probe.h).
absl::StatusOr<double> ProbeRate(const TrainAction& action, int at_once, int gpu, const LocalEngineOptions& options,
                                 absl::Duration limit = absl::Seconds(60));

// Identifies the build of the worker that this command starts (LocalEngineOptions.trainer): its words, the states of
// the files that they name (core/files/file_state.h), and the state of LibTorch's library in the first folder of
// LD_LIBRARY_PATH. "" for no command.
std::string BuildOf(const std::vector<std::string>& command);

// How to measure the speed of networks without a record.

struct ProbeOptions {
  CostDevice device;
  int at_once = 1;     // trainings at a time
  int slots = 1;       // of CPUs
  std::string build;   // of the worker; speeds of other builds are not used
  std::string folder;  // of the remembered speeds; "" for none
  // The processes that ran or waited for a CPU before the first probe, for each CPU. From kBusyLoad on, probes are
  // slow, and a line says so, also when their speeds are remembered.
  double load = 0;
  // Returns the training images per second of an action, of which this many run at a time. Absent: only remembered
  // speeds are used.
  std::function<absl::StatusOr<double>(const TrainAction& action, int at_once)> probe;
};

inline constexpr double kBusyLoad = 0.5;

// The largest number of networks that are probed for a plan, those with the most work first. The others are estimated
// from multiply-adds.
inline constexpr int kMostProbes = 3;

// Adds to `throughputs` the rates of networks that the plan's missing trainings need and that no record has. Uses the
// remembered speed of the same network, input, batch size, precision, threads, device, number at a time and build;
// otherwise probes the network and remembers the speed. If a step is expected to take longer than about two seconds,
// the probe has a smaller batch. A network of which a probe failed is not probed again. A network in BF16 on the CPU is
// also probed in FP32. With several CPU slots, the network with the largest training is also probed with a thread for
// each slot, or with one thread if the trials have several. Returns a line for each probe that failed, for each network
// that BF16 does not make faster, and, if both were measured, one about which number of threads finishes the missing
// trainings first: n of them run in ceil(n / seats) rounds.
std::vector<std::string> AddProbes(const Plan& plan, const ProbeOptions& options, Throughputs* throughputs);

// ---- Estimates how long a study takes on this machine, for `plan` and for the time left at the start of `run`.

// The cost of a part of a study on a machine.
struct NamedCost {
  std::string what, where;  // "the whole study"
  PlanCost cost;
  double hours;  // with as many actions at a time as seats and trainings allow
  bool on_gpu;
};

// Estimates from the rates in the store's records and from probes: those in ~/.cache/openset/probes and, with
// `may_probe`, new ones of some seconds each. There are no new probes for Slurm's machines
// and for GPUs that this machine doesn't have. Prints the lines of AddProbes(), and a hint if trainings on a GPU are in
// FP32, to standard error; so does ExpectationOf().
absl::StatusOr<std::vector<NamedCost>> CostsOf(const Study& study, bool may_probe, const RunConfig& config);

// Whether most of a cost was neither measured nor scaled from a measurement. Such a number is not shown as a time.
bool IsAssumed(const PlanCost& cost);

// Says what a cost was estimated from: "100 % by a probe of some seconds".
std::string BasisText(const PlanCost& cost, bool on_gpu);

// The expected pace of the missing actions, without a new probe, and a text about it: "about 4 min on 2 CPU slots, ...
// (...)"; "roughly ..." if most of it is scaled from other networks by multiply-adds; that it is unknown if nothing was
// measured, without a pace; "" if there is nothing to say.
struct Expectation {
  ExpectedPace pace;
  std::string text;
};
absl::StatusOr<Expectation> ExpectationOf(const Study& study, const RunConfig& config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_RUN_STUDY_COST_H_
