// The work of a Slurm task in a submitted run, without Slurm.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/proto/record_file.h"
#include "experiments/engine/slurm/slurm_array.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

// The files of a store's results, with the digests of their bytes.
std::map<std::string, std::string> ResultsIn(const std::string& store) {
  std::map<std::string, std::string> results;
  for (const char* kind : {"records", "checkpoints", "outputs"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(JoinPath(store, kind))) {
      const std::string path = entry.path().string();
      if (entry.is_regular_file()) results[path] = Sha256HexOfFile(path).value();
    }
  }
  return results;
}

// Each task has the flags of the submitted command; what they request was already done before.
TEST(SlurmTask, MakesTheChosenRecordsAndRemovesNothing) {
  const OpensetProgram program;
  program.Write("study.textproto", kSmallStudy);
  ASSERT_EQ(program.Run({"run", "study.textproto"}).exit_code, 0);
  const std::string id = program.AnyRecord().trial_id();
  const std::string record = absl::StrCat(program.store(), "/records/", id.substr(0, 2), "/", id, ".rec");
  std::map<std::string, std::string> others = ResultsIn(program.store());
  ASSERT_EQ(others.erase(record), 1);

  SlurmArray array;
  array.set_name("openset-study-evaluate");
  array.set_experiment("study");
  array.add_record(id);
  array.set_only_these(true);
  array.set_tasks(1);
  array.mutable_seat()->set_cpus(1);
  program.Write("openset-store/slurm/openset-study-evaluate.rec", EncodeRecord(array));
  program.Write("cluster.textproto", "slurm { idle_seconds: 1 }");
  const std::string task = absl::StrCat("--slurm_task=", program.store(), "/slurm/openset-study-evaluate.rec");
  setenv("SLURM_ARRAY_JOB_ID", "7", 1);
  setenv("SLURM_ARRAY_TASK_ID", "0", 1);
  for (const std::string flag : {"--redo=all", "--redo=failed", "--only=failed"}) {
    ASSERT_TRUE(std::filesystem::remove(record));
    const ProgramResult done = program.Run({"run", "study.textproto", "--deploy=cluster.textproto", flag, task});
    EXPECT_EQ(done.exit_code, 0) << flag << done.err;
    std::map<std::string, std::string> results = ResultsIn(program.store());
    EXPECT_EQ(results.erase(record), 1) << flag;
    EXPECT_EQ(results, others) << flag;
  }
  ASSERT_TRUE(std::filesystem::remove(record));
  setenv("SLURM_ARRAY_TASK_ID", "1", 1);
  const ProgramResult other = program.Run({"run", "study.textproto", task});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("SLURM_ARRAY_TASK_ID must be 0 to 0"));
}

// Slurm's commands are scripts: sbatch accepts every job as number 7, and the queue is empty.
TEST(SlurmDetach, PrintsTheJobsAndHowToWatchThem) {
  const OpensetProgram program;
  program.Write("study.textproto", kSmallStudy);
  for (const auto& [name, script] : {std::pair<std::string, std::string>{"sbatch", "echo 7"},
                                     {"squeue", "true"},
                                     {"scontrol", "echo 'MaxArraySize = 1001'"}}) {
    const std::string path = absl::StrCat("bin/", name);
    program.Write(path, absl::StrCat("#!/bin/sh\n", script, "\n"));
    std::filesystem::permissions(JoinPath(program.folder(), path), std::filesystem::perms::owner_all);
  }
  setenv("PATH", absl::StrCat(program.folder(), "/bin:", getenv("PATH")).c_str(), 1);
  const ProgramResult run = program.Run({"run", "study.textproto", "--engine=slurm", "--detach"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("submitted Slurm job 7: 2 tasks, 1 CPU each\n"));
  EXPECT_THAT(run.out, HasSubstr("watch them with 'openset status'"));
  EXPECT_THAT(run.out, ::testing::EndsWith(absl::StrCat(program.store(), "/slurm/logs\n")));
}

}  // namespace
}  // namespace openset
