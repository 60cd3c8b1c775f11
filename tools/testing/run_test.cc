// The complete flow on real Fashion-MNIST images: results are reproducible, and survive kills.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/open_set.pb.h"
#include "experiments/spec/optimizer.pb.h"
#include "experiments/spec/trial.proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

// Seconds of work on one core: 1,200 training images, all parts of the OpenAUC method.
constexpr char kSpec[] = R"(
name: "study"
task: "fashion_mnist_6_4"
method: "openauc"
split: 0
seed: [0, 1]
override {
  model { osrci_cnn {} head { linear { bias: true } } }
  input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
  training {
    epochs: 3
    batch_size: 100
    optimizer { learning_rate: 0.02 sgd { nesterov: true } }
    schedule { constant {} }
  }
}
train_limit_per_class: 200
test_limit_per_class: 50
metric { accuracy {} }
metric { auroc {} }
metric { openauc {} }
)";

std::vector<std::string> FilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  return files;
}

TEST(Run, TwoRunsGiveTheSameBits) {
  const OpensetProgram first("1"), second("2");
  for (const OpensetProgram* program : {&first, &second}) {
    program->Write("study.textproto", kSpec);
    const ProgramResult result = program->Run({"run", "study.textproto"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  EXPECT_EQ(first.Records().size(), 2);
  EXPECT_EQ(first.Records(), second.Records());
  EXPECT_EQ(first.Read("openset-store/reports/study/report.json"),
            second.Read("openset-store/reports/study/report.json"));
}

// The components of a stage; each must have the digest of its sources.
std::vector<std::string> ComponentsOf(const StageProvenance& stage) {
  std::vector<std::string> components;
  for (const ComponentProvenance& component : stage.component()) {
    components.push_back(absl::StrCat(component.family(), ".", component.name()));
    EXPECT_EQ(component.fingerprint().size(), 64) << components.back();
    EXPECT_GE(component.revision(), 1) << components.back();
  }
  return components;
}

TEST(Run, DoesNotRepeatResults) {
  const OpensetProgram program;
  program.Write("study.textproto", kSpec);
  ASSERT_EQ(program.Run({"run", "study.textproto"}).exit_code, 0);
  const auto before = program.Records();
  const std::vector<std::string> files = FilesBelow(program.store());

  const ProgramResult again = program.Run({"run", "study.textproto"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_THAT(again.out, HasSubstr("study: all 2 trials are done; nothing to run."));
  EXPECT_EQ(program.Records(), before);
  EXPECT_EQ(FilesBelow(program.store()).size(), files.size());

  EXPECT_THAT(program.Run({"status", "study.textproto"}).out, HasSubstr("study: 2 of 2 trials done, 0 left"));
  const nlohmann::json plan = nlohmann::json::parse(program.Run({"plan", "study.textproto", "--format=json"}).out);
  EXPECT_EQ(plan["actions"].size(), 6);
  for (const nlohmann::json& action : plan["actions"]) EXPECT_FALSE(action["needed"]);

  // A record contains everything needed to reproduce it.
  const TrialRecord record = program.AnyRecord();
  EXPECT_EQ(record.counts().known(), 6 * 50);
  EXPECT_EQ(record.counts().unknown(), 4 * 50);
  EXPECT_EQ(record.epoch_size(), 3);
  EXPECT_EQ(record.trial().method().training().optimizer().sgd().momentum(), 0.9);
  EXPECT_EQ(record.checkpoint_sha256().size(), 64);

  // And who made it, for each stage.
  ASSERT_EQ(record.provenance().stage_size(), 3);
  const StageProvenance &train = record.provenance().stage(0), &evaluate = record.provenance().stage(2);
  EXPECT_EQ(train.key(), record.checkpoint_key());
  EXPECT_THAT(train.libtorch_version(), Not(IsEmpty()));
  EXPECT_EQ(evaluate.libtorch_version(), "");
  const std::string tools = RunfilesFolder().value() + "/openset/tools/";
  EXPECT_EQ(train.program_sha256(), Sha256HexOfFile(tools + "openset_worker_unstamped").value());
  EXPECT_EQ(evaluate.program_sha256(), Sha256HexOfFile(tools + "openset_unstamped").value());
  for (const StageProvenance& stage : record.provenance().stage()) {
    EXPECT_THAT(stage.libraries(), AllOf(HasSubstr("eigen "), HasSubstr(", jpeg "), HasSubstr(", protobuf ")));
    EXPECT_EQ(stage.commit(), "unknown");  // tests run programs without a stamp
    EXPECT_EQ(stage.threads(), 1);
    EXPECT_GT(stage.cpu_seconds(), 0);
    EXPECT_GT(stage.peak_memory_bytes(), 1 << 20);
    EXPECT_EQ(stage.failed_attempts(), 0);
  }
  EXPECT_THAT(ComponentsOf(train),
              UnorderedElementsAre(
                  "ModelSpec.osrci_cnn", "HeadSpec.linear", "AugmentationSpec.rand_augment", "AugmentationSpec.resize",
                  "AugmentationSpec.random_crop", "AugmentationSpec.horizontal_flip", "OpenSetSpec.feature_mixup",
                  "LossTermSpec.open_auc", "LossTermSpec.cross_entropy", "OptimizerSpec.sgd", "ScheduleSpec.constant"));
  EXPECT_THAT(ComponentsOf(evaluate), UnorderedElementsAre("ScoreSpec.max_logit", "MetricSpec.accuracy",
                                                           "MetricSpec.auroc", "MetricSpec.openauc"));

  const nlohmann::json report = nlohmann::json::parse(program.Run({"report", "study.textproto", "--format=json"}).out);
  EXPECT_EQ(report["cells"].size(), 3);
  EXPECT_EQ(report["cells"][0]["n"], 2);
  EXPECT_EQ(report["cells"][2]["metric"], "openauc");

  // The same results for other programs, as a page, and as figures.
  const ProgramResult tidy = program.Run({"report", "study.textproto", "--format=csv", "--tidy"});
  EXPECT_THAT(tidy.out, StartsWith("trial,method,task,split,seed,known_classes,unknown_classes,openness,"));
  EXPECT_EQ(std::count(tidy.out.begin(), tidy.out.end(), '\n'), 1 + 3 * 2);
  program.Write("tidy.csv", tidy.out);
  EXPECT_THAT(program.Run({"report", "study.textproto", "--format=html"}).out,
              AllOf(HasSubstr("data-chart=\"loss\""), HasSubstr("data-chart=\"roc\""),
                    HasSubstr("\"sheet\":\"data:image/png;base64,")));
  EXPECT_EQ(program.Run({"figure", "study.textproto", "--curve=loss", "--out=loss.pdf"}).exit_code, 0);
  EXPECT_THAT(program.Read("loss.pdf"), StartsWith("%PDF"));
  EXPECT_EQ(program.Run({"figure", "study.textproto", "--curve=oscr", "--out=oscr.svg"}).exit_code, 0);
  EXPECT_THAT(program.Read("oscr.svg"), HasSubstr("known samples accepted and right"));
  EXPECT_EQ(program.Run({"report", "study.textproto", "--format=tensorboard"}).exit_code, 2);  // no --out
  EXPECT_EQ(program.Run({"report", "study.textproto", "--format=tensorboard", "--out=events"}).exit_code, 0);
  const ProgramResult nonsense = program.Run({"figure", "study.textproto", "--curve=lost"});
  EXPECT_EQ(nonsense.exit_code, 2);
  EXPECT_THAT(nonsense.err, HasSubstr("did you mean 'loss'"));
  EXPECT_EQ(program.Run({"report", "study.textproto", "--format=htm"}).exit_code, 2);
}

TEST(Run, EndsWithTheSameRecordsIfKilledAtAnyPoint) {
  const OpensetProgram undisturbed("undisturbed"), killed("killed");
  undisturbed.Write("study.textproto", kSpec);
  killed.Write("study.textproto", kSpec);
  ASSERT_EQ(undisturbed.Run({"run", "study.textproto"}).exit_code, 0);
  RecordProperty("kills", killed.RunWithKills({"run", "study.textproto"}, 1));
  EXPECT_EQ(killed.Records(), undisturbed.Records());
  EXPECT_THAT(FilesBelow(killed.store() + "/partial"), IsEmpty());
}

// `slow` stays at chance, far below `plain`, and is decided at the first look; `near` is like `plain`, and goes on.
TEST(Run, RunsUntilComparisonsAreDecidedAlsoIfKilled) {
  const OpensetProgram undisturbed("undisturbed"), killed("killed");
  for (const OpensetProgram* program : {&undisturbed, &killed}) {
    for (const auto& [name, rate] : {std::pair("plain", "0.02"), {"near", "0.019"}, {"slow", "0.000001"}}) {
      program->Write(
          absl::StrCat("methods/", name, ".textproto"),
          absl::StrCat("name: '", name, "' base: 'softmax' training { optimizer { learning_rate: ", rate, " } }"));
    }
    program->Write(
        "study.textproto",
        absl::StrReplaceAll(
            absl::StrCat(kShortStudy, "seed: 0 until { metric { accuracy {} } difference: 1 ", "max_splits: 5 }"),
            {{"\"softmax\" split: 0", "['plain', 'slow', 'near'] split: [0, 1, 2]"}, {"learning_rate: 0.02", ""}}));
  }
  const ProgramResult result = undisturbed.Run({"run", "study.textproto"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("until: 0 of 2 comparisons are finished; next look: 3 splits, 1 seed.\n"));
  const auto until = [](const OpensetProgram& program) {
    return nlohmann::json::parse(program.Read("openset-store/reports/study/report.json")).at("until");
  };
  const nlohmann::json found = until(undisturbed);
  const nlohmann::json slow = found.at("comparisons")[0], near = found.at("comparisons")[1];
  EXPECT_EQ(slow.at("row"), "slow");
  EXPECT_EQ(slow.at("verdict"), "lower");
  EXPECT_EQ(slow.at("looks"), 1);
  EXPECT_EQ(slow.at("splits"), 3);
  EXPECT_LT(slow.at("high"), 0);
  // A look at 3, 4 and 5 splits.
  const int splits = near.at("splits"), trials = found.at("trials");
  EXPECT_EQ(near.at("looks"), splits - 2);
  EXPECT_EQ(trials, 3 + 2 * splits);
  EXPECT_EQ(undisturbed.Records().size(), trials);
  EXPECT_THAT(result.out, HasSubstr(absl::StrCat("\nSpent: ", trials, " of at most 15 trials (")));
  EXPECT_THAT(undisturbed.Run({"run", "study.textproto"}).out, Not(HasSubstr("] trained ")));

  RecordProperty("kills", killed.RunWithKills({"run", "study.textproto"}, 4));
  EXPECT_EQ(killed.Records(), undisturbed.Records());
  EXPECT_EQ(until(killed), found);
}

TEST(Run, AKilledWorkerFailsOnlyItsTrials) {
  const OpensetProgram undisturbed("undisturbed"), disturbed("disturbed");
  undisturbed.Write("study.textproto", kSpec);
  disturbed.Write("study.textproto", kSpec);
  ASSERT_EQ(undisturbed.Run({"run", "study.textproto"}).exit_code, 0);

  const pid_t pid = disturbed.Start({"run", "study.textproto", "--jobs=1", "--retries=0"});
  int status = 0;
  pid_t ended = 0;
  bool killed = false;
  std::string log;  // of the training
  while (ended == 0) {
    usleep(20000);
    // After the first epoch is saved, the next run resumes from it.
    const std::vector<std::string> partial = FilesBelow(disturbed.store() + "/partial");
    if (!killed && !partial.empty()) {
      const std::string file = std::filesystem::path(partial[0]).filename().string();
      log = absl::StrCat("/logs/", file.substr(0, file.find('.')), ".log");
      disturbed.Write("openset-store" + log, "a warning\n");
      for (const pid_t worker : ChildrenOf(pid)) kill(worker, SIGKILL);
      killed = true;
    }
    ended = waitpid(pid, &status, WNOHANG);
  }
  ASSERT_TRUE(killed);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << disturbed.Read("err.txt");
  EXPECT_THAT(disturbed.Read("out.txt"),
              AllOf(HasSubstr("FAILED to train"), HasSubstr("; log: " + disturbed.store() + log)));
  EXPECT_THAT(disturbed.Read("err.txt"), HasSubstr("1 action failed"));
  EXPECT_EQ(disturbed.Records().size(), 1);  // the other seed's
  EXPECT_THAT(disturbed.Run({"status", "study.textproto"}).out, HasSubstr("its worker was killed by signal 9"));

  ASSERT_EQ(disturbed.Run({"run", "study.textproto"}).exit_code, 0) << disturbed.Read("err.txt");
  EXPECT_EQ(disturbed.Records(), undisturbed.Records());
  EXPECT_THAT(disturbed.Run({"status", "study.textproto"}).out, HasSubstr("2 of 2 trials done"));
}

TEST(Run, AKilledWorkerIsReplacedAndItsTrainingResumes) {
  const OpensetProgram undisturbed("undisturbed"), disturbed("disturbed");
  undisturbed.Write("study.textproto", kSpec);
  disturbed.Write("study.textproto", kSpec);
  ASSERT_EQ(undisturbed.Run({"run", "study.textproto"}).exit_code, 0);
  const pid_t pid = disturbed.Start({"run", "study.textproto", "--jobs=1"});
  while (FilesBelow(disturbed.store() + "/partial").empty()) usleep(20000);
  for (const pid_t worker : ChildrenOf(pid)) kill(worker, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << disturbed.Read("err.txt");
  EXPECT_THAT(disturbed.Read("out.txt"), HasSubstr("will be retried in 1s: train openauc"));
  EXPECT_EQ(disturbed.Records(), undisturbed.Records());
  EXPECT_EQ(FilesBelow(disturbed.store() + "/attempts").size(), 1);
}

// A study with changes by the command line is a different study, also for `status`.
TEST(Run, StatusDistinguishesAVariantFromItsStudy) {
  const OpensetProgram program;
  program.Write("study.textproto", kSpec);
  const pid_t pid = program.Start({"run", "study.textproto", "--jobs=1", "--set=training.epochs=200"});
  while (FilesBelow(program.store() + "/partial").empty()) usleep(20000);
  const std::string own = program.Run({"status", "study.textproto"}).out;
  EXPECT_THAT(own, HasSubstr("running a variant, study --set=training.epochs=200, by "));
  EXPECT_THAT(program.Run({"status", "study.textproto", "--set=training.epochs=200"}).out, HasSubstr("running by "));
  EXPECT_THAT(program.Run({"status"}).out, HasSubstr("running study --set=training.epochs=200, by "));
  // Killed before its first record, the variant is still there.
  kill(pid, SIGKILL);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  for (const std::vector<std::string>& command : {std::vector<std::string>{"status"}, {"status", "study.textproto"}}) {
    EXPECT_THAT(program.Run(command).out, AllOf(HasSubstr("killed: study --set=training.epochs=200, by "),
                                                HasSubstr("; the same 'openset run' continues it"),
                                                Not(HasSubstr("running study")), Not(HasSubstr("running a variant"))));
  }
}

// Lines with both texts.
int LinesWith(const std::string& output, const std::string& one, const std::string& other) {
  int count = 0;
  for (absl::string_view line : absl::StrSplit(output, '\n')) {
    count += absl::StrContains(line, one) && absl::StrContains(line, other);
  }
  return count;
}

TEST(Run, TwoRunsShareTheWorkAndReportIt) {
  const OpensetProgram alone("alone"), first("first"), second("second");
  for (const OpensetProgram* program : {&alone, &first, &second}) program->Write("study.textproto", kSpec);
  ASSERT_EQ(alone.Run({"run", "study.textproto"}).exit_code, 0);
  const pid_t pid = first.Start({"run", "study.textproto", "--jobs=1"});
  while (FilesBelow(first.store() + "/partial").empty()) usleep(20000);
  // In another terminal: what the first run is doing.
  const std::string store = "--store=" + first.store();
  const ProgramResult status = second.Run({"status", "study.textproto", store});
  EXPECT_EQ(status.exit_code, 0) << status.err;
  EXPECT_THAT(status.out, HasSubstr(absl::StrCat(", process ", pid, ", for ")));
  const ProgramResult other = second.Run({"run", "study.textproto", store, "--jobs=1"});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  int ended = 0;
  ASSERT_EQ(waitpid(pid, &ended, 0), pid);
  EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 0) << first.Read("err.txt");
  EXPECT_THAT(other.out, HasSubstr(absl::StrCat("process ", pid, " also runs it")));
  EXPECT_EQ(first.Records(), alone.Records());
  // Each action was done by one run and found by the other, unless the result existed when that one began.
  const std::string mine = first.Read("out.txt");
  for (const char* verb : {"] trained", "] inferred", "] evaluated"}) {
    const int by_others =
        LinesWith(mine, verb, "by another process") + LinesWith(other.out, verb, "by another process");
    const int all = LinesWith(mine, verb, "") + LinesWith(other.out, verb, "");
    EXPECT_EQ(all - by_others, 2) << verb << mine << other.out;
  }
  EXPECT_THAT(FilesBelow(first.store() + "/running"), IsEmpty());
  EXPECT_THAT(FilesBelow(first.store() + "/runs"), IsEmpty());
}

constexpr char kHalved[] = R"(
name: "halved" task: "fashion_and_gradients" method: "softmax" split: 0 seed: 0
override {
  model { osrci_cnn {} head { linear { bias: true } } }
  input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
  training {
    epochs: 4 batch_size: 100
    optimizer { learning_rate: 0.02 sgd { nesterov: true } }
    schedule { constant {} }
  }
}
train_limit_per_class: 100 test_limit_per_class: 50 validation_per_class: 50
metric { accuracy {} } metric { auroc {} }
search {
  method: "softmax"
  axis { path: "training.optimizer.learning_rate" value: ["0.001", "0.05", "0.01"] }
  criterion { accuracy {} }
  halving { rungs: [1, 2, 4] keep: 0.5 }
}
)";

TEST(Run, AHalvedSearchEndsWithTheBitsOfTrainingTheChosenValuesAlone) {
  const OpensetProgram halved("halved"), alone("alone");
  for (const OpensetProgram* program : {&halved, &alone}) {
    program->Write("study.textproto", kHalved);
    program->GenerateExternalImages();
  }
  const ProgramResult result = halved.Run({"run", "study.textproto", "--data=data"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("of each search are measured 3 after 1 epoch, 2 after 2 epochs, 1 after 4 epochs"));
  EXPECT_THAT(result.out, HasSubstr("softmax on fashion_and_gradients, split 0, seed 0, learning_rate "));
  EXPECT_THAT(result.out, HasSubstr(", stopped after 2 epochs ("));
  TrialRecord tuned;
  for (const auto& [id, bytes] : halved.Records()) {
    TrialRecord record;
    ASSERT_TRUE(record.ParseFromString(bytes));
    if (record.trial().has_search()) tuned = record;
  }
  ASSERT_EQ(tuned.trial().search().candidate_size(), 3);
  const SearchCandidate& chosen = tuned.trial().search().candidate(tuned.trial().search().chosen());
  EXPECT_EQ(chosen.rung_size(), 3);

  std::string written = kHalved;
  written = written.substr(0, written.find("search {"));
  ASSERT_EQ(
      absl::StrReplaceAll({{"learning_rate: 0.02", absl::StrCat("learning_rate: ", chosen.axis(0).value())}}, &written),
      1);
  alone.Write("study.textproto", written);
  ASSERT_EQ(alone.Run({"run", "study.textproto", "--data=data"}).exit_code, 0);
  const TrialRecord whole = alone.AnyRecord();
  EXPECT_EQ(whole.trial_id(), tuned.trial_id());
  EXPECT_EQ(whole.checkpoint_sha256(), tuned.checkpoint_sha256());
  ASSERT_EQ(whole.metric_size(), tuned.metric_size());
  for (int m = 0; m < whole.metric_size(); ++m) EXPECT_EQ(whole.metric(m).value(), tuned.metric(m).value());
}

TEST(Run, CorruptResultsAreQuarantinedAndMadeAgain) {
  const OpensetProgram program;
  program.Write("study.textproto", kSpec);
  ASSERT_EQ(program.Run({"run", "study.textproto"}).exit_code, 0);
  const auto before = program.Records();
  const std::string record = FilesBelow(program.store() + "/records")[0];
  FlipBit(record);

  // The report uses the intact results and lists the others.
  const ProgramResult report = program.Run({"report", "study.textproto"});
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_THAT(report.out, HasSubstr(record));
  EXPECT_THAT(report.err, HasSubstr("1 result is corrupt and left out; 'openset run study.textproto' makes"));
  const ProgramResult status = program.Run({"status", "study.textproto"});
  EXPECT_EQ(status.exit_code, 0);
  EXPECT_THAT(status.out, HasSubstr("1 of 2 trials done, 1 left"));
  EXPECT_THAT(status.out, HasSubstr("1 result is corrupt"));
  EXPECT_THAT(program.Run({"plan", "study", "--noprobe"}).out, HasSubstr("corrupt, to be made again: " + record));
  EXPECT_THAT(FilesBelow(program.store() + "/quarantine"), IsEmpty());

  ProgramResult again = program.Run({"run", "study.textproto"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("0 trainings, 0 inferences, 1 evaluation,"));
  EXPECT_THAT(again.out, HasSubstr("moved to "));
  EXPECT_EQ(program.Records(), before);
  EXPECT_EQ(FilesBelow(program.store() + "/quarantine").size(), 2);
  EXPECT_THAT(program.Run({"status", "study.textproto"}).out, HasSubstr("in quarantine: 1"));
  EXPECT_EQ(program.Run({"report", "study.textproto"}).exit_code, 0);

  // The inputs of a missing record are checked before they are used.
  std::filesystem::remove(record);
  for (const std::string& file : FilesBelow(program.store() + "/outputs")) {
    if (std::filesystem::path(file).extension() == ".npz") FlipBit(file);
  }
  for (const std::string& file : FilesBelow(program.store() + "/checkpoints")) {
    if (std::filesystem::path(file).extension() == ".safetensors") FlipBit(file);
  }
  again = program.Run({"run", "study.textproto"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("1 training, 1 inference, 1 evaluation,"));
  EXPECT_EQ(program.Records(), before);
}

// Stops a run in each way that a user has: finished work stays, no process remains, and the same command continues.

// Some seconds of work on one core.
const std::string kStopSpec = absl::StrCat("seed: [0, 1, 2]", kShortStudy);

TEST(Stop, EveryWayEndsCleanlyAndResumes) {
  const OpensetProgram undisturbed("undisturbed"), stopped("stopped");
  for (const OpensetProgram* program : {&undisturbed, &stopped}) program->Write("study.textproto", kStopSpec);
  ASSERT_EQ(undisturbed.Run({"run", "study.textproto"}).exit_code, 0);
  const std::vector<std::pair<const char*, std::vector<int>>> ways = {
      {"Ctrl-C", {SIGINT}}, {"Ctrl-C twice", {SIGINT, SIGINT}}, {"SIGTERM", {SIGTERM}},
      {"SIGHUP", {SIGHUP}}, {"a closed terminal", {}},
  };
  for (const auto& [what, signals] : ways) {
    SCOPED_TRACE(what);
    const bool on_terminal = signals.empty();
    int terminal = -1;
    const pid_t pid = on_terminal ? stopped.StartOnTerminal({"run", "study.textproto", "--jobs=1"}, &terminal)
                                  : stopped.Start({"run", "study.textproto", "--jobs=1"});
    std::vector<pid_t> workers;
    for (int waits = 0; waits < 3000 && workers.empty(); ++waits) {
      usleep(10000);
      workers = ChildrenOf(pid);
    }
    ASSERT_FALSE(workers.empty());
    for (const int signal : signals) kill(pid, signal);
    if (on_terminal) close(terminal);
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 130) << status;
    for (const pid_t worker : workers) EXPECT_TRUE(kill(worker, 0) != 0 && errno == ESRCH) << worker;
    if (!on_terminal) {
      EXPECT_THAT(stopped.Read("err.txt"), HasSubstr("the same command continues from here"));
    }
    const std::vector<std::string> claims = *ListFolder(stopped.store() + "/running");
    EXPECT_THAT(claims, IsEmpty());
  }
  ASSERT_EQ(stopped.Run({"run", "study.textproto"}).exit_code, 0) << stopped.Read("err.txt");
  EXPECT_EQ(stopped.Records(), undisturbed.Records());
}

// Trials with more than one training and one inference: a training that starts from another one, external images, a
// generator, views, a search.

// Seconds of work: tiny networks, generated external images.
constexpr char kStagesSpec[] = R"(
name: "stages"
task: "fashion_and_gradients"
split: 0
seed: 0
method: ["energy", "arpl_cs", "augmix", "odin_unified_benchmark"]
override {
  input { size: 16 channels: 1 mean: 0.286 std: 0.353 }
  pretraining { training { epochs: 2 batch_size: 32 optimizer { learning_rate: 0.02 } } }
  training { epochs: 2 batch_size: 32 optimizer { learning_rate: 0.002 } }
}
axis { path: "model.resnet_cifar.width" value: "2" method: ["energy", "augmix", "odin_unified_benchmark"] }
axis { path: "model.vgg32.width" value: "4" method: "arpl_cs" }
axis { path: "open_set.confusing_images.width" value: "2" method: "arpl_cs" }
validation_per_class: 10
search {
  method: "odin_unified_benchmark"
  axis {
    path: "inference.input_perturbation.temperature"
    also: "score.temperature_scaled_softmax.temperature"
    value: ["1", "1000"]
  }
  axis { path: "inference.input_perturbation.epsilon" value: ["0", "0.1"] }
  criterion { auroc {} }
}
train_limit_per_class: 30
test_limit_per_class: 20
metric { accuracy {} }
metric { auroc {} }
)";

// A killed training continues from its last saved epoch, a stopped one from its last step.
TEST(Stages, EndWithTheSameRecordsIfKilledOrStopped) {
  const OpensetProgram undisturbed("undisturbed"), killed("killed"), stopped("stopped");
  for (const OpensetProgram* program : {&undisturbed, &killed, &stopped}) {
    program->GenerateExternalImages();
    program->Write("stages.textproto", kStagesSpec);
  }
  const ProgramResult result = undisturbed.Run({"run", "stages.textproto", "--data=data"});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("4 of them are candidates of searches; tuned trials after them: 1"));
  RecordProperty("kills", killed.RunWithKills({"run", "stages.textproto", "--data=data"}, 2));
  RecordProperty("stops", stopped.RunWithKills({"run", "stages.textproto", "--data=data"}, 3, SIGTERM));
  EXPECT_EQ(undisturbed.Records().size(), 4 + 4 + 1);
  EXPECT_EQ(killed.Records(), undisturbed.Records());
  EXPECT_EQ(stopped.Records(), undisturbed.Records());

  // The tuned trial is in the tables, with what was chosen; its log is in its record.
  const nlohmann::json report = nlohmann::json::parse(undisturbed.Read("openset-store/reports/stages/report.json"));
  EXPECT_EQ(report.at("trials"), 5);
  ASSERT_EQ(report.at("searches").size(), 1);
  EXPECT_THAT(report.at("searches")[0].get<std::string>(),
              HasSubstr("odin_unified_benchmark (tuned) on fashion_and_gradients, split 0, seed 0: temperature 1"));
  int logs = 0;
  for (const auto& [id, text] : undisturbed.Records()) {
    TrialRecord record;
    ASSERT_TRUE(record.ParseFromString(text));
    if (!record.trial().has_search()) continue;
    ++logs;
    EXPECT_EQ(record.trial().search().candidate_size(), 4);
    for (const SearchCandidate& candidate : record.trial().search().candidate()) {
      EXPECT_EQ(undisturbed.Records().count(candidate.trial_id()), 1);
    }
  }
  EXPECT_EQ(logs, 1);

  EXPECT_THAT(undisturbed.Run({"run", "stages.textproto", "--data=data"}).out,
              HasSubstr("all 5 trials are done; nothing to run."));
}

// This takes about a second. The task has no unknown classes for validation, so the criterion is accuracy.
const std::string kSearch = absl::StrReplaceAll(kSmallStudy, {{"fashion_mnist_6_4", "mine"}}) + R"(
validation_per_class: 5
search {
  method: "mcp"
  axis { path: "training.optimizer.learning_rate" value: ["0.02", "0.05"] }
  criterion { accuracy {} }
}
)";

TEST(Stages, ReproduceSkipsCandidatesOfSearches) {
  const OpensetProgram program;
  program.Write("tasks/mine.textproto",
                "name: 'mine' data_set: 'fashion_mnist' split { known: [0, 1, 2] unknown: [3, 4] }");
  program.Write("specs/study.textproto", kSearch);
  const ProgramResult run = program.Run({"run", "specs/study.textproto"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(program.Records().size(), 4);  // softmax, two candidates, and the trial of the one that was chosen
  // They are no results.
  const ProgramResult listed = program.Run({"records", "ls"});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("2 of 4 records"), HasSubstr("2 candidates of searches left out: openset "
                                                                       "records ls 'measured_on=validation' lists")));
  EXPECT_THAT(program.Run({"records", "ls", "measured_on=validation"}).out,
              AllOf(HasSubstr(" validation"), HasSubstr("2 of 4 records"), Not(HasSubstr("left out"))));
  EXPECT_EQ(nlohmann::json::parse(program.Run({"records", "ls", "--format=json"}).out).size(), 2);
  ASSERT_EQ(program.Run({"records", "export", "--bundle=all.zip"}).exit_code, 0);
  const ProgramResult again = program.Run({"reproduce", "all.zip", "--trials=0"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, AllOf(HasSubstr("2 candidates of searches left out"), HasSubstr("2 of 2 trials reproduced")));
}

}  // namespace
}  // namespace openset
