// The contents of a store after a power cut, on a failing disk, on a full disk, and after any bit of it has flipped.
// Each test prints its figures; --long_form tries all cases, for some minutes.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/proto/record_file.h"
#include "core/random.h"
#include "core/testing/fault_calls.h"
#include "core/testing/small_disk.h"
#include "experiments/store/bundle.h"
#include "experiments/store/store.h"
#include "experiments/store/testing/records.h"
#include "gtest/gtest.h"

ABSL_FLAG(bool, long_form, false, "All cases.");

namespace openset {
namespace {

constexpr char kOutputs[] = "the outputs of a network";

// Writes to a store, and remembers which writes it acknowledged.
class Workload {
 public:
  explicit Workload(const std::string& folder) : store_(folder) {}

  // Writes two records in one folder, one in another, and one in a folder that another process has made and not synced;
  // outputs that are written without syncs; a failed attempt; the number of a job; and a bundle written by a library.
  // Continues after errors. Returns the errors.
  std::vector<absl::Status> Run() {
    std::vector<absl::Status> failed;
    const auto keep = [&](const std::string& what, const absl::Status& status) {
      if (status.ok()) {
        kept_.insert(what);
      } else {
        failed.push_back(status);
      }
    };
    for (const char* name : kRecords) {
      const TrialRecord record = TestRecord(TestKey(name), "m", 0, 0.5);
      if (name == kRecords[3])
        mkdir(std::filesystem::path(store_.RecordPath(TestKey(name))).parent_path().c_str(), 0777);
      keep(name, store_.CommitRecord(record).status());
    }
    keep("outputs", CommitOutputs());
    keep("job", WriteFileAtomically(JoinPath(store_.folder(), "array.job"), kJob));
    std::ofstream(JoinPath(store_.folder(), "bundle.new")) << kBundle;
    keep("bundle", MoveFile(JoinPath(store_.folder(), "bundle.new"), JoinPath(store_.folder(), "bundle.zip")));
    FailureRecord failure;
    failure.set_schema_version(kSchemaVersion);
    failure.set_key(TestKey("fa11"));
    failure.set_message("out of memory");
    if (*store_.CountFailures(failure.key()) == 0) keep("failure", store_.WriteFailure(failure));
    return failed;
  }

  const std::set<std::string>& kept() const { return kept_; }

  // Returns what is wrong with a store that should have all acknowledged results: none may be lost, and anything that
  // can be read must be what was written.
  std::vector<std::string> ProblemsOf(const Store& store) const {
    std::vector<std::string> problems;
    const auto check = [&](const std::string& what, const absl::Status& read, bool is_right) {
      const bool is_damage = absl::IsNotFound(read) || absl::IsDataLoss(read);
      if (read.ok() && !is_right) problems.push_back(absl::StrCat(what, " is another one"));
      if (!read.ok() && !is_damage) problems.push_back(absl::StrCat(what, ": ", read.message()));
      if (!read.ok() && kept_.count(what) > 0) problems.push_back(absl::StrCat(what, " is lost: ", read.message()));
    };
    if (!kept_.empty() && !store.CheckVersion().ok()) problems.push_back("no version");
    for (const char* name : kRecords) {
      const absl::StatusOr<TrialRecord> record = store.LoadRecord(TestKey(name));
      check(name, record.status(),
            record.ok() && EncodeRecord(*record) == EncodeRecord(TestRecord(TestKey(name), "m", 0, 0.5)));
    }
    const std::string outputs = JoinPath(store.OutputsFolder(TestKey("ef78")), kOutputsFile);
    check("outputs", store.CheckOutputs(TestKey("ef78")), ReadFile(outputs).value_or("") == kOutputs);
    for (const auto& [what, name, content] :
         {std::tuple("job", "array.job", kJob), {"bundle", "bundle.zip", kBundle}}) {
      const absl::StatusOr<std::string> read = ReadFile(JoinPath(store.folder(), name));
      check(what, read.status(), read.ok() && *read == content);
    }
    const absl::StatusOr<FailureRecord> failure = store.LoadFailure(TestKey("fa11"));
    check("failure", failure.status(), failure.ok() && failure->message() == "out of memory");
    return problems;
  }

