// Records through the program: corrupt ones, ls, show, explain, export, merge and gc; and errors and overrides of a
// spec.
#include "experiments/store/testing/records.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/files/runfiles.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Spec(const std::string& from, const std::string& to) {
  return absl::StrReplaceAll(kSmallStudy, {{from, to}});
}

TEST(Records, RemoveByQueryAndBySize) {
  const OpensetProgram program;
  program.Write("study.textproto", kSmallStudy);
  program.MustRun({"run", "study.textproto"});
  const ProgramResult listed = program.MustRun({"records", "rm", "method=mcp", "--dry_run"});
  EXPECT_THAT(listed.out, HasSubstr("would remove 1 of 2 records;"));
  // Without a terminal, nobody can be asked.
  EXPECT_THAT(program.Run({"records", "rm", "method='mcp'"}),
              FailsWith(2, AllOf(HasSubstr("this removes 1 of 2 records of "),
                                 HasSubstr("openset records rm 'method='\\''mcp'\\'''"),
                                 HasSubstr(" --store='" + program.store() + "' --yes"))));
  for (const char* blank : {"", " ", "\t \n"}) {
    for (const char* action : {"rm", "ls", "export"}) {
      std::vector<std::string> words = {"records", action, blank};
      if (std::string(action) == "rm") words.push_back("--yes");
      if (std::string(action) == "export") words.push_back("--bundle=all.zip");
      const ProgramResult refused = program.Run(words);
      EXPECT_EQ(refused.exit_code, 2) << action;
      EXPECT_THAT(refused.err, HasSubstr("the query is blank")) << action;
    }
  }
  EXPECT_THAT(program.Run({"records", "rm", "trial=a or method=mcp", "--yes"}).err, HasSubstr("first 4 digits"));
  EXPECT_EQ(program.Records().size(), 2);
  EXPECT_THAT(program.Run({"records", "rm", "method=mcp", "--yes"}).out, HasSubstr("removed 1 of 2 records;"));
  EXPECT_EQ(program.Records().size(), 1);
  EXPECT_THAT(program.Run({"records", "rm", "method=mcp", "--yes"}).err, HasSubstr("matches"));
  EXPECT_THAT(program.Run({"records", "rm"}).err, HasSubstr("usage: openset records rm QUERY"));
  // Everything is younger than an hour.
  EXPECT_THAT(program.Run({"records", "gc", "--max_size=1kB"}),
              FailsWith(1, AllOf(HasSubstr("the store still has "), HasSubstr("more than --max_size=1kB"))));
  program.MustRun({"records", "gc", "--max_size=1GB"});
  EXPECT_THAT(program.Run({"records", "gc", "--max_size=big"}).err, HasSubstr("--max_size: 'big' is not a size"));
}

TEST(Records, SayWhatIsMissing) {
  const OpensetProgram program;
  const std::string released = *RunfilesFolder() + "/openset/experiments/store/testdata/version_3";
  std::filesystem::copy(released, program.store(), std::filesystem::copy_options::recursive);
  // A share, not a percentage.
  const ProgramResult none = program.MustRun({"records", "ls", "openauc>90"});
  EXPECT_THAT(none.err,
              HasSubstr("hint: 'openauc>90': openauc is a share, from 0.8125 to 0.8125 in these records: 90 % "
                        "is 0.9\n"));
  EXPECT_EQ(program.Run({"records", "ls", "openauc>0.9"}).err, "");
  EXPECT_THAT(program.Run({"records", "diff", "242d"}).err, HasSubstr("has one record of trial 242d01b1"));
  // Outputs that a bundle doesn't have.
  program.MustRun({"records", "export", "--bundle=all.zip"});
  EXPECT_THAT(
      program.Run({"export", "outputs", "242d", "mine", "--store=all.zip"}),
      FailsWith(2, AllOf(HasSubstr("all.zip has the record of trial 242d01b1370c, but not its outputs; 'openset "
                                   "reproduce "),
                         Not(HasSubstr("/outputs/")))));
  EXPECT_FALSE(std::filesystem::exists(program.folder() + "/mine"));
  // The store of a run that failed at once, and a folder that is no store.
  std::filesystem::create_directories(program.folder() + "/failed/tmp");
  std::filesystem::create_directories(program.folder() + "/other");
  std::filesystem::copy_file(program.store() + "/version", program.folder() + "/failed/version");
  const ProgramResult merged = program.MustRun({"records", "merge", "failed"});
  EXPECT_THAT(merged.out, HasSubstr("0 new trials"));
  EXPECT_THAT(program.Run({"records", "merge", "other"}).err, HasSubstr("other is neither a store nor a bundle"));
}

