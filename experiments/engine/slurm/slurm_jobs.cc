

#include "experiments/engine/slurm/slurm_jobs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

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
#include "core/files/system_calls.h"
#include "core/machine/machine.h"
#include "core/process/subprocess.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "experiments/store/store_contents.h"

namespace openset {
namespace {

// Slurm's default, for clusters that do not report a value.
constexpr int kMaxArraySize = 1001;

bool IsNumber(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

// Whether this output of a Slurm command means that the cluster did not answer but may do so later.
bool DidNotAnswer(absl::string_view message) {
  for (const char* words : {"timed out", "temporarily", "contact slurm controller", "Connection re", "again later"}) {
    if (absl::StrContains(message, words)) return true;
  }
  return false;
}

// Returns the output of a Slurm command. Its failures are never those of a study's actions.
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

absl::StatusOr<std::map<SlurmTaskId, std::string>> ParseQueue(const std::string& lines) {
  std::map<SlurmTaskId, std::string> queue;
  for (absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipWhitespace())) {
    const std::vector<std::string> fields = absl::StrSplit(absl::StripAsciiWhitespace(line), '|');
    if (fields.size() != 3) return absl::UnavailableError(absl::StrCat("squeue: cannot read '", line, "'"));
    SlurmTaskId task;
    task.job = fields[0];
    if (IsNumber(fields[1]) && absl::SimpleAtoi(fields[1], &task.index)) queue[task] = fields[2];
  }
  return queue;
}

absl::StatusOr<std::map<SlurmTaskId, std::string>> SlurmClient::Queue() const {
  OPENSET_ASSIGN_OR_RETURN(const std::string lines,
                           Ask({"squeue", "--me", "--array", "--noheader", "--format=%F|%K|%T"}));
  return ParseQueue(lines);
}

absl::StatusOr<std::string> SlurmClient::JobOfName(const std::string& name) const {
  OPENSET_ASSIGN_OR_RETURN(const std::string lines,
                           Ask({"squeue", "--me", "--noheader", "--format=%F", "--name=" + name}));
  return std::string(absl::StripAsciiWhitespace(lines.substr(0, lines.find('\n'))));
}

std::map<SlurmTaskId, std::string> ParseAccounts(const std::string& lines) {
  std::map<SlurmTaskId, std::string> ended;
  for (absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipWhitespace())) {
    const std::vector<std::string> fields = absl::StrSplit(line, '|');
    if (fields.size() < 2) continue;
    const std::vector<std::string> id = absl::StrSplit(fields[0], '_');
    SlurmTaskId task;
    if (id.size() != 2 || !IsNumber(id[1]) || !absl::SimpleAtoi(id[1], &task.index)) continue;
    task.job = id[0];
    ended[task] = fields[1].substr(0, fields[1].find(' '));
  }
  return ended;
}

std::map<SlurmTaskId, std::string> SlurmClient::Ended(const std::string& job) const {
  const absl::StatusOr<std::string> lines =
      Ask({"sacct", "--noheader", "--parsable2", "--format=JobID,State", "--jobs=" + job});
  return lines.ok() ? ParseAccounts(*lines) : std::map<SlurmTaskId, std::string>{};
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

constexpr int kAttempts = 4;

// The prefix of the names of arrays and of their jobs.
constexpr char kNamePrefix[] = "openset-";
// In bytes. This program does not write larger files.
constexpr int64_t kLargestArray = 256 << 20;
constexpr int64_t kLongestJob = 100;
constexpr int kMostPilots = 1 << 22;  // Slurm's own limit is lower
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

std::string Folder(const Store& store) { return JoinPath(store.folder(), "slurm"); }

std::string Quoted(const std::string& word) {
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

// Whether a retry may succeed.
bool MayReach(const absl::Status& status) { return absl::IsDeadlineExceeded(status) || absl::IsUnavailable(status); }

bool IsSound(const SlurmArray& array) {
  const SlurmSeat& seat = array.seat();
  return absl::StartsWith(array.name(), kNamePrefix) && (!array.has_program() || IsKey(array.program())) &&
         IsKey(array.launch()) && array.pilots() >= 1 && array.pilots() <= kMostPilots && seat.cpus() >= 1 &&
         seat.cpus() <= kMostCpus && seat.memory_mb() >= 0;
}

bool IsSound(const SlurmLaunch& launch) {
  return absl::c_all_of(launch.record(), IsKey) && absl::c_all_of(launch.failed_before(), IsKey);
}

// Calls `use` with each readable array whose name is not in `known` and with the path of its file, in the order of the
// names. Returns the first of the errors of IsReadFailure() (experiments/store/store.h), after all others.
absl::Status ForEachArray(const Store& store, const std::set<std::string>& known,
                          const std::function<void(SlurmArray array, const std::string& path)>& use) {
  absl::Status failure;
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> files, NamesInFolder(Folder(store)));
  for (const std::string& file : files) {
    absl::string_view name = file;
    if (!absl::ConsumeSuffix(&name, ".rec") || !absl::StartsWith(name, kNamePrefix)) continue;
    if (known.count(std::string(name)) > 0) continue;
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

// Returns the number in a file; "" if there is none.
std::string ReadJob(const std::string& path) {
  const absl::StatusOr<std::string> content = ReadFile(path, kLongestJob);
  const absl::string_view job = content.ok() ? absl::StripAsciiWhitespace(*content) : "";
  return absl::c_all_of(job, absl::ascii_isdigit) ? std::string(job) : "";
}

std::string LaunchPath(const Store& store, const std::string& sha256) {
  return absl::StrCat(Folder(store), "/launch-", sha256, ".rec");
}

// Whether all records of the launch exist. False if the launch can't be read.
bool HasAllRecords(const Store& store, const std::string& launch) {
  const absl::StatusOr<SlurmLaunch> loaded = LoadLaunch(store, launch);
  return loaded.ok() &&
         absl::c_all_of(loaded->record(), [&](const std::string& id) { return store.HasRecord(id).value_or(false); });
}

}  // namespace

std::vector<SubmittedArray> ArraysInStore(const Store& store, const std::string& experiment,
                                          const std::set<std::string>& known) {
  std::vector<SubmittedArray> arrays;
  ForEachArray(store, known, [&](SlurmArray array, const std::string& path) {
    if (array.experiment() != experiment) return;
    const std::string job = absl::StrCat(absl::StripSuffix(path, ".rec"), ".job");
    arrays.push_back({std::move(array), ReadJob(job)});
  }).IgnoreError();
  return arrays;
}

absl::StatusOr<std::string> WriteLaunch(const Store& store, const SlurmLaunch& launch) {
  const std::string bytes = EncodeRecord(launch);
  const std::string sha256 = Sha256Hex(bytes);
  OPENSET_RETURN_IF_ERROR(MakeFolders(Folder(store)));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(LaunchPath(store, sha256), bytes));
  return sha256;
}

absl::StatusOr<SlurmLaunch> LoadLaunch(const Store& store, const std::string& sha256) {
  const std::string path = LaunchPath(store, sha256);
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kLargestArray));
  SlurmLaunch launch;
  if (Sha256Hex(bytes) != sha256 || !DecodeRecord(bytes, &launch).ok() || !IsSound(launch)) {
    return absl::DataLossError(absl::StrCat(path, ": has changed since it was submitted"));
  }
  return launch;
}

