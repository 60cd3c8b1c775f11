// The program's messages about a study: failures, likely mistakes, the reasons for actions, and differences between two
// stores.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/proto/record_file.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/near_far_study.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// The near and far study with changes, and a second split of its task.
void WriteStudy(const OpensetProgram& program, const std::vector<std::pair<std::string, std::string>>& changes) {
  program.Write("tasks/near_far.textproto", absl::StrCat(kNearFarTask, "split { known: [0, 1, 2, 6] }\n"));
  std::string study = kNearFarStudy;
  for (const auto& [from, to] : changes) ASSERT_EQ(absl::StrReplaceAll({{from, to}}, &study), 1) << from;
  program.Write("study.textproto", study);
}

std::vector<TrialRecord> RecordsOf(const OpensetProgram& program) {
  std::vector<TrialRecord> records;
  for (const auto& [id, bytes] : program.Records()) EXPECT_TRUE(records.emplace_back().ParseFromString(bytes));
  return records;
}

void WriteRecord(const OpensetProgram& program, const std::string& store, const TrialRecord& record) {
  const std::string& id = record.trial_id();
  program.Write(store + "/version", program.Read("openset-store/version"));
  program.Write(absl::StrCat(store, "/records/", id.substr(0, 2), "/", id, ".rec"), EncodeRecord(record));
}

// Sets the AUROC of the pool, which comes first.
void SetAuroc(TrialRecord* record, double value) {
  for (MetricRecord& metric : *record->mutable_metric()) {
    if (metric.name() != "auroc") continue;
    metric.set_value(value);
    return;
  }
}

TEST(Said, FailuresByMethodSplitsAndSeed) {
  const OpensetProgram program;
  program.Write("methods/bad.textproto", "name: 'bad' base: 'softmax' training { optimizer { learning_rate: 1e20 } }");
  WriteStudy(program, {{"\"max_logit\"", "\"bad\""},
                       {"split: 0", "split: [0, 1]"},
                       {"seed: [0, 1]", "seed: 1"},
                       {"optimizer { learning_rate: 0.02 }", ""}});
  const ProgramResult run = program.Run({"run", "study.textproto"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("\n2 of 4 trials failed: bad, splits 0 and 1, seed 1.\n"));
}

TEST(Said, OneRunHasNoSpreadAndReevaluationsAreNamed) {
  const OpensetProgram program;
  WriteStudy(program, {{"seed: [0, 1]", "seed: 0"}});
  const ProgramResult run = program.Run({"run", "study.textproto"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("\nOne run: no spread.\n"), Not(HasSubstr("±"))));
  program.Write("study.textproto", program.Read("study.textproto") + "metric { openauc {} }\n");
  const auto plan = nlohmann::json::parse(program.Run({"plan", "study.textproto", "--format=json"}).out);
  const ProgramResult explained = program.Run({"explain", plan["trials"][0]["id"], "study.textproto"});
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_THAT(explained.out, ContainsRegex("  infer [0-9a-f]{12}: done\n"));
  EXPECT_THAT(explained.out, ContainsRegex("  evaluate [0-9a-f]{12}: will be evaluated: no stored result has exactly "
                                           "these metrics\n"));
}

// Each step sets the weights to 0, so that all predictions are one class, which exactly a quarter of the samples have.
TEST(Said, AHintNamesSplitAndSeed) {
  const OpensetProgram program;
  WriteStudy(program,
             {{"optimizer { learning_rate: 0.02 }", "optimizer { learning_rate: 0.01 sgd {} weight_decay: 99 }"},
              {"split: 0", "split: 1"},
              {"epochs: 1", "epochs: 2"}});
  const ProgramResult run = program.Run({"run", "study.textproto"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const int seed : {0, 1}) {
    EXPECT_THAT(run.err,
                HasSubstr(absl::StrCat("hint: mcp on near_far, split 1, seed ", seed,
                                       ": accuracy is 25.0 % on 200 known samples, no better than guessing ")));
  }
}

// The hint has the lowest trial of a row, and the mean that the table shows.
TEST(Said, AHintHasTheMeanOfTheTable) {
  const OpensetProgram program;
  WriteStudy(program, {});
  ASSERT_EQ(program.Run({"run", "study.textproto"}).exit_code, 0);
  for (TrialRecord record : RecordsOf(program)) {
    if (record.trial().method().name() != "mcp") continue;
    SetAuroc(&record, record.trial().seed() == 1 ? 0.25 : 0.375);
    WriteRecord(program, "openset-store", record);
  }
  const ProgramResult report = program.Run({"report", "study.textproto"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(report.err,
              ContainsRegex("hint: AUROC is below 50 %.* by mcp \\(25\\.0 % at split 0, seed 1; mean of the "
                            "table 31\\.2 %\\)"));
}

// Two stores have a record of the same trial, made with the kernels of two CPUs.
TEST(Said, DifferencesBetweenTwoLaboratories) {
  const OpensetProgram program;
  WriteStudy(program, {{"seed: [0, 1]", "seed: 0"}, {"[\"mcp\", \"max_logit\"]", "\"mcp\""}});
  ASSERT_EQ(program.Run({"run", "study.textproto"}).exit_code, 0);
  TrialRecord record = program.AnyRecord();
  const auto at = [&](const std::string& host, const std::string& kernels, double auroc) {
    for (StageProvenance& stage : *record.mutable_provenance()->mutable_stage()) {
      stage.set_host(host);
      stage.set_cpu_capability(kernels);
    }
    SetAuroc(&record, auroc);
    return record;
  };
  WriteRecord(program, "openset-store", at("lab-a", "AVX2", 0.4737780));
  WriteRecord(program, "other", at("lab-b", "DEFAULT", 0.4737781));
  const ProgramResult merged = program.Run({"records", "merge", "other"});
  EXPECT_EQ(merged.exit_code, 0) << merged.err;
  EXPECT_THAT(merged.out, HasSubstr("1 with other numbers"));
  EXPECT_THAT(merged.out, HasSubstr("lab-a (AVX2) 0.4737780; lab-b (DEFAULT) 0.4737781"));
}

}  // namespace
}  // namespace openset