TEST(Records, RemoveAsksOnATerminal) {
  const OpensetProgram program;
  const std::string released = *RunfilesFolder() + "/openset/experiments/store/testdata/version_3";
  std::filesystem::copy(released, program.store(), std::filesystem::copy_options::recursive);
  for (const auto& [answer, exit_code, said, left] :
       std::vector<std::tuple<std::string, int, std::string, size_t>>{{"\n", 2, "nothing was removed", 2},
                                                                      {"no\n", 2, "nothing was removed", 2},
                                                                      {"\x04", 2, "nothing was removed", 2},
                                                                      {"y\n", 0, "removed 1 of 2 records", 1}}) {
    const ProgramResult result = program.RunOnTerminal({"records", "rm", "method=openauc"}, 0, answer);
    EXPECT_EQ(result.exit_code, exit_code) << result.out;
    EXPECT_THAT(result.out, AllOf(HasSubstr("Remove 1 of 2 records of "), HasSubstr("[y/N]"), HasSubstr(said)));
    EXPECT_EQ(program.Records().size(), left);
  }
}

// The names of studies are texts, also if they look like numbers, and seeds are integers beyond the digits of a double.
TEST(Records, TextsAndIntegersStayWhatTheyAre) {
  const OpensetProgram program;
  const Store store(program.store());
  ASSERT_TRUE(store.Make().ok());
  const auto commit = [&](const std::string& id, const std::string& study, uint64_t seed) {
    TrialRecord record = TestRecord(TestKey(id), "softmax", 0, 0.5);
    record.mutable_trial()->set_experiment(study);
    record.mutable_trial()->set_seed(seed);
    ASSERT_TRUE(store.CommitRecord(record).value());
  };
  commit("aaaa", "2024.10", 9007199254740992u);
  commit("bbbb", "2024.1", 9007199254740993u);
  commit("cccc", "inf", ~uint64_t{0});
  const ProgramResult listed = program.MustRun({"records", "ls", "--format=json"});
  const nlohmann::json rows = nlohmann::json::parse(listed.out);
  ASSERT_EQ(rows.size(), 3);
  EXPECT_EQ(rows[0]["experiment"], "2024.10");
  EXPECT_EQ(rows[1]["experiment"], "2024.1");
  EXPECT_EQ(rows[2]["experiment"], "inf");
  EXPECT_EQ(rows[0]["seed"].get<uint64_t>(), 9007199254740992u);
  EXPECT_EQ(rows[1]["seed"].get<uint64_t>(), 9007199254740993u);
  EXPECT_EQ(rows[2]["seed"].get<uint64_t>(), ~uint64_t{0});
  EXPECT_EQ(rows[0]["openauc"], 0.5);
  for (const char* query : {"experiment=2024.100", "seed=9007199254740994", "experiment=Infinity"}) {
    EXPECT_THAT(program.Run({"records", "rm", query, "--yes"}).err, HasSubstr("no record of")) << query;
  }
  for (const char* query : {"experiment=2024.1", "seed=9007199254740992"}) {
    EXPECT_THAT(program.Run({"records", "rm", query, "--yes"}).out, HasSubstr("removed 1 of ")) << query;
  }
  EXPECT_EQ(program.Records().size(), 1);
}

// A deployment's size: results that a run no longer needs are removed even if they are new; records stay.
TEST(Records, ARunKeepsTheStoreSmall) {
  const OpensetProgram program;
  program.Write("study.textproto", kSmallStudy);
  program.Write("small.textproto", "store_gb: 1e-6");
  const ProgramResult run = program.MustRun({"run", "study.textproto", "--deploy=small.textproto"});
  EXPECT_THAT(run.out, HasSubstr("store_gb: removed "));
  EXPECT_THAT(run.err, HasSubstr("more than store_gb: the rest is records"));
  const auto records = program.Records();
  ASSERT_FALSE(records.empty());
  EXPECT_THAT(program.Run({"export", "outputs", records.begin()->first, "here"}).err, HasSubstr("no longer exists"));
  EXPECT_THAT(program.Run({"run", "study.textproto"}).out, HasSubstr("nothing to run"));
  EXPECT_EQ(program.Records(), records);
}

TEST(Records, ARunWithFailuresKeepsTheStoreSmallToo) {
  const OpensetProgram program;
  program.Write("methods/bad.textproto", "name: 'bad' base: 'softmax' training { optimizer { learning_rate: 1e20 } }");
  program.Write("study.textproto",
                absl::StrReplaceAll(kSmallStudy, {{"\"mcp\"", "\"bad\""}, {"learning_rate: 0.02", ""}}));
  program.Write("small.textproto", "store_gb: 1e-6 retries: 0");
  EXPECT_THAT(program.Run({"run", "study.textproto", "--deploy=small.textproto"}),
              FailsWith(1, HasSubstr("more than store_gb: the rest is records")));
}

