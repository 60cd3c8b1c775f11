#include "experiments/store/merge.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <numeric>
#include <thread>

#include "absl/strings/str_cat.h"
#include "core/files/system_calls.h"
#include "core/proto/proto_digest.h"
#include "core/proto/record_file.h"
#include "core/testing/failing_disk.h"
#include "core/testing/fault_rounds.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/action.pb.h"
#include "experiments/store/bundle.h"
#include "experiments/store/records/record_fields.h"
#include "experiments/store/testing/records.h"
#include "experiments/store/verify_store.h"

namespace openset {
namespace {

class WithoutSync : public SystemCalls {
 public:
  int Sync(int /*fd*/, SyncOf /*what*/) override { return 0; }
};

class MergeTest : public ::testing::Test {
 protected:
  MergeTest() { std::filesystem::remove_all(TestFolder()); }

  static Store In(const std::string& name) { return Store(JoinPath(TestFolder(), name)); }

  // Returns the bytes of all record files of each trial.
  static std::map<std::string, std::vector<std::string>> Files(const Store& store) {
    std::map<std::string, std::vector<std::string>> files;
    for (const std::string& id : AllRecordIds(store)) {
      std::vector<std::string>& of_trial = files[id];
      of_trial.push_back(*ReadFile(store.RecordPath(id)));
      const std::vector<std::string> paths = ReplicaPaths(store, id).value();
      for (const std::string& path : paths) of_trial.push_back(*ReadFile(path));
      std::sort(of_trial.begin(), of_trial.end());
    }
    return files;
  }
};

TEST_F(MergeTest, RecordsOfTheSameTrialBecomeReplicas) {
  const std::string id = TestKey("abcd");
  const Store a = In("a"), same = In("same"), other = In("other");
  ASSERT_THAT(a.CommitRecord(TestRecord(id, "m", 0, 0.5, "host a", 3)), IsOk());
  ASSERT_THAT(same.CommitRecord(TestRecord(id, "m", 0, 0.5, "host b", 1)), IsOk());
  ASSERT_THAT(other.CommitRecord(TestRecord(id, "m", 0, 0.75, "host c", 2)), IsOk());
  MergeCounts counts;
  for (const Store& store : {a, same, other, same, a})
    ASSERT_THAT(MergeFrom(store.folder(), In("all"), &counts), IsOk());
  EXPECT_EQ(counts.trials, 1);
  EXPECT_EQ(counts.replicas, 1);
  EXPECT_EQ(counts.differing, 1);
  EXPECT_EQ(counts.there, 2);
  EXPECT_THAT(*ReplicaPaths(In("all"), id), SizeIs(2));

  ASSERT_OK_AND_ASSIGN(const std::vector<TrialRecord> records, LoadReplicas(In("all"), id));
  EXPECT_EQ(records.at(0).provenance().stage(0).host(), "host b");  // the earliest
  EXPECT_EQ(LoadFirstRecord(In("all"), id)->provenance().stage(0).host(), "host b");
  EXPECT_EQ(LoadFirstRecord(a, id)->provenance().stage(0).host(), "host a");
  EXPECT_THAT(LoadFirstRecord(a, TestKey("0000")), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(DifferenceLines(records), ElementsAre("openauc: host b 0.5000; host c 0.7500; host a 0.5000",
                                                    "made with other host: host b; host c; host a"));
  EXPECT_THAT(DifferenceLines({records.at(0)}), IsEmpty());
  EXPECT_FALSE(ContradictEachOther(records));
  // The same provenance with another number.
  const std::vector<TrialRecord> forged = {TestRecord(id, "m", 0, 0.5, "host a", 3),
                                           TestRecord(id, "m", 0, 0.99, "host a", 3)};
  EXPECT_TRUE(ContradictEachOther(forged));
  EXPECT_THAT(DifferenceLines(forged).back(), HasSubstr("one of them was changed afterwards: 'openset reproduce "));
}

TEST(ProvenanceDifferences, AreOnlyWhatDiffers) {
  TrialRecord a, b;
  StageProvenance* one = a.mutable_provenance()->add_stage();
  one->set_libraries("absl 1, boost_math 2, zlib 3");
  one->set_compiler("gcc 12");
  one->set_cpu("Intel(R) Xeon(R) CPU @ 2.00GHz");
  one->set_cpu_capability("AVX512");
  for (const char* feature : {"avx2", "avx512f"}) one->add_cpu_feature(feature);
  for (const char* loss : {"cross_entropy", "open_auc"}) {
    ComponentProvenance* component = one->add_component();
    component->set_family("LossTermSpec");
    component->set_name(loss);
    component->set_fingerprint("1");
  }
  b = a;
  EXPECT_THAT(ProvenanceDifferences({a, b}), IsEmpty());
  EXPECT_EQ(KindOfMachine(a), "Intel, AVX512");
  StageProvenance* two = b.mutable_provenance()->mutable_stage(0);
  two->set_libraries("absl 1, boost_math 4, zlib 3");
  two->set_cpu("AMD EPYC");
  two->set_cpu_capability("AVX2");
  two->mutable_cpu_feature()->RemoveLast();
  two->mutable_component(1)->set_fingerprint("2");
  EXPECT_THAT(
      ProvenanceDifferences({a, b}),
      UnorderedElementsAre("libraries: boost_math 2; boost_math 4", "component: other sources of LossTermSpec.open_auc",
                           "cpu: Intel(R) Xeon(R) CPU @ 2.00GHz; AMD EPYC", "cpu_capability: AVX512; AVX2",
                           "cpu_feature: avx512f; none"));
  EXPECT_EQ(KindOfMachine(b), "AMD, AVX2");
  two->set_gpu("NVIDIA H200");
  EXPECT_EQ(KindOfMachine(b), "NVIDIA H200");
  EXPECT_EQ(KindOfMachine(TrialRecord()), "");
}

TEST_F(MergeTest, AnyOrderGivesTheSameRecords) {
  // 30 trials in three stores; every second one is in two of the stores, every sixth in all; the records of every fifth
  // overlapping trial differ.
  const std::vector<Store> stores = {In("0"), In("1"), In("2")};
  for (int t = 0; t < 30; ++t) {
    for (int s = 0; s < 3; ++s) {
      const bool in_store = t % 3 == s || (t % 2 == 0 && t % 3 == (s + 1) % 3) || t % 6 == 0;
      if (!in_store) continue;
      const double value = t % 5 == 0 ? 0.5 + 0.1 * s : 0.5;
      ASSERT_THAT(stores[s].CommitRecord(
                      TestRecord(TestKey(absl::StrCat(1000 + t)), "m", t, value, absl::StrCat("host ", s), s)),
                  IsOk());
    }
  }
  std::vector<int> order = {0, 1, 2};
  std::map<std::string, std::vector<std::string>> first;
  int orders = 0;
  do {
    const Store all = In(absl::StrCat("all", orders++));
    for (int times = 0; times < 2; ++times) {
      MergeCounts counts;
      for (const int s : order) {
        const std::string bundle = absl::StrCat(TestFolder(), "/", s, ".zip");
        ASSERT_THAT(WriteBundle(stores[s], AllRecordIds(stores[s]), bundle), IsOk());
        ASSERT_THAT(MergeFrom(times == 0 ? stores[s].folder() : bundle, all, &counts), IsOk());
      }
      if (times == 1) {
        EXPECT_EQ(counts.trials + counts.replicas + counts.differing, 0);
      }
      if (first.empty()) first = Files(all);
      EXPECT_EQ(Files(all), first);
    }
    EXPECT_THAT(LoadReplicas(all, TestKey("1000"))->at(0).provenance().stage(0).host(), "host 0");
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(orders, 6);
  EXPECT_THAT(first, SizeIs(30));
  EXPECT_THAT(first[TestKey("1000")], SizeIs(3));
}

// Stores of several labs, merged in every order, twice each; a fifth of the records are in two stores, and a hundredth
// have other numbers. OPENSET_FAULTS=long: 10,000 records in 5 stores in 120 orders.
TEST_F(MergeTest, ManyRecordsInManyOrdersGiveTheSameRecords) {
  const int records = Times(10000, 200), labs = 5, most_orders = Times(120, 3);
  WithoutSync calls;  // nothing here must survive a power cut
  const ScopedSystemCalls scope(&calls);
  std::vector<Store> stores;
  for (int s = 0; s < labs; ++s) stores.push_back(In(absl::StrCat("lab", s)));
  for (int t = 0; t < records; ++t) {
    const std::string id = TestKey(absl::StrCat(100000 + t));
    const auto commit = [&](int s, double value) {
      ASSERT_THAT(stores[s].CommitRecord(TestRecord(id, "m", t, value, absl::StrCat("host ", s), s)), IsOk());
    };
    commit(t % labs, 0.5);
    if (t % 5 == 0) commit((t + 1) % labs, t % 100 == 0 ? 0.75 : 0.5);
  }
  std::vector<int> order(labs);
  std::iota(order.begin(), order.end(), 0);
  std::map<std::string, std::vector<std::string>> first;
  int orders = 0;
  do {
    const Store all = In(absl::StrCat("all", orders++));
    for (int times = 0; times < 2; ++times) {
      MergeCounts counts;
      for (const int s : order) ASSERT_THAT(MergeFrom(stores[s].folder(), all, &counts), IsOk());
      EXPECT_EQ(counts.trials, times == 0 ? records : 0);
      EXPECT_EQ(counts.differing, times == 0 ? records / 100 : 0);
      EXPECT_THAT(counts.damaged, IsEmpty());
    }
    const std::map<std::string, std::vector<std::string>> files = Files(all);
    if (first.empty()) first = files;
    EXPECT_TRUE(files == first);  // not printed: they are large
    std::filesystem::remove_all(all.folder());
  } while (orders < most_orders && std::next_permutation(order.begin(), order.end()));
  EXPECT_THAT(first, SizeIs(records));
  std::printf("R16: %d records in %d stores, %d orders: the same records\n", records, labs, orders);
}

TEST_F(MergeTest, CorruptRecordsAreSkippedAndNamed) {
  const Store from = In("from");
  for (const char* name : {"abcd", "ef00"})
    ASSERT_THAT(from.CommitRecord(TestRecord(TestKey(name), "m", 0, 1)), IsOk());
  std::filesystem::resize_file(from.RecordPath(TestKey("abcd")), 70);
  MergeCounts counts;
  ASSERT_THAT(MergeFrom(from.folder(), In("all"), &counts), IsOk());
  EXPECT_EQ(counts.trials, 1);
  EXPECT_THAT(counts.damaged, ElementsAre(HasSubstr(from.RecordPath(TestKey("abcd")))));
  EXPECT_THAT(MergeFrom(TestFolder(), In("all"), &counts), StatusIs(absl::StatusCode::kNotFound));
  EXPECT_THAT(MergeFrom("/nowhere", In("all"), &counts), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(MergeTest, MislabelledRecordsAreSkippedAndNamed) {
  const Store from = In("from");
  ASSERT_THAT(from.CommitRecord(TestRecord(TestKey("abcd"), "m", 0, 1)), IsOk());
  TrialRecord other = TestRecord(TestKey("ef00"), "m", 0, 1);
  other.mutable_provenance()->clear_raised_revision();  // with the current revisions, its trial has another id, or none
  ASSERT_THAT(from.CommitRecord(other), IsOk());
  TrialRecord newer = TestRecord(TestKey("ef01"), "m", 0, 1);
  newer.set_schema_version(kSchemaVersion + 1);
  ASSERT_THAT(from.CommitRecord(newer), IsOk());
  MergeCounts counts;
  ASSERT_THAT(MergeFrom(from.folder(), In("all"), &counts), IsOk());
  EXPECT_EQ(counts.trials, 1);
  EXPECT_THAT(counts.damaged, ElementsAre(from.RecordPath(other.trial_id()) + ": trial.method.model: must be set",
                                          HasSubstr("is of schema version 4")));
  EXPECT_THAT(AllRecordIds(In("all")), ElementsAre(TestKey("abcd")));
}

// A record that can't be read now is neither merged nor called corrupt; the others are merged.
TEST_F(MergeTest, NamesWhatItCantRead) {
  const Store from = In("from");
  for (const char* id : {"abcd", "abce", "ef00"}) {
    ASSERT_THAT(from.CommitRecord(TestRecord(TestKey(id), "m", 0, 0.5)), IsOk());
  }
  MergeCounts counts;
  {
    const FailingDisk failing(from.RecordPath(TestKey("abce")), "EMFILE", "open");
    ASSERT_THAT(MergeFrom(from.folder(), In("all"), &counts), IsOk());
  }
  EXPECT_EQ(counts.trials, 2);
  EXPECT_THAT(counts.damaged, ElementsAre());
  EXPECT_THAT(counts.unreadable, ElementsAre(HasSubstr(from.RecordPath(TestKey("abce")))));
  counts = {};
  {
    const FailingDisk failing(from.folder() + "/records/ef", "EACCES", "open");
    ASSERT_THAT(MergeFrom(from.folder(), In("all"), &counts), IsOk());
  }
  EXPECT_EQ(counts.trials, 1);
  EXPECT_EQ(counts.there, 1);
  EXPECT_THAT(counts.unreadable, ElementsAre(HasSubstr("/records/ef")));
  // Nor does a record in the target that can't be read give way to another one.
  {
    const FailingDisk failing(In("all").RecordPath(TestKey("abcd")), "EIO", "read");
    EXPECT_THAT(MergeFrom(from.folder(), In("all"), &counts), StatusIs(absl::StatusCode::kUnavailable));
  }
  EXPECT_FALSE(FileExists(In("all").folder() + "/quarantine"));
  EXPECT_THAT(AllRecordIds(In("all")), SizeIs(3));
}

// Each folder is added by one of them, and counted there; none is called corrupt because the other one was faster.
// With the same records, which can be read and not changed.
TEST_F(MergeTest, ABundleOpensAsAStore) {
  const std::string id = TestKey("abcd"), other = TestKey("abce"), path = TestFolder() + "/all.zip";
  const Store store = In("store"), same = In("same");
  ASSERT_THAT(store.CommitRecord(TestRecord(id, "m", 0, 0.5, "host a", 3)), IsOk());
  ASSERT_THAT(store.CommitRecord(TestRecord(other, "m", 1, 0.5)), IsOk());
  ASSERT_THAT(same.CommitRecord(TestRecord(id, "m", 0, 0.5, "host b", 1)), IsOk());
  MergeCounts counts;
  ASSERT_THAT(MergeFrom(same.folder(), store, &counts), IsOk());
  ASSERT_THAT(WriteBundle(store, AllRecordIds(store), path), IsOk());
  const Store bundle = OpenBundle(path).value();
  EXPECT_THAT(bundle.CheckIsStore(), IsOk());
  EXPECT_THAT(AllRecordIds(bundle), ElementsAre(id, other));
  EXPECT_EQ(bundle.RecordPath(id), path + "/records/ab/" + id + ".rec");
  for (const std::string& trial : {id, other}) {
    EXPECT_EQ(*bundle.ReadBytes(bundle.RecordPath(trial)), *ReadFile(store.RecordPath(trial)));
  }
  EXPECT_EQ(FindTrial(bundle, id.substr(0, 5)).value(), id);
  EXPECT_THAT(FindTrial(bundle, "abcf"), IsNotFound("all.zip has no"));
  EXPECT_TRUE(*bundle.HasRecord(other));
  EXPECT_THAT(bundle.LoadRecord(TestKey("ffff")), StatusIs(absl::StatusCode::kNotFound));
  UnreadRecords unread;
  EXPECT_THAT(ReplicaIds(bundle, &unread), ElementsAre(id));
  const std::vector<TrialRecord> first = LoadFirstRecords(bundle, &unread);
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(first[0].provenance().stage(0).host(), "host b");
  EXPECT_THAT(bundle.HasOutputs(TestKey("0")), IsOkAndHolds(false));
  EXPECT_THAT(bundle.KeysOfFailures(), IsOkAndHolds(IsEmpty()));
  EXPECT_TRUE(unread.Problems().ok());

  const auto refused = IsFailedPrecondition("all.zip is a bundle, which is read-only: 'openset records merge ");
  EXPECT_THAT(bundle.CommitRecord(first[0]), refused);
  EXPECT_THAT(bundle.Remove(bundle.RecordPath(id)), refused);
  EXPECT_THAT(bundle.Quarantine(bundle.RecordPath(id), "why"), refused);
  EXPECT_THAT(bundle.NewStagingFolder(id), refused);
  EXPECT_THAT(bundle.Now(), refused);
  EXPECT_THAT(*ListFolder(TestFolder()), UnorderedElementsAre("all.zip", "same", "store"));
  // A part of a bundle is a bundle.
  const std::string part = TestFolder() + "/part.zip";
  ASSERT_THAT(WriteBundle(bundle, {id}, part), IsOk());
  const Store in_part = OpenBundle(part).value();
  EXPECT_THAT(AllRecordIds(in_part), ElementsAre(id));
  EXPECT_THAT(ReplicaPaths(in_part, id).value(), SizeIs(1));
}

TEST_F(MergeTest, VerifyFindsARecordWithoutAMetricOfItsTrialInABundle) {
  const Store from = In("from");
  TrialRecord record = TestRecord(TestKey("abcd"), "m", 0, 0.5);
  record.mutable_trial()->add_metric()->mutable_openauc();
  record.mutable_metric(0)->mutable_spec()->mutable_openauc();
  record.mutable_trial()->add_metric()->mutable_auroc();
  ASSERT_THAT(from.CommitRecord(record), IsOk());
  const std::string path = TestFolder() + "/all.zip";
  ASSERT_THAT(WriteBundle(from, AllRecordIds(from), path), IsOk());
  EXPECT_THAT(VerifyStore(OpenBundle(path).value())->damaged, SizeIs(1));
}

// Readers that leave out details find the same record of two that were evaluated at the same moment.
TEST_F(MergeTest, TheSameRecordRepresentsATrialForEveryReader) {
  const Store store = In("store");
  const std::string id = TestKey("abcd"), path = TestFolder() + "/all.zip";
  const auto with_curve = [&](double openauc, int points) {
    TrialRecord record = TestRecord(id, "m", 0, openauc);
    RecordedCurve* curve = record.mutable_details()->add_curve();
    curve->set_kind(RecordedCurve::ROC);
    for (int p = 0; p < points; ++p) {
      curve->add_x(static_cast<float>(p) / points);
      curve->add_y(1);
    }
    return record;
  };
  // The bytes of either may be first, with or without details.
  for (const auto& [first, second] : {std::pair(2, 300), std::pair(300, 2)}) {
    std::filesystem::remove_all(store.folder());
    std::filesystem::remove(path);
    MergeCounts counts;
    for (const TrialRecord& record : {with_curve(0.5, first), with_curve(0.75, second)}) {
      ASSERT_THAT(MergeRecord(store, record, EncodeRecord(record), &counts), IsOk());
    }
    EXPECT_EQ(counts.differing, 1);
    ASSERT_THAT(WriteBundle(store, {id}, path), IsOk());
    const double value = LoadFirstRecord(store, id)->metric(0).value();
    EXPECT_EQ(LoadFirstRecord(*OpenBundle(path), id)->metric(0).value(), value);
    EXPECT_EQ(LoadFirstRecord(*OpenBundle(path, /*with_results=*/false, kNotInFields), id)->metric(0).value(), value);
    EXPECT_LT(CompareOrder(LoadReplicas(store, id)->at(0), LoadReplicas(store, id)->at(1)), 0);
  }
}

// A record without its details is not another run of its trial.
TEST_F(MergeTest, RecordsWithoutDetailsAreTheSameRecords) {
  const Store from = In("from");
  const std::string id = TestKey("abcd");
  const auto commit = [&](const std::string& host) {
    TrialRecord record = TestRecord(id, "m", 0, 0.5, host);
    RecordedCurve* curve = record.mutable_details()->add_curve();
    curve->set_kind(RecordedCurve::ROC);
    for (const float x : {0.0f, 1.0f}) {
      curve->add_x(x);
      curve->add_y(x);
    }
    MergeCounts counts;
    return MergeRecord(from, record, EncodeRecord(record), &counts);
  };
  ASSERT_THAT(commit("one"), IsOk());
  ASSERT_THAT(commit("two"), IsOk());  // a replica, whose name is the sum of its content
  const std::string full = TestFolder() + "/full.zip", slim = TestFolder() + "/slim.zip";
  ASSERT_THAT(WriteBundle(from, {id}, full), IsOk());
  BundleExtras extras;
  extras.details = false;
  ASSERT_OK_AND_ASSIGN(const BundleWritten written, WriteBundle(from, {id}, slim, extras));
  EXPECT_EQ(written.manifest.replicas(), 1);
  const Store opened = OpenBundle(slim).value();
  EXPECT_TRUE(opened.bundle()->damaged.empty());
  const std::vector<TrialRecord> records = LoadReplicas(opened, id).value();
  EXPECT_EQ(records.size(), 2);
  for (const TrialRecord& record : records) {
    EXPECT_FALSE(record.has_details());
    EXPECT_TRUE(SameNumbers(record, from.LoadRecord(id).value()));
  }
  // For lists, a bundle's records are kept without what lists don't show.
  const Store listed = OpenBundle(full, /*with_results=*/false, kNotInFields).value();
  UnreadRecords unread;
  EXPECT_TRUE(OpenBundle(full)->LoadRecord(id)->has_details());
  EXPECT_FALSE(listed.LoadRecord(id)->has_details());
  EXPECT_EQ(LoadFields(listed, &unread), LoadFields(from, &unread));
  int place = 0;
  for (const auto& [first, second] : {std::make_pair(full, slim), std::make_pair(slim, full)}) {
    const Store into = In(absl::StrCat("into", place++));
    MergeCounts counts;
    ASSERT_THAT(MergeFrom(first, into, &counts), IsOk());
    ASSERT_THAT(MergeFrom(second, into, &counts), IsOk());
    EXPECT_EQ(counts.trials, 1);
    EXPECT_EQ(counts.replicas, 1);
    EXPECT_EQ(counts.there, 2);
    EXPECT_EQ(LoadReplicas(into, id)->size(), 2);
  }
}

TEST_F(MergeTest, TwoMergesOfOneBundleAtOnce) {
  const Store from = In("from");
  constexpr int kTrainings = 20;
  for (int seed = 0; seed < kTrainings; ++seed) {
    ActionSpec action;
    action.mutable_train()->set_seed(seed);
    const std::string key = MessageDigest(action);
    TrialRecord record = TestRecord(TestKey(absl::StrCat("abcd", 10 + seed)), "m", seed, 0.5);
    record.set_checkpoint_key(key);
    StageProvenance* train = record.mutable_provenance()->add_stage();
    train->set_stage(StageProvenance::TRAIN);
    train->set_key(key);
    ASSERT_THAT(from.CommitRecord(record), IsOk());
    CommitTestCheckpoint(from, key, seed);
  }
  BundleExtras extras;
  extras.checkpoints = true;
  const std::string bundle = TestFolder() + "/all.zip";
  ASSERT_THAT(WriteBundle(from, AllRecordIds(from), bundle, extras), IsOk());
  for (int round = 0; round < Times(20, 3); ++round) {
    const Store into = In(absl::StrCat("into", round));
    MergeCounts counts[2];
    absl::Status merged[2];
    std::thread other([&] { merged[1] = MergeFrom(bundle, into, &counts[1]); });
    merged[0] = MergeFrom(bundle, into, &counts[0]);
    other.join();
    for (int i : {0, 1}) {
      EXPECT_THAT(merged[i], IsOk());
      EXPECT_THAT(counts[i].damaged, ElementsAre());
    }
    EXPECT_EQ(counts[0].checkpoints + counts[1].checkpoints, kTrainings);
    EXPECT_EQ(counts[0].trials + counts[1].trials, kTrainings);
    EXPECT_THAT(ListFolder(into.folder() + "/tmp").value(), ElementsAre());
  }
}

TEST_F(MergeTest, SameNumbersAreTheSameBits) {
  const TrialRecord a = TestRecord("a", "m", 0, 0.5);
  TrialRecord b = TestRecord("a", "m", 0, 0.5, "elsewhere");
  EXPECT_TRUE(SameNumbers(a, b));
  b.mutable_metric(0)->clear_value();
  EXPECT_FALSE(SameNumbers(a, b));
  EXPECT_FALSE(SameNumbers(TestRecord("a", "m", 0, 0.0), TestRecord("a", "m", 0, -0.0)));
  b = a;
  b.add_metric()->set_name("auroc");
  EXPECT_FALSE(SameNumbers(a, b));
}

}  // namespace
}  // namespace openset
