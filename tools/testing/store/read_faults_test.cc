// A finished store whose disk can't be read for a while: open, read, stat and the listing of folders fail with EMFILE,
// ENFILE, ENOMEM, EIO, ESTALE and EACCES, in each folder of the store and for each command, always or at one call.
// Nothing is removed, moved or made over, nothing is called corrupt, and a command that could not read something says
// so and fails: exit code 0 means that the output is the usual one. OPENSET_FAULTS=long: all cases; otherwise a sample.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/proto/record_file.h"
#include "core/testing/fault_rounds.h"
#include "experiments/store/record.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

// The path, size and content of everything in a folder, except what every command may write: temporary files, and the
// tables of a run.
std::map<std::string, std::string> ContentOf(const std::string& store) {
  std::map<std::string, std::string> content;
  for (const auto& entry : fs::recursive_directory_iterator(store)) {
    const std::string name = entry.path().string().substr(store.size() + 1);
    if (absl::StartsWith(name, "tmp") || absl::StartsWith(name, "reports") || absl::StartsWith(name, "running") ||
        absl::StartsWith(name, "runs") || absl::StartsWith(name, "logs")) {
      continue;
    }
    content[name] = entry.is_directory() ? "a folder" : Sha256Hex(*ReadFile(entry.path().string()));
  }
  return content;
}

struct Fault {
  std::string room, error, calls;
  int at = 0, times = -1;

  std::string Text() const {
    return absl::StrCat(calls, " below ", room, " gives ", error,
                        times < 0 ? ", always" : absl::StrCat(", at call ", at));
  }
};

constexpr const char* kErrors[] = {"EMFILE", "EACCES", "ESTALE", "ENFILE", "EIO", "ENOMEM"};
constexpr const char* kCalls[] = {"open", "read", "stat", "list"};
constexpr const char* kRooms[] = {"records", "replicas", "checkpoints", "outputs", "attempts", "quarantine",
                                  "runs",    "partial",  "slurm",       "logs",    "reports",  "data",
                                  "tmp",     "running",  "programs",    "version", "records/"};