// A bundle contains everything needed to reproduce its trials on a machine without the study and its task, and on
// request their outputs and checkpoints.
TEST(Records, BundlesContainLibraryAndOutputs) {
  const OpensetProgram program;
  program.Write("tasks/mine.textproto",
                "name: 'mine' data_set: 'fashion_mnist' split { known: [0, 1, 2] unknown: [3, 4] }");
  program.Write("specs/study.textproto", Spec("fashion_mnist_6_4", "mine"));
  program.MustRun({"run", "specs/study.textproto"});
  const ProgramResult written =
      program.MustRun({"records", "export", "--bundle=all.zip", "--with=outputs,checkpoints"});
  EXPECT_EQ(written.err, "");
  const OpensetProgram other("other");
  std::filesystem::copy_file(program.folder() + "/all.zip", other.folder() + "/all.zip");
  const std::string id = program.Records().begin()->first;
  // Without them the task is unknown there.
  EXPECT_EQ(other.Run({"task", "splits", "mine"}).exit_code, 2);
  other.MustRun({"records", "spec", "all.zip", id.substr(0, 8)});
  const ProgramResult again = other.MustRun({"reproduce", "all.zip", "--trials=1"});
  EXPECT_THAT(again.out,
              HasSubstr("1 of 1 trial reproduced to the bit; the bundle has 2 trials (--trials=0 runs all)\n"));
  const std::string last = program.Records().rbegin()->first;
  const ProgramResult chosen = other.Run({"reproduce", "all.zip", last.substr(0, 8)});
  EXPECT_THAT(chosen.out, AllOf(HasSubstr(last.substr(0, 12)), HasSubstr("1 of 1 trial reproduced")));
  EXPECT_THAT(other.Run({"reproduce", "all.zip", "zzzz"}).err, HasSubstr("'zzzz' is not a trial"));
  const ProgramResult merged = other.MustRun({"records", "merge", "all.zip", "--store=merged"});
  EXPECT_THAT(merged.out, AllOf(HasSubstr("2 new trials"), HasSubstr("2 new checkpoints, 2 new outputs")));
  other.MustRun({"export", "outputs", id.substr(0, 8), "here", "--store=merged"});
  EXPECT_EQ(other.Read("here/outputs.npz").size(),
            program.Run({"export", "outputs", id.substr(0, 8), "here"}).exit_code == 0
                ? program.Read("here/outputs.npz").size()
                : 0);
  other.MustRun({"records", "verify", "--store=merged"});
  // What a bundle contains has a size, as in a store.
  EXPECT_THAT(other.Run({"status", "--store=all.zip"}).out,
              AllOf(ContainsRegex("study +2 +[^ ]+ +[0-9: -]+ [0-9.]+ [kM]B\n"),
                    ContainsRegex("disk: bundle [0-9.]+ kB, records [0-9.]+ kB, outputs [0-9.]+ [kM]B, checkpoints "),
                    Not(HasSubstr(" 0 B"))));
  // The bundle is read like the store that has its records.
  const ProgramResult verified = other.MustRun({"records", "verify", "all.zip"});
  EXPECT_THAT(verified.out,
              AllOf(HasSubstr("2 records, 0 replicas, 2 checkpoints, 2 outputs, 0 failed attempts: 0 corrupt\n"),
                    HasSubstr("sha256 of the content")));
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"records", "ls", "--format=csv"},
                                             {"records", "diff", id, last},
                                             {"records", "show", id, "--format=json"},
                                             {"report", "method=mcp", "--format=csv"},
                                             {"report", "specs/study.textproto", "--format=csv"},
                                             {"compare", "specs/study.textproto"}}) {
    std::vector<std::string> of_bundle = words;
    of_bundle.push_back("--store=all.zip");
    const ProgramResult store = program.Run(words), bundle = program.Run(of_bundle);
    EXPECT_EQ(bundle.exit_code, store.exit_code) << words[0] << " " << words[1] << bundle.err;
    EXPECT_EQ(bundle.out, store.out) << words[0] << " " << words[1];
  }
  other.MustRun({"export", "outputs", id.substr(0, 8), "packed", "--store=all.zip"});
  EXPECT_EQ(other.Read("packed/outputs.npz"), other.Read("here/outputs.npz"));
  ASSERT_EQ(
      other.Run({"records", "export", "--store=all.zip", "--bundle=same.zip", "--with=outputs,checkpoints"}).exit_code,
      0);
  EXPECT_EQ(other.Read("same.zip"), other.Read("all.zip"));
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"records", "gc"}, {"records", "rm", "split=0", "--yes"}, {"records", "merge", "merged"}, {"run", "mine"}}) {
    std::vector<std::string> of_bundle = words;
    of_bundle.push_back("--store=all.zip");
    EXPECT_THAT(other.Run(of_bundle),
                FailsWith(2, HasSubstr("all.zip is a bundle, which is read-only: 'openset records merge all.zip")));
  }
  EXPECT_THAT(program.Run({"records", "export", "--bundle=x.zip", "--with=output"}).err,
              HasSubstr("--with: unknown addition 'output'; did you mean 'outputs'?"));
  // A study whose file has changed since did not make the record.
  program.Write("specs/study.textproto", Spec("fashion_mnist_6_4", "mine") + " ");
  EXPECT_THAT(program.Run({"records", "export", "--bundle=y.zip"}).err,
              HasSubstr("left out: specs/study: has changed since"));
}

