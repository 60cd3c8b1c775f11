// Machines, disks and workers that fail while openset runs, and data that changes meanwhile.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "core/testing/small_disk.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The soft limit of a resource for the programs that are started while the object exists.
class Limit {
 public:
  Limit(int resource, rlim_t most) : resource_(resource) {
    getrlimit(resource_, &before_);
    rlimit limit = before_;
    limit.rlim_cur = most;
    is_set_ = setrlimit(resource_, &limit) == 0;
  }
  ~Limit() { setrlimit(resource_, &before_); }

  bool is_set() const { return is_set_; }

 private:
  const int resource_;
  rlimit before_;
  bool is_set_ = false;
};

// A thread's stack is as large as this limit, and no address space has room for it: the system gives no thread, not
// even to root, who may start any number of processes.
constexpr rlim_t kNoRoomForStacks = rlim_t{1} << 46;

std::string ManySamples(int samples) {
  std::string csv = "label,prediction,unknown_score,group\n";
  for (int i = 0; i < samples; ++i) {
    absl::StrAppend(&csv, i % 2 == 0 ? 0 : -1, ",0,", i % 97, ".5,", i % 2 == 0 ? "" : "near", "\n");
  }
  return csv;
}

// Every command that works in several threads gives the same answer as with threads.
TEST(Machines, WithoutThreadsAllCommandsAnswer) {
  const OpensetProgram program;
  program.Write("scores.csv", ManySamples(2'000));
  program.Write("study.textproto", kSmallStudy);
  std::string seeds = "0";
  for (int s = 1; s < 200; ++s) absl::StrAppend(&seeds, ", ", s);
  program.Write("many.textproto",
                absl::StrCat("seed: [", seeds, "]", absl::StrReplaceAll(kShortStudy, {{"\"study\"", "\"many\""}})));
  const fs::path images = fs::path(program.folder()) / "images";
  for (const char* class_name : {"cat", "dog", "emu"}) {
    fs::create_directories(images / class_name);
    for (int i = 0; i < 40; ++i) {
      fs::copy_file("data/readers/testdata/rgb.png", images / class_name / absl::StrCat(i, ".png"));
    }
  }
  ASSERT_EQ(program.Run({"run", "study.textproto"}).exit_code, 0) << program.Read("err.txt");
  const std::vector<std::vector<std::string>> commands = {
      {"eval", "scores.csv", "--ci"},
      {"plan", "many.textproto", "--noprobe", "--format=csv"},
      {"records", "ls"},
      {"records", "verify"},
      {"data", "describe", "images"},
      {"report", "study.textproto"},
  };
  for (const std::vector<std::string>& command : commands) {
    SCOPED_TRACE(absl::StrJoin(command, " "));
    const ProgramResult with = program.Run(command);
    const Limit limit(RLIMIT_STACK, kNoRoomForStacks);
    if (!limit.is_set()) GTEST_SKIP() << "the limit of the stack can't be raised here";
    const ProgramResult without = program.Run(command);
    EXPECT_EQ(with.exit_code, 0) << with.err;
    EXPECT_EQ(without.exit_code, 0) << without.err;
    EXPECT_EQ(without.out, with.out);
    EXPECT_EQ(without.err, with.err);
  }
  const Limit limit(RLIMIT_STACK, kNoRoomForStacks);
  // Compression takes one, since its bytes are the same with any number.
  const ProgramResult exported = program.Run({"records", "export", "--bundle=out.zip"});
  EXPECT_EQ(exported.exit_code, 1);
  EXPECT_THAT(exported.err, HasSubstr("cannot compress: the system gives no memory or no thread"));
  // A run needs none, workers included.
  const std::map<std::string, std::string> records = program.Records();
  fs::remove_all(program.store());
  const ProgramResult run = program.Run({"run", "study.textproto"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(program.Records(), records);
}

// In memory and time that grow with the number of groups, not with its square.
TEST(Machines, ManyGroupsTakeLittleMemory) {
  const OpensetProgram program;
  std::string csv = "label,unknown_score,group\n";
  for (int i = 0; i < 100; ++i) absl::StrAppend(&csv, "0,", i, ",\n");
  for (int g = 0; g < 16'000; ++g) absl::StrAppend(&csv, "-1,", g % 200, ",group_", g, "\n");
  program.Write("scores.csv", csv);
  const Limit limit(RLIMIT_AS, rlim_t{1} << 30);
  for (const char* format : {"text", "json"}) {
    const ProgramResult result = program.Run({"eval", "scores.csv", absl::StrCat("--format=", format)});
    EXPECT_EQ(result.exit_code, 0) << format << ": " << result.err.substr(0, 2000);
    EXPECT_THAT(result.out, HasSubstr("group_15999")) << format;
  }
}

TEST(Machines, ALineOfCommasIsRefusedInLittleMemory) {
  const OpensetProgram program;
  program.Write("scores.csv", std::string(50'000'000, ',') + "\n");
  const Limit limit(RLIMIT_AS, rlim_t{1} << 30);
  const ProgramResult result = program.Run({"eval", "scores.csv"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("scores.csv: line 1: has more than 1000000 cells"));
}

class MachinesRun : public ::testing::Test {
 protected:
  MachinesRun() {
    program_.Write("study.textproto", kSmallStudy);
    program_.Write("deploy.textproto", "hang_seconds: 2 retries: 0 jobs: 1\n");
  }

  // A worker that runs this script. Its channel is file descriptor 3.
  void WriteWorker(const std::string& script) const {
    program_.Write("worker.sh", "#!/bin/sh\n" + script);
    fs::permissions(program_.folder() + "/worker.sh", fs::perms::owner_all);
  }

  // The arguments of a run with that worker.
  static std::vector<std::string> RunWith(const std::string& study) {
    return {"run", study, "--deploy=deploy.textproto", "--worker=worker.sh"};
  }

  // Starts a run, waits for the worker's file `ready`, and sends the signal. Returns the run's exit code.
  int Interrupted(const std::string& study) const {
    program_.Write("deploy.textproto", "hang_seconds: 100000 retries: 0 jobs: 1\n");
    const pid_t pid = program_.Start(RunWith(study));
    for (int waits = 0; waits < 6000 && program_.Read("ready").empty(); ++waits) usleep(10000);
    EXPECT_EQ(program_.Read("ready"), "ready\n");
    // The first asks workers to save their state, the second ends them at once.
    for (int signals = 0; signals < 2; ++signals) {
      kill(pid, SIGINT);
      usleep(300'000);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  const OpensetProgram program_;
};

constexpr char kHalfAMessage[] =
    "head -c 4 <&3 >/dev/null\nprintf '\\020\\0\\0\\0abc' >&3\necho ready > ready\nexec sleep 100000\n";

TEST_F(MachinesRun, AWorkerThatStopsWithinAMessageIsKilled) {
  WriteWorker(kHalfAMessage);
  const ProgramResult result = program_.Run(RunWith("study.textproto"));
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("its worker hung: it stopped in the middle of a message"));
}

TEST_F(MachinesRun, CtrlCWorksWhileAMessageIsIncomplete) {
  WriteWorker(kHalfAMessage);
  EXPECT_EQ(Interrupted("study.textproto"), 130);
}

// A request of more bytes than a socket holds: an inference that others with the same passes share.
TEST_F(MachinesRun, AWorkerThatDoesNotReadALargeRequestIsKilled) {
  ASSERT_EQ(program_.Run({"run", "study.textproto", "--methods=softmax"}).exit_code, 0);
  std::string epsilons = "0";
  for (int e = 1; e < 1500; ++e) absl::StrAppend(&epsilons, "', '0.", 10000 + e);
  program_.Write(
      "sweep.textproto",
      absl::StrCat(absl::StrReplaceAll(kSmallStudy, {{"name: \"study\"", "name: \"sweep\""},
                                                     {"override {", "override { inference { input_perturbation {} }"}}),
                   "axis { path: 'inference.input_perturbation.epsilon' value: ['", epsilons, "'] }"));
  WriteWorker("echo ready > ready\nexec sleep 100000\n");
  std::vector<std::string> words = RunWith("sweep.textproto");
  words.push_back("--methods=softmax");
  const ProgramResult result = program_.Run(words);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("its worker hung: it stopped reading its messages"));
  fs::remove(program_.folder() + "/ready");
  EXPECT_EQ(Interrupted("sweep.textproto"), 130);
}

TEST_F(MachinesRun, AClaimThatCannotBeReadLeavesTheOthers) {
  if (!EnterMountNamespace()) GTEST_SKIP() << "this process may not mount";
  ASSERT_EQ(program_.Run({"run", "study.textproto"}).exit_code, 0);
  // The key of a trial's last action is the trial's id.
  const std::map<std::string, std::string> records = program_.Records();
  ASSERT_EQ(records.size(), 2);
  const std::string& id = records.begin()->first;
  ASSERT_TRUE(fs::remove(absl::StrCat(program_.store(), "/records/", id.substr(0, 2), "/", id, ".rec")));
  auto claim = std::make_unique<UnreadableFile>(program_.store() + "/running/" + id);
  ASSERT_TRUE(claim->is_there());
  const ProgramResult blocked = program_.Run({"run", "study.textproto", "--retries=1"});
  EXPECT_EQ(blocked.exit_code, 1) << blocked.err;
  EXPECT_THAT(blocked.out, HasSubstr(absl::StrCat("it can't be claimed now: cannot open ")));
  EXPECT_THAT(blocked.out, HasSubstr(absl::StrCat("running/", id, ": Permission denied")));
  claim.reset();
  EXPECT_EQ(program_.Run({"run", "study.textproto"}).exit_code, 0);
  EXPECT_EQ(program_.Records(), records);
}

// A store on a disk of 100 kB, and then of 20 MB.
TEST_F(MachinesRun, AFullDiskIsNamedAndStartsNothingNew) {
  if (!EnterMountNamespace()) GTEST_SKIP() << "this process may not mount";
  fs::create_directories(program_.store());
  const SmallDisk disk(program_.store(), 100);
  ASSERT_TRUE(disk.is_there());
  const ProgramResult full = program_.Run({"run", "study.textproto", "--jobs=1"});
  EXPECT_EQ(full.exit_code, 1) << full.err;
  EXPECT_THAT(full.err,
              AllOf(HasSubstr(absl::StrCat("the store ", program_.store(), " is full or missing: cannot write ")),
                    HasSubstr(": No space left on device; openset started no new work. The same command "
                              "continues once there is room\n")));
  EXPECT_THAT(full.out, Not(HasSubstr("] trained ")));
  EXPECT_TRUE(program_.Records().empty());
  ASSERT_TRUE(disk.Resize(20'000));
  EXPECT_EQ(program_.Run({"run", "study.textproto", "--jobs=1"}).exit_code, 0) << program_.Read("err.txt");
  EXPECT_EQ(program_.Records().size(), 2);
}

TEST_F(MachinesRun, AReportThatCannotBeWrittenLosesNoRecord) {
  program_.Write("openset-store/reports/study/report.tex/file", "in a folder where the report goes");
  const ProgramResult result = program_.Run({"run", "study.textproto"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(program_.Records().size(), 2);
  EXPECT_THAT(result.out, AllOf(HasSubstr("AUROC"), HasSubstr("records: "), Not(HasSubstr("report:  "))));
  EXPECT_THAT(result.err, HasSubstr("only the report's files are missing: the records are stored, and the same "
                                    "command writes the report\n"));
  fs::remove_all(program_.store() + "/reports/study/report.tex");
  EXPECT_EQ(program_.Run({"run", "study.textproto"}).exit_code, 0);
  EXPECT_FALSE(program_.Read("openset-store/reports/study/report.html").empty());
}

}  // namespace
}  // namespace openset
