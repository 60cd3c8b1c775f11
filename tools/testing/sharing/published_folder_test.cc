// A study that is published as a folder with its spec and a bundle of its records, through the program.
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/near_far_study.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// A published folder is a study wherever it is copied, if its bundle has the task that its spec names in that folder.
TEST(PublishedFolder, CanBeCopied) {
  const OpensetProgram program;
  WriteNearFarStudy(program);
  program.Write("results/study/study.textproto",
                absl::StrReplaceAll(kNearFarStudy, {{"\"near_far\"", "\"../../tasks/near_far.textproto\""}}));
  ASSERT_EQ(program.Run({"run", "results/study/study.textproto"}).exit_code, 0);
  ASSERT_EQ(program.Run({"records", "export", "--bundle=results/study/study.zip"}).exit_code, 0);
  const OpensetProgram other("copied");
  const auto copy = [&] {
    std::filesystem::copy(program.folder() + "/results/study", other.folder() + "/study",
                          std::filesystem::copy_options::overwrite_existing | std::filesystem::copy_options::recursive);
  };
  copy();
  const ProgramResult report = other.Run({"report", "study"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_EQ(report.out, program.Run({"report", "results/study"}).out);
  const std::string id = program.Records().begin()->first;
  const ProgramResult explained = other.Run({"explain", "study/study.zip", id.substr(0, 8), "study"});
  EXPECT_EQ(explained.exit_code, 0) << explained.err;
  EXPECT_THAT(explained.out, ContainsRegex("evaluate [0-9a-f]+: done"));
  EXPECT_EQ(other.Run({"explain", "study", id.substr(0, 8)}).exit_code, 0);
  EXPECT_THAT(other.Run({"records", "ls", "study", "method=mcp"}).out,
              AllOf(HasSubstr("mcp"), Not(HasSubstr("max_logit"))));
  EXPECT_THAT(other.Run({"explain", "study/study.zip"}).err, HasSubstr("name a trial of the bundle"));

  // Without the task: what is missing, and how it is added.
  std::filesystem::remove(program.folder() + "/tasks/near_far.textproto");
  EXPECT_THAT(program.Run({"records", "export", "--bundle=results/study/study.zip"}).err,
              HasSubstr("left out: tasks/near_far: is not in any library"));
  copy();
  EXPECT_THAT(other.Run({"report", "study"}).err,
              HasSubstr("near_far.textproto: if the study was copied, copy this file"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"records", "spec", "study/study.zip", id}, {"reproduce", "study/study.zip", id}}) {
    const ProgramResult result = other.Run(words);
    EXPECT_EQ(result.exit_code, 2) << words[0];
    EXPECT_THAT(result.err, AllOf(HasSubstr("no library has the task 'near_far'"),
                                  HasSubstr("study/study.zip doesn't contain it"), HasSubstr("--library=FOLDER")));
  }
}

}  // namespace
}  // namespace openset