TEST(Records, ListShowExplainExportAndMerge) {
  const OpensetProgram program;
  program.Write("study.textproto", kSmallStudy);
  program.MustRun({"run", "study.textproto"});

  const ProgramResult list = program.MustRun({"records", "ls", "method=mcp and auroc>0", "--sort=-auroc"});
  EXPECT_THAT(list.out, AllOf(HasSubstr("fashion_mnist_6_4"), HasSubstr("1 of 2 records"), Not(HasSubstr("softmax"))));
  const nlohmann::json records = nlohmann::json::parse(program.Run({"records", "ls", "--format=json"}).out);
  ASSERT_EQ(records.size(), 2);
  EXPECT_EQ(records[0]["experiment"], "study");
  const std::string id = records[0]["trial"];
  const ProgramResult unknown = program.Run({"records", "ls", "auruc>0.5"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'auroc'?"));
  EXPECT_THAT(program.Run({"records", "ls", "auroc>high"}),
              FailsWith(2, HasSubstr("auroc is a number, but 'high' is not")));
  // All studies of the store, and their sizes.
  const std::string status = program.Run({"status"}).out;
  EXPECT_THAT(status, ContainsRegex("\nstudy +2 +[^\n]* [0-9.]+ [kM]?B\n"));
  EXPECT_THAT(status, AllOf(HasSubstr("disk: "), HasSubstr("checkpoints ")));
  EXPECT_THAT(status, EndsWith(absl::StrCat("nothing runs on the store ", program.store(), "\n")));
  const nlohmann::json of_store = nlohmann::json::parse(program.Run({"status", "--format=json", "--watch=1"}).out);
  EXPECT_EQ(of_store["studies"][0]["study"], "study");
  EXPECT_EQ(of_store["studies"][0]["records"], 2);
  EXPECT_TRUE(of_store["running"].empty());
  const nlohmann::json of_study =
      nlohmann::json::parse(program.Run({"status", "study.textproto", "--format=json"}).out);
  EXPECT_EQ(of_study["done"], 2);
  EXPECT_EQ(of_study["left"], 0);
  EXPECT_EQ(program.Run({"status", "--format=xml"}).exit_code, 2);
  // Its methods are compared without an intermediate file.
  const ProgramResult compared = program.MustRun({"compare", "study.textproto"});
  EXPECT_THAT(compared.out, AllOf(HasSubstr("one run (fashion_mnist_6_4, split 0, seed 0)"), HasSubstr("DeLong")));

  const ProgramResult shown = program.Run({"records", "show", id.substr(0, 8)});
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr("trial_id: \"" + id), HasSubstr("ended_at_seconds"), HasSubstr("spec_sha256")));
  const nlohmann::json json = nlohmann::json::parse(program.Run({"records", "show", id, "--format=json"}).out);
  EXPECT_EQ(json["trial_id"], id);

  // A summary in words, and a study that finds the record again.
  EXPECT_THAT(program.Run({"records", "show", id, "--brief"}).out,
              AllOf(HasSubstr("trial      " + id), HasSubstr("task       fashion_mnist_6_4, split 0, seed 0\n"),
                    HasSubstr("; AUROC, % "), HasSubstr("1 epochs, last objective ")));
  const ProgramResult spec = program.MustRun({"records", "spec", id.substr(0, 8)});
  program.Write("again.textproto", spec.out);
  const ProgramResult found = program.MustRun({"run", "again.textproto"});
  EXPECT_THAT(found.out, HasSubstr(absl::StrCat("again_", id.substr(0, 12), ": its trial is done; nothing to run.")));
  // In another store it is made again, with the same numbers.
  const ProgramResult again = program.MustRun({"reproduce", id.substr(0, 8)});
  EXPECT_THAT(again.out, AllOf(HasSubstr(": same bits\n  accuracy: same bits\n  auroc: same bits\n  the same kind of "),
                               HasSubstr("\n1 of 1 trial reproduced to the bit\n")));
  // With the kernels of another kind of CPU, the bits are not expected to be the same.
  if (!absl::StrContains(program.Run({"records", "show", id}).out, "cpu_capability: \"DEFAULT\"")) {
    ASSERT_EQ(setenv("ATEN_CPU_CAPABILITY", "default", /*overwrite=*/1), 0);
    EXPECT_THAT(program.Run({"reproduce", id.substr(0, 8), "--again=slower"}).out,
                AllOf(HasSubstr("another kind of CPU or GPU: "), HasSubstr("DEFAULT this run, so that the")));
    unsetenv("ATEN_CPU_CAPABILITY");
  }
  // The methods' recipes have different weight decay.
  const ProgramResult differ = program.MustRun({"records", "diff", id, program.Records().rbegin()->first});
  EXPECT_THAT(differ.out, AllOf(HasSubstr("\nsettings\n  "), HasSubstr("\n  method.training.optimizer.weight_decay: "),
                                HasSubstr("\ndata: the same\n"), Not(HasSubstr("\n  method.augmentation"))));
  const ProgramResult equal = program.Run({"records", "diff", id, id});
  EXPECT_THAT(equal.out, HasSubstr("\nsettings: the same\ndata: the same\nprogram and machine: the same\nmetrics: the "
                                   "same\n"));
  EXPECT_EQ(program.Run({"records", "diff", id}).exit_code, 2);
  EXPECT_EQ(program.Run({"reproduce", "0000"}).exit_code, 2);

  // The training has a log; the inference has none.
  const std::string log = absl::StrCat("logs/", json["checkpoint_key"].get<std::string>(), ".log");
  program.Write("openset-store/" + log, "a warning\n");
  const std::string with_log = program.Run({"explain", id}).out;
  EXPECT_THAT(with_log, HasSubstr("    its log: " + program.store() + "/" + log + "\n"));
  EXPECT_EQ(with_log.find("its log: "), with_log.rfind("its log: "));
  EXPECT_THAT(program.Run({"explain", id, "study.textproto"}).out, HasSubstr(log));

  // First nothing has changed; then a field has.
  EXPECT_THAT(program.Run({"explain", id.substr(0, 8)}).out, HasSubstr("nothing would run again"));
  program.Write("changed.textproto",
                absl::StrReplaceAll(kSmallStudy, {{"name: \"study\"", "name: \"changed\""},
                                                  {"learning_rate: 0.02", "learning_rate: 0.05"}}));
  const nlohmann::json plan = nlohmann::json::parse(program.Run({"plan", "changed.textproto", "--format=json"}).out);
  const std::string changed = plan["trials"][0]["id"];
  const ProgramResult explained = program.MustRun({"explain", changed, "changed.textproto"});
  EXPECT_THAT(explained.out, AllOf(HasSubstr("method.training.optimizer.learning_rate: 0.05, was 0.02"),
                                   HasSubstr("train "), HasSubstr("runs: the store has no result with this key")));
  EXPECT_THAT(program.Run({"explain", id, "changed.textproto"}).out,
              HasSubstr("changed has no such trial; the nearest is"));

  // Outputs are exported, and eval reads them.
  const ProgramResult taken = program.MustRun({"export", "outputs", id, "mine"});
  program.MustRun({"eval", "mine/outputs.npz", "--metrics=auroc"});
  EXPECT_THAT(program.Read("mine/record.textproto"), HasSubstr(id));
  EXPECT_EQ(program.Run({"export", "outputs", id, "mine"}).exit_code, 2);
  // Which samples these are: 10 of each of 6 known and 4 unknown classes, the first in their part.
  const std::vector<std::string> samples = absl::StrSplit(program.Read("mine/samples.csv"), '\n', absl::SkipEmpty());
  ASSERT_EQ(samples.size(), 1 + 100);
  EXPECT_EQ(samples[0], "row,label,class,group,sample");
  EXPECT_THAT(samples[1], ContainsRegex("^0,[0-5],[^,]+,,fashion_mnist: test [0-9]+$"));
  EXPECT_THAT(samples[100], ContainsRegex("^99,-1,[^,]+,[^,]+,fashion_mnist: test [0-9]+$"));
  EXPECT_EQ(program.Run({"task", "samples", "fashion_mnist_6_4", "--split=0", "--test_limit=10", "--format=csv"}).out,
            program.Read("mine/samples.csv"));
  // The mistakes are among them.
  const ProgramResult mistakes = program.MustRun({"export", "mistakes", id, "--format=csv"});
  const std::vector<std::string> lines = absl::StrSplit(mistakes.out, '\n', absl::SkipEmpty());
  EXPECT_EQ(lines[0], "kind,row,class,group,predicted,unknown_score,sample");
  ASSERT_GT(lines.size(), 10);
  for (size_t l = 1; l < lines.size(); ++l) {
    const std::vector<std::string> cells = absl::StrSplit(lines[l], ',');
    int row = -1;
    ASSERT_TRUE(absl::SimpleAtoi(cells[1], &row)) << lines[l];
    const std::vector<std::string> sample = absl::StrSplit(samples[row + 1], ',');
    EXPECT_EQ(cells[6], sample[4]);
    EXPECT_EQ(cells[2], sample[2]);
    EXPECT_EQ(cells[0] == "unknown taken for known", sample[1] == "-1") << lines[l];
  }
  EXPECT_EQ(program.Run({"export", "mistake", id}).exit_code, 2);

  // Exports to another store and back.
  const ProgramResult bundled = program.MustRun({"records", "export", "--bundle=all.zip"});
  EXPECT_THAT(bundled.out, AllOf(HasSubstr("all.zip: 2 trials"), HasSubstr("sha256 ")));
  const ProgramResult merged = program.MustRun({"records", "merge", "all.zip", "--store=other"});
  EXPECT_THAT(merged.out, HasSubstr("2 new trials"));
  EXPECT_THAT(program.Run({"records", "merge", "openset-store", "--store=other"}).out, HasSubstr("2 there already"));
  EXPECT_EQ(program.Run({"report", "study.textproto", "--store=other", "--format=csv"}).out,
            program.Run({"report", "study.textproto", "--format=csv"}).out);
  // A board of both, which have the same records.
  const ProgramResult board = program.MustRun({"records", "board", "site", "all.zip", "openset-store"});
  EXPECT_EQ(board.out, "site/index.html: 2 records\n");
  const std::string page = program.Read("site/index.html");
  EXPECT_THAT(page, AllOf(HasSubstr("2 trials, 2 records: 2 not rerun."), Not(HasSubstr("<script"))));
  EXPECT_THAT(program.Read("site/records.csv"), HasSubstr("\n" + id + ","));
  EXPECT_EQ(program.Run({"records", "board", "site"}).exit_code, 0);  // of --store, in place of the first
  EXPECT_THAT(program.Run({"records", "board", "all.zip"}).err,
              HasSubstr("all.zip: is a bundle; first name the folder"));
  EXPECT_THAT(program.Run({"records", "board", "openset-store"}).err, HasSubstr("openset-store: is a store; first"));
  EXPECT_EQ(program.Run({"records", "board"}).exit_code, 2);
  std::ofstream(program.folder() + "/all.zip", std::ios::app) << "x";
  EXPECT_EQ(program.Run({"records", "board", "site", "all.zip"}).exit_code, 2);
  EXPECT_THAT(program.Run({"records", "merge", "all.zip", "--store=third"}), FailsWith(2, HasSubstr("all.zip")));
}

