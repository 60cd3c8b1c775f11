#include "experiments/engine/slurm/slurm_jobs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/input_file.h"
#include "core/files/system_calls.h"
#include "core/machine/machine.h"
#include "core/process/python.h"
#include "core/process/subprocess.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/shell_word.h"
#include "experiments/action/stage.h"
#include "experiments/store/processes/leases.h"
#include "experiments/store/store_contents.h"

namespace openset {
namespace {

// Slurm's default, for clusters that do not report a value.
constexpr int kMaxArraySize = 1001;

bool IsNumber(absl::string_view text) {
  return !text.empty() && absl::c_all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

// Whether this output of a Slurm command means that the cluster did not answer but may do so later.
bool DidNotAnswer(absl::string_view message) {
  for (const char* words : {"timed out", "temporarily", "contact slurm controller", "Connection re", "again later"}) {
    if (absl::StrContains(message, words)) return true;
  }
  return false;
}

// Returns the output of a Slurm command. Its failures never count as failures of a study's actions.
absl::StatusOr<std::string> Ask(const std::vector<std::string>& command) {
  absl::StatusOr<std::string> output = CaptureOutput(command);
  if (!absl::IsAborted(output.status())) return output;
  const std::string message = OneLine(output.status().message());
  return DidNotAnswer(message) ? absl::UnavailableError(message) : absl::FailedPreconditionError(message);
}

}  // namespace

absl::StatusOr<std::string> SlurmClient::Submit(const std::vector<std::string>& options,
                                                const std::string& script) const {
  std::vector<std::string> arguments = {"sbatch", "--parsable"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.push_back(script);
  OPENSET_ASSIGN_OR_RETURN(const std::string output, Ask(arguments));
  // "JOB" or "JOB;CLUSTER".
  const std::string job(absl::StripAsciiWhitespace(output.substr(0, output.find(';'))));
  if (IsNumber(job)) return job;
  return absl::UnavailableError(absl::StrCat("sbatch printed no job number: '", output, "'"));
}

absl::StatusOr<std::vector<SlurmTask>> ParseQueue(const std::string& lines) {
  std::vector<SlurmTask> queue;
  std::set<absl::string_view> seen;
  for (absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipWhitespace())) {
    const std::vector<std::string> fields = absl::StrSplit(absl::StripAsciiWhitespace(line), '|');
    if (fields.size() < 4) return absl::UnavailableError(absl::StrCat("squeue: cannot read '", line, "'"));
    // The name of a job that is not ours may have any character.
    const size_t job = fields.size() - 3;
    if (job > 1 || !IsNumber(fields[job]) || !IsNumber(fields[job + 1]) || !seen.insert(line).second) continue;
    queue.push_back({fields[0], fields[job], fields[job + 2]});
  }
  return queue;
}

absl::StatusOr<std::vector<SlurmTask>> SlurmClient::Queue() const {
  OPENSET_ASSIGN_OR_RETURN(const std::string lines,
                           Ask({"squeue", "--me", "--array", "--noheader", "--format=%j|%F|%K|%T"}));
  return ParseQueue(lines);
}

std::string ParseAccounts(const std::string& lines) {
  for (absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipWhitespace())) {
    const std::vector<std::string> fields = absl::StrSplit(line, '|');
    const std::vector<std::string> id = absl::StrSplit(fields[0], '_');
    if (fields.size() < 2 || id.size() != 2 || !IsNumber(id[0]) || !IsNumber(id[1])) continue;
    return absl::StrCat(id[0], " (", fields[1].substr(0, fields[1].find(' ')), ")");
  }
  return "";
}

std::string SlurmClient::Ended(const std::string& array) const {
  return ParseAccounts(
      Ask({"sacct", "--noheader", "--parsable2", "--format=JobID,State", "--name=" + array}).value_or(""));
}

int SlurmClient::MaxArraySize() const {
  const std::string config = Ask({"scontrol", "show", "config"}).value_or("");
  for (absl::string_view line : absl::StrSplit(config, '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits('=', 1));
    int size = 0;
    if (parts.size() == 2 && absl::StripAsciiWhitespace(parts[0]) == "MaxArraySize" &&
        absl::SimpleAtoi(parts[1], &size) && size > 1) {
      return size;
    }
  }
  return kMaxArraySize;
}

absl::Status SlurmClient::Cancel(const std::vector<std::string>& jobs) const {
  if (jobs.empty()) return absl::OkStatus();
  std::vector<std::string> arguments = {"scancel"};
  arguments.insert(arguments.end(), jobs.begin(), jobs.end());
  return Ask(arguments).status();
}

absl::Status SlurmClient::Requeue(const std::string& task) const { return Ask({"scontrol", "requeue", task}).status(); }

namespace {

// A submission that can't reach Slurm is repeated at the next looks, this often in all.
constexpr int kMostAttempts = 4;
// Tasks count as ended after this many queries of the queue that don't list them: their results may become visible
// after they leave the queue.
constexpr int kEmptyLooks = 2;

// The prefix of the names of arrays and of their jobs.
constexpr char kNamePrefix[] = "openset-";
// In bytes. This program does not write larger files.
constexpr int64_t kLargestArray = 256 << 20;
constexpr int kMostTasks = 1 << 22;  // Slurm's own limit is lower
constexpr int kMostCpus = 1 << 16;

// Follows kCheckProgram. Slurm passes on the submitter's environment, in which these variables may point to the
// original program's files.
constexpr char kRefuse[] = R"SH()
if [ -n "$wrong" ]; then
  echo "$program: $wrong: the copied program has changed since it was submitted; 'openset run' submits it again" >&2
  exit 1
fi
unset RUNFILES_DIR TEST_SRCDIR
)SH";

// The prefix of the names of a study's job arrays.
std::string NamePrefix(const std::string& experiment) { return absl::StrCat(kNamePrefix, experiment, "-"); }

std::string Folder(const Store& store) { return JoinPath(store.folder(), "slurm"); }
std::string LogFolder(const Store& store) { return JoinPath(Folder(store), "logs"); }

// Whether a retry may succeed.
bool MayReach(const absl::Status& status) { return absl::IsDeadlineExceeded(status) || absl::IsUnavailable(status); }

bool IsSound(const SlurmArray& array) {
  const SlurmSeat& seat = array.seat();
  return absl::StartsWith(array.name(), kNamePrefix) && (!array.has_program() || IsKey(array.program())) &&
         array.tasks() >= 1 && array.tasks() <= kMostTasks && seat.cpus() >= 1 && seat.cpus() <= kMostCpus &&
         seat.memory_mb() >= 0 && absl::c_all_of(array.record(), IsKey) && absl::c_all_of(array.failed_before(), IsKey);
}

// Calls `use` with each readable array whose name begins with `prefix`, and with the path of its file, in the order of
// the names. Returns the first of the errors of IsReadFailure() (experiments/store/store.h), after all others.
absl::Status ForEachArray(const Store& store, const std::string& prefix,
                          const std::function<void(SlurmArray array, const std::string& path)>& use) {
  absl::Status failure;
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> files, NamesInFolder(Folder(store)));
  for (const std::string& file : files) {
    absl::string_view name = file;
    if (!absl::ConsumeSuffix(&name, ".rec") || !absl::StartsWith(name, prefix)) continue;
    SlurmArray array;
    const std::string path = JoinPath(Folder(store), file);
    const absl::StatusOr<std::string> bytes = ReadFile(path, kLargestArray);
    if (IsReadFailure(bytes.status())) failure.Update(bytes.status());
    // Other users may have put the file there.
    if (bytes.ok() && DecodeRecord(*bytes, &array).ok() && array.name() == name && IsSound(array)) {
      use(std::move(array), path);
    }
  }
  return failure;
}

// Whether the cluster accepts no more jobs of this user, or no array with so many tasks.
bool IsSubmitLimit(const absl::Status& status) {
  return absl::StrContains(status.message(), "MaxSubmitJob") || absl::StrContains(status.message(), "job submit limit");
}

}  // namespace

