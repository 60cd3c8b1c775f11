// Messages about presets: the file with an error, the fields that a preset replaces, and grey presets on colour images.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/near_far_study.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PresetsTest : public ::testing::Test {
 protected:
  PresetsTest() { program_.Write("tasks/near_far.textproto", kNearFarTask); }

  ProgramResult Plan(const std::string& method, const std::string& task = "near_far") const {
    program_.Write("study.textproto", absl::StrCat("name: 'study' task: '", task, "' method: '", method,
                                                   "' split: 0 seed: 0 metric { auroc {} }"));
    return program_.Run({"plan", "study.textproto", "--noprobe"});
  }

  const OpensetProgram program_;
};

// ARPL's loss needs the points of its head.
TEST_F(PresetsTest, KeepTheHeadThatALossNeeds) {
  const ProgramResult plan = Plan("arpl+laptop");
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_EQ(plan.err, "");
}

TEST_F(PresetsTest, ErrorsNameThePresetThatReplacesTheHead) {
  program_.Write("presets/mine.textproto", "note: 'x'\nmodel {\n  osrci_cnn {}\n  head { linear {} }\n}\n");
  const ProgramResult plan = Plan("arpl+mine");
  EXPECT_EQ(plan.exit_code, 2);
  EXPECT_THAT(plan.err,
              HasSubstr("presets/mine.textproto:4: model.head: loss.term[1] needs a point per class: prototype "
                        "or reciprocal_point"));
  EXPECT_THAT(plan.err, Not(HasSubstr("methods/arpl")));
}

TEST_F(PresetsTest, WarnsAboutReplacedParts) {
  program_.Write("presets/mine.textproto", "note: 'x'\nmodel { osrci_cnn {} }\nscore { energy {} }\n");
  const ProgramResult plan = Plan("knn+mine");
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.err, HasSubstr("warning: knn+mine: the preset replaces the method's score knn by energy ("));
  EXPECT_THAT(plan.err, HasSubstr("presets/mine.textproto:3: score)"));
}

TEST_F(PresetsTest, WarnsOnceAboutMethodsThatBecomeEqual) {
  const std::string line = "2 methods are the same trial: ce_plus+laptop_colour, max_logit+laptop_colour";
  const ProgramResult same = Plan("ce_plus+laptop_colour' method: 'max_logit+laptop_colour");
  EXPECT_EQ(same.exit_code, 0) << same.err;
  const size_t found = same.out.find("\n" + line + ".\n");
  EXPECT_NE(found, std::string::npos) << same.out;
  EXPECT_EQ(same.out.find(line, found + line.size()), std::string::npos);
  EXPECT_THAT(Plan("mcp+laptop' method: 'max_logit+laptop").out, Not(HasSubstr("the same trial")));
}

// The same warnings follow the tables of results.
TEST_F(PresetsTest, ReportsWarnToo) {
  program_.Write("methods/copy.textproto", "name: 'copy' base: 'max_logit'");
  program_.Write("study.textproto", absl::StrReplaceAll(kNearFarStudy, {{"\"mcp\"", "\"copy\""}, {"[0, 1]", "0"}}));
  const ProgramResult run = program_.Run({"run", "study.textproto"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("\n2 methods are the same trial: copy, max_logit\n"));
}

TEST_F(PresetsTest, WarnsAboutGreyPresetsForColourImages) {
  const ProgramResult grey = Plan("max_logit+laptop", "cifar10");
  EXPECT_EQ(grey.exit_code, 0) << grey.err;
  EXPECT_THAT(
      grey.err,
      HasSubstr("warning: max_logit+laptop sees grey images of 28 x 28 pixels, but the images of cifar10 are in "
                "colour: another preset (laptop_colour), or input.channels, keeps the colours"));
  const ProgramResult colour = Plan("max_logit+laptop_colour", "cifar10");
  EXPECT_EQ(colour.exit_code, 0) << colour.err;
  EXPECT_EQ(colour.err, "");
  EXPECT_EQ(Plan("max_logit+laptop").err, "");  // Fashion-MNIST is grey
}

}  // namespace
}  // namespace openset