// Also after export and merge. New columns must be added to the expected file by hand.
TEST(Records, OfAReleasedVersionGiveTheSameTable) {
  const OpensetProgram program;
  const std::string released = *RunfilesFolder() + "/openset/experiments/store/testdata/version_3";
  std::filesystem::copy(released, program.store(), std::filesystem::copy_options::recursive);
  const std::string table = program.Shipped("tools/testing/testdata/version_3.csv");
  EXPECT_THAT(table, HasSubstr("openauc,fashion_mnist_6_4,1,7,0.1,0.8125,"));
  EXPECT_EQ(program.Run({"records", "ls", "--format=csv"}).out, table);
  program.MustRun({"records", "export", "--bundle=all.zip"});
  program.MustRun({"records", "merge", "all.zip", "--store=other"});
  EXPECT_EQ(program.Run({"records", "ls", "--format=csv", "--store=other"}).out, table);
}

TEST(Records, VerifyAndCollectGarbage) {
  const OpensetProgram program;
  program.Write("study.textproto", kSmallStudy);
  program.MustRun({"run", "study.textproto"});
  const ProgramResult whole = program.MustRun({"records", "verify"});
  EXPECT_THAT(whole.out, HasSubstr("2 records, 0 replicas, 2 checkpoints, 2 outputs, 0 failed attempts: 0 corrupt"));
  std::string checkpoint;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(program.store() + "/checkpoints")) {
    if (entry.path().extension() == ".safetensors") checkpoint = entry.path().string();
  }
  std::filesystem::resize_file(checkpoint, std::filesystem::file_size(checkpoint) - 1);
  const ProgramResult looked = program.Run({"records", "verify", "--dry_run"});
  EXPECT_EQ(looked.exit_code, 1);
  EXPECT_THAT(looked.out, HasSubstr(checkpoint + ": does not match its checksum\n"));
  const ProgramResult damaged = program.Run({"records", "verify"});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.out, HasSubstr("/quarantine/1"));
  program.MustRun({"records", "verify"});
  EXPECT_THAT(program.Run({"status", "study.textproto"}).out, HasSubstr("in quarantine: 1"));

  std::ofstream(program.store() + "/tmp/x.tmp.elsewhere.1.0") << "x";
  EXPECT_THAT(program.Run({"records", "gc", "--dry_run"}).out, HasSubstr("would remove 0"));
  program.MustRun({"records", "gc"});
  EXPECT_EQ(program.Run({"records", "gc", "--older_than=-1"}).exit_code, 2);
  // Where nothing can be written, nothing can be removed: here, tmp is a file.
  std::filesystem::remove_all(program.store() + "/tmp");
  program.Write("openset-store/tmp", "");
  const ProgramResult stuck = program.Run({"records", "gc"});
  EXPECT_NE(stuck.exit_code, 0);
  EXPECT_THAT(stuck.err, HasSubstr("nothing was removed: "));
  std::filesystem::remove(program.store() + "/tmp");
  EXPECT_EQ(program.Run({"records", "sl"}).exit_code, 2);
  EXPECT_EQ(program.Run({"records", "ls", "--store=nowhere"}).exit_code, 2);
}