std::vector<SlurmArray> ArraysInStore(const Store& store, const std::string& experiment) {
  std::vector<SlurmArray> arrays;
  ForEachArray(store, NamePrefix(experiment), [&](SlurmArray array, const std::string& /*path*/) {
    if (array.experiment() == experiment) arrays.push_back(std::move(array));
  }).IgnoreError();
  return arrays;
}

std::vector<std::string> LastLinesOf(const Store& store, const SlurmArray& array) {
  std::vector<std::string> lines;
  std::set<std::string> seen;
  for (int task = 0; task < array.tasks(); ++task) {
    const std::string path = JoinPath(LogFolder(store), absl::StrCat(array.name(), ".", task, ".log"));
    const std::string text = ReadEnd(path, 4096);
    const std::vector<std::string> all = absl::StrSplit(text, '\n', absl::SkipWhitespace());
    if (!all.empty() && seen.insert(all.back()).second) lines.push_back(absl::StrCat(path, ": ", OneLine(all.back())));
  }
  return lines;
}

absl::StatusOr<std::set<std::string>> ProgramsInUse(const Store& store) {
  std::set<std::string> programs;
  std::optional<absl::StatusOr<absl::Time>> now;
  const auto use = [&](const SlurmArray& array, const std::string& path) {
    if (!array.has_program() || programs.count(array.program()) > 0) return;
    if (!now.has_value()) now = store.Now();
    struct stat info = {};
    const bool is_old =
        now->ok() && StatFile(path, &info) == 0 && **now - absl::FromUnixSeconds(info.st_mtime) >= kGivenUp;
    const auto is_done = [&](const std::string& id) { return store.HasRecord(id).value_or(false); };
    if (!is_old && !absl::c_all_of(array.record(), is_done)) programs.insert(array.program());
  };
  OPENSET_RETURN_IF_ERROR(ForEachArray(store, kNamePrefix, use));
  return programs;
}