  const Store& store() const { return store_; }
  // The number of results that Run() writes.
  static constexpr size_t kThings = 8;

 private:
  static constexpr const char* kRecords[] = {"ab12", "ab34", "cd56", "ef9a"};
  static constexpr const char* kJob = "7\n";
  static constexpr const char* kBundle = "the bytes of a bundle";

  absl::Status CommitOutputs() {
    const std::string key = TestKey("ef78");
    absl::StatusOr<std::string> staging = store_.NewStagingFolder(key);
    if (!staging.ok()) return staging.status();
    InferSummary summary;
    summary.set_schema_version(kSchemaVersion);
    summary.mutable_action()->mutable_infer();
    summary.mutable_provenance()->set_stage(StageProvenance::INFER);
    summary.mutable_provenance()->set_key(key);
    summary.set_outputs_sha256(Sha256Hex(kOutputs));
    const absl::Status written = WriteFileAtomically(JoinPath(*staging, kSummaryFile), EncodeRecord(summary));
    if (!written.ok()) return written;
    std::ofstream(JoinPath(*staging, kOutputsFile)) << kOutputs;
    return store_.CommitFolder(*staging, store_.OutputsFolder(key)).status();
  }

  const Store store_;
  std::set<std::string> kept_;
};

class FaultsTest : public ::testing::Test {
 protected:
  FaultsTest() { std::filesystem::remove_all(TestFolder()); }