TEST(Spec, MistakesAreFoundBeforeAnythingIsWritten) {
  const OpensetProgram program;
  for (const auto& [from, to, message] : std::vector<std::array<std::string, 3>>{
           {"metric { auroc {} }", "metric { auroc {} }\nmetric { auroc {} }", "auroc is listed twice"},
           {"metric { auroc {} }",
            "metric { auroc {} }\naxis { path: 'training.epochs' value: ['1', '2'] }\naxis { path: 'training.epochs' "
            "value: '3' }",
            "is swept by another axis already"},
           {"metric { auroc {} }",
            "metric { auroc {} }\naxis { path: 'training.optimizer.learning_rate' value: ['0.10', '0.1'] }",
            "0.1 is the same value as 0.10"},
           {"name: \"study\"", "name: \"../study\"", "is not a valid name"},
           {"name: \"study\"", "name: \"\"", "is not a valid name"},
           {"metric { auroc {} }", "metric { auroc {} }\nexpected_trials: 7",
            "expected_trials: is 7, but the study has 2 trials"}}) {
    program.Write("bad.textproto", Spec(from, to));
    for (const char* command : {"plan", "run", "report"}) {
      if (std::string(command) == "report") std::filesystem::create_directories(program.store());
      EXPECT_THAT(program.Run({command, "bad.textproto"}),
                  FailsWith(2, AllOf(HasSubstr("bad.textproto:"), HasSubstr(message))));
      EXPECT_TRUE(!std::filesystem::exists(program.store()) || std::filesystem::is_empty(program.store()));
      std::filesystem::remove_all(program.store());
    }
  }
  EXPECT_THAT(program.Run({"plan", "quickstart", "--data=/nope"}),
              FailsWith(2, HasSubstr("--data: there is no folder /nope")));
  EXPECT_THAT(program.Run({"report", "quickstart", "--store=/nope"}),
              FailsWith(2, HasSubstr("there is no store /nope")));
}

