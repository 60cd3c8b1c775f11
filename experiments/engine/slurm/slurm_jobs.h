// The job arrays of a store: submitted, remembered, found again.
#ifndef OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_JOBS_H_
#define OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_JOBS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/engine/slurm/program_copy.h"
#include "experiments/engine/slurm/slurm_array.pb.h"
#include "experiments/engine/slurm/slurm_client.h"
#include "experiments/store/store.h"

namespace openset {

struct SubmittedArray {
  SlurmArray array;
  std::string job;  // "" of one whose submission failed, or was cut off
};

// Those of an experiment, in the order of their names, without those of `known` names. Whatever is no array that
// SubmitArray() may have written is left out, and a job that is no number is "".
std::vector<SubmittedArray> ArraysInStore(const Store& store, const std::string& experiment,
                                          const std::set<std::string>& known = {});

// Writes what the pilots of a run have to know, and returns its SHA-256. Errors: those of writing.
absl::StatusOr<std::string> WriteLaunch(const Store& store, const SlurmLaunch& launch);
// Errors: kNotFound; kDataLoss for one that is not what was written.
absl::StatusOr<SlurmLaunch> LoadLaunch(const Store& store, const std::string& sha256);

// Of the programs of the store (ProgramCopy.sha256) those that unfinished arrays run, of all experiments: arrays of a
// launch with a record that is not there yet, and that were submitted less than kGivenUp ago.
std::set<std::string> ProgramsInUse(const Store& store);
inline constexpr absl::Duration kGivenUp = absl::Hours(30 * 24);

// The array that this process is a task of, by the environment that Slurm gives it; `file` is the array's. Errors:
// kInvalidArgument if there is no such task; kDataLoss for what SubmitArray() can't have written; those of
// ReadRecordFile().
absl::StatusOr<SlurmArray> ThisArray(const std::string& file);
// "JOB_INDEX" of this process; "" outside of Slurm.
std::string ThisTaskId();

// What a pilot has from Slurm's warning on for its trainings to save their states and for other actions to end; the
// rest of `warning_seconds` is for its own end.
absl::Duration TimeToEnd(const SlurmSpec& slurm);

struct SubmitOptions {
  SlurmSpec slurm;
  std::string experiment;
  // Of `openset run`: the program and its arguments, to which each pilot adds what it needs: kPilotFlags.
  std::vector<std::string> command;
  // The copy of the program that the command begins with; without one, pilots run what is there when they start.
  ProgramCopy program;
  // The SHA-256 of what the pilots have to know.
  std::string launch;
  // Between two attempts to reach Slurm, the first time.
  double first_wait_seconds = 1;
};

// The words that TaskScript() puts behind the command.
inline constexpr int kPilotFlags = 6;

// sbatch's options for an array of so many pilots.
std::vector<std::string> SbatchOptions(const SubmitOptions& options, const SlurmSeat& seat, int pilots,
                                       const std::string& name, const std::string& log_folder);

// What each of its tasks runs: the prologue, then the command in the place of the shell, which the warning is sent to.
// Where the copy of the program is not what it was, it says what is wrong with it, and fails.
std::string TaskScript(const SubmitOptions& options, const SlurmSeat& seat, const std::string& array_file);

// "1 GPU, 4 CPUs", "2 CPUs, 500 MB".
std::string DescribeSeat(const SlurmSeat& seat);

// Submits an array and remembers it. Where Slurm can't be reached, or its answer is lost, it is tried again; what was
// submitted all the same is found by its name. Errors: those of SlurmClient::Submit(), of CheckProgram() and of
// writing.
absl::StatusOr<SubmittedArray> SubmitArray(const Store& store, const SlurmClient& client, const SubmitOptions& options,
                                           const SlurmSeat& seat, int pilots);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ENGINE_SLURM_SLURM_JOBS_H_