  // Returns a folder that no other case has used, since MakeFolders() remembers which folders it has synced.
  static std::string NewFolder(const std::string& name) {
    static int count = 0;
    const std::string folder = absl::StrCat(TestFolder(), "/", name, count++);
    std::filesystem::create_directories(folder);
    return folder;
  }
};

struct PowerCuts {
  int cuts = 0, disks = 0, wrong = 0;
  std::string first;  // the first problem
};

// Cuts the power after each call in turn, and checks `seeds` possible states of the disk. If `until_wrong`, stops at
// the first wrong state.
PowerCuts CutEverywhere(const std::function<std::string()>& folder, int seeds, const SyncOf* left_out,
                        bool until_wrong) {
  PowerCuts result;
  for (int64_t at = 0;; ++at) {
    const std::string place = folder();
    UnsafeDisk disk(place);
    disk.CutAfter(at);
    if (left_out != nullptr) disk.LeaveOut(*left_out);
    Workload workload(place + "/store");
    {
      const ScopedSystemCalls scope(&disk);
      workload.Run();
    }
    ++result.cuts;
    for (int seed = 0; seed < seeds; ++seed) {
      RandomStream random(seed, absl::StrCat("cut ", at));
      const std::string restored = folder();
      disk.Restore(restored, &random);
      const std::vector<std::string> problems = workload.ProblemsOf(Store(restored + "/store"));
      ++result.disks;
      if (!problems.empty() && result.wrong++ == 0) {
        result.first = absl::StrCat("cut before call ", at, ", seed ", seed, ": ", problems[0]);
      }
      std::filesystem::remove_all(restored);
    }
    std::filesystem::remove_all(place);
    if (!disk.is_cut() || (until_wrong && result.wrong > 0)) return result;
  }
}

TEST_F(FaultsTest, APowerCutLosesNoCommittedResults) {
  const int seeds = absl::GetFlag(FLAGS_long_form) ? 200 : 20;
  const PowerCuts cuts = CutEverywhere([] { return NewFolder("cut"); }, seeds, nullptr, /*until_wrong=*/false);
  std::cout << "R3: " << cuts.cuts << " cuts, " << cuts.disks << " disks, " << cuts.wrong << " wrong\n";
  EXPECT_EQ(cuts.wrong, 0) << cuts.first;
  EXPECT_GT(cuts.cuts, 50);
}

TEST_F(FaultsTest, EachSyncIsNeeded) {
  const int seeds = absl::GetFlag(FLAGS_long_form) ? 50 : 2;
  for (const SyncOf& what : kAllSyncs) {
    const PowerCuts cuts = CutEverywhere([] { return NewFolder("without"); }, seeds, &what,
                                         /*until_wrong=*/!absl::GetFlag(FLAGS_long_form));
    std::cout << "R4: without sync " << static_cast<int>(what) << ": " << cuts.wrong << " of " << cuts.disks
              << " disks wrong, first " << cuts.first << "\n";
    EXPECT_GT(cuts.wrong, 0) << static_cast<int>(what);
  }
}

TEST_F(FaultsTest, EachCallMayFail) {
  int cases = 0, failed = 0;
  for (const int error : {ENOSPC, EIO, EINTR, EDQUOT, ESTALE, 0}) {  // 0: short writes
    for (const bool for_ever : {false, true}) {
      // The short form tries every fifth call, with an offset that depends on the error.
      const int step = absl::GetFlag(FLAGS_long_form) ? 1 : 5;
      for (int64_t at = error % step;; at += step) {
        const std::string folder = NewFolder("fail");
        FailingCalls calls(error == 0 ? FailingCalls::Fault::kShortWrite : FailingCalls::Fault::kError, error, at,
                           for_ever);
        Workload workload(folder + "/store");
        std::vector<absl::Status> statuses;
        {
          const ScopedSystemCalls scope(&calls);
          statuses = workload.Run();
        }
        ++cases;
        failed += !statuses.empty();
        const std::string what = absl::StrCat(std::strerror(error), for_ever ? " from call " : " at call ", at);
        for (const absl::Status& status : statuses) {
          EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << what << ": " << status;
          EXPECT_TRUE(absl::StrContains(status.message(), folder)) << what << ": " << status;
        }
        // Interruptions and short writes are not failures.
        if (error == 0 || (error == EINTR && !for_ever)) {
          EXPECT_TRUE(statuses.empty()) << what << ": " << statuses[0];
        }
        for (const std::string& problem : workload.ProblemsOf(workload.store()))
          ADD_FAILURE() << what << ": " << problem;
        // Repeating it on a working disk completes it.
        FailingCalls none(FailingCalls::Fault::kNone, 0, 0, false);
        const ScopedSystemCalls scope(&none);
        const std::vector<absl::Status> again = workload.Run();
        EXPECT_TRUE(again.empty()) << what << ": " << again[0];
        EXPECT_EQ(workload.kept().size() + (workload.kept().count("failure") == 0), Workload::kThings) << what;
        for (const std::string& problem : workload.ProblemsOf(workload.store()))
          ADD_FAILURE() << what << ": " << problem;
        std::filesystem::remove_all(folder);
        if (calls.calls() <= at || HasFailure()) break;
      }
    }
  }
  std::cout << "R5: " << cases << " cases, of which " << failed << " failed with a message and went on\n";
  EXPECT_GT(failed, 100);
}

// Returns 0 on success, 77 if no tmpfs can be mounted.
int FillDisks(const std::string& folder, bool long_form) {
  if (!EnterMountNamespace()) return 77;
  int full = 0, cases = 0;
  for (int kilobytes = 64; kilobytes <= (long_form ? 3000 : 400); kilobytes += long_form ? 59 : 48) {
    const SmallDisk disk(folder, kilobytes);
    if (!disk.is_there()) return 77;
    ++cases;
    const Store store(folder + "/store");
    std::vector<std::string> kept;
    absl::Status status;
    // A record uses a page, and its folder another.
    for (int t = 0; t < 1000 && status.ok(); ++t) {
      const std::string id = TestKey(absl::StrCat(1000 + t));
      status = store.CommitRecord(TestRecord(id, "m", t, 0.5)).status();
      if (status.ok()) kept.push_back(id);
    }
    full += !status.ok();
    if (!status.ok() &&
        (!absl::StrContains(status.message(), folder) || !absl::StrContains(status.message(), "space"))) {
      std::cerr << status << "\n";
      return 1;
    }
    for (const std::string& id : kept) {
      if (!store.LoadRecord(id).ok()) return 2;
    }
    for (const std::string& name : ListFolder(folder + "/store/tmp").value_or(std::vector<std::string>{})) {
      std::cerr << "left: " << name << "\n";
      return 3;
    }
    // There is space again.
    if (!disk.Resize(64 << 10)) return 4;
    if (!store.CommitRecord(TestRecord(TestKey("ffff"), "m", 0, 0.5)).ok()) return 5;
  }
  std::cout << "R6: " << cases << " disks, " << full << " of them full\n";
  return full > 0 ? 0 : 6;
}

TEST_F(FaultsTest, AFullDiskIsReportedAndLeavesNoPartialFiles) {
  const std::string folder = NewFolder("full");
  std::cout << std::flush;
  const pid_t child = fork();
  if (child == 0) {
    const int code = FillDisks(folder, absl::GetFlag(FLAGS_long_form));
    std::cout << std::flush;
    _exit(code);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no tmpfs can be mounted here: " << std::strerror(errno);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Corrupts a file in every possible way, and counts the cases that `is_noticed` misses.
int Unnoticed(const std::string& path, int step, int* cases, const std::function<bool()>& is_noticed) {
  const std::string bytes = *ReadFile(path);
  int unnoticed = 0;
  const auto look = [&](const std::string& damaged) {
    std::ofstream(path, std::ios::binary) << damaged;
    ++*cases;
    unnoticed += !is_noticed();
  };
  for (size_t at = 0; at < bytes.size(); at += step) {
    look(bytes.substr(0, at));
    look(bytes.substr(0, at) + "x" + bytes.substr(at));
    std::string changed = bytes;
    look(changed.erase(at, 1));
    for (int bit = static_cast<int>(at / step) % 8; bit<8; bit += step> 1 ? 8 : 1) {
      changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      look(changed);
    }
  }
  look(bytes + "x");
  std::ofstream(path, std::ios::binary) << bytes;
  return unnoticed;
}

TEST_F(FaultsTest, EveryCorruptionOfEveryFileIsNoticed) {
  const int step = absl::GetFlag(FLAGS_long_form) ? 1 : 5;
  const Store store(NewFolder("damage"));
  const TrialRecord record = TestRecord(TestKey("ab12"), "m", 0, 0.5);
  ASSERT_TRUE(store.CommitRecord(record).ok());
  CommitTestCheckpoint(store, record.checkpoint_key());
  CommitTestOutputs(store, record.outputs_key());
  const std::string bundle = store.folder() + "/bundle.zip";
  ASSERT_TRUE(WriteBundle(store, {record.trial_id()}, bundle).ok());
  const auto read = [](const std::string&, const std::string&) { return absl::OkStatus(); };
  const std::string checkpoint = store.CheckpointFolder(record.checkpoint_key());
  const std::string outputs = store.OutputsFolder(record.outputs_key());
  const std::vector<std::pair<std::string, std::function<absl::Status()>>> files = {
      {store.RecordPath(record.trial_id()), [&] { return store.LoadRecord(record.trial_id()).status(); }},
      {JoinPath(checkpoint, kCheckpointFile), [&] { return store.CheckCheckpoint(record.checkpoint_key()); }},
      {JoinPath(checkpoint, kSummaryFile), [&] { return store.CheckCheckpoint(record.checkpoint_key()); }},
      {JoinPath(outputs, kOutputsFile), [&] { return store.CheckOutputs(record.outputs_key()); }},
      {JoinPath(outputs, kSummaryFile), [&] { return store.CheckOutputs(record.outputs_key()); }},
      {bundle, [&] { return ReadBundle(bundle, read).status(); }},
  };
  for (const auto& [path, check] : files) {
    int cases = 0;
    // A flip in the layout's version looks like a file of a newer openset: it is not corrupt, but not read either.
    const auto is_noticed = [&, &check = check] {
      const absl::Status status = check();
      return absl::IsDataLoss(status) || absl::IsUnimplemented(status);
    };
    ASSERT_TRUE(check().ok()) << path << ": " << check();
    const int unnoticed = Unnoticed(path, step * (path == bundle && step > 1 ? 9 : 1), &cases, is_noticed);
    std::cout << "R7: " << std::filesystem::path(path).filename().string() << ": " << cases << " cases, " << unnoticed
              << " unnoticed\n";
    EXPECT_EQ(unnoticed, 0) << path;
    ASSERT_TRUE(check().ok());
  }
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  absl::ParseCommandLine(argc, argv);
  // In memory, if possible: the disk has no influence on the cases, only on the time.
  std::optional<openset::SmallDisk> memory;
  if (openset::EnterMountNamespace()) memory.emplace(testing::TempDir(), 4 << 20);
  return RUN_ALL_TESTS();
}