TEST(Spec, RefusesTheNameOfAnotherStudyInTheStore) {
  const OpensetProgram program;
  program.Write("a.textproto", kSmallStudy);
  program.Write("b.textproto", Spec("seed: 0", "seed: 1"));
  program.MustRun({"run", "a.textproto"});
  const std::string report = program.Read("openset-store/reports/study/report.json");
  EXPECT_THAT(program.Run({"run", "b.textproto"}),
              FailsWith(2, AllOf(HasSubstr("b.textproto:2: name: "), HasSubstr("reports of another study 'study'"),
                                 HasSubstr("a.textproto"))));
  EXPECT_EQ(program.Read("openset-store/reports/study/report.json"), report);
  // The spec may change, and move.
  std::filesystem::rename(program.folder() + "/a.textproto", program.folder() + "/c.textproto");
  program.MustRun({"plan", "c.textproto", "--noprobe"});
  program.MustRun({"plan", "b.textproto", "--noprobe"});
}

TEST(Spec, FailedTrialsAreReportedAndCanBeSelected) {
  const OpensetProgram program;
  program.Write("study.textproto", Spec("learning_rate: 0.02", "learning_rate: 1e20"));
  const ProgramResult failed = program.Run({"run", "study.textproto"});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_THAT(failed.out, HasSubstr("the training diverged: the loss is nan in epoch 1, at learning rate 1e+20"));
  EXPECT_THAT(program.Run({"status", "study.textproto"}).out, HasSubstr("in epoch 1: the training diverged"));

  const ProgramResult others = program.MustRun({"run", "study.textproto", "--only=missing"});
  EXPECT_THAT(others.out, HasSubstr("2 of 2 trials left, and --only selects none of them; nothing to run."));
  EXPECT_EQ(program.Run({"run", "study.textproto", "--only=failed"}).exit_code, 1);
  const nlohmann::json plan =
      nlohmann::json::parse(program.Run({"plan", "study.textproto", "--only=failed", "--format=json"}).out);
  for (const nlohmann::json& action : plan["actions"]) EXPECT_TRUE(action["needed"]);
  for (const nlohmann::json& action : plan["actions"]) {
    if (action["kind"] != "train") continue;
    program.Write(absl::StrCat("openset-store/partial/", action["key"].get<std::string>(), ".safetensors"), "an epoch");
    EXPECT_THAT(program.Run({"status", "study.textproto"}).out,
                HasSubstr("1 training has a saved state, from which it continues\n"));
    break;
  }
  EXPECT_THAT(program.Run({"explain", plan["trials"][0]["id"], "study.textproto"}).out,
              HasSubstr("    2 attempts failed, the last one: the training diverged"));
}

