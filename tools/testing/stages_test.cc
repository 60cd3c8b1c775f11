// Trials with more than one training and one inference: a training that starts from another one, external images, a
// generator, views, a search.
#include <signal.h>

#include <string>

#include "absl/strings/str_replace.h"
#include "experiments/spec/trial.proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Seconds of work: tiny networks, generated external images.
constexpr char kSpec[] = R"(
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
    program->Write("stages.textproto", kSpec);
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
  ASSERT_EQ(program.Run({"records", "export", "--bundle=all.zip"}).exit_code, 0);
  const ProgramResult again = program.Run({"reproduce", "all.zip", "--trials=0"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, AllOf(HasSubstr("2 candidates of searches left out"), HasSubstr("2 of 2 trials reproduced")));
}

}  // namespace
}  // namespace openset
