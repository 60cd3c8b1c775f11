#include "experiments/engine/slurm/slurm_client.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "core/process/capture_output.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"

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

}  // namespace openset
