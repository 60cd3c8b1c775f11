// The help of commands, and the messages of commands that do nothing.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Help, IsPrintedByEachOfItsNames) {
  const OpensetProgram program;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"run", "-h"}, {"run", "--help"}, {"help", "run"}}) {
    const ProgramResult result = program.Run(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out,
                AllOf(StartsWith("Runs the missing parts of a study"), HasSubstr("usage: openset run SPEC")));
  }
  const ProgramResult all = program.Run({"-h"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("usage: openset COMMAND ..."));
}

TEST(Help, DefaultsEndWithOneFullStop) {
  const OpensetProgram program;
  for (const char* command : {"run", "plan", "status", "report", "score", "eval", "compare", "threshold", "figure",
                              "task", "data", "records", "export", "serve", "reproduce"}) {
    const ProgramResult help = program.Run({"help", command});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.out, AllOf(ContainsRegex("[Dd]efault"), Not(HasSubstr("..\n")))) << command;
  }
}

TEST(Help, ExplainsTheSeedOfADescription) {
  const OpensetProgram program;
  EXPECT_THAT(program.Run({"help", "data"}).out,
              ContainsRegex("data[ \n]+describe:[ \n]+seed[ \n]+of[ \n]+the[ \n]+train/test"));
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
  program.Write("openset-store/version", "openset store 2\n");
  const ProgramResult refused = program.Run({"records", "export", "--bundle=records.parquet"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err,
              HasSubstr("--bundle: records.parquet: a bundle's name must end in .zip; `openset report SPEC"));
  EXPECT_EQ(program.Read("records.parquet"), "");
}

TEST(Help, ExplainsWhatGcKeeps) {
  const OpensetProgram program;
  program.Write("openset-store/version", "openset store 2\n");
  const ProgramResult result = program.Run({"records", "gc", "--older_than=0"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "removed 0, 0 B; files younger than an hour stay, because a run may be writing them\n");
}

}  // namespace
}  // namespace openset