absl::StatusOr<std::set<std::string>> ProgramsInUse(const Store& store) {
  std::set<std::string> programs;
  std::map<std::string, bool> is_done;  // by launch
  std::optional<absl::StatusOr<absl::Time>> now;
  const auto use = [&](const SlurmArray& array, const std::string& path) {
    if (!now.has_value()) now = store.Now();
    struct stat info = {};
    const bool is_old =
        now->ok() && StatFile(path, &info) == 0 && **now - absl::FromUnixSeconds(info.st_mtime) >= kGivenUp;
    if (!array.has_program() || is_old) return;
    const auto [launch, is_new] = is_done.try_emplace(array.launch());
    if (is_new) launch->second = HasAllRecords(store, array.launch());
    if (!launch->second) programs.insert(array.program());
  };
  OPENSET_RETURN_IF_ERROR(ForEachArray(store, /*known=*/{}, use));
  return programs;
}

absl::StatusOr<SlurmArray> ThisArray(const std::string& file) {
  SlurmArray array;
  OPENSET_RETURN_IF_ERROR(ReadRecordFile(file, &array));
  if (!IsSound(array)) return absl::DataLossError(absl::StrCat(file, ": is not an array that openset submitted"));
  const char* variable = std::getenv("SLURM_ARRAY_TASK_ID");
  int index = 0;
  if (variable == nullptr || !absl::SimpleAtoi(variable, &index) || index < 0 || index >= array.pilots()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--slurm_task is for tasks that Slurm starts: SLURM_ARRAY_TASK_ID must be 0 to ", array.pilots() - 1));
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

std::vector<std::string> SbatchOptions(const SubmitOptions& options, const SlurmSeat& seat, int pilots,
                                       const std::string& name, const std::string& log_folder) {
  const SlurmSpec& slurm = options.slurm;
  std::vector<std::string> words = {
      "--job-name=" + name,
      absl::StrCat("--array=0-", pilots - 1),
      "--requeue",
      "--open-mode=append",
      // Slurm would expand a % in the folder's name.
      absl::StrCat("--output=", absl::StrReplaceAll(log_folder, {{"%", "%%"}}), "/%x.%a.log"),
      absl::StrCat("--signal=B:USR1@", slurm.warning_seconds()),
      absl::StrCat("--cpus-per-task=", seat.cpus()),
  };
  const auto add = [&words](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(absl::StrCat("--", option, "=", value));
  };
  if (seat.gpu()) add("gres", slurm.gres());
  const int64_t memory_mb = slurm.has_mem_mb() ? slurm.mem_mb() : seat.memory_mb();
  if (memory_mb > 0) add("mem", absl::StrCat(memory_mb, "M"));
  add("partition", slurm.partition());
  add("account", slurm.account());
  add("qos", slurm.qos());
  add("constraint", slurm.constraint());
  add("time", slurm.time());
  words.insert(words.end(), slurm.option().begin(), slurm.option().end());
  return words;
}

std::string TaskScript(const SubmitOptions& options, const SlurmSeat& seat, const std::string& array_file) {
  std::vector<std::string> words = options.command;
  // The last value of a repeated flag counts.
  for (const std::string& flag :
       {std::string("--engine=local"), std::string("--redo="), std::string("--only="),
        absl::StrCat("--jobs=", seat.cpus()), std::string(seat.gpu() ? "--devices=cuda:0" : "--devices=cpu"),
        absl::StrCat("--slurm_task=", array_file)}) {
    words.push_back(flag);
  }
  std::string script = "#!/bin/bash\n";
  if (!options.program.folder.empty()) {
    absl::StrAppend(&script, "program=", Quoted(options.program.folder), " sha256=", options.program.sha256,
                    "\nwrong=$(", kCheckProgram, kRefuse);
  }
  for (const std::string& line : options.slurm.prologue()) absl::StrAppend(&script, line, "\n");
  return absl::StrCat(
      script, "exec ",
      absl::StrJoin(words, " ", [](std::string* out, const std::string& word) { out->append(Quoted(word)); }), "\n");
}

std::string DescribeSeat(const SlurmSeat& seat) {
  return absl::StrCat(seat.gpu() ? "1 GPU, " : "", seat.cpus(), seat.cpus() == 1 ? " CPU" : " CPUs",
                      seat.memory_mb() > 0 ? absl::StrCat(", ", seat.memory_mb(), " MB") : "");
}

absl::StatusOr<SubmittedArray> SubmitArray(const Store& store, const SlurmClient& client, const SubmitOptions& options,
                                           const SlurmSeat& seat, int pilots) {
  static int count = 0;
  if (!options.program.folder.empty()) OPENSET_RETURN_IF_ERROR(CheckProgram(options.program));
  SubmittedArray submitted;
  const std::string unique = absl::StrCat(HostName(), " ", getpid(), " ", absl::ToUnixNanos(absl::Now()));
  // The name begins with the time, so that names sort by time.
  submitted.array.set_name(absl::StrFormat("%s%s-%011x-%s-%04d", kNamePrefix, options.experiment,
                                           absl::ToUnixMillis(absl::Now()), Sha256Hex(unique).substr(0, 6), count++));
  submitted.array.set_experiment(options.experiment);
  submitted.array.set_description(absl::StrCat("pilots, ", DescribeSeat(seat)));
  if (!options.program.sha256.empty()) submitted.array.set_program(options.program.sha256);
  submitted.array.set_launch(options.launch);
  submitted.array.set_pilots(pilots);
  *submitted.array.mutable_seat() = seat;
  const std::string logs = JoinPath(Folder(store), "logs");
  OPENSET_RETURN_IF_ERROR(MakeFolders(logs));
  const std::string base = JoinPath(Folder(store), submitted.array.name());
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(base + ".rec", EncodeRecord(submitted.array)));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(base + ".sh", TaskScript(options, seat, base + ".rec")));
  const std::vector<std::string> words = SbatchOptions(options, seat, pilots, submitted.array.name(), logs);
  for (int attempt = 1; submitted.job.empty(); ++attempt) {
    absl::StatusOr<std::string> job = client.Submit(words, base + ".sh");
    if (!job.ok() && !absl::IsNotFound(job.status())) {
      // The job may have been submitted even though the answer was lost.
      const absl::StatusOr<std::string> found = client.JobOfName(submitted.array.name());
      if (found.ok() && !found->empty()) job = *found;
    }
    if (job.ok()) {
      submitted.job = *job;
    } else if (attempt == kAttempts || !MayReach(job.status())) {
      return job.status();
    } else {
      absl::SleepFor(absl::Seconds(options.first_wait_seconds) * (1 << (2 * (attempt - 1))));
    }
  }
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(base + ".job", submitted.job + "\n"));
  return submitted;
}

}  // namespace openset
