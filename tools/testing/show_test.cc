// `openset list` and `openset show`, through the program.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/process/subprocess.h"
#include "core/text/synonyms.h"
#include "eval/metrics/metric.h"
#include "experiments/spec/experiment.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

// The first word of each line.
std::vector<std::string> FirstWords(const std::string& text) {
  std::vector<std::string> words;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    words.emplace_back(line.substr(0, line.find(' ')));
  }
  return words;
}

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(List, KindsAndTheirEntries) {
  const OpensetProgram program;
  EXPECT_THAT(program.Run({"list"}).out, HasSubstr("method "));
  const ProgramResult methods = program.MustRun({"list", "methods"});
  EXPECT_THAT(methods.out, HasSubstr("\nknn "));
  EXPECT_THAT(methods.out, HasSubstr("Sun et al. 2022, 'Out-of-distribution detection with deep nearest neighbors'"));
  EXPECT_THAT(program.Run({"list", "scores", "LOGIT"}).out, HasSubstr("max_logit"));
  EXPECT_THAT(program.Run({"list", "scores", "LOGIT"}).out, Not(HasSubstr("entropy ")));
}

TEST(Show, AMethodIsCompleteAndCanBeParsed) {
  const OpensetProgram program;
  const ProgramResult shown = program.MustRun({"show", "method", "knn"});
  EXPECT_THAT(shown.out, HasSubstr("# Put together from\n#   experiments/methods/mcp.textproto\n"
                                   "#   experiments/methods/knn.textproto\n"));
  EXPECT_THAT(shown.out,
              HasSubstr("    # Added to the gradient: weight_decay * parameter.\n    weight_decay: 0.0005\n"));
  EXPECT_THAT(shown.out, HasSubstr("  knn {\n"));
  // As a method's file, the output gives the same trials as "knn".
  program.Write("copy.textproto", shown.out);
  const std::string tail = "task: 'fashion_mnist_6_4'\nsplit: 0\nseed: 0\nmetric { auroc {} }\n";
  program.Write("a.textproto", "name: 'a'\nmethod: 'knn'\n" + tail);
  program.Write("b.textproto", "name: 'b'\nmethod: 'copy.textproto'\n" + tail);
  const auto id = [&program](const std::string& spec) {
    return nlohmann::json::parse(program.Run({"plan", spec, "--format=json"}).out)["trials"][0]["id"];
  };
  EXPECT_EQ(id("a.textproto"), id("b.textproto"));
}

// Each kind can be listed, and an entry of it shown with its source.
TEST(Show, AnEntryOfEachKind) {
  const OpensetProgram program;
  const std::map<std::string, std::string> sources = {{"method", "experiments/methods/"},
                                                      {"preset", "experiments/presets/"},
                                                      {"task", "data/tasks/"},
                                                      {"data", "data/catalog/"},
                                                      {"spec", "experiments/specs/"},
                                                      {"published", "experiments/published/"},
                                                      {"score", "eval/scores/score.proto"},
                                                      {"metric", "eval/metrics/metric.proto"},
                                                      {"loss", "losses/loss.proto"},
                                                      {"model", "models/model.proto"},
                                                      {"head", "models/model.proto"},
                                                      {"augmentation", "data/augment/augment.proto"},
                                                      {"source", ".proto"},
                                                      {"optimizer", "experiments/spec/optimizer.proto"},
                                                      {"schedule", "experiments/spec/method.proto"},
                                                      {"inference", "experiments/spec/method.proto"}};
  const std::vector<std::string> kinds = FirstWords(program.Run({"list"}).out);
  ASSERT_EQ(kinds.size(), sources.size());
  std::set<std::string> names;
  for (const std::string& kind : kinds) {
    const std::vector<std::string> entries = FirstWords(program.Run({"list", kind}).out);
    ASSERT_FALSE(entries.empty()) << kind;
    names.insert(entries.begin(), entries.end());
    const ProgramResult shown = program.MustRun({"show", kind, entries[0]});
    EXPECT_THAT(shown.out, HasSubstr(sources.at(kind))) << kind;
  }
  // All names in the table of synonyms exist: in a list, as a metric at a level, or as a field of a study.
  for (const auto& [name, ours] : Synonyms()) {
    for (const std::string& one : ours) {
      EXPECT_TRUE(names.count(one) == 1 || MetricOfLevelName(one).has_value() ||
                  ExperimentSpec::descriptor()->FindFieldByName(one) != nullptr)
          << name << ": " << one;
    }
  }
}

