// Numbers that are too large in specs and flags: an error with the number, before anything is made.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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
    const ProgramResult result = program_.Run(words);
    EXPECT_EQ(result.exit_code, 2) << result.out;
    EXPECT_THAT(result.err, HasSubstr(message));
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
  const ProgramResult plan = program_.Run({"plan", "study.textproto", "--format=csv"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
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
  const ProgramResult plan = program_.Run({"plan", "study.textproto", "--max_trials=6", "--noprobe"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  ExpectRefused({"--seeds=0..999999999"}, "--seeds=0..999999999: '0..999999999': there may be at most 100000 seeds");
  ExpectRefused({"--seeds=0..99999,100000..199999"}, "there may be at most 100000 seeds");
  EXPECT_EQ(program_.Run({"plan", "study.textproto", "--seeds=18446744073709551615", "--noprobe"}).exit_code, 0);
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
  ExpectRefused({}, "search[0]: 27000000000 candidates for each trial are more than 1000000 in all");
}

}  // namespace
}  // namespace openset
