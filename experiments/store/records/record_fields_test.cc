#include "experiments/store/records/record_fields.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/runfiles.h"
#include "core/files/system_calls.h"
#include "core/in_parallel.h"
#include "core/proto/record_file.h"
#include "core/testing/status_matchers.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/method.pb.h"
#include "experiments/store/bundle.h"
#include "experiments/store/merge.h"
#include "experiments/store/testing/records.h"
#include "experiments/store/verify_store.h"
#include "losses/loss.pb.h"

namespace openset {
namespace {

TrialRecord Example() {
  TrialRecord record = TestRecord(TestKey("abcd"), "openauc", 3, 0.91);
  AxisValue* axis = record.mutable_trial()->add_axis();
  axis->set_name("lambda");
  axis->set_value("0.10");
  record.mutable_trial()->mutable_method()->mutable_loss()->add_term()->set_lambda(0.1);
  MetricRecord* undefined = record.add_metric();
  undefined->set_name("aurc");
  undefined->set_absent_reason("no errors");
  MetricRecord* of_set = record.add_metric();
  of_set->set_name("auroc");
  of_set->set_value(0.5);
  of_set->mutable_group()->set_kind(MetricGroup::NEAR_MEAN);
  return record;
}

TEST(RecordFields, HaveNames) {
  const RecordFields fields = FieldsOf(Example());
  std::vector<std::string> names;
  for (const RecordField& field : fields) names.push_back(field.name);
  EXPECT_THAT(names, ElementsAre("trial", "method", "task", "split", "seed", "lambda", "changed", "openauc",
                                 "mean_of_near.auroc", "unknown_classes", "openness", "measured_on", "device", "host",
                                 "commit"));
  EXPECT_EQ(Find(fields, "lambda")->value, "0.10");
  EXPECT_EQ(Find(fields, "aurc"), nullptr);
  TrialRecord rung = Example();
  rung.mutable_trial()->mutable_method()->mutable_training()->set_stop_after_epochs(3);
  EXPECT_EQ(Find(FieldsOf(rung), "stop_after_epochs")->value, "3");
  EXPECT_EQ(Find(fields, kMeasuredOn)->value, "test");
  rung.mutable_trial()->mutable_data()->mutable_test_known()->set_only_last_per_class(5);
  EXPECT_EQ(Find(FieldsOf(rung), kMeasuredOn)->value, kValidation);
}

TEST(RecordQuery, FindsEachTag) {
  TrialRecord record = Example();
  for (const char* tag : {"first", "second"}) record.mutable_trial()->add_tag(tag);
  const RecordFields fields = FieldsOf(record);
  EXPECT_EQ(Find(fields, "tag")->value, "first,second");
  const auto matches = [&](const char* query, const RecordFields& of) {
    return RecordQuery::Parse(query)->Matches(of);
  };
  EXPECT_TRUE(matches("tag=first", fields) && matches("tag=second", fields) && matches("tag!=third", fields));
  EXPECT_FALSE(matches("tag=fir", fields) || matches("tag!=first", fields) || matches("tag=first,second", fields));
  EXPECT_TRUE(matches("tag~fir", fields));
  EXPECT_FALSE(matches("tag=first", FieldsOf(Example())) || matches("tag!=first", FieldsOf(Example())));
}

TEST(RecordQuery, ComparesNumbersByValueAndTextsAsTheyAre) {
  const RecordFields fields = FieldsOf(Example());
  for (const auto& [text, matches] :
       std::vector<std::pair<const char*, bool>>{{"method=openauc and openauc>0.9", true},
                                                 {"method = openauc and openauc > 0.95", false},
                                                 {"method=mcp or seed=3", true},
                                                 {"method=mcp and seed=3 or seed=4", false},
                                                 {"seed=4 or method=openauc and seed>=3", true},
                                                 {"lambda=0.1", true},
                                                 {"lambda!=0.1", false},
                                                 {"lambda<0.11", true},
                                                 {"seed<=3", true},
                                                 {"seed<3", false},
                                                 {"task~as", true},
                                                 {"task='task'", true},
                                                 {"task=\"and or\"", false},
                                                 {"trial=abcd", true},
                                                 {"aurc<1", false},
                                                 {"aurc!=1", false},
                                                 {"mean_of_near.auroc=0.5", true},
                                                 {"method<n", false},
                                                 {"method<p", true},
                                                 {"method>1", false},
                                                 {"openauc>=nan", false},
                                                 {"openauc<high", false},
                                                 {"method=openaucandseed=3", false}}) {
    const absl::StatusOr<RecordQuery> query = RecordQuery::Parse(text);
    if (std::string(text) == "method=openaucandseed=3") {
      EXPECT_THAT(query.status(), IsInvalidArgument("is not a comparison"));
      continue;
    }
    ASSERT_THAT(query, IsOk()) << text;
    EXPECT_EQ(query->Matches(fields), matches) << text;
  }
}

TEST(RecordQuery, NamesWhatItCannotParse) {
  for (const char* text : {"openauc", "=1", "method=", "a=1 and", "a=1 or  or b=2", "a!1"}) {
    EXPECT_THAT(RecordQuery::Parse(text), IsInvalidArgument("is not a comparison")) << text;
  }
  EXPECT_THAT(CheckNames({"openauk"}, {FieldsOf(Example())}), IsInvalidArgument("did you mean 'openauc'?"));
  EXPECT_THAT(CheckNames({"seed", "openauc"}, {FieldsOf(Example())}), IsOk());
  EXPECT_THAT(CheckNames({"anything"}, {}), IsOk());
  // Fields that these records lack.
  EXPECT_THAT(CheckNames({"tag", "changed", "experiment", "stop_after_epochs"}, {FieldsOf(Example())}), IsOk());
}

TEST(RecordQuery, HasNoParentheses) {
  for (const char* text : {"(method=mcp or seed=1) and split=0", "split=0 and (seed=1 or seed=2)"}) {
    EXPECT_THAT(
        RecordQuery::Parse(text).status(),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("a query has no parentheses; `and` binds before `or`")))
        << text;
  }
  EXPECT_THAT(RecordQuery::Parse("method='mcp (tuned)'"), IsOk());
}

TEST(RecordQuery, FindsWhatTheCommandLineChanged) {
  TrialRecord record = Example();
  for (const char* flag : {"--set=training.epochs=2", "--seeds=0..4"}) record.mutable_trial()->add_overrides(flag);
  EXPECT_EQ(Find(FieldsOf(record), "changed")->value, "--set=training.epochs=2 --seeds=0..4");
  EXPECT_TRUE(RecordQuery::Parse("changed~epochs")->Matches(FieldsOf(record)));
  EXPECT_FALSE(RecordQuery::Parse("changed=''")->Matches(FieldsOf(record)));
  EXPECT_TRUE(RecordQuery::Parse("changed=''")->Matches(FieldsOf(Example())));
}

TEST(RecordQuery, AcceptsSynonymsOfNames) {
  TrialRecord record = Example();
  record.mutable_trial()->mutable_method()->set_name("mcp");
  const std::vector<RecordFields> records = {FieldsOf(record)};
  for (const auto& [text, matches] : std::vector<std::pair<const char*, bool>>{
           {"method=MSP", true}, {"method!=MSP", false}, {"Open-AUC>0.9", true}, {"method=softmax", false}}) {
    RecordQuery query = *RecordQuery::Parse(text);
    ASSERT_THAT(query.Resolve(records), IsOk()) << text;
    EXPECT_EQ(query.Matches(records[0]), matches) << text;
  }
}

TEST(RecordQuery, IsCheckedAgainstTheRecords) {
  const std::vector<RecordFields> records = {FieldsOf(Example())};
  for (const char* text : {"openauc>0.5 and method=openauc", "method>o", "method!=1"})
    EXPECT_THAT(RecordQuery::Parse(text)->Resolve(records), IsOk()) << text;
  for (const auto& [text, problem] : std::vector<std::pair<const char*, const char*>>{
           {"openauk>0.5", "did you mean 'openauc'?"},
           {"method=mcp or openauc>high", "'openauc>high': openauc is a number, but 'high' is not"},
           {"openauc=high", "'openauc=high': openauc is a number, but 'high' is not"},
           {"seed!=x", "'seed!=x': seed is a number, but 'x' is not"},
           {"openauc<=nan", "'openauc<=nan': openauc is a number, but 'nan' is not"},
           {"method<3", "'method<3': method is a text; compare it by =, != or ~"}}) {
    RecordQuery query = *RecordQuery::Parse(text);
    EXPECT_THAT(query.Resolve(records), IsInvalidArgument(problem)) << text;
    EXPECT_THAT(query.Resolve({}), IsOk()) << text;
  }
}

TEST(RecordQuery, KnowsSharesFromPercentages) {
  const std::vector<RecordFields> records = {FieldsOf(Example())};
  EXPECT_THAT(RecordQuery::Parse("openauc>95 and seed=30")->HintsAbout(records),
              ElementsAre("'openauc>95': openauc is a share, from 0.91 to 0.91 in these records: 95 % is 0.95"));
  for (const char* text : {"openauc>0.95", "openauc>101", "seed>90", "method=90"}) {
    EXPECT_THAT(RecordQuery::Parse(text)->HintsAbout(records), ElementsAre()) << text;
  }
}

TEST(RecordQuery, NamesLongerTexts) {
  TrialRecord preset = Example();
  preset.mutable_trial()->mutable_method()->set_name("openauc+laptop");
  EXPECT_THAT(
      RecordQuery::Parse("method=openauc")->HintsAbout({FieldsOf(preset)}),
      ElementsAre("'method=openauc': the records have openauc+laptop: ask for one of them, or 'method~openauc'"));
  EXPECT_THAT(RecordQuery::Parse("method=openauc and seed=9")->HintsAbout({FieldsOf(preset), FieldsOf(Example())}),
              ElementsAre());
}

TEST(RecordQuery, OfBlanksIsRefused) {
  for (const char* text : {"", " ", " \t\n"}) {
    EXPECT_THAT(RecordQuery::Parse(text), IsInvalidArgument("the query is blank"));
  }
  EXPECT_TRUE(RecordQuery().Matches(FieldsOf(Example())));
}

TEST(RecordQuery, ATrialTakesFourDigits) {
  const RecordFields fields = FieldsOf(Example());
  for (const char* text : {"trial=abc", "trial!=abc", "Trial=", "trial='' or seed=3", "trial=wxyz"}) {
    absl::StatusOr<RecordQuery> query = RecordQuery::Parse(text);
    if (!query.ok()) continue;
    EXPECT_THAT(query->Resolve({fields}), IsInvalidArgument("first 4 digits")) << text;
  }
  EXPECT_FALSE(RecordQuery::Parse("trial!=abcd")->Matches(fields));  // the opposite of trial=abcd
  EXPECT_TRUE(RecordQuery::Parse("trial!=abce")->Matches(fields));
}

// 2^53 + 1 and 2^53 are the same double.
TEST(RecordQuery, ComparesIntegersExactly) {
  TrialRecord record = Example();
  record.mutable_trial()->set_seed(9007199254740992u);
  for (const auto& [text, matches] : std::vector<std::pair<const char*, bool>>{{"seed=9007199254740992", true},
                                                                               {"seed=9007199254740993", false},
                                                                               {"seed!=9007199254740993", true},
                                                                               {"seed<9007199254740993", true},
                                                                               {"seed>=9007199254740993", false},
                                                                               {"seed>-1", true},
                                                                               {"seed>1.5", true},
                                                                               {"seed<1e30", false}}) {
    EXPECT_EQ(RecordQuery::Parse(text)->Matches(FieldsOf(record)), matches) << text;
  }
  record.mutable_trial()->set_seed(~uint64_t{0});
  EXPECT_TRUE(RecordQuery::Parse("seed=18446744073709551615")->Matches(FieldsOf(record)));
  EXPECT_TRUE(RecordQuery::Parse("seed>18446744073709551614")->Matches(FieldsOf(record)));
  record.mutable_trial()->set_seed(1000);
  EXPECT_TRUE(RecordQuery::Parse("seed=1e3")->Matches(FieldsOf(record)));
}

TEST(RecordQuery, ComparesTextsAsTexts) {
  TrialRecord record = Example();
  for (const auto& [name, text, matches] :
       std::vector<std::tuple<const char*, const char*, bool>>{{"1.10", "experiment=1.1", false},
                                                               {"1.10", "experiment=1.10", true},
                                                               {"1.10", "experiment!=1.1", true},
                                                               {"1e3", "experiment=1000", false},
                                                               {"inf", "experiment=INF", false},
                                                               {"0x10", "experiment=16", false},
                                                               {"2024.10", "experiment>2024.1", false},
                                                               {"2024.10", "experiment~24.1", true}}) {
    record.mutable_trial()->set_experiment(name);
    EXPECT_EQ(RecordQuery::Parse(text)->Matches(FieldsOf(record)), matches) << name << " " << text;
  }
}

// Swept fields have the kinds that the method's schema gives them, also under another name.
TEST(RecordFields, HaveKinds) {
  TrialRecord record = Example();
  MethodSpec* const method = record.mutable_trial()->mutable_method();
  method->mutable_training()->set_epochs(5);
  method->mutable_score()->mutable_knn()->set_k(7);
  method->set_base("50");
  for (const auto& [name, value] : std::vector<std::pair<const char*, const char*>>{{"epochs", "5"},
                                                                                    {"neighbours", "7"},
                                                                                    {"weight", "1e-1"},
                                                                                    {"base", "50"},
                                                                                    {"other", "50"},
                                                                                    {"gone", "0.25"},
                                                                                    {"score", "knn {}"},
                                                                                    {"k", "inf"}}) {
    AxisValue* axis = record.mutable_trial()->add_axis();
    axis->set_name(name);
    axis->set_value(value);
  }
  const RecordFields fields = FieldsOf(record);
  std::map<std::string, FieldKind> kinds;
  for (const RecordField& field : fields) kinds[field.name] = field.kind;
  for (const char* name : {"split", "seed", "unknown_classes", "epochs", "neighbours"}) {
    EXPECT_EQ(kinds[name], FieldKind::kInteger) << name;
  }
  for (const char* name : {"openauc", "mean_of_near.auroc", "openness", "lambda", "weight"}) {
    EXPECT_EQ(kinds[name], FieldKind::kReal) << name;
  }
  for (const char* name : {"trial", "method", "task", "device", "host", "base", "other", "gone", "score", "k"}) {
    EXPECT_EQ(kinds[name], FieldKind::kText) << name;
  }
}

TEST(RecordFields, NumbersComeBeforeTextsAndAbsentOnesLast) {
  const RecordField two = {"x", "2", FieldKind::kInteger}, ten = {"x", "10", FieldKind::kInteger},
                    half = {"x", "2.5", FieldKind::kReal}, text = {"x", "a", FieldKind::kText},
                    digit = {"x", "1", FieldKind::kText};
  EXPECT_TRUE(Before(&two, &ten));
  EXPECT_FALSE(Before(&ten, &two));
  EXPECT_TRUE(Before(&two, &half));
  EXPECT_TRUE(Before(&half, &ten));
  EXPECT_TRUE(Before(&ten, &text));
  EXPECT_TRUE(Before(&ten, &digit));
  EXPECT_TRUE(Before(&text, nullptr));
  EXPECT_FALSE(Before(nullptr, &text));
}

// Returns a record that also has the fields that are not listed.
TrialRecord Example(int seed) {
  TrialRecord record = TestRecord(TestKey(absl::StrCat(1000 + seed)), "openauc", seed, 0.25 + seed / 4096.0);
  record.add_epoch()->set_loss(seed);
  record.mutable_details()->mutable_decisions()->set_rule("rule");
  return record;
}

// Omits syncs, since these records need not survive a power cut.
class WithoutSync : public SystemCalls {
 public:
  int Sync(int /*fd*/, SyncOf /*what*/) override { return 0; }
};

class LoadFieldsTest : public ::testing::Test {
 protected:
  LoadFieldsTest() : store_(::testing::TempDir() + "/load_fields_test") {
    std::filesystem::remove_all(store_.folder());
    WithoutSync calls;
    const ScopedSystemCalls scope(&calls);
    for (int seed = 0; seed < 130; ++seed) EXPECT_TRUE(store_.CommitRecord(Example(seed)).value());
  }

