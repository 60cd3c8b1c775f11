// Untrusted specs and the files that they name, records and bundles, changed field by field
// (core/testing/proto_mutation.h), are loaded, planned and reported. Each step succeeds or returns an error. None
// causes a crash, a hang, or allocations of declared sizes. Tests --rounds changed messages of each kind
// (core/testing/mutation.h).
#include "core/testing/mutation.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "core/files/files.h"
#include "core/proto/record_file.h"
#include "core/random.h"
#include "core/testing/archive_bytes.h"
#include "core/testing/parsed.h"
#include "core/testing/proto_mutation.h"
#include "core/text/table.h"
#include "data/catalog.pb.h"
#include "data/task.pb.h"
#include "experiments/evaluate/evaluation.h"
#include "experiments/published/published.pb.h"
#include "experiments/report/exports.h"
#include "experiments/report/format_report.h"
#include "experiments/report/html_report.h"
#include "experiments/spec/experiment.pb.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/resolve/actions.h"
#include "experiments/store/bundle.h"
#include "experiments/store/merge.h"
#include "experiments/store/records/record_fields.h"
#include "experiments/store/store_contents.h"
#include "experiments/store/testing/bundle_bytes.h"
#include "experiments/store/verify_store.h"
#include "experiments/study/study.h"
#include "experiments/testing/spec_sandbox.h"
#include "experiments/testing/stored_results.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

constexpr char kSpec[] = R"(
name: "spec" question: "Which?" task: "task" method: ["plain", "pairs+short"] split: 0 seed: [0, 1]
unknown_classes: [1, 2]
axis { path: "training.optimizer.learning_rate" value: ["0.1", "0.2"] }
override { training { epochs: 1 } }
execution { threads: 1 }
metric { accuracy {} } metric { auroc {} }
report { published { name: "table" } row: "method" column: "metric" baseline: "plain" }
)";

constexpr char kTable[] = R"(
name: "table" paper: "Somebody 1999" table: "Table 1"
column { label: "D" task: "task" metric { auroc {} } } row { label: "CE" method: "plain" cell { value: 90 std: 1 } }
)";

// Texts are shorter than elsewhere, because they occur in all tables of all formats.
Extremes Ours() {
  Extremes extremes;
  extremes.most_text = 2000;
  extremes.most_bytes = 200000;
  extremes.most_repeats = 300;
  return extremes;
}

class MutationTest : public ::testing::Test {
 protected:
  MutationTest() : store_(sandbox_.folder() + "/store") {
    sandbox_.Write(kSpecPath, kSpec);
    sandbox_.Write("experiments/presets/short.textproto", "training { epochs: 1 }");
    sandbox_.Write("experiments/published/table.textproto", kTable);
  }

  // Loads, plans and reports. Returns whether all of it succeeded.
  bool Follow(const Store& store) {
    StudyOptions options;
    options.expand.max_trials = 200;
    const absl::StatusOr<std::unique_ptr<Study>> study = Study::Load("spec", sandbox_.folders(), store, options);
    if (!Accept(study.status())) return false;
    EXPECT_LE((*study)->plan().trials.size(), 200);
    (void)(*study)->Damaged();
    (void)(*study)->SourceLines();
    const std::unique_ptr<StudyResults> results = (*study)->LoadResults();
    const Report report = (*study)->MakeReport(*results);
    for (const TextFormat format :
         {TextFormat::kText, TextFormat::kMarkdown, TextFormat::kLatex, TextFormat::kCsv, TextFormat::kJson}) {
      EXPECT_NE(FormatReport(report, format), "");
    }
    Accept(HtmlReport(report, results->results, {}).status());
    EXPECT_NE(ToCsv(TidyTable(results->results)), "");
    TensorBoardFiles(results->results);
    return true;
  }

  // Follows changed versions of the message in the text file `path`, one after the other.
  template <typename M>
  void FollowTexts(const std::string& path) {
    const M valid = Parsed<M>(*ReadFile(JoinPath(sandbox_.folder(), path)));
    ASSERT_TRUE(Follow(store_));
    int reported = 0, refused = 0;
    ForEachRound(path, [&](RandomStream* random) {
      const std::string text = MutatedText(valid, Ours(), random);
      NoteBytes(text.size());
      sandbox_.Write(path, text);
      ++(Follow(store_) ? reported : refused);
    });
    std::cout << path << ": " << reported << " reported, " << refused << " refused\n";
  }

