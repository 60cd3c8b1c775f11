// Wrong input: a clear line, exit code 2, nothing written.

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/machine/machine.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kSpec[] =
    "name: 'study'\n"
    "task: 'fashion_mnist_6_4'\n"
    "method: 'softmax'\n"
    "split: 0\n"
    "seed: 0\n"
    "metric { accuracy {} }\n";

class BadInputTest : public ::testing::Test {
 protected:
  // Runs study.textproto and expects one line that contains `message`, and nothing in the store.
  void ExpectRefused(const std::string& spec, const std::string& message, std::vector<std::string> flags = {}) {
    program_.Write("study.textproto", spec);
    flags.insert(flags.begin(), {"run", "study.textproto"});
    const ProgramResult result = program_.Run(flags);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
    const std::vector<std::string> lines = absl::StrSplit(result.err, '\n', absl::SkipEmpty());
    EXPECT_EQ(lines.size(), 1) << result.err;
    EXPECT_FALSE(FileExists(program_.store()));
  }

  const OpensetProgram program_;
};

TEST_F(BadInputTest, AStoreOfSchemaVersion1) {
  program_.Write("study.textproto", kSpec);
  program_.Write("openset-store/records/ab/abcd.rec", "of version 1");
  for (const char* command : {"plan", "run", "status", "report"}) {
    const ProgramResult result = program_.Run({command, "study.textproto"});
    EXPECT_EQ(result.exit_code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr(absl::StrCat("the store ", program_.store(), " is of schema version 1")));
    EXPECT_THAT(result.err,
                HasSubstr("name another folder (--store), where its results are made again; or, if only its "
                          "file 'version' was lost, write into it: openset store 3\n"));
    const std::vector<std::string> lines = absl::StrSplit(result.err, '\n', absl::SkipEmpty());
    EXPECT_EQ(lines.size(), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
  EXPECT_FALSE(FileExists(program_.store() + "/version"));
}

TEST_F(BadInputTest, AStoreThatIsAFile) {
  program_.Write("study.textproto", kSpec);
  program_.Write("openset-store", "a file");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"plan", "study.textproto"},
                                                {"run", "study.textproto"},
                                                {"status", "study.textproto"},
                                                {"report", "study.textproto"},
                                                {"status"},
                                                {"records", "ls"},
                                                {"records", "merge", "study.textproto"},
                                                {"explain", "abcd"}}) {
    const ProgramResult result = program_.Run(words);
    EXPECT_EQ(result.exit_code, 2) << words[0];
    EXPECT_THAT(result.err, HasSubstr(absl::StrCat(program_.store(), " is not a folder: name another store")));
    EXPECT_EQ(result.out, "");
  }
  EXPECT_EQ(program_.Read("openset-store"), "a file");
}

TEST_F(BadInputTest, NoStore) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"status"},
                                                {"records", "ls"},
                                                {"records", "verify"},
                                                {"records", "gc"},
                                                {"explain", "abcd"}}) {
    EXPECT_THAT(program_.Run(words), FailsWith(2, HasSubstr(absl::StrCat("there is no store ", program_.store()))));
  }
  // Of two things that are missing, the study is named first.
  program_.Write("study.textproto", kSpec);
  EXPECT_EQ(program_.Run({"report", "nope/x"}).err, "openset: nope/x: no such file or folder\n");
  EXPECT_EQ(program_.Run({"report", "study.textproto", "--store=nope"}).err,
            absl::StrCat("openset: there is no store ", program_.folder(),
                         "/nope, and so no result of study.textproto: name the store by --store=FOLDER\n"));
  program_.Write("mine/version", "openset store 3\n");
  EXPECT_EQ(program_.Run({"report", "mine"}).err, "openset: mine/: is a store: give it by --store=mine/\n");
}

