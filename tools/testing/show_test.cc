// `openset list` and `openset show`, through the program.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(List, KindsAndTheirEntries) {
  const OpensetProgram program;
  EXPECT_THAT(program.Run({"list"}).out, HasSubstr("method "));
  const ProgramResult methods = program.Run({"list", "methods"});
  EXPECT_EQ(methods.exit_code, 0);
  EXPECT_THAT(methods.out, HasSubstr("\nknn "));
  EXPECT_THAT(methods.out, HasSubstr("Sun et al. 2022, 'Out-of-distribution detection with deep nearest neighbors'"));
  EXPECT_THAT(program.Run({"list", "scores", "LOGIT"}).out, HasSubstr("max_logit"));
  EXPECT_THAT(program.Run({"list", "scores", "LOGIT"}).out, Not(HasSubstr("entropy ")));
}

TEST(Show, AMethodIsWholeAndCanBeReadAgain) {
  const OpensetProgram program;
  const ProgramResult shown = program.Run({"show", "method", "knn"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, HasSubstr("# Put together from\n#   experiments/methods/mcp.textproto\n"
                                   "#   experiments/methods/knn.textproto\n"));
  EXPECT_THAT(shown.out,
              HasSubstr("    # Added to the gradient: weight_decay * parameter.\n    weight_decay: 0.0005\n"));
  EXPECT_THAT(shown.out, HasSubstr("  knn {\n"));
  // As a method's file it makes the trials that "knn" makes: the program finds them to be the same.
  program.Write("copy.textproto", shown.out);
  const std::string tail = "task: 'fashion_mnist_6_4'\nsplit: 0\nseed: 0\nmetric { auroc {} }\n";
  program.Write("a.textproto", "name: 'a'\nmethod: 'knn'\n" + tail);
  program.Write("b.textproto", "name: 'b'\nmethod: 'copy.textproto'\n" + tail);
  const auto id = [&program](const std::string& spec) {
    return nlohmann::json::parse(program.Run({"plan", spec, "--format=json"}).out)["trials"][0]["id"];
  };
  EXPECT_EQ(id("a.textproto"), id("b.textproto"));
}

TEST(Show, NamesThatPeopleTypeLeadToOurs) {
  const OpensetProgram program;
  EXPECT_THAT(program.Run({"show", "score", "MSP"}).out, HasSubstr("# MSP is called max_softmax here.\n"));
  EXPECT_THAT(program.Run({"show", "metric", "AUROC"}).out, HasSubstr("tied "));
}

TEST(Show, WhatIsNotThere) {
  const OpensetProgram program;
  const ProgramResult kind = program.Run({"show", "metod", "knn"});
  EXPECT_EQ(kind.exit_code, 2);
  EXPECT_THAT(kind.err, HasSubstr("unknown kind 'metod'; did you mean 'methods'?"));
  const ProgramResult name = program.Run({"show", "method", "knnn"});
  EXPECT_EQ(name.exit_code, 2);
  EXPECT_THAT(name.err, HasSubstr("unknown method 'knnn'; did you mean 'knn'?"));
  EXPECT_EQ(program.Run({"show", "method", "knn+vaze60"}).exit_code, 2);
  EXPECT_EQ(program.Run({"list", "scores", "zzz"}).exit_code, 2);
}

}  // namespace
}  // namespace openset