  // The record of the study's first trial, of 3 known classes of 10 samples and some unknown ones, and its checkpoint
  // and outputs in the store.
  TrialRecord Example() {
    const std::unique_ptr<Study> study = Study::Load("spec", sandbox_.folders(), store_).value();
    const Trial& planned = study->plan().trials[0];
    const TrialSpec trial = planned.Spec();
    Outputs outputs;
    outputs.num_outputs = 3;
    outputs.group_names = {"unknown"};
    RandomStream random(0, "outputs");
    for (int i = 0; i < 40; ++i) {
      const bool known = i < 30;
      outputs.label.push_back(known ? i / 10 : -1);
      outputs.class_id.push_back(i / 10);
      outputs.group.push_back(known ? -1 : 0);
      for (int c = 0; c < 3; ++c) outputs.logits.push_back(static_cast<float>(random.Normal()));
    }
    TrialRecord record = Measure(trial, outputs).value();
    record.set_schema_version(kSchemaVersion);
    record.set_trial_id(study->plan().trial_id(0));
    *record.mutable_trial() = trial;
    record.add_epoch()->set_loss(0.5);
    record.set_checkpoint_key(CommitMadeUpCheckpoint(MakeTraining(planned), store_));
    record.set_outputs_key(CommitMadeUpOutputs(MakeAction(planned, ActionKind::kInfer), outputs, store_));
    for (const auto& [stage, key] : {std::pair(StageProvenance::TRAIN, record.checkpoint_key()),
                                     std::pair(StageProvenance::INFER, record.outputs_key()),
                                     std::pair(StageProvenance::EVALUATE, record.trial_id())}) {
      StageProvenance* made = record.mutable_provenance()->add_stage();
      made->set_stage(stage);
      made->set_key(key);
      made->set_host("here");
      made->set_started_at_seconds(1);
    }
    return record;
  }

  // Changes a member of a bundle: its fields or, if it is not one of our messages, its bytes.
  static void Change(RandomStream* random, ZipMember* member) {
    std::unique_ptr<google::protobuf::Message> message;
    if (absl::StartsWith(member->name, "records/")) message = std::make_unique<TrialRecord>();
    if (absl::StartsWith(member->name, "library/specs/")) message = std::make_unique<ExperimentSpec>();
    if (absl::StartsWith(member->name, "library/tasks/")) message = std::make_unique<TaskSpec>();
    if (member->name == "manifest.textproto") message = std::make_unique<BundleManifest>();
    if (absl::EndsWith(member->name, "/summary.rec")) {
      message = absl::StartsWith(member->name, "outputs/")
                    ? std::unique_ptr<google::protobuf::Message>(new InferSummary)
                    : std::make_unique<TrainSummary>();
    }
    if (message == nullptr) {
      member->content = Mutated(member->content, {"{", "}", "PK\5\6", "\x93NUMPY", "-1", "999999999"}, random);
    } else if (absl::EndsWith(member->name, ".rec")) {
      ASSERT_TRUE(DecodeRecord(member->content, message.get()).ok());
      member->content = FramedRecord(MutatedWire(*message, Ours(), random));
    } else {
      ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(member->content, message.get()));
      member->content = MutatedText(*message, Ours(), random);
    }
  }

  static bool Accept(const absl::Status& status) {
    if (status.ok()) return true;
    EXPECT_NE(status.message(), "");
    EXPECT_FALSE(absl::IsInternal(status)) << status;
    return false;
  }

  static constexpr char kSpecPath[] = "experiments/specs/spec.textproto";
  const SpecSandbox sandbox_;
  const Store store_;
};

