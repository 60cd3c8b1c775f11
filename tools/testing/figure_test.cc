// `openset figure` of a study: two methods against near and far unknown samples.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/near_far_study.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Figure, OfAStudy) {
  const OpensetProgram program;
  WriteNearFarStudy(program);
  const auto fails = [&](const std::string& flag, const std::string& message) {
    const ProgramResult result = program.Run({"figure", "study.textproto", flag});
    EXPECT_EQ(result.exit_code, 2) << flag;
    EXPECT_THAT(result.err, HasSubstr(message)) << flag;
  };
  fails("--improvement=auroc", "there is nothing to draw: 0 of 4 trials have a record");
  ASSERT_EQ(program.Run({"run", "study.textproto"}).exit_code, 0);

  const auto drawn = [&](const std::vector<std::string>& flags, const std::string& file) {
    std::vector<std::string> words = {"figure", "study.textproto"};
    words.insert(words.end(), flags.begin(), flags.end());
    const ProgramResult result = program.Run(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return program.Read(file);
  };
  EXPECT_THAT(
      drawn({"--improvement=auroc"}, "study_improvement_auroc.svg"),
      AllOf(HasSubstr("relative change of AUROC, % of MCP's"), HasSubstr("MaxLogit"), Not(HasSubstr("max_logit"))));
  EXPECT_THAT(drawn({"--improvement=auroc", "--labels=names", "--out=names.svg"}, "names.svg"),
              AllOf(HasSubstr("relative change of AUROC, % of mcp's"), HasSubstr("max_logit")));
  EXPECT_THAT(drawn({"--curve=roc", "--spread=interval", "--out=roc.svg"}, "roc.svg"),
              AllOf(HasSubstr("mean, in its 95 % interval"), HasSubstr(">MCP<")));
  // One seed or two of one split can't be tested: no bar is solid or faint.
  for (const char* seeds : {"--seeds=0..1", "--seeds=0"}) {
    const std::string bars = drawn({"--improvement=auroc", seeds, "--out=bars.svg"}, "bars.svg");
    EXPECT_THAT(bars, AllOf(HasSubstr("fill-opacity=\"0\""),
                            HasSubstr(">outlined: not tested, fewer than 3 splits, or seeds of one split<"),
                            Not(HasSubstr("solid: ")), Not(HasSubstr("faint: "))))
        << seeds;
  }
  EXPECT_THAT(drawn({"--softmax=near,noise", "--softmax_classes=3", "--out=softmax.svg"}, "softmax.svg"),
              AllOf(HasSubstr("mean softmax"), HasSubstr("MCP: near"), HasSubstr("MCP: noise"), HasSubstr("MaxLogit")));
  EXPECT_THAT(drawn({"--softmax=near", "--methods=mcp", "--out=one.svg"}, "one.svg"), Not(HasSubstr("MaxLogit")));
  EXPECT_THAT(drawn({"--curve=categories_mcp", "--out=categories.svg"}, "categories.svg"),
              AllOf(HasSubstr(">near<"), HasSubstr(">far<"), HasSubstr("known, right")));
  EXPECT_THAT(drawn({"--curve=density_mcp", "--out=density.svg"}, "density.svg"), HasSubstr("noise (far)"));
  EXPECT_THAT(drawn({"--curve=roc", "--width=page", "--out=roc.pdf"}, "roc.pdf"), StartsWith("%PDF"));

  fails("--improvement=arouc", "unknown figure 'arouc'; did you mean 'auroc'?");
  fails("--softmax=nera", "unknown set of unknown samples 'nera'; did you mean 'near'?");
  fails("--x=lambda", "request a study's figure with --x=FIELD and --y=METRIC");
  fails("--width=column", "request a study's figure with --x=FIELD and --y=METRIC");
  EXPECT_THAT(program.Run({"figure", "study.textproto", "--curve=roc", "--folder=f"}).err,
              HasSubstr("--folder: is for"));
  EXPECT_THAT(program.Run({"figure", "toy_softmax", "--out=toy.pdf"}).err, HasSubstr("--out: is for a study's figure"));
  EXPECT_EQ(program.Run({"figure", "study.textproto", "--curve=roc", "--improvement=auroc"}).exit_code, 2);
  EXPECT_EQ(program.Run({"figure", "study.textproto", "--softmax=near", "--softmax_classes=0"}).exit_code, 2);
  EXPECT_THAT(program.Run({"figure", "study.textproto", "--improvement=auroc", "--spread=sample"}).err,
              HasSubstr("--spread: applies only to --x with --y"));
  EXPECT_THAT(program.Run({"figure", "study.textproto", "--curve=roc", "--labels=title"}).err,
              HasSubstr("unknown label 'title'; did you mean 'titles'?"));

  // A bundle gives all figures that need only records.
  ASSERT_EQ(program.Run({"records", "export", "--bundle=all.zip"}).exit_code, 0);
  const auto of_bundle = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> words = {"figure", "all.zip", "--store=none"};
    words.insert(words.end(), flags.begin(), flags.end());
    return program.Run(words);
  };
  EXPECT_EQ(of_bundle({"--curve=roc"}).out, "all_roc.svg\n");
  EXPECT_THAT(program.Read("all_roc.svg"), HasSubstr(">MCP<"));
  EXPECT_EQ(of_bundle({"--improvement=auroc", "--baseline=max_logit"}).exit_code, 0);
  EXPECT_THAT(program.Read("all_improvement_auroc.svg"), HasSubstr("% of MaxLogit's"));
  EXPECT_THAT(of_bundle({"--improvement=auroc"}).err, HasSubstr("choose one with --baseline: max_logit, mcp"));
  EXPECT_THAT(of_bundle({"--improvement=auroc", "--baseline=max_logti"}).err,
              HasSubstr("unknown baseline 'max_logti'; did you mean 'max_logit'?"));
  EXPECT_THAT(of_bundle({"--softmax=near"}).err, HasSubstr("records don't have"));
  EXPECT_THAT(of_bundle({"--curve=roc", "--seeds=0"}).err, HasSubstr("--seeds: is for a study, not for a bundle"));
  const ProgramResult compared = program.Run({"compare", "all.zip", "--baseline=mcp", "--metrics=auroc"});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("max_logit - mcp"));
}

}  // namespace
}  // namespace openset