TEST(Spec, AFailedRunKeepsAFullerReport) {
  const OpensetProgram program;
  program.Write("study.textproto", kSmallStudy);
  program.MustRun({"run", "study.textproto"});
  const std::string report = program.Read("openset-store/reports/study/report.json");
  program.Write("study.textproto", Spec("learning_rate: 0.02", "learning_rate: 0.05"));
  const ProgramResult failed = program.Run({"run", "study.textproto", "--worker=/bin/false", "--retries=0"});
  EXPECT_EQ(failed.exit_code, 1) << failed.err;
  EXPECT_THAT(failed.out, HasSubstr("of an earlier run: it has 2 results, this one 0"));
  EXPECT_EQ(program.Read("openset-store/reports/study/report.json"), report);
}

// Tags are no part of a trial: its id and its report stay, and a record keeps the tags of the run that made it.
TEST(Spec, TagsFindTheRecordsOfARun) {
  const OpensetProgram plain("plain"), program("tagged");
  for (const OpensetProgram* one : {&plain, &program}) one->Write("study.textproto", kSmallStudy);
  plain.MustRun({"run", "study.textproto"});
  program.MustRun({"run", "study.textproto", "--methods=softmax", "--tag=first,with_the_new_disk"});
  const ProgramResult later = program.MustRun({"run", "study.textproto", "--tag=later"});
  EXPECT_THAT(later.out, AllOf(HasSubstr("/reports/study/report"), Not(HasSubstr("--tag"))));
  const auto ids = [](const OpensetProgram& of) {
    std::vector<std::string> found;
    for (const auto& [id, record] : of.Records()) found.push_back(id);
    return found;
  };
  EXPECT_EQ(ids(plain), ids(program));
  const auto methods = [&](const char* query) {
    std::vector<std::string> found;
    for (const auto& row : nlohmann::json::parse(program.Run({"records", "ls", "--format=json", query}).out)) {
      found.push_back(row["method"]);
    }
    return found;
  };
  EXPECT_THAT(methods("tag=first"), ElementsAre("softmax"));
  EXPECT_THAT(methods("tag=with_the_new_disk and method=softmax"), ElementsAre("softmax"));
  EXPECT_THAT(methods("tag=later"), ElementsAre("mcp"));
  EXPECT_THAT(program.Run({"records", "show", program.Records().begin()->first, "--brief"}).out, HasSubstr("tags"));
  EXPECT_THAT(program.Run({"run", "study.textproto", "--tag=a b"}), FailsWith(2, HasSubstr("--tag: ")));
}

TEST(Spec, OverridesAreRecordedAndHaveTheirOwnReport) {
  const OpensetProgram program;
  program.Write("study.textproto", kSmallStudy);
  const std::vector<std::string> changes = {"--set", "training.epochs=2", "--set=training.batch_size=32",
                                            "--seeds=3..4", "--methods=softmax"};
  std::vector<std::string> run = {"run", "study.textproto"}, plan = {"plan", "study.textproto", "--noprobe"};
  run.insert(run.end(), changes.begin(), changes.end());
  plan.insert(plan.end(), changes.begin(), changes.end());
  EXPECT_THAT(program.Run(plan).out, HasSubstr("study: 2 trials\n"));
  const ProgramResult result = program.MustRun(run);
  const TrialRecord record = program.AnyRecord();
  EXPECT_EQ(record.trial().method().training().epochs(), 2);
  EXPECT_EQ(record.trial().method().training().batch_size(), 32);
  EXPECT_THAT(record.trial().overrides(), ElementsAre("--set=training.epochs=2", "--set=training.batch_size=32",
                                                      "--seeds=3..4", "--methods=softmax"));
  EXPECT_FALSE(std::filesystem::exists(program.store() + "/reports/study"));
  EXPECT_THAT(result.out, HasSubstr("/reports/study+epochs=2+batch_size=32+seeds=3..4+methods=softmax/"));
  EXPECT_THAT(program.Run({"plan", "study.textproto", "--set", "training.epoch=2"}),
              FailsWith(2, AllOf(HasSubstr("--set=training.epoch=2"), HasSubstr("did you mean 'epochs'"))));
}

}  // namespace
}  // namespace openset