absl::StatusOr<SlurmArray> ThisArray(const std::string& file) {
  SlurmArray array;
  OPENSET_RETURN_IF_ERROR(ReadRecordFile(file, &array));
  if (!IsSound(array)) return absl::DataLossError(absl::StrCat(file, ": is not an array that openset submitted"));
  const char* variable = std::getenv("SLURM_ARRAY_TASK_ID");
  int index = 0;
  if (variable == nullptr || !absl::SimpleAtoi(variable, &index) || index < 0 || index >= array.tasks()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--slurm_task is for tasks that Slurm starts: SLURM_ARRAY_TASK_ID must be 0 to ", array.tasks() - 1));
  }
  return array;
}

std::string ThisTaskId() {
  const char* job = std::getenv("SLURM_ARRAY_JOB_ID");
  const char* index = std::getenv("SLURM_ARRAY_TASK_ID");
  return job == nullptr || index == nullptr ? "" : absl::StrCat(job, "_", index);
}

absl::Duration TimeToEnd(const SlurmSpec& slurm) {
  constexpr int kOwnEndSeconds = 15;
  return absl::Seconds(std::max(1, slurm.warning_seconds() - kOwnEndSeconds));
}

namespace {

// Seconds of "MINUTES", "MINUTES:SECONDS", "HOURS:MINUTES:SECONDS", "DAYS-HOURS", "DAYS-HOURS:MINUTES" and
// "DAYS-HOURS:MINUTES:SECONDS"; -1 for another text.
int64_t SecondsOfTime(absl::string_view text) {
  int64_t days = 0;
  const size_t dash = text.find('-');
  if (dash != absl::string_view::npos && !absl::SimpleAtoi(text.substr(0, dash), &days)) return -1;
  const std::vector<absl::string_view> parts =
      absl::StrSplit(dash == absl::string_view::npos ? text : text.substr(dash + 1), ':');
  std::array<int64_t, 3> numbers = {};  // hours, minutes, seconds
  if (parts.size() > numbers.size()) return -1;
  const size_t first = dash == absl::string_view::npos && parts.size() < numbers.size() ? 1 : 0;
  for (size_t p = 0; p < parts.size(); ++p) {
    if (!absl::SimpleAtoi(parts[p], &numbers[first + p])) return -1;
  }
  return ((days * 24 + numbers[0]) * 60 + numbers[1]) * 60 + numbers[2];
}

}  // namespace