TEST(Show, AMetricHasItsUnitAndDirection) {
  const OpensetProgram program;
  EXPECT_THAT(program.Run({"show", "metric", "aurc"}).out,
              StartsWith("# Shown as \"AURC, x1000\"; unit of the value: share; lower is better\n# AurcSpec, "));
  EXPECT_THAT(program.Run({"show", "metric", "known_unknown_ratio"}).out, HasSubstr("; no quality\n"));
  for (const std::string& metric : FirstWords(program.Run({"list", "metrics"}).out)) {
    program.MustRun({"show", "metric", metric});
  }
  const std::string list = program.Run({"list", "metrics"}).out;
  EXPECT_THAT(list, HasSubstr("open_set_f_* are F-scores (Eq. 1 to 3 of OpenAUC), youden_* are Youden's J (Eq. 4)"));
  EXPECT_THAT(list, HasSubstr("over recall. (known = positive)\n"));
}

TEST(Show, FieldsHaveValuesDefaultsAndMeanings) {
  const OpensetProgram program;
  const std::string loss = program.Run({"show", "loss", "open_auc"}).out;
  EXPECT_THAT(loss, HasSubstr("# OpenAucSpec, losses/loss.proto\n"));
  EXPECT_THAT(loss, HasSubstr("surrogate   SQUARE | HINGE | SQUARED_HINGE | LOGISTIC; default SQUARE\n"));
  EXPECT_THAT(loss, HasSubstr("# max(0, 1 - t)\n"));
  EXPECT_THAT(loss, HasSubstr("Beside it, of every LossTermSpec:\n"));
  EXPECT_THAT(loss, HasSubstr("\nlambda "));
}

TEST(Show, AcceptsSynonyms) {
  const OpensetProgram program;
  EXPECT_THAT(program.Run({"list", "metrics", "fpr95"}).out, StartsWith("fpr_at_95tpr "));
  EXPECT_EQ(program.Run({"list", "datasets"}).out, program.Run({"list", "data"}).out);
  EXPECT_THAT(program.Run({"show", "metric", "fpr95"}).out, StartsWith("# fpr95 is called fpr_at_95tpr here.\n"));
  EXPECT_THAT(program.Run({"show", "metric", "E-AURC"}).out, HasSubstr("\n# EaurcSpec, "));
  EXPECT_THAT(program.Run({"show", "method", "Max-Logit"}).out, HasSubstr("name: \"max_logit\"\n"));
  EXPECT_THAT(program.Run({"show", "method", "msp+crop_flip"}).out,
              StartsWith("# msp+crop_flip is called mcp+crop_flip here.\n"));
  EXPECT_THAT(program.Run({"show", "Methods", "OpenMax"}).out, HasSubstr("name: \"openmax\"\n"));
  EXPECT_THAT(program.Run({"show", "score", "MSP"}).out, HasSubstr("# MSP is called max_softmax here.\n"));
  EXPECT_THAT(program.Run({"show", "metric", "AUROC"}).out, HasSubstr("tied "));
}

