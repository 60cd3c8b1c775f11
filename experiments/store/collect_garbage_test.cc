#include "experiments/store/collect_garbage.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "core/files/files.h"
#include "core/testing/failing_disk.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/testing/records.h"

namespace openset {
namespace {

class StoreUsageTest : public ::testing::Test {
 protected:
  StoreUsageTest() : store_(testing::TempDir() + "/usage") { std::filesystem::remove_all(store_.folder()); }

  void Commit(const std::string& id, const std::string& study, const std::string& user, const std::string& checkpoint,
              double ended) const {
    TrialRecord record = TestRecord(TestKey(id), "m", 0, 0.5, "host", 1);
    record.mutable_trial()->set_experiment(study);
    StageProvenance* stage = record.mutable_provenance()->add_stage();
    stage->set_stage(StageProvenance::TRAIN);
    stage->set_key(TestKey(checkpoint));
    stage->set_user_name(user);
    stage->set_ended_at_seconds(ended);
    StageProvenance* evaluated = record.mutable_provenance()->add_stage();
    *evaluated = *stage;
    evaluated->set_stage(StageProvenance::EVALUATE);
    evaluated->set_key(record.trial_id());
    EXPECT_THAT(store_.CommitRecord(record), IsOk());
  }

  int64_t RecordBytes(const std::string& id) const {
    return static_cast<int64_t>(std::filesystem::file_size(store_.RecordPath(TestKey(id))));
  }

  const Store store_;
};

// The checkpoint of 1,000 bytes is shared: it counts once for each of the studies, and once for the user.
TEST_F(StoreUsageTest, IncludesRecordsAndTheirInputs) {
  Commit("aa", "first", "anna", "cc", 30);
  Commit("ab", "first", "", "cc", 20);
  Commit("ac", "second", "bob", "cc", 10);
  const std::string folder = store_.CheckpointFolder(TestKey("cc"));
  ASSERT_THAT(MakeFolders(folder), IsOk());
  std::ofstream(folder + "/checkpoint.safetensors") << std::string(1000, 'x');
  UnreadRecords unread;
  std::map<std::string, int64_t> by_user;
  const std::vector<StudyUsage> usage = UsageByStudy(store_, &unread, &by_user);
  EXPECT_THAT(by_user, ElementsAre(::testing::Pair("anna", RecordBytes("aa") + 1000),
                                   ::testing::Pair("bob", RecordBytes("ac"))));
  ASSERT_EQ(usage.size(), 2);
  EXPECT_EQ(usage[0].name, "first");
  EXPECT_EQ(usage[0].records, 2);
  EXPECT_THAT(usage[0].users, ElementsAre("anna"));
  EXPECT_EQ(usage[0].last_seconds, 30);
  EXPECT_EQ(usage[0].bytes, RecordBytes("aa") + RecordBytes("ab") + 1000);
  EXPECT_EQ(usage[1].bytes, RecordBytes("ac") + 1000);
  const auto kinds = UsageByKind(store_, &unread);
  ASSERT_EQ(kinds.size(), 2);
  EXPECT_GT(kinds[0].second, kinds[1].second);
  EXPECT_EQ(kinds[0].second + kinds[1].second, 1000 + RecordBytes("aa") + RecordBytes("ab") + RecordBytes("ac"));
}

// "outputs/ab/KEY/" can't be listed: the size is not known, and the other folders count.
TEST_F(StoreUsageTest, AFolderThatCantBeReadIsNamed) {
  CommitTestOutputs(store_, TestKey("ab"));
  const std::string folder = store_.OutputsFolder(TestKey("ab"));
  std::ofstream(folder + "/../more") << "12345";
  std::filesystem::create_hard_link(folder + "/../more", store_.folder() + "/same");
  EXPECT_GT(*BytesBelow(store_.folder() + "/outputs"), 5);
  const FailingDisk failing("/outputs/ab/" + TestKey("ab"), "EIO", "list");
  const absl::Status status = BytesBelow(store_.folder() + "/outputs").status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(folder));
  EXPECT_FALSE(BytesOfStore(store_).ok());
  UnreadRecords unread;
  EXPECT_THAT(UsageByKind(store_, &unread), ElementsAre(::testing::Pair("same", 5)));
  EXPECT_THAT(unread.unreadable, ElementsAre(std::string(status.message())));
}

TEST(BytesText, HasOneDecimal) {
  EXPECT_EQ(BytesText(999), "999 B");
  EXPECT_EQ(BytesText(3'400'000), "3.4 MB");
  EXPECT_EQ(BytesText(2'000'000'000'000'000), "2000.0 TB");
}

int64_t clock_ahead_seconds = 0;

}  // namespace

// Replaces the C library's function in this program.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += clock_ahead_seconds;
  return 0;
}
namespace {

class CollectGarbageTest : public ::testing::Test {
 protected:
  CollectGarbageTest() : store_(TestFolder() + "/store"), record_(TestRecord(TestKey("abcd"), "m", 0, 0.5)) {
    std::filesystem::remove_all(TestFolder());
    EXPECT_TRUE(store_.CommitRecord(record_).ok());
    CommitTestCheckpoint(store_, record_.checkpoint_key());
    CommitTestOutputs(store_, record_.outputs_key());
    CommitTestCheckpoint(store_, TestKey("ee"));
    CommitTestOutputs(store_, TestKey("ff"));
  }

