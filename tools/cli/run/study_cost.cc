#include "tools/cli/run/study_cost.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/files/digest.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "core/files/temporary_folder.h"
#include "core/machine/machine.h"
#include "core/process/steady_clock.h"
#include "core/status_macros.h"
#include "core/text/wrapped_text.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "tools/cli/run/engine_options.h"

namespace openset {
namespace {

absl::StatusOr<double> Probe(const TrainAction& action, int at_once, int gpu, absl::Duration limit,
                             LocalEngine* engine) {
  WorkRequest request;
  *request.mutable_probe()->mutable_train() = action;
  // As many as the trainings of a run get: all on a GPU.
  if (gpu < 0) request.set_cpu_slots(action.execution().threads());
  for (int n = 0; n < at_once; ++n) OPENSET_RETURN_IF_ERROR(engine->Start(ActionId{n}, gpu, request));
  const absl::Duration end = SteadyNow() + limit;
  std::optional<double> rate;
  for (int ended = 0; ended < at_once;) {
    const absl::Duration left = end - SteadyNow();
    if (left <= absl::ZeroDuration()) {
      return absl::DeadlineExceededError(absl::StrCat("no answer within ", absl::FormatDuration(limit)));
    }
    for (const EngineEvent& event : engine->Wait(/*wake=*/-1, left)) {
      if (event.progress.has_value() && event.progress->has_images_per_second()) {
        rate = std::min(rate.value_or(event.progress->images_per_second()), event.progress->images_per_second());
      }
      if (!event.end.has_value()) continue;
      OPENSET_RETURN_IF_ERROR(*event.end);
      ++ended;
    }
  }
  if (!rate.has_value() || *rate <= 0) return absl::InternalError("the worker did not report its speed");
  return *rate;
}

}  // namespace

absl::StatusOr<double> ProbeRate(const TrainAction& action, int at_once, int gpu, const LocalEngineOptions& options,
                                 absl::Duration limit) {
  OPENSET_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make("probe"));
  LocalEngine engine((Store(folder.path())), options);  // destroyed before its folder
  return Probe(action, at_once, gpu, limit, &engine);
}

namespace {

constexpr double kStepSeconds = 2;
constexpr int kSmallestBatch = 4;
// Trainings that take less time in all are not worth the seconds of two probes.
constexpr double kWorthTwoProbesSeconds = 60;
// For networks with unknown multiply-adds.
constexpr int kUnknownBatch = 16;

// Trainings with the same estimated rate.
struct CostGroup {
  const Action* action = nullptr;  // the one with the most work
  int64_t work = 0;                // of all
};

std::string WhatIsProbed(const Trial& trial, ExecutionSpec::Precision precision, const ProbeOptions& options) {
  const CostDevice& device = options.device;
  return absl::StrCat(NetworkOf(trial.method()), "\nbatch size ", trial.method().training().batch_size(),
                      "\nprecision ", precision, "\n", device.is_gpu ? "GPU " : "CPU ", device.kind, ", ",
                      device.threads, " threads, ", options.at_once, " at once\nbuild ", options.build, "\n");
}

constexpr absl::string_view kLoadIs = "processes for each CPU: ";

struct Probed {
  double rate = 0;
  double load = 0;  // ProbeOptions.load at that time
};

std::optional<Probed> Remembered(const std::string& file) {
  constexpr int64_t kMaxBytes = 1 << 16;
  const absl::StatusOr<std::string> text = ReadFile(file, kMaxBytes);
  if (!text.ok()) return std::nullopt;
  const std::vector<std::string> lines = absl::StrSplit(*text, '\n');
  Probed probed;
  if (!absl::SimpleAtod(lines[0], &probed.rate) || !(probed.rate > 0)) return std::nullopt;
  // Files of older versions have no such line.
  if (absl::string_view last = lines.back(); absl::ConsumePrefix(&last, kLoadIs)) {
    if (!absl::SimpleAtod(last, &probed.load)) return std::nullopt;
  }
  return probed;
}

// If the folder can't be written, the next run probes again.
void Remember(const ProbeOptions& options, const std::string& file, double rate, const std::string& what) {
  if (options.folder.empty() || !MakeFolders(options.folder).ok()) return;
  WriteFileAtomically(file, absl::StrCat(rate, "\nimages/s in training of\n", what, "\n", kLoadIs, options.load))
      .IgnoreError();
}

TrainAction ActionOf(const Plan& plan, const Action& action, const Throughputs::Rate& rate) {
  TrainAction probed = plan.RequestOf(action).action().train();
  int batch = kUnknownBatch;
  if (rate.basis != Throughputs::Rate::Basis::kUnknown) {
    const double images = kStepSeconds * rate.passes_per_second / kTrainPasses;
    batch = static_cast<int>(std::clamp<double>(images, kSmallestBatch, 1e6));
  }
  if (batch < probed.training().batch_size()) probed.mutable_training()->set_batch_size(batch);
  return probed;
}

// More trainings at once give the same rate.
constexpr int kMostAtOnce = 16;

int TrainingsOf(const Plan& plan, bool needed_only) {
  return static_cast<int>(absl::c_count_if(plan.actions, [needed_only](const Action& action) {
    return action.kind == ActionKind::kTrain && action.role != ActionRole::kImport &&
           (!needed_only || action.is_needed());
  }));
}

// The mean number of actions at once: three trainings on two seats take as long as four.
double AtOnce(int trainings, int seats) {
  if (trainings == 0) return seats;
  return trainings / std::ceil(static_cast<double>(trainings) / seats);
}

int ProbesAtOnce(int seats, int trainings) { return std::min({seats, kMostAtOnce, std::max(1, trainings)}); }

}  // namespace

