
#include "experiments/engine/slurm/slurm_pilots.h"

#include <sys/stat.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/status_macros.h"
#include "experiments/action/stage.h"
#include "experiments/engine/slurm/program_copy.h"
#include "experiments/store/processes/leases.h"

namespace openset {
namespace {

// Looks at the queue in which no pilot may be found before they count as ended: their results may become visible after
// their end.
constexpr int kMissingLooks = 2;

Demand NeedsOf(const Plan& plan, const Action& action, const ActionMemory& memory) {
  return StageOf(action).Needs(plan.TrialOf(action), memory);
}

// Whether the cluster accepts no more jobs of this user, or no array with so many tasks.
bool IsSubmitLimit(const absl::Status& status) {
  return absl::StrContains(status.message(), "MaxSubmitJob") || absl::StrContains(status.message(), "job submit limit");
}

}  // namespace

bool RunsOnGpu(const Plan& plan, const Action& action, const ActionMemory& memory) {
  return NeedsOf(plan, action, memory).gpu_shares > 0;
}

SlurmSeat SeatFor(const Plan& plan, bool gpu, const ActionMemory& memory, const SlurmSpec& slurm) {
  SlurmSeat seat;
  seat.set_gpu(gpu);
  seat.set_cpus(gpu ? slurm.cpus_per_gpu_job() : 1);
  for (const ActionId id : plan.NeededActions()) {
    const Demand demand = NeedsOf(plan, plan[id], memory);
    if ((demand.gpu_shares > 0) != gpu) continue;
    seat.set_cpus(std::max(seat.cpus(), demand.cpu_threads));
    seat.set_memory_mb(std::max(seat.memory_mb(), demand.memory_mb));
  }
  return seat;
}

void BeLauncher(const PilotOptions& pilots, ExecuteOptions* execute) {
  execute->failures_before = &pilots.failures_before;
  execute->takes = [](const Action& action) { return action.kind == ActionKind::kChoose; };
}

void BePilot(const Plan& plan, const SlurmSeat& seat, const PilotOptions& pilots, absl::Duration patience,
             ExecuteOptions* execute) {
  const bool gpu = seat.gpu();
  const bool chooses = !pilots.only_these;
  const ActionMemory memory = pilots.memory;
  execute->takes = [&plan, gpu, chooses, memory](const Action& action) {
    return action.kind == ActionKind::kChoose ? chooses : RunsOnGpu(plan, action, memory) == gpu;
  };
  if (gpu) {
    execute->takes_rather_than_end = [&plan, seat, memory](const Action& action) {
      const Demand demand = NeedsOf(plan, action, memory);
      return demand.gpu_shares == 0 && demand.cpu_threads <= seat.cpus() && demand.memory_mb <= seat.memory_mb();
    };
  }
  execute->patience = patience;
  execute->failures_before = &pilots.failures_before;
}

absl::StatusOr<PilotOptions> OptionsOfPilot(const Store& store, const SlurmArray& array, PilotOptions options) {
  OPENSET_ASSIGN_OR_RETURN(const SlurmLaunch launch, LoadLaunch(store, array.launch()));
  options.submit.experiment = array.experiment();
  options.submit.launch = array.launch();
  std::vector<std::string>& command = options.submit.command;
  if (command.size() > kPilotFlags) command.resize(command.size() - kPilotFlags);
  if (array.has_program() && !command.empty()) {
    options.submit.program = {JoinPath(store.folder(), "programs/" + array.program()), array.program(), command[0]};
  }
  options.overrides.assign(launch.overrides().begin(), launch.overrides().end());
  options.only_these = launch.only_these();
  for (const std::string& key : launch.failed_before()) ++options.failures_before[key];
  return options;
}

absl::Status SlurmPilots::Prepare() {
  if (is_prepared_) return absl::OkStatus();
  SubmitOptions& submit = options_.submit;
  if (!options_.program.empty()) {
    OPENSET_ASSIGN_OR_RETURN(submit.program,
                             CopyProgram(store_, options_.runfiles, options_.program, options_.other_programs));
    submit.command.insert(submit.command.begin(), submit.program.program);
  }
  if (submit.launch.empty()) {
    SlurmLaunch launch;
    launch.set_experiment(submit.experiment);
    launch.mutable_overrides()->Assign(options_.overrides.begin(), options_.overrides.end());
    for (const ActionId id : plan_.evaluations) {
      if (plan_[id].is_needed()) launch.add_record(plan_[id].key);
    }
    launch.set_only_these(options_.only_these);
    for (const auto& [key, count] : options_.failures_before) {
      for (int n = 0; n < count; ++n) launch.add_failed_before(key);
    }
    OPENSET_ASSIGN_OR_RETURN(submit.launch, WriteLaunch(store_, launch));
  }
  most_tasks_ = std::max(1, client_.MaxArraySize() - 1);
  is_prepared_ = true;
  return absl::OkStatus();
}

void SlurmPilots::ReadArrays() {
  std::set<std::string> known;
  for (const auto& [name, submitted] : arrays_) {
    if (!submitted.job.empty()) known.insert(name);
  }
  for (SubmittedArray& submitted : ArraysInStore(store_, options_.submit.experiment, known)) {
    const std::string name = submitted.array.name();
    arrays_[name] = std::move(submitted);
  }
}

int SlurmPilots::CountQueued(const std::map<SlurmTaskId, std::string>& queue, bool gpu) const {
  // A cluster may reuse job numbers: the array with the last name counts.
  std::map<std::string, const SlurmArray*> of_job;
  for (const auto& [name, submitted] : arrays_) of_job[submitted.job] = &submitted.array;
  return static_cast<int>(std::count_if(queue.begin(), queue.end(), [&](const auto& task) {
    const auto array = of_job.find(task.first.job);
    return array != of_job.end() && array->second->seat().gpu() == gpu && task.first.index < array->second->pilots();
  }));
}

absl::StatusOr<std::map<ActionId, absl::Status>> SlurmPilots::Find(const LeftWork& left) {
  std::map<ActionId, absl::Status> given_up;
  // The queue is read before the arrays, so that an array submitted in between is not counted instead of being mistaken
  // for one that has ended.
  const absl::StatusOr<std::map<SlurmTaskId, std::string>> queue = client_.Queue();
  if (!queue.ok() && (absl::IsNotFound(queue.status()) || !is_prepared_)) return queue.status();
  OPENSET_RETURN_IF_ERROR(Prepare());
  ShowRunning(left.held);
  if (!queue.ok()) return given_up;  // a controller that restarts does not answer for a while
  ReadArrays();
  for (const bool gpu : {true, false}) {
    const auto is_for = [&](ActionId id) { return RunsOnGpu(plan_, plan_[id], options_.memory) == gpu; };
    const auto open = static_cast<int>(std::count_if(left.open.begin(), left.open.end(), is_for));
    if (open == 0) continue;
    const auto held = static_cast<int>(std::count_if(left.held.begin(), left.held.end(), is_for));
    const int queued = CountQueued(*queue, gpu);
    Fleet& fleet = fleets_[gpu];
    const double saved_at = SavedAt(left);
    if (queued > 0) {
      fleet.missing = 0;
    } else if (fleet.is_watched) {
      if (++fleet.missing < kMissingLooks) continue;
      if (IsFruitless(&fleet, left, saved_at)) {
        const absl::Status status = absl::UnavailableError(absl::StrCat(
            DescribeLastJob(gpu), " ended without a result, ", fleet.fruitless,
            fleet.fruitless == 1 ? " time" : " times", "; its output is in ", store_.folder(), "/slurm/logs"));
        for (const ActionId id : left.open) {
          if (is_for(id)) given_up[id] = status;
        }
        fleet = {};
        continue;
      }
    }
    const bool lacks = MoreFor(open, held, queued) > 0;
    if (lacks) OPENSET_RETURN_IF_ERROR(Submit(gpu, left, held, queued));
    if (lacks || !fleet.is_watched) {
      fleet.is_watched = true;
      fleet.missing = 0;
      fleet.ended = left.ended;
      fleet.saved_at = saved_at;
    }
  }
  return given_up;
}

std::string SlurmPilots::DescribeLastJob(bool gpu) const {
  std::string job;
  for (const auto& [name, submitted] : arrays_) {
    if (submitted.array.seat().gpu() == gpu && !submitted.job.empty()) job = submitted.job;
  }
  if (job.empty()) return "its Slurm job";  // Slurm's answer was lost
  const std::map<SlurmTaskId, std::string> ended = client_.Ended(job);
  return absl::StrCat("its Slurm job ", job, ended.empty() ? "" : absl::StrCat(" (", ended.begin()->second, ")"));
}

bool SlurmPilots::IsFruitless(Fleet* fleet, const LeftWork& left, double saved_at) const {
  const bool got_further = left.ended > fleet->ended || saved_at > fleet->saved_at;
  fleet->fruitless = got_further ? 0 : fleet->fruitless + 1;
  return fleet->fruitless > options_.retries;
}

int SlurmPilots::MoreFor(int open, int held, int queued) const {
  const int most = options_.most > 0 ? options_.most : most_tasks_;
  return std::min({open, open + held - queued, most - queued, most_tasks_});
}

absl::Status SlurmPilots::Submit(bool gpu, const LeftWork& left, int held, int queued) {
  // Many pilots end at the same time when nothing is left for them: a claim makes them look and submit one at a time.
  const std::string claim = Sha256Hex(absl::StrCat("pilots ", options_.submit.launch, gpu ? " GPU" : " CPU"));
  if (left.leases != nullptr) {
    OPENSET_ASSIGN_OR_RETURN(const std::string owner, left.leases->TryClaim({claim}));
    if (!owner.empty()) return absl::OkStatus();
  }
  if (const auto queue = client_.Queue(); queue.ok()) {
    ReadArrays();
    queued = CountQueued(*queue, gpu);
  }
  // Pilots that have left the queue since the last look have stored their results by now.
  const auto open = static_cast<int>(std::count_if(left.open.begin(), left.open.end(), [&](ActionId id) {
    return RunsOnGpu(plan_, plan_[id], options_.memory) == gpu && !plan_.IsInStore(plan_[id], store_).value_or(false);
  }));
  int pilots = MoreFor(open, held, queued);
  absl::Status status;
  for (; pilots > 0; pilots = (pilots + 1) / 2) {
    const SlurmSeat seat = SeatFor(plan_, gpu, options_.memory, options_.submit.slurm);
    absl::StatusOr<SubmittedArray> submitted = SubmitArray(store_, client_, options_.submit, seat, pilots);
    status = submitted.status();
    if (submitted.ok()) {
      submitted_.push_back(absl::StrCat("job ", submitted->job, ": ", pilots, pilots == 1 ? " pilot, " : " pilots, ",
                                        DescribeSeat(seat), pilots == 1 ? "" : " each"));
      const std::string name = submitted->array.name();
      arrays_[name] = *std::move(submitted);
    }
    if (submitted.ok() || pilots == 1 || !IsSubmitLimit(status)) break;
  }
  if (left.leases != nullptr) left.leases->Release(claim);
  // If pilots are queued, they are all that the cluster accepts now.
  return queued > 0 && IsSubmitLimit(status) ? absl::OkStatus() : status;
}

double SlurmPilots::SavedAt(const LeftWork& left) const {
  double last = 0;
  for (const std::vector<ActionId>* actions : {&left.open, &left.held}) {
    for (const ActionId id : *actions) {
      struct stat info = {};
      if (!StageOf(plan_[id]).SavesState()) continue;
      if (StatFile(store_.PartialPath(plan_[id].key), &info) != 0) continue;
      last =
          std::max(last, static_cast<double>(info.st_mtim.tv_sec) + 1e-9 * static_cast<double>(info.st_mtim.tv_nsec));
    }
  }
  return last;
}

void SlurmPilots::ShowRunning(const std::vector<ActionId>& held) {
  if (observer_ == nullptr) return;
  std::map<std::string, ActionId> ids;
  for (const ActionId id : held) ids[plan_[id].key] = id;
  for (const RunState& run : RunsOf(store_)) {
    for (const RunningAction& action : run.running()) {
      const auto id = ids.find(action.key());
      if (id == ids.end() || !action.elsewhere().empty()) continue;
      if (started_.insert(id->second).second) observer_->OnStart(id->second);
      WorkProgress progress;
      progress.set_fraction(action.fraction());
      if (!action.what().empty()) progress.set_what(action.what());
      if (action.has_epoch()) progress.set_epoch(action.epoch());
      if (action.has_epochs()) progress.set_epochs(action.epochs());
      if (action.has_loss()) progress.set_loss(action.loss());
      if (action.has_metric()) progress.set_metric(action.metric());
      if (action.has_metric_value()) progress.set_metric_value(action.metric_value());
      if (action.has_images_per_second()) progress.set_images_per_second(action.images_per_second());
      observer_->OnProgress(id->second, progress);
    }
  }
}

}  // namespace openset