class ReadFaultsTest : public ::testing::Test {
 protected:
  // A finished store with something in every room, all of it older than a month.
  void SetUp() override {
    program_.Write("study.textproto", kSmallStudy);
    std::string more = kSmallStudy;
    more.replace(more.find("\"mcp\""), 5, "\"mcp\", \"max_logit\"");
    program_.Write("more.textproto", more);  // a further score of the same outputs
    program_.Write("small.textproto", "store_gb: 0.000001\n");
    ASSERT_EQ(program_.Run({"run", "study.textproto"}).exit_code, 0);
    const TrialRecord any = program_.AnyRecord();
    trial_ = any.trial_id();
    TrialRecord other = any;
    other.mutable_provenance()->mutable_stage(0)->set_host("elsewhere");
    const std::string bytes = EncodeRecord(other);
    Put(absl::StrCat("replicas/", trial_.substr(0, 2), "/", trial_, "/", Sha256Hex(bytes), ".rec"), bytes);
    FailureRecord failure;
    failure.set_schema_version(2);
    failure.set_key(std::string(64, 'a'));
    failure.set_message("it failed");
    Put(absl::StrCat("attempts/", failure.key(), "/1.rec"), EncodeRecord(failure));
    Put("quarantine/1/reason", "an earlier damage\n");
    Put(absl::StrCat("partial/", std::string(64, 'b'), ".safetensors"), "a saved state");
    Put("slurm/note", "x");
    Put("programs/note", "x");
    for (const auto& entry : fs::recursive_directory_iterator(program_.store())) {
      if (!entry.is_symlink()) {
        fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(24 * 40));
      }
    }
    fs::copy(program_.store(), pristine_, fs::copy_options::recursive);
    whole_ = ContentOf(program_.store());
    setenv("LD_PRELOAD", (*RunfilesFolder() + "/openset/core/testing/failing_disk_preload.so").c_str(), 1);
  }
  void TearDown() override { unsetenv("LD_PRELOAD"); }

  void Put(const std::string& name, const std::string& bytes) const {
    const std::string path = JoinPath(program_.store(), name);
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }

  // Runs a command while the disk fails.
  ProgramResult RunWith(const std::vector<std::string>& command, const Fault& fault) const {
    // "records" also stands for the folder itself, "records/" for what is below it.
    setenv("FAILING_DISK_PATH", absl::StrCat("/openset-store/", fault.room).c_str(), 1);
    setenv("FAILING_DISK_ERROR", fault.error.c_str(), 1);
    setenv("FAILING_DISK_CALLS", fault.calls.c_str(), 1);
    setenv("FAILING_DISK_AT", absl::StrCat(fault.at).c_str(), 1);
    setenv("FAILING_DISK_TIMES", absl::StrCat(fault.times).c_str(), 1);
    const ProgramResult result = program_.Run(command);
    unsetenv("FAILING_DISK_PATH");
    return result;
  }

  // The number of these calls that a command makes.
  int CountCalls(const std::vector<std::string>& command, const Fault& fault) const {
    const std::string log = program_.folder() + "/calls.txt";
    fs::remove(log);
    setenv("FAILING_DISK_LOG", log.c_str(), 1);
    Fault none = fault;
    none.error = "";
    RunWith(command, none);
    unsetenv("FAILING_DISK_LOG");
    const std::string lines = ReadFile(log).value_or("");
    return static_cast<int>(std::count(lines.begin(), lines.end(), '\n'));
  }

  void Restore() const {
    fs::remove_all(program_.store());
    fs::copy(pristine_, program_.store(), fs::copy_options::recursive);
    for (const auto& entry : fs::recursive_directory_iterator(program_.store())) {
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(24 * 40));
    }
    fs::remove_all(program_.folder() + "/made");
    fs::create_directories(program_.folder() + "/made");
  }

  const OpensetProgram program_;
  const std::string pristine_ = program_.folder() + "/pristine";
  std::string trial_;
  std::map<std::string, std::string> whole_;
};

struct Tried {
  std::vector<std::string> command;
  bool makes_records = false;      // a run, which may add records and failed attempts
  std::vector<std::string> takes;  // what it is told to remove
};

// Whether the text calls something corrupt. "0 corrupt" does not.
bool SaysCorrupt(const std::string& text) {
  for (size_t at = text.find("corrupt"); at != std::string::npos; at = text.find("corrupt", at + 1)) {
    const std::string before = text.substr(at < 3 ? 0 : at - 3, std::min<size_t>(at, 3));
    if (before != " 0 " && before != "\n0 " && !absl::EndsWith(before, " 0 ")) return true;
  }
  return false;
}