std::vector<std::string> AddProbes(const Plan& plan, const ProbeOptions& options, Throughputs* throughputs) {
  const Action* largest = nullptr;
  const int trainings = TrainingsOf(plan, /*needed_only=*/true);
  std::map<std::string, CostGroup> groups;
  // By what trials share; null if there is a record.
  std::map<std::tuple<const TrialMethod*, const TrialData*, const TrialProtocol*>, CostGroup*> group_of;
  for (const Action& action : plan.actions) {
    if (action.kind != ActionKind::kTrain || action.role == ActionRole::kImport || action.is_done()) continue;
    const Trial& trial = plan.TrialOf(action);
    if (UsesArraysOnly(trial.method().model())) continue;
    const auto [at, is_new] = group_of.try_emplace(
        {trial.shared_method().get(), trial.shared_data().get(), trial.shared_protocol().get()}, nullptr);
    if (is_new && throughputs->Of(trial, options.device).basis != Throughputs::Rate::Basis::kMeasured) {
      at->second = &groups[WhatIsProbed(trial, trial.execution().precision(), options)];
    }
    CostGroup* group = at->second;
    if (largest == nullptr || action.work > largest->work) largest = &action;
    if (group == nullptr) continue;
    if (group->action == nullptr || action.work > group->action->work) group->action = &action;
    group->work += action.work;
  }
  std::vector<std::pair<std::string, CostGroup>> by_work(groups.begin(), groups.end());
  std::stable_sort(by_work.begin(), by_work.end(),
                   [](const auto& a, const auto& b) { return a.second.work > b.second.work; });
  std::vector<std::string> lines;
  int probes = 0;
  bool was_busy = false;
  std::set<std::string> failed;  // networks
  const auto rate_of = [&](const std::string& what, const TrainAction& action, int at_once) -> std::optional<double> {
    const std::string file = JoinPath(options.folder, Sha256Hex(what));
    std::optional<Probed> found = options.folder.empty() ? std::nullopt : Remembered(file);
    const std::string network(what.substr(0, what.find('\n')));
    if (!found.has_value()) {
      if (options.probe == nullptr || probes == kMostProbes || failed.count(network) > 0) return std::nullopt;
      ++probes;
      const absl::StatusOr<double> probed = options.probe(action, at_once);
      if (!probed.ok()) {
        failed.insert(network);
        lines.push_back(absl::StrCat("the probe of ", network, " failed: ", probed.status().message()));
        return std::nullopt;
      }
      Remember(options, file, *probed, what);
      found = Probed{*probed, options.load};
    }
    if (found->load >= kBusyLoad && !was_busy) {
      lines.push_back(
          absl::StrFormat("hint: this machine was busy (%.1f processes for each CPU) when its speed was measured, so "
                          "the study may take less time than said; to measure it again, remove %s",
                          found->load, options.folder));
      was_busy = true;
    }
    return found->rate;
  };
  for (const auto& [what, group] : by_work) {
    const Trial& trial = plan.TrialOf(*group.action);
    TrainAction action = ActionOf(plan, *group.action, throughputs->Of(trial, options.device));
    const std::optional<double> rate = rate_of(what, action, options.at_once);
    if (!rate.has_value()) continue;
    throughputs->AddProbe(trial, options.device, *rate);
    if (options.device.is_gpu || trial.execution().precision() != ExecutionSpec::BF16) continue;
    action.mutable_execution()->set_precision(ExecutionSpec::FP32);
    const std::optional<double> fp32 =
        rate_of(WhatIsProbed(trial, ExecutionSpec::FP32, options), action, options.at_once);
    if (fp32.has_value() && *fp32 >= *rate) {
      lines.push_back(absl::StrFormat("hint: BF16 doesn't pay on this CPU for %s: %.0f images a second, %.0f in FP32",
                                      what.substr(0, what.find('\n')), *rate, *fp32));
    }
  }
  if (options.device.is_gpu || options.slots < 2 || largest == nullptr) return lines;
  const double hours = CostOf(plan, *throughputs, options.device, /*needed_only=*/true).hours;
  if (hours * 3600 < kWorthTwoProbesSeconds * std::max(1, options.at_once)) return lines;
  // Both are probed, because records' rates include reading and what else the machine did.
  probes = 0;
  const Trial& trial = plan.TrialOf(*largest);
  const auto together = [&](int threads) -> std::optional<double> {  // images per second
    ProbeOptions with = options;
    with.device.threads = threads;
    const int seats = std::max(1, options.slots / threads);
    with.at_once = ProbesAtOnce(seats, trainings);
    TrainAction action = ActionOf(plan, *largest, throughputs->Of(trial, with.device));
    action.mutable_execution()->set_threads(threads);
    const std::optional<double> rate =
        rate_of(WhatIsProbed(trial, trial.execution().precision(), with), action, with.at_once);
    if (!rate.has_value()) return std::nullopt;
    return *rate * AtOnce(trainings, seats);
  };
  const int own = options.device.threads, other = own == 1 ? options.slots : 1;
  const std::optional<double> of_own = together(own), of_other = together(other);
  if (!of_own.has_value() || !of_other.has_value()) return lines;
  if (*of_own >= *of_other) {
    lines.push_back(absl::StrFormat(
        "trainings finish first with %s each (%s: %.0f images a second together, %.0f with %s)", Counted(own, "thread"),
        NetworkOf(trial.method()), *of_own, *of_other, Counted(other, "thread")));
  } else {
    lines.push_back(absl::StrFormat(
        "hint: trainings would finish first with %s each (%s: %.0f images a second together, %.0f with %s); "
        "--set=execution.threads=%d makes other trials, because the bits of a training depend on its threads",
        Counted(other, "thread"), NetworkOf(trial.method()), *of_other, *of_own, Counted(own, "thread"), other));
  }
  return lines;
}