TEST_F(MutationTest, Specs) { FollowTexts<ExperimentSpec>(kSpecPath); }
TEST_F(MutationTest, Methods) { FollowTexts<MethodSpec>("experiments/methods/plain.textproto"); }
TEST_F(MutationTest, Presets) { FollowTexts<MethodSpec>("experiments/presets/short.textproto"); }
TEST_F(MutationTest, Tasks) { FollowTexts<TaskSpec>("data/tasks/task.textproto"); }
TEST_F(MutationTest, Catalogs) { FollowTexts<DataSetInfo>("data/catalog/digits.textproto"); }
TEST_F(MutationTest, PublishedTables) { FollowTexts<PublishedTable>("experiments/published/table.textproto"); }

TEST_F(MutationTest, Records) {
  const TrialRecord valid = Example();
  ASSERT_TRUE(store_.CommitRecord(valid).ok());
  const std::string path = store_.RecordPath(valid.trial_id());
  int whole = 0, damaged = 0;
  ForEachRound("records", [&](RandomStream* random) {
    fs::remove(path);
    const std::string bytes = MutatedWire(valid, Ours(), random);
    NoteBytes(bytes.size());
    ASSERT_TRUE(WriteFileAtomically(path, FramedRecord(bytes)).ok());
    EXPECT_TRUE(Follow(store_));
    UnreadRecords unread;
    (void)LoadFields(store_, &unread);
    ++(unread.damaged.empty() && unread.other_versions.empty() ? whole : damaged);
    Accept(VerifyStore(store_).status());
  });
  std::cout << "records: " << whole << " whole, " << damaged << " damaged\n";
}

TEST_F(MutationTest, Bundles) {
  const TrialRecord valid = Example();
  ASSERT_TRUE(store_.CommitRecord(valid).ok());
  const std::string path = sandbox_.folder() + "/bundle.zip", into = sandbox_.folder() + "/outer/into";
  BundleExtras extras;
  extras.outputs = extras.checkpoints = true;
  extras.library["specs/spec.textproto"] = kSpec;
  extras.library["tasks/task.textproto"] = *ReadFile(sandbox_.folder() + "/data/tasks/task.textproto");
  const absl::Status written = WriteBundle(store_, {valid.trial_id()}, path, extras).status();
  ASSERT_TRUE(written.ok()) << written;
  const std::vector<ZipMember> members = UnpackedBundle(path);
  ASSERT_EQ(members.size(), 2 + 1 + 3 + 3 + 2);
  int merged = 0, refused = 0;
  ForEachRound("bundles", [&](RandomStream* random) {
    std::vector<ZipMember> changed;
    for (ZipMember member : members) {
      if (random->Below(4) == 0) Change(random, &member);
      changed.push_back(std::move(member));
    }
    if (random->Below(2) == 0) {
      changed = PackedBundle(changed);
      ZipMember& records = changed[changed.size() - 2];
      if (random->Below(4) == 0) records.content = XzBytes(Mutated(FromXz(records.content), {"ustar"}, random));
    }
    const std::string bytes = SignedBundle(std::move(changed));
    NoteBytes(bytes.size());
    ASSERT_TRUE(WriteFileAtomically(path, bytes).ok());
    fs::remove_all(sandbox_.folder() + "/outer");
    fs::create_directories(sandbox_.folder() + "/outer");
    MergeCounts counts;
    const Store store(into);
    ++(Accept(MergeFrom(path, store, &counts)) ? merged : refused);
    // Only the record, its outputs and its checkpoint are written, below the store.
    for (const auto& entry : fs::recursive_directory_iterator(sandbox_.folder() + "/outer")) {
      const std::string file = entry.path().string();
      if (!entry.is_regular_file()) continue;
      const std::string folder = entry.path().parent_path().string();
      EXPECT_TRUE(file == into + "/version" || file == store.RecordPath(valid.trial_id()) ||
                  folder == store.OutputsFolder(valid.outputs_key()) ||
                  folder == store.CheckpointFolder(valid.checkpoint_key()))
          << file;
    }
    EXPECT_TRUE(Follow(store));
    Accept(VerifyStore(store).status());
  });
  std::cout << "bundles: " << merged << " merged, " << refused << " refused\n";
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) { return openset::RunMutationTests(argc, argv); }