std::string TimeHint(const SlurmSpec& slurm) {
  constexpr int64_t kEarly = 60;
  const int64_t seconds = SecondsOfTime(slurm.time());
  const int64_t work = seconds - slurm.warning_seconds() - kEarly;
  if (seconds <= 0 || 2 * work >= seconds) return "";
  return absl::StrCat("hint: slurm.time ", slurm.time(), " leaves a task ", std::max<int64_t>(work, 0),
                      " seconds for work before the warning (warning_seconds: ", slurm.warning_seconds(),
                      ", and Slurm may warn a minute early), and a requeue waits about two minutes: take more time, or "
                      "fewer warning_seconds");
}

SlurmSeat SeatFor(const Plan& plan, const ActionMemory& memory, const SlurmSpec& slurm) {
  SlurmSeat seat;
  bool chooses = false;
  for (const Action& action : plan.actions) chooses |= action.is_needed() && action.kind == ActionKind::kChoose;
  for (const Action& action : plan.actions) {
    if (action.kind == ActionKind::kChoose || (!action.is_needed() && !chooses)) continue;
    const Demand demand = StageOf(action).Needs(plan.TrialOf(action), memory);
    if (demand.gpu_shares > 0) seat.set_gpu(true);
    seat.set_cpus(std::max(seat.cpus(), demand.cpu_threads));
    seat.set_memory_mb(std::max(seat.memory_mb(), demand.memory_mb));
  }
  seat.set_cpus(std::max(seat.cpus(), seat.gpu() ? slurm.cpus_per_gpu_job() : 1));
  return seat;
}

std::string DescribeSeat(const SlurmSeat& seat) {
  return absl::StrCat(seat.gpu() ? "1 GPU, " : "", seat.cpus(), seat.cpus() == 1 ? " CPU" : " CPUs",
                      seat.memory_mb() > 0 ? absl::StrCat(", ", seat.memory_mb(), " MB") : "");
}

std::vector<std::string> SbatchOptions(const SlurmSpec& slurm, const SlurmArray& array, const std::string& log_folder) {
  std::vector<std::string> words = {
      "--job-name=" + array.name(),
      absl::StrCat("--array=0-", array.tasks() - 1),
      "--requeue",
      "--open-mode=append",
      // Slurm would expand a % in the folder's name.
      absl::StrCat("--output=", absl::StrReplaceAll(log_folder, {{"%", "%%"}}), "/%x.%a.log"),
      absl::StrCat("--signal=B:USR1@", slurm.warning_seconds()),
      absl::StrCat("--cpus-per-task=", array.seat().cpus()),
  };
  const auto add = [&words](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(absl::StrCat("--", option, "=", value));
  };
  if (array.seat().gpu()) add("gres", slurm.gres());
  const int64_t memory_mb = slurm.has_mem_mb() ? slurm.mem_mb() : array.seat().memory_mb();
  if (memory_mb > 0) add("mem", absl::StrCat(memory_mb, "M"));
  add("partition", slurm.partition());
  add("account", slurm.account());
  add("qos", slurm.qos());
  add("constraint", slurm.constraint());
  add("time", slurm.time());
  words.insert(words.end(), slurm.option().begin(), slurm.option().end());
  return words;
}