std::string BuildOf(const std::vector<std::string>& command) {
  std::vector<std::string> words;
  for (const std::string& word : command) {
    absl::string_view folders = word;
    std::string library;
    if (absl::ConsumePrefix(&folders, "LD_LIBRARY_PATH=")) {
      library = JoinPath(std::string(folders.substr(0, folders.find(':'))), "libtorch_cpu.so");
    }
    words.push_back(absl::StrCat(word, " ", StateOf(library.empty() ? word : library).text));
  }
  return absl::StrJoin(words, " ");
}

namespace {

// The seats of the plan's actions: the GPUs of --devices, or the CPU slots.
struct Machine {
  CostDevice device;
  int seats = 1;      // actions at once
  std::string where;  // "2 CPU slots, Intel ...", "1 x NVIDIA H200"
};

// The ordinal of the GPU to probe on, -1 for the CPU; kNotFound if the plan is for another machine.
absl::StatusOr<int> ProbedDevice(const Machine& machine, const RunConfig& config) {
  if (config.deployment.engine() == DeploySpec::SLURM) return absl::NotFoundError("it is Slurm's");
  if (!machine.device.is_gpu) return -1;
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, FindDevices(config));
  if (devices.cuda.empty() || devices.kind != machine.device.kind) return absl::NotFoundError("no such GPU");
  return devices.cuda[0];
}