// Each error is in one line, with the file and, where there is one, the line.
TEST_F(BadInputTest, ASpecThatIsWrong) {
  program_.Write("data/tasks/mine.textproto",
                 "name: 'mine'\ndata_set: 'fashion_mnist'\nsplit {\n  known: [0, 1]\n  unknown: [1, 2]\n}\n");
  const auto with = [](const std::string& text, const std::string& other) {
    return absl::StrReplaceAll(kSpec, {{text, other}});
  };
  ExpectRefused(absl::StrCat(kSpec, "sed: 1"), "study.textproto:7:4: unknown field 'sed'; did you mean 'seed'?");
  ExpectRefused(with("softmax", "sofmax"),
                "study.textproto:3: method[0]: unknown method 'sofmax'; did you mean 'softmax'?");
  ExpectRefused(with("fashion_mnist_6_4", "fashion"), "study.textproto:2: task[0]: unknown task 'fashion'");
  ExpectRefused(with("seed: 0\n", ""), "study.textproto: seed: must not be empty");
  ExpectRefused(with("fashion_mnist_6_4", "mine"), "data/tasks/mine.textproto:5: ");  // known and unknown
  ExpectRefused(absl::StrCat(kSpec, "override { training { batch_size: 0 } }"),
                "study.textproto:7: override.training.batch_size: must be at least 1 (is 0)");
}

TEST_F(BadInputTest, Bf16NeedsACpuWithItsInstructions) {
  const std::vector<std::string> features = CpuFeatures();
  if (std::count(features.begin(), features.end(), "avx512bf16") > 0) GTEST_SKIP() << "this CPU has them";
  program_.Write("study.textproto", kSpec);
  EXPECT_THAT(program_.Run({"run", "study.textproto", "--set=execution.precision=BF16"}),
              FailsWith(2, AllOf(HasSubstr("execution.precision: BF16 needs a GPU"), HasSubstr(CpuName()))));
  EXPECT_TRUE(program_.Records().empty());
}

TEST_F(BadInputTest, Tf32NeedsAGpu) {
  program_.Write("study.textproto", kSpec);
  const std::string why = "execution.precision: TF32 needs a GPU: use FP32 on the CPU, or a GPU (--devices)";
  EXPECT_THAT(program_.Run({"run", "study.textproto", "--devices=cpu", "--set=execution.precision=TF32"}),
              FailsWith(2, HasSubstr(why)));
  EXPECT_TRUE(program_.Records().empty());
  const ProgramResult plan =
      program_.MustRun({"plan", "study.textproto", "--devices=cpu", "--set=execution.precision=TF32", "--noprobe"});
  EXPECT_THAT(plan.err, HasSubstr("warning: " + why));
}

TEST_F(BadInputTest, MissingDataFile) {
  program_.Write("data/catalog/mine.textproto",
                 absl::StrReplaceAll(program_.Shipped("data/catalog/fashion_mnist.textproto"),
                                     {{"fashion_mnist/train-images-idx3-ubyte.gz", "fashion_mnist/nowhere.gz"},
                                      {"name: \"fashion_mnist\"", "name: \"mine\""}}));
  program_.Write("data/tasks/mine.textproto", "name: 'mine' data_set: 'mine' split { known: [0, 1] }");
  ExpectRefused(absl::StrReplaceAll(kSpec, {{"fashion_mnist_6_4", "mine"}}), "nowhere.gz");
}

TEST_F(BadInputTest, WrongChecksum) {
  program_.Write("mine/fashion_mnist/train-labels-idx1-ubyte.gz", "other bytes");
  ExpectRefused(kSpec, "train-labels-idx1-ubyte.gz", {"--data=mine"});
}

TEST_F(BadInputTest, TruncatedIdxFile) {
  // A catalog entry without checksums, so that the reader finds the error.
  std::string images("\0\0\x08\x03\0\0\0\x28\0\0\0\x04\0\0\0\x04", 16);
  images.append(40 * 16 - 1, 'x');  // a byte short
  std::string labels("\0\0\x08\x01\0\0\0\x28", 8);
  for (int i = 0; i < 40; ++i) labels.push_back(static_cast<char>(i % 4));
  program_.Write("mine/tiny/images", images);
  program_.Write("mine/tiny/labels", labels);
  program_.Write("data/catalog/tiny.textproto",
                 "name: 'tiny' class_name: ['a', 'b', 'c', 'd'] channels: 1 height: 4 width: 4 layout { "
                 "part { name: 'train' samples: 40 samples_per_class: 10 "
                 "idx { images { path: 'tiny/images' } labels { path: 'tiny/labels' } } } "
                 "part { name: 'test' samples: 40 samples_per_class: 10 "
                 "idx { images { path: 'tiny/images' } labels { path: 'tiny/labels' } } } }");
  program_.Write("data/tasks/tiny.textproto", "name: 'tiny' data_set: 'tiny' split { known: [0, 1] unknown: [2, 3] }");
  ExpectRefused(absl::StrReplaceAll(kSpec, {{"fashion_mnist_6_4", "tiny"}}), "mine/tiny/images", {"--data=mine"});
}

