// Slurm's own commands.
#ifndef OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_CLIENT_H_
#define OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_CLIENT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace openset {

// A task of an array: its job's number, and its index.
struct SlurmTaskId {
  std::string job;
  int index = 0;
  bool operator<(const SlurmTaskId& other) const { return job != other.job ? job < other.job : index < other.index; }
};

// Errors of all: kNotFound and kDeadlineExceeded of CaptureOutput(); of a command that fails what it says, in one line:
// kUnavailable if the cluster did not answer, else kFailedPrecondition; kUnavailable for answers that cannot be read.
class SlurmClient {
 public:
  // sbatch: the number of the job.
  absl::StatusOr<std::string> Submit(const std::vector<std::string>& options, const std::string& script) const;
  // squeue: the state ("PENDING", "RUNNING" ...) of each task of this user's jobs that has not ended.
  absl::StatusOr<std::map<SlurmTaskId, std::string>> Queue() const;
  // squeue: the number of the job of this name that is in the queue; "" if there is none.
  absl::StatusOr<std::string> JobOfName(const std::string& name) const;
  // sacct: how the tasks of a job ended ("TIMEOUT", "NODE_FAIL" ...); none where the cluster keeps no accounts.
  std::map<SlurmTaskId, std::string> Ended(const std::string& job) const;
  // scontrol: tasks of an array have indices below this.
  int MaxArraySize() const;
  absl::Status Cancel(const std::vector<std::string>& jobs) const;
  // Puts a running task back into the queue; "JOB_INDEX".
  absl::Status Requeue(const std::string& task) const;
};

// The lines of `squeue --array --format="%F|%K|%T"`. Lines of jobs that are no arrays are left out.
absl::StatusOr<std::map<SlurmTaskId, std::string>> ParseQueue(const std::string& lines);

// The lines of `sacct --parsable2 --format=JobID,State`: "12_3|CANCELLED by 0". Steps ("12_3.batch") are left out.
std::map<SlurmTaskId, std::string> ParseAccounts(const std::string& lines);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_CLIENT_H_