std::string TaskScript(const SlurmOptions& options, const ProgramCopy& copy, const SlurmSeat& seat,
                       const std::string& array_file) {
  std::vector<std::string> words = options.command;
  if (!copy.folder.empty()) words.insert(words.begin(), copy.program);
  // The last value of a repeated flag counts.
  for (const std::string& flag :
       {std::string("--engine=local"), absl::StrCat("--jobs=", seat.cpus()),
        std::string(seat.gpu() ? "--devices=cuda:0" : "--devices=cpu"), absl::StrCat("--slurm_task=", array_file)}) {
    words.push_back(flag);
  }
  std::string script = "#!/bin/bash\n";
  if (!copy.folder.empty()) {
    absl::StrAppend(&script, "program=", ShellWord(copy.folder), " sha256=", copy.sha256, "\nwrong=$(", kCheckProgram,
                    kRefuse);
  }
  // Slurm may not pass on the environment in which the Python package names its interpreter.
  if (std::getenv("OPENSET_PYTHON") != nullptr) {
    absl::StrAppend(&script, "export OPENSET_PYTHON=", ShellWord(PythonProgram()), "\n");
  }
  for (const std::string& line : options.deploy.slurm().prologue()) absl::StrAppend(&script, line, "\n");
  return absl::StrCat(
      script, "exec ",
      absl::StrJoin(words, " ", [](std::string* out, const std::string& word) { out->append(ShellWord(word)); }), "\n");
}

void SlurmRun::SetUp(ExecuteOptions* execute) {
  execute->starts_actions = false;
  execute->failures_before = &options_.failures_before;
  execute->poll_interval = absl::Seconds(options_.deploy.slurm().poll_seconds());
  execute->on_open_work = [this](const OpenWork& work) { return SubmitFor(work); };
}

int SlurmRun::CountQueued(const std::vector<SlurmTask>& queue) const {
  std::set<std::string> names;
  for (const SlurmArray& array : ArraysInStore(store_, options_.experiment)) names.insert(array.name());
  return static_cast<int>(absl::c_count_if(queue, [&](const SlurmTask& task) { return names.count(task.array) > 0; }));
}

absl::Status SlurmRun::TryLater(const absl::Status& status) {
  if (say_ != nullptr && answers_) say_(absl::StrCat("Slurm does not answer; retrying: ", status.message()));
  answers_ = false;
  return absl::OkStatus();
}

absl::Status SlurmRun::SubmitFor(const OpenWork& work) {
  const absl::StatusOr<std::vector<SlurmTask>> queue = client_.Queue();
  // A controller that restarts does not answer for a while.
  if (!queue.ok()) return absl::IsNotFound(queue.status()) || !has_asked_ ? queue.status() : TryLater(queue.status());
  has_asked_ = answers_ = true;
  ShowRunning(work.held);
  if (work.open.empty()) return absl::OkStatus();
  if (most_tasks_ == 0) most_tasks_ = std::max(1, client_.MaxArraySize() - 1);
  const int most = options_.deploy.slurm().tasks() > 0 ? options_.deploy.slurm().tasks() : most_tasks_;
  const int queued = CountQueued(*queue);
  const auto tasks_for = [&](int open) {
    return std::min({open, open + static_cast<int>(work.held.size()) - queued, most - queued, most_tasks_});
  };
  auto open = static_cast<int>(work.open.size());
  // Tasks that have left the queue since this process looked at the store have stored their results by now. While
  // enough are queued, that does not matter.
  if (queued == 0 || tasks_for(open) > 0) {
    open = static_cast<int>(
        absl::c_count_if(work.open, [&](ActionId id) { return !plan_.IsInStore(plan_[id], store_).value_or(false); }));
    if (open == 0) return absl::OkStatus();
  }
  if (queued > 0) empty_looks_ = 0;
  if (queued == 0 && is_watching_) {
    if (++empty_looks_ < kEmptyLooks) return absl::OkStatus();
    submissions_without_progress_ = work.ended > ended_ ? 0 : submissions_without_progress_ + 1;
    if (submissions_without_progress_ > options_.deploy.retries()) {
      const std::vector<SlurmArray> arrays = ArraysInStore(store_, options_.experiment);
      const std::string ended = arrays.empty() ? "" : client_.Ended(arrays.back().name());
      return absl::UnavailableError(
          absl::StrCat("Slurm job ", ended.empty() ? "" : ended + " ", "ended without a result, ",
                       submissions_without_progress_, submissions_without_progress_ == 1 ? " time" : " times",
                       "; its output is in ", LogFolder(store_), ", and the same command submits it again"));
    }
  }
  const int tasks = tasks_for(open);
  if (tasks > 0) {
    const absl::Status submitted = Submit(tasks, queued > 0);
    if (MayReach(submitted) && ++attempts_ < kMostAttempts) return TryLater(submitted);
    OPENSET_RETURN_IF_ERROR(submitted);
    attempts_ = 0;
  }
  if (tasks > 0 || !is_watching_) {
    is_watching_ = true;
    empty_looks_ = 0;
    ended_ = work.ended;
  }
  return absl::OkStatus();
}

