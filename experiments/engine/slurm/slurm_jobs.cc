#include "experiments/engine/slurm/slurm_jobs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/process/machine.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"
#include "experiments/store/store_contents.h"

namespace openset {
namespace {

constexpr int kAttempts = 4;

// Of the names of arrays, and of their jobs.
constexpr char kNamePrefix[] = "openset-";
// Bytes. What is larger is nothing that this program wrote.
constexpr int64_t kLargestArray = 256 << 20;
constexpr int64_t kLongestJob = 100;

// After kCheckProgram. Slurm hands on the environment of who submitted, in which these may name the original's files.
constexpr char kRefuse[] = R"SH()
if [ -n "$wrong" ]; then
  echo "$program: $wrong: the copied program is not what was submitted; 'openset run' copies and submits it anew" >&2
  exit 1
fi
unset RUNFILES_DIR TEST_SRCDIR
)SH";

std::string Folder(const Store& store) { return JoinPath(store.folder(), "slurm"); }

std::string Quoted(const std::string& word) {
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

// Whether another attempt may go well.
bool MayReach(const absl::Status& status) { return absl::IsDeadlineExceeded(status) || absl::IsUnavailable(status); }

bool IsSound(const SlurmArray& array) {
  const auto is_sound = [](const SlurmTask& task) { return absl::c_all_of(task.key(), IsKey); };
  return absl::StartsWith(array.name(), kNamePrefix) && absl::c_all_of(array.task(), is_sound) &&
         (!array.has_program() || IsKey(array.program()));
}

// Calls `use` with each array that can be read, and with the path of its file, in the order of their names.
void ForEachArray(const Store& store, const std::function<void(SlurmArray array, const std::string& path)>& use) {
  for (const std::string& file : ListFolder(Folder(store)).value_or(std::vector<std::string>{})) {
    absl::string_view name = file;
    if (!absl::ConsumeSuffix(&name, ".rec")) continue;
    SlurmArray array;
    const std::string path = JoinPath(Folder(store), file);
    const absl::StatusOr<std::string> bytes = ReadFile(path, kLargestArray);
    // Anybody may have put it there.
    if (bytes.ok() && DecodeRecord(*bytes, &array).ok() && array.name() == name && IsSound(array)) {
      use(std::move(array), path);
    }
  }
}

// The number in a file; "" where there is none.
std::string ReadJob(const std::string& path) {
  const absl::StatusOr<std::string> content = ReadFile(path, kLongestJob);
  const absl::string_view job = content.ok() ? absl::StripAsciiWhitespace(*content) : "";
  return absl::c_all_of(job, absl::ascii_isdigit) ? std::string(job) : "";
}

// Of each job of an array with this demand.
int CpusOf(const SlurmSpec& slurm, const Demand& demand) {
  return std::max(demand.gpu_shares > 0 ? slurm.cpus_per_gpu_job() : 1, demand.cpu_threads);
}

bool HasAllResults(const Store& store, const SlurmArray& array) {
  for (const SlurmTask& task : array.task()) {
    for (const std::string& key : task.key()) {
      if (!store.HasRecord(key) && !store.HasOutputs(key) && !store.HasCheckpoint(key)) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<SubmittedArray> ArraysInStore(const Store& store, const std::string& experiment) {
  std::vector<SubmittedArray> arrays;
  ForEachArray(store, [&](SlurmArray array, const std::string& path) {
    if (array.experiment() != experiment) return;
    const std::string job = absl::StrCat(absl::StripSuffix(path, ".rec"), ".job");
    arrays.push_back({std::move(array), ReadJob(job)});
  });
  return arrays;
}

std::set<std::string> ProgramsInUse(const Store& store) {
  std::set<std::string> programs;
  ForEachArray(store, [&](const SlurmArray& array, const std::string& path) {
    struct stat info = {};
    const bool is_old =
        stat(path.c_str(), &info) == 0 && absl::Now() - absl::FromUnixSeconds(info.st_mtime) >= kGivenUp;
    if (array.has_program() && !is_old && !HasAllResults(store, array)) programs.insert(array.program());
  });
  return programs;
}

std::map<std::string, SlurmTaskId> TasksOf(const std::vector<SubmittedArray>& arrays) {
  std::map<std::string, SlurmTaskId> tasks;
  for (const SubmittedArray& submitted : arrays) {
    for (int t = 0; t < submitted.array.task_size() && !submitted.job.empty(); ++t) {
      for (const std::string& key : submitted.array.task(t).key()) tasks[key] = {submitted.job, t};
    }
  }
  return tasks;
}

absl::StatusOr<SlurmTask> ThisTask(const std::string& file) {
  SlurmArray array;
  OPENSET_RETURN_IF_ERROR(ReadRecordFile(file, &array));
  const char* variable = std::getenv("SLURM_ARRAY_TASK_ID");
  int index = 0;
  if (variable == nullptr || !absl::SimpleAtoi(variable, &index) || index < 0 || index >= array.task_size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--slurm_task is for tasks that Slurm starts: SLURM_ARRAY_TASK_ID is to be 0 to ", array.task_size() - 1));
  }
  return array.task(index);
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

std::vector<std::string> SbatchOptions(const SubmitOptions& options, const PlannedArray& array, const std::string& name,
                                       const std::string& log_folder, const std::vector<std::string>& after) {
  const SlurmSpec& slurm = options.slurm;
  std::vector<std::string> words = {
      "--job-name=" + name,
      absl::StrCat("--array=0-", array.tasks.size() - 1,
                   slurm.tasks_at_once() > 0 ? absl::StrCat("%", slurm.tasks_at_once()) : ""),
      "--requeue",
      "--open-mode=append",
      // Slurm would replace a % of the folder's name.
      absl::StrCat("--output=", absl::StrReplaceAll(log_folder, {{"%", "%%"}}), "/%x.%a.log"),
      absl::StrCat("--signal=B:USR1@", slurm.warning_seconds()),
      absl::StrCat("--cpus-per-task=", CpusOf(slurm, array.demand)),
  };
  const auto add = [&words](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(absl::StrCat("--", option, "=", value));
  };
  if (array.demand.gpu_shares > 0) add("gres", slurm.gres());
  const int64_t memory_mb = slurm.has_mem_mb() ? slurm.mem_mb() : array.demand.memory_mb;
  if (memory_mb > 0) add("mem", absl::StrCat(memory_mb, "M"));
  add("partition", slurm.partition());
  add("account", slurm.account());
  add("qos", slurm.qos());
  add("constraint", slurm.constraint());
  add("time", slurm.time());
  if (!after.empty()) add("dependency", absl::StrCat("afterany:", absl::StrJoin(after, ":")));
  words.insert(words.end(), slurm.option().begin(), slurm.option().end());
  return words;
}

std::string TaskScript(const SubmitOptions& options, const PlannedArray& array, const std::string& array_file) {
  std::vector<std::string> words = options.command;
  // The last one of a flag counts.
  words.push_back("--engine=local");
  words.push_back("--redo=");
  words.push_back(absl::StrCat("--jobs=", CpusOf(options.slurm, array.demand)));
  words.push_back(array.demand.gpu_shares > 0 ? "--devices=cuda:0" : "--devices=cpu");
  words.push_back("--slurm_task=" + array_file);
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

absl::StatusOr<SubmittedArray> SubmitArray(const Store& store, const SlurmClient& client, const SubmitOptions& options,
                                           const Plan& plan, const PlannedArray& array,
                                           const std::vector<std::string>& after) {
  static int count = 0;
  if (!options.program.folder.empty()) OPENSET_RETURN_IF_ERROR(CheckProgram(options.program));
  SubmittedArray submitted;
  const std::string unique = absl::StrCat(HostName(), " ", getpid(), " ", absl::ToUnixNanos(absl::Now()));
  // Names sort by time.
  submitted.array.set_name(absl::StrFormat("%s%s-%011x-%s-%04d", kNamePrefix, options.experiment,
                                           absl::ToUnixMillis(absl::Now()), Sha256Hex(unique).substr(0, 6), count++));
  submitted.array.set_experiment(options.experiment);
  submitted.array.set_description(DescribeArray(array));
  if (!options.program.sha256.empty()) submitted.array.set_program(options.program.sha256);
  for (const std::vector<ActionId>& actions : array.tasks) {
    SlurmTask* task = submitted.array.add_task();
    for (const ActionId id : actions) task->add_key(plan[id].key);
  }
  const std::string logs = JoinPath(Folder(store), "logs");
  OPENSET_RETURN_IF_ERROR(MakeFolders(logs));
  const std::string base = JoinPath(Folder(store), submitted.array.name());
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(base + ".rec", EncodeRecord(submitted.array)));
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(base + ".sh", TaskScript(options, array, base + ".rec")));
  const std::vector<std::string> words = SbatchOptions(options, array, submitted.array.name(), logs, after);
  for (int attempt = 1; submitted.job.empty(); ++attempt) {
    absl::StatusOr<std::string> job = client.Submit(words, base + ".sh");
    if (!job.ok() && !absl::IsNotFound(job.status())) {
      // It may be that only the answer was lost.
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