// On the command line, similar names are accepted; in a spec, they are only suggested, because results are found by
// them.
TEST(Completion, CompletesThisProgramsNames) {
  const OpensetProgram program;
  const ProgramResult script = program.MustRun({"completion", "bash"});
  program.Write("script.bash", script.out);
  const auto completed = [&program](const std::string& words, int last) {
    program.Write("test.bash", "source " + program.folder() + "/script.bash\nCOMP_WORDS=(" + program.path() + " " +
                                   words + ")\nCOMP_CWORD=" + std::to_string(last) +
                                   "\n_openset\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
    return CaptureOutput({"bash", program.folder() + "/test.bash"}).value_or("failed");
  };
  EXPECT_EQ(completed("comple", 1), "completion\n");
  EXPECT_EQ(completed("completion z", 2), "zsh\n");
  EXPECT_EQ(completed("show method openauc_p", 3), "openauc_paper\n");
  EXPECT_EQ(completed("run --methods = softmax,openauc_p", 4), "softmax,openauc_paper\n");
  EXPECT_EQ(completed("eval x.npz --metrics fpr_at_95tpr_", 4), "fpr_at_95tpr_unknown_positive\n");
  EXPECT_EQ(completed("data fetch cifar100_c", 3), "cifar100_coarse\n");
  EXPECT_EQ(completed("plan quicks", 2), "quickstart\n");
  EXPECT_EQ(completed("run --max_f", 2), "--max_failures=\n");
  program.MustRun({"completion", "zsh"});
  EXPECT_THAT(program.Run({"completion", "fish"}), FailsWith(2, HasSubstr("unknown shell 'fish'")));
}

TEST(Names, InASpecAreSuggested) {
  const OpensetProgram program;
  const auto study = [&program](const char* name, const std::string& method, const std::string& metric) {
    program.Write(name, "name: 's' task: 'fashion_mnist_6_4' method: '" + method + "'\nsplit: 0 seed: 0\nmetric { " +
                            metric + " {} }\n");
  };
  study("a.textproto", "MSP", "auroc");
  EXPECT_THAT(program.Run({"plan", "a.textproto"}),
              FailsWith(2, HasSubstr("unknown method 'MSP'; did you mean 'mcp'?")));
  study("b.textproto", "mcp", "fpr95");
  EXPECT_THAT(program.Run({"plan", "b.textproto"}), FailsWith(2, HasSubstr("did you mean 'fpr_at_95tpr'?")));
  study("c.textproto", "mcp", "auroc");
  const ProgramResult typed = program.MustRun({"plan", "c.textproto", "--methods=MSP,Max-Logit", "--format=csv"});
  const ProgramResult ours = program.Run({"plan", "c.textproto", "--methods=mcp,max_logit", "--format=csv"});
  EXPECT_EQ(typed.out, ours.out);
}

TEST(Names, AStudyInTheFolderNeedsNoEnding) {
  const OpensetProgram program;
  const std::string study = "name: 's' task: 'fashion_mnist_6_4' method: 'mcp' split: 0 seed: 0 metric { auroc {} }\n";
  program.Write("small.textproto", study);
  const ProgramResult found = program.MustRun({"plan", "small", "--format=csv"});
  EXPECT_EQ(found.out, program.Run({"plan", "small.textproto", "--format=csv"}).out);
  // The program has a different study with this name.
  program.Write("quickstart.textproto", study);
  const ProgramResult two = program.Run({"plan", "quickstart"});
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.err, HasSubstr("'quickstart' may be quickstart.textproto or the study of that name in "));
  EXPECT_THAT(two.err, HasSubstr("use 'quickstart.textproto' for yours"));
  program.Write("quickstart.textproto", program.Shipped("experiments/specs/quickstart.textproto"));
  program.MustRun({"plan", "quickstart", "--format=csv"});
}

TEST(Show, UnknownNamesAreRefused) {
  const OpensetProgram program;
  EXPECT_THAT(program.Run({"show", "metod", "knn"}),
              FailsWith(2, HasSubstr("unknown kind 'metod'; did you mean 'methods'?")));
  EXPECT_THAT(program.Run({"show", "method", "knnn"}),
              FailsWith(2, HasSubstr("unknown method 'knnn'; did you mean 'knn'?")));
  EXPECT_EQ(program.Run({"show", "method", "knn+vaze60"}).exit_code, 2);
  EXPECT_EQ(program.Run({"list", "scores", "zzz"}).exit_code, 2);
}

// The help of commands, and the messages of commands that do nothing.

