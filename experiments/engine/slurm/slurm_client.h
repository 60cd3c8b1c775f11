// Wrappers of Slurm's commands.
#ifndef OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_CLIENT_H_
#define OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_CLIENT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace openset {

// A task of an array: the number of its job, and its index.
struct SlurmTaskId {
  std::string job;
  int index = 0;
  bool operator<(const SlurmTaskId& other) const { return job != other.job ? job < other.job : index < other.index; }
};

// Errors of all methods: kNotFound and kDeadlineExceeded of CaptureOutput(). If a command fails, its message, in one
// line: kUnavailable if the cluster did not answer, else kFailedPrecondition. kUnavailable for answers that cannot be
// parsed.
class SlurmClient {
 public:
  // sbatch: returns the number of the new job.
  absl::StatusOr<std::string> Submit(const std::vector<std::string>& options, const std::string& script) const;
  // squeue: returns the state ("PENDING", "RUNNING" ...) of each unfinished task of this user's jobs.
  absl::StatusOr<std::map<SlurmTaskId, std::string>> Queue() const;
  // squeue: returns the number of the queued job with this name; "" if there is none.
  absl::StatusOr<std::string> JobOfName(const std::string& name) const;
  // sacct: returns how the tasks of a job ended ("TIMEOUT", "NODE_FAIL" ...); nothing if the cluster keeps no accounts.
  // Precondition: `job` is a number.
  std::map<SlurmTaskId, std::string> Ended(const std::string& job) const;
  // scontrol: returns the limit that all indices of an array's tasks must be below.
  int MaxArraySize() const;
  absl::Status Cancel(const std::vector<std::string>& jobs) const;
  // Puts a running task, "JOB_INDEX", back into the queue.
  absl::Status Requeue(const std::string& task) const;
};

// Parses the output of `squeue --array --format="%F|%K|%T"`. Skips jobs that are not arrays.
absl::StatusOr<std::map<SlurmTaskId, std::string>> ParseQueue(const std::string& lines);

// Parses the output of `sacct --parsable2 --format=JobID,State`: "12_3|CANCELLED by 0". Skips steps ("12_3.batch").
std::map<SlurmTaskId, std::string> ParseAccounts(const std::string& lines);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_CLIENT_H_