  ~LoadFieldsTest() override { LimitThreads(std::numeric_limits<int>::max()); }

  const Store store_;
};

TEST_F(LoadFieldsTest, EqualThoseOfCompleteRecordsForAnyNumberOfThreads) {
  std::vector<RecordFields> expected;
  for (const std::string& id : AllRecordIds(store_)) expected.push_back(FieldsOf(store_.LoadRecord(id).value()));
  ASSERT_EQ(expected.size(), 130);
  UnreadRecords unread;
  for (const int threads : {1, 4}) {
    LimitThreads(threads);
    EXPECT_EQ(LoadFields(store_, &unread), expected) << threads;
  }
  EXPECT_TRUE(unread.damaged.empty());
}

TEST_F(LoadFieldsTest, CorruptRecordsAreNamedAndOthersLoaded) {
  const std::vector<std::string> ids = AllRecordIds(store_);
  for (const int damaged : {7, 100}) {
    ASSERT_TRUE(WriteFileAtomically(store_.RecordPath(ids[damaged]), "nonsense").ok());
  }
  UnreadRecords unread;
  EXPECT_EQ(LoadFields(store_, &unread).size(), 128);
  EXPECT_THAT(unread.damaged, ElementsAre(store_.RecordPath(ids[7]) + ": not a record file",
                                          store_.RecordPath(ids[100]) + ": not a record file"));
  unread.damaged.clear();
  const std::vector<TrialRecord> records = LoadRecords(store_, &unread);
  ASSERT_EQ(records.size(), 128);
  EXPECT_EQ(records[6].trial_id(), ids[6]);
  EXPECT_EQ(records[7].trial_id(), ids[8]);
  EXPECT_TRUE(records[7].has_details());
  EXPECT_EQ(unread.damaged.size(), 2);
}

TEST_F(LoadFieldsTest, ListsTheEarliestRecordOfATrial) {
  TrialRecord later = Example(3), earlier = Example(3);
  later.mutable_provenance()->mutable_stage(0)->set_started_at_seconds(7);
  earlier.mutable_metric(0)->set_value(0.125);
  ASSERT_TRUE(store_.Remove(store_.RecordPath(later.trial_id())).ok());
  MergeCounts counts;
  for (const TrialRecord& record : {later, earlier}) {
    ASSERT_THAT(MergeRecord(store_, record, EncodeRecord(record), &counts), IsOk());
  }
  UnreadRecords unread;
  int found = 0;
  const std::vector<RecordFields> all = LoadFields(store_, &unread);
  for (const RecordFields& fields : all) {
    if (Find(fields, "trial")->value != later.trial_id()) continue;
    EXPECT_EQ(Find(fields, "openauc")->value, "0.125");
    ++found;
  }
  EXPECT_EQ(found, 1);
  EXPECT_TRUE(unread.damaged.empty());
}

TEST_F(LoadFieldsTest, ExcludedFieldsAreAbsent) {
  UnreadRecords unread;
  const std::vector<TrialRecord> records =
      LoadRecords(store_, &unread, {TrialRecord::kTrialFieldNumber, TrialRecord::kDetailsFieldNumber});
  ASSERT_EQ(records.size(), 130);
  for (const TrialRecord& record : records) {
    TrialRecord expected = store_.LoadRecord(record.trial_id()).value();
    expected.clear_trial();
    expected.clear_details();
    EXPECT_EQ(record.SerializeAsString(), expected.SerializeAsString());
  }
}

TEST_F(LoadFieldsTest, OtherSchemaVersionsAreCountedAndOthersLoaded) {
  for (const int seed : {1000, 1001}) {
    TrialRecord record = Example(seed);
    record.set_schema_version(kSchemaVersion + 1);
    ASSERT_TRUE(store_.CommitRecord(record).value());
  }
  UnreadRecords unread;
  EXPECT_EQ(LoadFields(store_, &unread).size(), 130);
  EXPECT_TRUE(unread.damaged.empty());
  EXPECT_THAT(unread.VersionLines(), ElementsAre("2 records are of schema version 4 and left out: this openset reads "
                                                 "version 3; 'openset records verify' moves them to quarantine/"));
}

// Excluded fields are not parsed, but required ones must be present.
TEST_F(LoadFieldsTest, RequiredFieldsAreCheckedEvenIfExcluded) {
  TrialRecord record = Example(1000);
  record.clear_trial();
  ASSERT_TRUE(
      store_.CommitRecordBytes(record.trial_id(), store_.RecordPath(record.trial_id()), EncodeRecord(record)).ok());
  UnreadRecords unread;
  EXPECT_EQ(LoadRecords(store_, &unread, {TrialRecord::kTrialFieldNumber}).size(), 130);
  EXPECT_THAT(unread.damaged, ElementsAre(store_.RecordPath(record.trial_id()) + ": trial: must be set"));
}

// Stores of every released schema version, as their release wrote them (tools/peers/make_store_golden.py), can be read,
// and fields that a later openset of the same version added to a record are passed on.

// The trials with seeds 7 and 8: fields that the release's schema lacks do not change a key.
constexpr char kFirst[] = "242d01b1370cc17ee2b8f7aa4d97664973da74f4e1be5bbb3a3e9865706ba616";
constexpr char kSecond[] = "e226f92d5c0aedc959c2d0b945f6081385134f0dcbd76ba1f0a0937c948bd24e";

// Makes a copy, since tests may not write next to their sources.
Store Golden(const std::string& version) {
  const std::string folder = JoinPath(TestFolder(), version);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(TestFolder());
  std::filesystem::copy(JoinPath(RunfilesFolder().value(), "openset/experiments/store/testdata/" + version), folder,
                        std::filesystem::copy_options::recursive);
  return Store(folder);
}

TEST(SchemaEvolution, Version3IsRead) {
  const Store store = Golden("version_3");
  ASSERT_THAT(store.CheckVersion(), IsOk());
  const std::string id = kFirst;
  ASSERT_OK_AND_ASSIGN(const TrialRecord record, store.LoadRecord(id));
  const RecordFields fields = FieldsOf(record);
  EXPECT_EQ(Find(fields, "method")->value, "openauc");
  EXPECT_EQ(Find(fields, "lambda")->value, "0.1");
  EXPECT_EQ(Find(fields, "openauc")->value, "0.8125");
  EXPECT_EQ(Find(fields, "aurc"), nullptr);
  EXPECT_EQ(Find(fields, "host")->value, "here");
  EXPECT_EQ(record.trial().method().training().epochs(), 2);
  EXPECT_EQ(record.epoch(0).loss(), 1.5);
  ASSERT_OK_AND_ASSIGN(const StoreReport report, VerifyStore(store));
  EXPECT_EQ(report.records, 2);
  // They are examples, without the accuracy that their trial lists.
  ASSERT_EQ(report.damaged.size(), 2);
  for (const StoreProblem& problem : report.damaged) {
    EXPECT_THAT(problem.what, HasSubstr("metric: lacks accuracy, which the trial lists"));
  }
}

TEST(SchemaEvolution, FieldsOfALaterOpensetAreKept) {
  const Store store = Golden("version_3");
  const std::string id = kSecond;
  const std::string bytes = *ReadFile(store.RecordPath(id));
  ASSERT_THAT(bytes, HasSubstr("from a later version"));
  // Also if it is decoded and encoded again.
  EXPECT_EQ(EncodeRecord(*store.LoadRecord(id)), bytes);
  const std::string bundle = TestFolder() + "/bundle.zip";
  ASSERT_THAT(WriteBundle(store, AllRecordIds(store), bundle), IsOk());
  MergeCounts counts;
  const Store all(TestFolder() + "/all");
  std::filesystem::remove_all(all.folder());
  ASSERT_THAT(MergeFrom(bundle, all, &counts), IsOk());
  EXPECT_EQ(*ReadFile(all.RecordPath(id)), bytes);
}

TEST(SchemaEvolution, RefusesANewerVersionAndSaysWhatToDo) {
  const Store store = Golden("version_3");
  ASSERT_THAT(WriteFileAtomically(store.folder() + "/version", "openset store 4\n"), IsOk());
  EXPECT_THAT(store.CheckVersion(), IsFailedPrecondition("use the newer openset"));
  MergeCounts counts;
  EXPECT_THAT(MergeFrom(store.folder(), Store(TestFolder() + "/none"), &counts),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace openset