  static void Age(const std::string& path, int days) {
    std::filesystem::last_write_time(path,
                                     std::filesystem::file_time_type::clock::now() - std::chrono::hours(24 * days));
  }

  std::vector<std::string> Found(const GarbagePolicy& policy = {}) {
    std::vector<std::string> paths;
    const std::vector<Garbage> found = FindGarbage(store_, policy).value().garbage;
    for (const Garbage& garbage : found) paths.push_back(garbage.path);
    return paths;
  }

  const Store store_;
  const TrialRecord record_;
};

// They don't stop the collection, and the results that they refer to stay.
TEST_F(CollectGarbageTest, RecordsOfAnotherSchemaVersionKeepTheirInputs) {
  TrialRecord newer = TestRecord(TestKey("cccc"), "m", 0, 0.5);
  newer.set_schema_version(kSchemaVersion + 1);
  ASSERT_TRUE(store_.CommitRecord(newer).ok());
  CommitTestCheckpoint(store_, newer.checkpoint_key());
  CommitTestOutputs(store_, newer.outputs_key());
  for (const std::string& path : {store_.CheckpointFolder(newer.checkpoint_key()),
                                  store_.OutputsFolder(newer.outputs_key()), store_.OutputsFolder(TestKey("ff"))}) {
    Age(path, 100);
  }
  EXPECT_THAT(Found(), ElementsAre(store_.OutputsFolder(TestKey("ff"))));
}

TEST_F(CollectGarbageTest, RemovesOldResultsWithoutRecords) {
  EXPECT_THAT(Found(), IsEmpty());
  const std::string checkpoint = store_.CheckpointFolder(TestKey("ee")), outputs = store_.OutputsFolder(TestKey("ff"));
  Age(checkpoint, 31);
  EXPECT_THAT(Found(), ElementsAre(checkpoint));
  Age(outputs, 3);
  Age(store_.CheckpointFolder(record_.checkpoint_key()), 100);
  Age(store_.OutputsFolder(record_.outputs_key()), 100);
  EXPECT_THAT(Found(), ElementsAre(checkpoint));
  GarbagePolicy policy;
  policy.older_than = absl::Hours(48);
  EXPECT_THAT(Found(policy), UnorderedElementsAre(checkpoint, outputs));
  // Results of the last hour may be in use.
  policy.older_than = absl::ZeroDuration();
  CommitTestOutputs(store_, TestKey("dd"));
  EXPECT_THAT(Found(policy), UnorderedElementsAre(checkpoint, outputs));

  ASSERT_THAT(RemoveGarbage(store_, FindGarbage(store_, policy).value()), IsOk());
  EXPECT_FALSE(FileExists(checkpoint));
  EXPECT_FALSE(FileExists(outputs));
  EXPECT_THAT(Found(policy), IsEmpty());
  EXPECT_TRUE(*store_.HasRecord(record_.trial_id()));
}

TEST_F(CollectGarbageTest, RemovesOnlyCheckpointsWithOutputs) {
  const std::string checkpoint = store_.CheckpointFolder(record_.checkpoint_key());
  Age(checkpoint, 10);
  GarbagePolicy policy;
  policy.checkpoints_older_than = absl::Hours(24 * 9);
  EXPECT_THAT(Found(policy), ElementsAre(checkpoint));
  policy.checkpoints_older_than = absl::Hours(24 * 11);
  EXPECT_THAT(Found(policy), IsEmpty());
  policy.checkpoints_older_than = absl::ZeroDuration();
  ASSERT_TRUE(store_.Remove(store_.OutputsFolder(record_.outputs_key())).ok());
  EXPECT_THAT(Found(policy), IsEmpty());
}

// First a result without a record, then the record's checkpoint, then its outputs; each step of one byte less removes
// one more.
TEST_F(CollectGarbageTest, ASizeLimitRemovesTheLeastNeededFirst) {
  const std::string unused = store_.CheckpointFolder(TestKey("ee")), younger = store_.OutputsFolder(TestKey("ff"));
  const std::string checkpoint = store_.CheckpointFolder(record_.checkpoint_key());
  const std::string outputs = store_.OutputsFolder(record_.outputs_key());
  Age(unused, 3);
  Age(younger, 2);
  Age(outputs, 5);
  Age(checkpoint, 1);
  int64_t all = 0;
  all = BytesOfStore(store_).value();
  GarbagePolicy policy;
  policy.most_bytes = all;
  EXPECT_THAT(Found(policy), IsEmpty());
  std::vector<std::string> gone;
  for (const std::string& next : {unused, younger, checkpoint, outputs}) {
    --*policy.most_bytes;
    gone.push_back(next);
    const std::vector<Garbage> found = FindGarbage(store_, policy).value().garbage;
    std::vector<std::string> paths;
    int64_t freed = 0;
    for (const Garbage& garbage : found) {
      paths.push_back(garbage.path);
      freed += garbage.bytes;
      EXPECT_THAT(garbage.reason, ::testing::StartsWith("to free space; "));
    }
    EXPECT_THAT(paths, ::testing::UnorderedElementsAreArray(gone));
    policy.most_bytes = all - freed;
    EXPECT_THAT(Found(policy), SizeIs(gone.size()));
  }
  // Results younger than an hour stay, and so do records.
  CommitTestOutputs(store_, TestKey("dd"));
  policy.most_bytes = 0;
  EXPECT_THAT(Found(policy), ::testing::UnorderedElementsAreArray(gone));
}

TEST(ParseBytes, KnowsUnits) {
  EXPECT_EQ(*ParseBytes("200GB"), 200000000000);
  EXPECT_EQ(*ParseBytes("1.5 TB"), 1500000000000);
  EXPECT_EQ(*ParseBytes("20kb"), 20000);
  EXPECT_EQ(*ParseBytes("4096"), 4096);
  EXPECT_EQ(*ParseBytes("7 B"), 7);
  for (const char* bad : {"", "GB", "-1GB", "1XB", "nan", "inf", "1e30", "1 2", "0x10"}) {
    EXPECT_THAT(std::string(ParseBytes(bad).status().message()), ::testing::HasSubstr("is not a size")) << bad;
  }
}

TEST_F(CollectGarbageTest, RemovesTemporariesStatesAndTheQuarantine) {
  std::filesystem::create_directories(store_.folder() + "/partial");
  const std::string state = store_.PartialPath(record_.checkpoint_key()), open = store_.PartialPath(TestKey("99"));
  const std::string orphan = store_.folder() + "/tmp/x.tmp.elsewhere.0123abcd.1.0";
  for (const std::string& path : {state, open, orphan}) std::ofstream(path) << "x";
  EXPECT_THAT(Found(), ElementsAre(state));
  Age(orphan, 8);
  EXPECT_THAT(Found(), ElementsAre(state, orphan));
  ASSERT_THAT(store_.Quarantine(store_.OutputsFolder(TestKey("ff")), "damaged"), IsOk());
  EXPECT_THAT(Found(), ElementsAre(state, orphan));
  Age(store_.folder() + "/quarantine/1", 40);
  EXPECT_THAT(Found(), ElementsAre(state, store_.folder() + "/quarantine/1", orphan));
}

// Results are identified by their names and folders.
TEST_F(CollectGarbageTest, KeepsFilesOfOthers) {
  for (const char* name : {"logs/diary.log", "logs/train.tmp.1.log", "quarantine/notes", "quarantine/+1",
                           "quarantine/01", "programs/bin", "partial/mine.safetensors", "outputs/ab/mine",
                           "checkpoints/mine", "thesis.tmp.2024", "my.tmp.notes/x", "a.tmp.elsewhere.0123abcd.1.0"}) {
    const std::string path = JoinPath(store_.folder(), name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << "x";
    Age(path, 1000);
  }
  Age(store_.folder() + "/my.tmp.notes", 1000);
  const std::string elsewhere = TestFolder() + "/elsewhere", program = elsewhere + "/" + TestKey("aa");
  std::filesystem::create_directories(program);
  Age(program, 1000);
  std::filesystem::remove_all(store_.folder() + "/programs");
  std::filesystem::create_directory_symlink(elsewhere, store_.folder() + "/programs");
  GarbagePolicy policy;
  policy.programs_in_use.emplace();
  EXPECT_THAT(FindGarbage(store_, policy), StatusIs(absl::StatusCode::kPermissionDenied));
  std::filesystem::remove(store_.folder() + "/programs");
  EXPECT_THAT(Found(policy), IsEmpty());
  EXPECT_TRUE(FileExists(program));
  // openset's own files next to it are removed.
  for (const std::string& log : {TestKey("ab") + ".log", std::string("train.tmp.elsewhere.0123abcd.1.0.log"),
                                 TemporaryName("evaluate") + ".log"}) {
    std::ofstream(store_.folder() + "/logs/" + log) << "x";
    Age(store_.folder() + "/logs/" + log, 31);
  }
  EXPECT_THAT(Found(policy), SizeIs(3));
}

TEST_F(CollectGarbageTest, RefusesAFolderThatIsNotAStore) {
  std::filesystem::remove_all(store_.folder());
  std::filesystem::create_directories(store_.folder() + "/tmp");
  EXPECT_THAT(FindGarbage(store_, {}), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_FALSE(FileExists(store_.folder() + "/version"));
}

TEST_F(CollectGarbageTest, RemovesNothingWhileARecordCannotBeRead) {
  std::filesystem::resize_file(store_.RecordPath(record_.trial_id()), 60);
  EXPECT_THAT(FindGarbage(store_, {}), StatusIs(absl::StatusCode::kDataLoss));
}

TEST_F(CollectGarbageTest, RemovesProgramsThatNoJobRuns) {
  const std::string used = store_.folder() + "/programs/" + TestKey("aa"),
                    unused = store_.folder() + "/programs/" + TestKey("bb");
  for (const std::string& program : {used, unused}) {
    std::filesystem::create_directories(program);
    std::ofstream(program + "/openset") << "12345";
    std::ofstream(store_.folder() + "/library") << "what a link to it does not take";
    std::filesystem::create_hard_link(store_.folder() + "/library", program + "/hard");
    std::filesystem::create_symlink(store_.folder() + "/library", program + "/soft");
  }
  GarbagePolicy policy;
  policy.programs_in_use = {TestKey("aa")};
  EXPECT_THAT(Found(policy), IsEmpty());  // they are new
  Age(used, 1);
  Age(unused, 1);
  EXPECT_THAT(Found(policy), ElementsAre(unused));
  EXPECT_EQ(FindGarbage(store_, policy)->garbage.at(0).bytes, 5);
  EXPECT_THAT(Found(), IsEmpty());  // without a list of programs in use
  ASSERT_THAT(RemoveGarbage(store_, FindGarbage(store_, policy).value()), IsOk());
  EXPECT_FALSE(FileExists(unused));
  EXPECT_TRUE(FileExists(used));
  EXPECT_TRUE(FileExists(store_.folder() + "/library"));
}

// What can't be listed or read is not absent: without these records, everything would be garbage.
TEST_F(CollectGarbageTest, RemovesNothingWhileSomethingCantBeRead) {
  const std::string old = store_.OutputsFolder(TestKey("ff"));
  ASSERT_THAT(MakeFolders(old + "/inside"), IsOk());
  ASSERT_THAT(MakeFolders(store_.folder() + "/partial"), IsOk());
  ASSERT_THAT(MakeFolders(store_.folder() + "/logs"), IsOk());
  for (const std::string& path :
       {old, store_.CheckpointFolder(record_.checkpoint_key()), store_.OutputsFolder(record_.outputs_key())}) {
    Age(path, 100);
  }
  GarbagePolicy policy;
  policy.most_bytes = 1;
  const std::string record = store_.RecordPath(record_.trial_id());
  for (const char* error : {"EACCES", "EMFILE", "ENFILE", "ENOMEM", "EIO", "ESTALE"}) {
    for (const auto& [path, calls] :
         std::vector<std::pair<std::string, std::string>>{{store_.folder() + "/records", "open"},
                                                          {store_.folder() + "/records", "list"},
                                                          {record.substr(0, record.rfind('/')), "list"},
                                                          {record, "open"},
                                                          {record, "read"},
                                                          {store_.folder() + "/outputs", "open"},
                                                          {store_.folder() + "/checkpoints", "list"},
                                                          {store_.folder() + "/partial", "open"},
                                                          {store_.folder() + "/logs", "open"},
                                                          {store_.OutputsFolder(record_.outputs_key()), "stat"},
                                                          {old, "stat"},
                                                          {old + "/inside", "open"}}) {
      const FailingDisk failing(path, error, calls);
      const absl::Status status = FindGarbage(store_, policy).status();
      EXPECT_TRUE(IsReadFailure(status)) << error << " " << calls << " " << path << ": " << status;
      EXPECT_THAT(std::string(status.message()), HasSubstr(store_.folder()));
    }
  }
  EXPECT_THAT(Found(), ElementsAre(old));
}

// This machine's clock is a month ahead of the disk's.
TEST_F(CollectGarbageTest, AgesAreThoseByTheClockOfTheDisk) {
  const std::string young = store_.OutputsFolder(TestKey("ff")), old = store_.CheckpointFolder(TestKey("ee"));
  Age(old, 31);
  GarbagePolicy policy;
  policy.checkpoints_older_than = absl::ZeroDuration();
  clock_ahead_seconds = 40 * 24 * 3600;
  EXPECT_THAT(Found(policy), ElementsAre(old));
  policy.most_bytes = 1;
  EXPECT_THAT(Found(policy), ElementsAre(old));
  // Of another machine, from now.
  const std::string temporary = store_.folder() + "/tmp/x.tmp.elsewhere.0123abcd.1.0";
  std::ofstream(temporary) << "x";
  EXPECT_THAT(Found(), ElementsAre(old));
  // If the disk's clock can't be read, nothing is removed, but a list is possible.
  {
    const FailingDisk failing(store_.folder() + "/tmp/now", "EACCES", "open");
    ASSERT_OK_AND_ASSIGN(const GarbageFound found, FindGarbage(store_, {}));
    EXPECT_FALSE(found.clock.ok());
    EXPECT_EQ(RemoveGarbage(store_, found), found.clock);
  }
  clock_ahead_seconds = 0;
  EXPECT_TRUE(FileExists(young));
  EXPECT_TRUE(FileExists(old));
}

// What a run needs stays, however old; what it no longer needs is removed, however new.
TEST_F(CollectGarbageTest, KeepsWhatARunNeeds) {
  const std::string old = store_.OutputsFolder(TestKey("ff")), young = store_.CheckpointFolder(TestKey("ee"));
  Age(old, 3);
  GarbagePolicy policy;
  policy.most_bytes = 1;
  EXPECT_THAT(Found(policy), ElementsAre(old));
  policy.needed = {TestKey("ff")};
  EXPECT_THAT(Found(policy), IsEmpty());
  policy.done_with = {TestKey("ee")};
  EXPECT_THAT(Found(policy), ElementsAre(young));
  policy.needed = {TestKey("ee")};
  EXPECT_THAT(Found(policy), ElementsAre(old));
}

}  // namespace
}  // namespace openset