TEST_F(BadInputTest, MissingSpec) {
  const ProgramResult result = program_.Run({"run", "nowhere.textproto"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "openset: no such file: nowhere.textproto\n");
  EXPECT_THAT(program_.Run({"run", "quickstat"}).err,
              HasSubstr("unknown study 'quickstat'; did you mean 'quickstart'?"));
  program_.Write("base.textproto", kSpec);
  EXPECT_THAT(program_.Run({"report", "bas"}).err,
              HasSubstr("unknown study 'bas'; did you mean 'base'? (known: base, "));
}

TEST_F(BadInputTest, FileThatIsNotASpec) {
  program_.Write("empty.textproto", "");
  EXPECT_EQ(program_.Run({"run", "empty.textproto"}).exit_code, 2);
  program_.Write("binary.textproto", std::string("\0\xff\xfe{{", 5));
  EXPECT_EQ(program_.Run({"run", "binary.textproto"}).exit_code, 2);
  std::filesystem::create_directories(program_.folder() + "/folder.textproto");
  EXPECT_EQ(program_.Run({"run", "folder.textproto"}).exit_code, 2);
  EXPECT_FALSE(FileExists(program_.store()));
}

TEST_F(BadInputTest, FlagsAndCommands) {
  const auto error = [&](const std::vector<std::string>& arguments) {
    const ProgramResult result = program_.Run(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    return result.err;
  };
  EXPECT_THAT(error({"runn", "quickstart"}), HasSubstr("unknown command 'runn'; did you mean 'run'?"));
  EXPECT_THAT(error({"gc"}), HasSubstr("'gc' is a subcommand: 'openset records gc'"));
  EXPECT_THAT(error({"run", "quickstart", "--stor=x"}), HasSubstr("unknown flag '--stor'; did you mean '--store'?"));
  EXPECT_THAT(error({"run"}), HasSubstr("usage: openset run SPEC"));
  EXPECT_THAT(error({"run", "a", "b"}), HasSubstr("usage: openset run SPEC"));
  EXPECT_THAT(error({"run", "quickstart", "--jobs=x"}), HasSubstr("--jobs: 'x' is not valid"));
  EXPECT_THAT(error({"report", "quickstart", "--format=jsn"}), HasSubstr("did you mean 'json'?"));
  EXPECT_FALSE(FileExists(program_.store()));
}

TEST_F(BadInputTest, HelpIsPrinted) {
  for (const std::string command : {"run", "plan", "status", "report"}) {
    const ProgramResult help = program_.MustRun({"help", command});
    const std::string spec = command == "status" ? " [SPEC]" : " SPEC";
    EXPECT_THAT(help.out, HasSubstr(absl::StrCat("usage: openset ", command, spec)));
    EXPECT_THAT(help.out, AllOf(HasSubstr("--deploy"), HasSubstr("--store")));
  }
  EXPECT_THAT(program_.Run({}).out, HasSubstr("usage: openset COMMAND"));
  EXPECT_THAT(program_.Run({"--help"}).out, HasSubstr("report "));
}

// Numbers that are too large in specs and flags: an error with the number, before anything is made.

class LimitsTest : public ::testing::Test {
 protected:
  void WriteTask(const std::string& splits) const {
    program_.Write("tasks/mine.textproto", absl::StrCat("name: 'mine'\ndata_set: 'mnist'\n", splits));
  }

  void WriteSpec(const std::string& more) const {
    program_.Write("study.textproto",
                   absl::StrCat("name: 'study'\ntask: 'mine'\nmethod: 'softmax'\nmetric { auroc {} }\n", more));
  }

  void ExpectRefused(const std::vector<std::string>& flags, const std::string& message) const {
    std::vector<std::string> words = {"plan", "study.textproto"};
    words.insert(words.end(), flags.begin(), flags.end());
    EXPECT_THAT(program_.Run(words), FailsWith(2, HasSubstr(message)));
  }

  const OpensetProgram program_;
};

TEST_F(LimitsTest, SplitsOfATask) {
  WriteSpec("seed: 0");
  WriteTask("drawn { level { known: 6 unknown: 4 } repeats: 65536 }\ncross_validation { folds: 65536 }");
  ExpectRefused({}, "tasks/mine.textproto:3: drawn: these are 4294967296 splits");
  WriteTask("drawn { level { known: 6 unknown: 4 } repeats: 2147483647 }");
  ExpectRefused({}, "tasks/mine.textproto:3: drawn.repeats: must be at most 1000000 (is 2147483647)");
  WriteTask("drawn { levels: 2147483647 }");
  ExpectRefused({}, "drawn.levels: must be at most 1000000 (is 2147483647)");
  WriteTask("split { known: 0 }\ncross_validation { folds: 2147483647 }");
  ExpectRefused({}, "cross_validation.folds: must be at most 1000000 (is 2147483647)");
  EXPECT_EQ(program_.Run({"task", "splits", "mine"}).exit_code, 2);
}

// More than the 100,000 trials that are planned in a second: each split is resolved once, in linear time.
TEST_F(LimitsTest, PlansEachOfManySplitsOnce) {
  WriteSpec("seed: 0");
  WriteTask("drawn { level { known: 6 unknown: 4 } repeats: 200000 }");
  const ProgramResult plan = program_.MustRun({"plan", "study.textproto", "--format=csv"});
  EXPECT_EQ(std::count(plan.out.begin(), plan.out.end(), '\n'), 200001);
  EXPECT_LT(std::count(plan.err.begin(), plan.err.end(), '\n'), 30);
}

TEST_F(LimitsTest, TrialsOfAStudy) {
  WriteTask("split { known: 0 } split { known: 1 }");
  std::string axes;
  for (const char* field : {"epochs", "batch_size", "max_steps", "optimizer.learning_rate"}) {
    absl::StrAppend(&axes, "axis { path: 'training.", field, "'");
    for (int v = 1; v <= 100000; ++v) absl::StrAppend(&axes, " value: '", v, "'");
    absl::StrAppend(&axes, " }\n");
  }
  WriteSpec(absl::StrCat("seed: 0\n", axes));
  ExpectRefused({}, "study.textproto: makes more than 9223372036854775807 trials (");
  WriteSpec("seed: [0, 1, 2]");
  ExpectRefused({"--max_trials=5"},
                "study.textproto: makes 6 trials (methods and settings: 1, splits of tasks: 2, levels of openness: 1, "
                "seeds: 3), and at most 5 are allowed; --max_trials=N allows more");
  const ProgramResult plan = program_.MustRun({"plan", "study.textproto", "--max_trials=6", "--noprobe"});
  ExpectRefused({"--seeds=0..999999999"}, "--seeds=0..999999999: '0..999999999': there may be at most 100000 seeds");
  ExpectRefused({"--seeds=0..99999,100000..199999"}, "there may be at most 100000 seeds");
  program_.MustRun({"plan", "study.textproto", "--seeds=18446744073709551615", "--noprobe"});
  ExpectRefused({"--set=training.epochs=2147483647"}, "training.epochs: must be at most 1000000 (is 2147483647)");
}

TEST_F(LimitsTest, CandidatesOfASearch) {
  WriteTask("split { known: 0 }");
  std::string axes;
  for (const char* field : {"epochs", "batch_size", "max_steps"}) {
    absl::StrAppend(&axes, "axis { path: 'training.", field, "'");
    for (int v = 1; v <= 3000; ++v) absl::StrAppend(&axes, " value: '", v, "'");
    absl::StrAppend(&axes, " }\n");
  }
  WriteSpec(absl::StrCat("seed: 0\nvalidation_per_class: 10\nsearch { method: 'softmax' criterion { accuracy {} }\n",
                         axes, "}\n"));
  ExpectRefused({}, "search[0]: 27000000000 candidates per trial exceed the limit of 1000000 in all");
}

}  // namespace
}  // namespace openset