TEST_F(ReadFaultsTest, AnErrorIsNeitherAbsenceNorCorruption) {
  const std::string id = trial_;
  std::string mcp;  // the trial that `rm` is told to remove, as "ab/ID"
  for (const auto& entry : fs::recursive_directory_iterator(program_.store() + "/records")) {
    TrialRecord record;
    if (entry.is_regular_file() && ReadRecordFile(entry.path().string(), &record).ok() &&
        record.trial().method().name() == "mcp") {
      mcp = absl::StrCat(record.trial_id().substr(0, 2), "/", record.trial_id());
    }
  }
  const std::vector<Tried> all = {
      {{"records", "gc", "--older_than=0", "--checkpoints_older_than=0", "--dry_run"}},
      {{"records", "gc"}, false, {"quarantine", "logs"}},
      {{"records", "ls"}},
      {{"records", "verify"}},
      {{"records", "export", "--bundle=made/all.zip"}},
      {{"records", "export", "method=mcp", "--bundle=made/mcp.zip", "--with=outputs,checkpoints"}},
      {{"records", "merge", "openset-store", "--store=made/other"}},
      {{"records", "rm", "method=mcp", "--yes"}, false, {"records/" + mcp, "replicas/" + mcp}},
      {{"records", "show", id.substr(0, 12)}},
      {{"report", "experiment=study"}},
      {{"report", "study.textproto"}},
      {{"compare", "study.textproto"}},
      {{"figure", "study.textproto", "--curve=roc", "--out=made/roc.svg"}},
      {{"status"}},
      {{"status", "study.textproto"}},
      {{"plan", "study.textproto", "--noprobe"}},
      {{"explain", id.substr(0, 12)}},
      {{"explain", id.substr(0, 12), "study.textproto"}},
      {{"export", "outputs", id.substr(0, 12), "made/outputs"}},
      {{"run", "study.textproto"}, true},
      {{"run", "more.textproto", "--retries=0"}, true},
      {{"run", "study.textproto", "--deploy=small.textproto"}, true, {"outputs", "checkpoints", "quarantine"}},
  };
  int cases = 0, noticed = 0, number = 0;
  const int stride = Times(1, 47);
  for (const Tried& tried : all) {
    const std::string command = absl::StrJoin(tried.command, " ");
    Restore();
    const ProgramResult usual = program_.Run(tried.command);
    for (const char* room : kRooms) {
      for (const char* calls : kCalls) {
        int made = -1;  // calls that the command makes
        for (const char* error : kErrors) {
          for (const int where : {-1, 0, 1, 2}) {  // always; at the first, at a middle and at the last call
            if (++number % stride != 0) continue;
            Fault fault{room, error, calls};
            if (made < 0) {
              Restore();
              made = CountCalls(tried.command, fault);
            }
            if (made == 0 || where >= made) continue;
            if (where >= 0) {
              fault.times = 1;
              fault.at = where == 0 ? 0 : where == 1 ? made / 2 : made - 1;
            }
            SCOPED_TRACE(absl::StrCat("openset ", command, "; ", fault.Text()));
            Restore();
            const ProgramResult result = RunWith(tried.command, fault);
            ++cases;
            const std::string said = absl::StrCat(result.out, result.err);
            EXPECT_GE(result.exit_code, 0) << said;
            EXPECT_LT(result.exit_code, 3) << said;
            if (usual.exit_code == 0 && result.exit_code != 0) {
              ++noticed;
              // It names the file or the reason.
              EXPECT_TRUE(absl::StrContains(said, "openset-store")) << said;
            }
            // A run's lines have times, and its failures are of its own.
            // A log that can't be looked at is named, also if it may be empty.
            if (!tried.makes_records && result.exit_code == 0 && usual.exit_code == 0 && fault.room != "logs") {
              // Nothing is left out without a line: "cannot open PATH: Permission denied".
              const bool is_said = absl::StrContains(said, "cannot ") && absl::StrContains(said, "openset-store/");
              EXPECT_TRUE(result.out == usual.out || is_said) << said;
            }
            EXPECT_FALSE(SaysCorrupt(said)) << said;
            std::map<std::string, std::string> left = ContentOf(program_.store());
            for (const auto& [name, content] : whole_) {
              // A run that met an error once may remove what it is told to, when everything can be read again.
              bool may_go =
                  result.exit_code == 0 || tried.command.back() == "--yes" || (tried.makes_records && fault.times == 1);
              may_go = may_go && std::any_of(tried.takes.begin(), tried.takes.end(),
                                             [&name = name](const auto& one) { return absl::StartsWith(name, one); });
              const auto found = left.find(name);
              if (found == left.end() && may_go) continue;
              EXPECT_TRUE(found != left.end() && found->second == content) << name << " has gone or changed\n" << said;
            }
            for (const auto& [name, content] : left) {
              const bool is_new = whole_.count(name) == 0;
              EXPECT_FALSE(is_new && (absl::StartsWith(name, "quarantine") || !tried.makes_records)) << name << said;
            }
            if (HasFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GE(cases, Times(3000, 40));
  EXPECT_GE(noticed, cases / 4);
  Restore();
  const ProgramResult verified = program_.Run({"records", "verify"});
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  std::cout << cases << " read faults: nothing lost, moved or called corrupt; " << noticed << " of them noticed\n";
}

}  // namespace
}  // namespace openset