using ::testing::AllOf;
using ::testing::ContainsRegex;

TEST(Help, IsPrintedByEachOfItsNames) {
  const OpensetProgram program;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"run", "-h"}, {"run", "--help"}, {"help", "run"}}) {
    const ProgramResult result = program.MustRun(words);
    EXPECT_THAT(result.out,
                AllOf(StartsWith("Runs the missing parts of a study"), HasSubstr("usage: openset run SPEC")));
  }
  const ProgramResult all = program.MustRun({"-h"});
  EXPECT_THAT(all.out, HasSubstr("usage: openset COMMAND ..."));
}

TEST(Help, DefaultsEndWithOneFullStop) {
  const OpensetProgram program;
  for (const char* command : {"run", "plan", "status", "report", "score", "eval", "compare", "threshold", "figure",
                              "task", "data", "records", "export", "serve", "reproduce"}) {
    const ProgramResult help = program.MustRun({"help", command});
    EXPECT_THAT(help.out, AllOf(ContainsRegex("[Dd]efault"), Not(HasSubstr("..\n")))) << command;
  }
}

TEST(Help, ExplainsTheSeedOfADescription) {
  const OpensetProgram program;
  EXPECT_THAT(program.Run({"help", "data"}).out,
              ContainsRegex("Seed[ \n]+of[ \n]+the[ \n]+train/test[ \n]+split[ \n]+that[ \n]+describe[ \n]+draws"));
}

// A flag that several commands have says, in the help of one, nothing about the others.
TEST(Help, IsAboutItsCommand) {
  const OpensetProgram program;
  for (const char* command : {"run", "plan", "report", "score", "eval", "compare", "threshold", "status", "records"}) {
    const std::string help = program.Run({"help", command}).out;
    for (const char* other : {"With `task`", "With `data`", "With `figure`", "task new:", "STUDY_FIGURE"}) {
      EXPECT_THAT(help, Not(HasSubstr(other))) << command;
    }
  }
  const std::string task = absl::StrReplaceAll(program.Run({"help", "task"}).out, {{"\n    ", " "}});
  EXPECT_THAT(task, AllOf(HasSubstr("The data set of a new task"), HasSubstr("\n  --known  How many classes are known"),
                          HasSubstr("\n  --seed  Seed of the draws; "),
                          HasSubstr("\n  --test_limit  Samples: only the first N test samples"),
                          Not(HasSubstr("instead: ")), Not(HasSubstr("bootstrap")), Not(HasSubstr("labels are used"))));
  EXPECT_THAT(program.Run({"help", "figure"}).out, HasSubstr("STUDY_FIGURE.svg"));
}

TEST(Help, DistinguishesAccuracyFromFScore) {
  const OpensetProgram program;
  const std::string shown = program.Run({"show", "metric", "open_set_accuracy"}).out;
  EXPECT_THAT(shown, HasSubstr("Shown as \"open-set accuracy (best threshold on test), %\""));
  EXPECT_THAT(shown, HasSubstr("open_set_accuracy is the share of all samples that are right"));
  EXPECT_THAT(program.Run({"show", "metric", "open_set_f_macro"}).out, HasSubstr("Shown as \"open-set F (macro, "));
}

TEST(Help, DistinguishesArchivesFromTables) {
  const OpensetProgram program;
  program.Write("openset-store/version", "openset store 3\n");
  EXPECT_THAT(
      program.Run({"records", "export", "--bundle=records.parquet"}),
      FailsWith(2, HasSubstr("--bundle: records.parquet: a bundle's name must end in .zip; `openset report SPEC")));
  EXPECT_EQ(program.Read("records.parquet"), "");
}

TEST(Help, ExplainsWhatGcKeeps) {
  const OpensetProgram program;
  program.Write("openset-store/version", "openset store 3\n");
  const ProgramResult result = program.MustRun({"records", "gc", "--older_than=0"});
  EXPECT_EQ(result.out, "removed 0, 0 B; files younger than an hour stay, because a run may be writing them\n");
}

}  // namespace
}  // namespace openset