// Precondition: the plan has trials.
absl::StatusOr<Machine> MachineOf(const Study& study, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, FindDevices(config));
  Machine machine;
  const ExecutionSpec& execution = study.plan().trials[0].execution();
  if (execution.device() == ExecutionSpec::CUDA) {
    machine.device = {true, execution.device_kind(), 1};
    machine.seats = std::max<int>(1, devices.cuda.size());
    machine.where = absl::StrCat(machine.seats, " x ", machine.device.kind, ", ",
                                 ExecutionSpec::Precision_Name(execution.precision()));
    return machine;
  }
  const int slots = CpuSlots(config.deployment), threads = std::max(1, execution.threads());
  machine.device = {false, CpuName(), threads};
  machine.seats = std::max(1, slots / threads);
  machine.where = absl::StrCat(slots, slots == 1 ? " CPU slot, " : " CPU slots, ",
                               threads > 1 ? absl::StrCat(threads, " an action, ") : "", machine.device.kind);
  return machine;
}

// The factors are those in BENCHMARKS.md.
void HintAtTf32(const Plan& plan, const Machine& machine) {
  if (!machine.device.is_gpu || plan.trials[0].execution().precision() != ExecutionSpec::FP32) return;
  if (TrainingsOf(plan, /*needed_only=*/true) == 0) return;
  std::cerr << "hint: FP32 on a GPU: in TF32, PyTorch's default for convolutions, an H200 trained vgg32 1.6 and "
               "resnet18 2.7 times as fast; --set=execution.precision=TF32"
            << std::endl;
}

// The data for CostsOf() and ExpectationOf().
absl::StatusOr<Throughputs> ThroughputsFor(const Study& study, const Machine& machine, bool may_probe,
                                           const RunConfig& config) {
  Throughputs throughputs = Throughputs::OfStore(study.store());
  const absl::StatusOr<int> gpu = ProbedDevice(machine, config);
  const absl::StatusOr<LocalEngineOptions> engine = EngineOptions(config, study.experiment().folders.catalog);
  if (!gpu.ok() || !engine.ok()) return throughputs;
  ProbeOptions options;
  options.device = machine.device;
  options.at_once = *gpu >= 0 ? 1 : ProbesAtOnce(machine.seats, TrainingsOf(study.plan(), /*needed_only=*/true));
  options.slots = CpuSlots(config.deployment);
  // The catalog's folders, which come last, have no influence on the speed.
  options.build = BuildOf({engine->trainer.begin(), engine->trainer.end() - study.experiment().folders.catalog.size()});
  if (!options.build.empty()) options.folder = UserCacheFolder("probes");
  double load = 0;
  if (getloadavg(&load, 1) == 1) options.load = load / std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
  if (may_probe) {
    options.probe = [&](const TrainAction& action, int at_once) {
      if (isatty(STDERR_FILENO) != 0) {
        std::cerr << "openset: measuring the training speed of this machine for some seconds (--noprobe: estimate it)"
                  << std::endl;
      }
      return ProbeRate(action, at_once, *gpu, *engine);
    };
  }
  for (const std::string& line : AddProbes(study.plan(), options, &throughputs)) {
    std::cerr << "openset: " << line << std::endl;
  }
  return throughputs;
}

}  // namespace