absl::Status SlurmRun::Submit(int tasks, bool are_some_queued) {
  if (copy_.folder.empty() && !options_.program.empty()) {
    OPENSET_ASSIGN_OR_RETURN(copy_, CopyProgram(store_, options_.runfiles, options_.program, options_.other_programs));
  }
  for (;; tasks = (tasks + 1) / 2) {
    const absl::Status submitted = SubmitArray(tasks);
    if (!IsSubmitLimit(submitted)) return submitted;
    // If tasks are queued, they are all that the cluster accepts now.
    if (tasks == 1) return are_some_queued ? absl::OkStatus() : submitted;
  }
}

absl::Status SlurmRun::SubmitArray(int tasks) {
  static int count = 0;
  if (!copy_.folder.empty()) OPENSET_RETURN_IF_ERROR(CheckProgram(copy_));
  SlurmArray array;
  const std::string unique = absl::StrCat(HostName(), " ", getpid(), " ", absl::ToUnixNanos(absl::Now()));
  // The name begins with the time, so that names sort by time.
  array.set_name(absl::StrFormat("%s%011x-%s-%04d", NamePrefix(options_.experiment), absl::ToUnixMillis(absl::Now()),
                                 Sha256Hex(unique).substr(0, 6), count++));
  array.set_experiment(options_.experiment);
  if (!copy_.sha256.empty()) array.set_program(copy_.sha256);
  array.set_tasks(tasks);
  *array.mutable_seat() = SeatFor(plan_, options_.deploy.memory(), options_.deploy.slurm());
  for (const ActionId id : plan_.evaluations) {
    if (plan_[id].is_needed()) array.add_record(plan_[id].key);
  }
  array.set_only_these(options_.only_these);
  for (const auto& [key, failures] : options_.failures_before) {
    for (int n = 0; n < failures; ++n) array.add_failed_before(key);
  }
  const std::string logs = LogFolder(store_);
  OPENSET_RETURN_IF_ERROR(MakeFolders(logs));
  const std::string base = JoinPath(Folder(store_), array.name());
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(base + ".rec", EncodeRecord(array)));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(base + ".sh", TaskScript(options_, copy_, array.seat(), base + ".rec")));
  const std::vector<std::string> words = SbatchOptions(options_.deploy.slurm(), array, logs);
  absl::StatusOr<std::string> job = client_.Submit(words, base + ".sh");
  if (!job.ok() && !absl::IsNotFound(job.status())) {
    // The job may have been submitted even though the answer was lost.
    for (const SlurmTask& task : client_.Queue().value_or(std::vector<SlurmTask>())) {
      if (task.array == array.name()) job = task.job;
    }
  }
  OPENSET_RETURN_IF_ERROR(job.status());
  if (say_ != nullptr) {
    say_(absl::StrCat("Slurm job ", *job, ": ", tasks, tasks == 1 ? " task, " : " tasks, ", DescribeSeat(array.seat()),
                      tasks == 1 ? "" : " each"));
  }
  return absl::OkStatus();
}

void SlurmRun::ShowRunning(const std::vector<ActionId>& held) {
  if (observer_ == nullptr) return;
  std::map<std::string, ActionId> ids;
  for (const ActionId id : held) ids[plan_[id].key] = id;
  for (const RunState& run : RunsOf(store_)) {
    for (const RunningAction& action : run.running()) {
      const auto id = ids.find(action.key());
      if (id == ids.end() || !action.elsewhere().empty()) continue;
      if (started_.insert(id->second).second) observer_->OnStart(id->second);
      observer_->OnProgress(id->second, action.progress());
    }
  }
}

}  // namespace openset
