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

// The numbers of a folder are those of its bundle, also if the task beside it has changed since; a spec that has
// changed, or another study's bundle, has none of them.
TEST(PublishedFolder, HasTheNumbersOfItsBundle) {
  const OpensetProgram program;
  WriteNearFarStudy(program);
  program.Write("results/study/study.textproto",
                absl::StrReplaceAll(kNearFarStudy, {{"\"near_far\"", "\"../tasks/near_far.textproto\""}}));
  program.Write("results/tasks/near_far.textproto", kNearFarTask);
  ASSERT_EQ(program.Run({"run", "results/study/study.textproto"}).exit_code, 0);
  ASSERT_EQ(program.Run({"records", "export", "--bundle=results/study/study.zip"}).exit_code, 0);
  const ProgramResult before = program.Run({"report", "results/study"});
  EXPECT_EQ(before.exit_code, 0) << before.err;
  program.Write("results/tasks/near_far.textproto", absl::StrReplaceAll(kNearFarTask, {{"[3, 4]", "[3]"}}));
  const ProgramResult report = program.Run({"report", "results/study"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_EQ(report.out, before.out);
  EXPECT_THAT(report.err, ContainsRegex("hint: .*near_far.textproto: is not the task that came with the records in "
                                        ".*study.zip, which is used\n"));
  // Another spec.
  program.Write(
      "results/study/study.textproto",
      absl::StrReplaceAll(kNearFarStudy, {{"\"near_far\"", "\"../tasks/near_far.textproto\""}, {"0.02", "0.03"}}));
  const std::vector<std::vector<std::string>> commands = {
      {"report", "results/study"}, {"compare", "results/study"}, {"figure", "results/study", "--improvement=auroc"}};
  for (const std::vector<std::string>& words : commands) {
    const ProgramResult result = program.Run(words);
    EXPECT_EQ(result.exit_code, 2) << words[0];
    EXPECT_THAT(result.err,
                AllOf(HasSubstr("study.zip: has 4 records, all of other trials than "),
                      HasSubstr("(first difference: method.training.optimizer.learning_rate: 0.03, was 0.02)")));
  }
  // Another study's bundle.
  program.Write("results/study/study.textproto",
                absl::StrReplaceAll(kNearFarStudy, {{"\"near_far\"", "\"../tasks/near_far.textproto\""},
                                                    {"\"study\"", "\"other\""},
                                                    {"0.02", "0.03"}}));
  for (const std::vector<std::string>& words : commands) {
    EXPECT_THAT(program.Run(words).err, HasSubstr("the bundle is of the study 'study', not of ")) << words[0];
  }
  // A spec that can't be read at all.
  program.Write("results/study/study.textproto", "name: 3");
  EXPECT_THAT(program.Run({"report", "results/study"}).err,
              ContainsRegex(
                  "\n  the records alone need neither a spec nor data: name the bundle, .*results/study/study.zip\n"));
  // A study that was printed from a bundle, without the bundle.
  const OpensetProgram other("other");
  const std::string id = program.Records().begin()->first;
  other.Write("again.textproto", program.Run({"records", "spec", "results/study/study.zip", id}).out);
  EXPECT_THAT(other.Run({"plan", "again.textproto"}).err,
              AllOf(HasSubstr("unknown task 'near_far'"), HasSubstr("put a copy of the bundle beside it")));
  std::filesystem::copy(program.folder() + "/results/study/study.zip", other.folder() + "/study.zip");
  EXPECT_EQ(other.Run({"plan", "again.textproto"}).exit_code, 0);
  EXPECT_THAT(other.Run({"reproduce", "study.zip", id, "--store=mine"}).err,
              HasSubstr("leave --store out; --again=FOLDER is the store of the new results"));
}

}  // namespace
}  // namespace openset