absl::StatusOr<std::vector<NamedCost>> CostsOf(const Study& study, bool may_probe, const RunConfig& config) {
  std::vector<NamedCost> all;
  if (study.plan().trials.empty()) return all;
  OPENSET_ASSIGN_OR_RETURN(const Machine machine, MachineOf(study, config));
  HintAtTf32(study.plan(), machine);
  OPENSET_ASSIGN_OR_RETURN(const Throughputs throughputs, ThroughputsFor(study, machine, may_probe, config));
  const auto add = [&](const std::string& what, const std::string& place, const CostDevice& device, int seats,
                       bool needed_only) {
    const PlanCost cost = CostOf(study.plan(), throughputs, device, needed_only);
    if (cost.passes == 0) return;
    all.push_back(
        {what, place, cost, cost.hours / AtOnce(TrainingsOf(study.plan(), needed_only), seats), device.is_gpu});
  };
  add("the whole study", machine.where, machine.device, machine.seats, false);
  const bool some_done = absl::c_any_of(study.plan().actions, [](const Action& action) { return action.is_done(); });
  if (some_done) add("the missing part", machine.where, machine.device, machine.seats, true);
  if (machine.device.is_gpu) return all;
  const std::vector<std::string> gpus = throughputs.GpuKinds();
  for (const std::string& gpu : gpus) add("the whole study", gpu, {true, gpu, 1}, 1, false);
  if (gpus.empty()) add("the whole study", "a GPU", {true, "", 1}, 1, false);
  return all;
}

bool IsAssumed(const PlanCost& cost) { return cost.assumed > 0.5; }

std::string BasisText(const PlanCost& cost, bool on_gpu) {
  const std::string assumed =
      on_gpu ? absl::StrFormat("assumed, by multiply-adds at %.0f %% of an H100's fp32 peak", 100 * kAssumedGpuShare)
             : "assumed, by multiply-adds";
  std::vector<std::string> parts;
  for (const auto& [share, text] :
       {std::pair<double, std::string>{cost.measured, "from earlier trainings of the same networks here"},
        {cost.probed, "by a probe of some seconds"},
        {cost.scaled, "from other networks here, by multiply-adds"},
        {cost.assumed, assumed}}) {
    if (share > 0) parts.push_back(absl::StrFormat("%.0f %% %s", 100 * share, text));
  }
  if (cost.unknown_passes > 0) {
    parts.push_back(absl::StrCat("without ", cost.unknown_passes, " passes of networks of unknown cost"));
  }
  return absl::StrJoin(parts, ", ");
}

absl::StatusOr<Expectation> ExpectationOf(const Study& study, const RunConfig& config) {
  Expectation expectation;
  if (study.plan().trials.empty()) return expectation;
  for (const ActionId id : study.plan().NeededActions()) {
    if (!IsByCommand(study.plan(), id)) continue;
    expectation.text = "time left: unknown until the trainings by commands have ended";
    return expectation;
  }
  OPENSET_ASSIGN_OR_RETURN(const Machine machine, MachineOf(study, config));
  HintAtTf32(study.plan(), machine);
  OPENSET_ASSIGN_OR_RETURN(const Throughputs throughputs, ThroughputsFor(study, machine, /*may_probe=*/false, config));
  const PlanCost cost = CostOf(study.plan(), throughputs, machine.device, /*needed_only=*/true);
  const int64_t known = cost.passes - cost.unknown_passes;
  if (known <= 0 || cost.hours <= 0) return expectation;
  if (IsAssumed(cost)) {
    expectation.text = "time left: unknown until the first epoch, because nothing like it was measured here";
    return expectation;
  }
  const double at_once = AtOnce(TrainingsOf(study.plan(), /*needed_only=*/true), machine.seats);
  expectation.pace.at_once = machine.seats;
  // So that the time left starts at the time in the text.
  expectation.pace.seconds_per_pass = 3600 * cost.hours / static_cast<double>(known) * machine.seats / at_once;
  expectation.pace.is_rough = cost.scaled + cost.assumed > 0.5;  // mostly scaled
  expectation.text = absl::StrCat(expectation.pace.is_rough ? "roughly " : "about ", HoursText(cost.hours / at_once),
                                  " on ", machine.where, " (", BasisText(cost, machine.device.is_gpu), ")");
  return expectation;
}

}  // namespace openset
