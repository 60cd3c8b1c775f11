// The output of `openset run`, `report` and `compare` on a terminal of 80 columns.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/text/wrapped_text.h"
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

constexpr int kColumns = 80;

// The lines of the tables and their notes: from the first line with `first` to before "records: ".
std::vector<std::string> TableLines(const std::string& shown, const std::string& first) {
  const std::string text = absl::StrReplaceAll(shown, {{"\r\n", "\n"}});
  const size_t begin = text.find(first);
  EXPECT_NE(begin, std::string::npos) << shown;
  if (begin == std::string::npos) return {};
  return absl::StrSplit(text.substr(begin, text.find("\nrecords: ", begin) - begin), '\n');
}

size_t Widest(const std::vector<std::string>& lines) {
  size_t widest = 0;
  for (const std::string& line : lines) widest = std::max(widest, TextWidth(line));
  return widest;
}

// Two splits and enough metrics for a table that is wider than 80 columns.
TEST(Terminal, TablesFitAndTheVerdictIsFirst) {
  const OpensetProgram program;
  program.Write("tasks/near_far.textproto", absl::StrCat(kNearFarTask, "split { known: [0, 1, 2, 6] }\n"));
  program.Write("study.textproto",
                absl::StrCat(absl::StrReplaceAll(kNearFarStudy, {{"split: 0", "split: [0, 1]"},
                                                                 {"seed: [0, 1]", "seed: 0"},
                                                                 {"\"max_logit\"", "\"max_logit\", \"energy_score\""}}),
                             "metric { aupr_unknown {} } metric { fpr_at_95tpr {} } metric { openauc {} }\n"));

  // `run` (at its end) and `report` print the same lines; in a file, they are wider.
  const std::string first = "near_far: all unknown samples\n";
  const ProgramResult run = program.RunOnTerminal({"run", "study.textproto"}, kColumns);
  ASSERT_EQ(run.exit_code, 0) << run.out;
  const size_t head = run.out.find("report, rewritten");
  ASSERT_NE(head, std::string::npos) << run.out;
  EXPECT_THAT(run.out.substr(0, head), HasSubstr("study: 6 of 6 trials to run: "));
  EXPECT_LE(Widest(absl::StrSplit(absl::StrReplaceAll(run.out.substr(0, head), {{"\r", ""}}), '\n')), kColumns);
  const std::vector<std::string> table = TableLines(run.out, first);
  EXPECT_LE(Widest(table), kColumns);
  EXPECT_GT(Widest(table), kColumns / 2);
  const ProgramResult report = program.RunOnTerminal({"report", "study.textproto"}, kColumns);
  EXPECT_EQ(report.exit_code, 0) << report.out;
  EXPECT_LE(Widest(TableLines(report.out, first)), kColumns);
  EXPECT_GT(Widest(TableLines(program.Run({"report", "study.textproto"}).out, first)), kColumns);

  const ProgramResult compare = program.RunOnTerminal({"compare", "study.textproto"}, kColumns);
  EXPECT_EQ(compare.exit_code, 0) << compare.out;
  const std::vector<std::string> compared = TableLines(compare.out, "study.textproto");
  EXPECT_LE(Widest(compared), kColumns);
  EXPECT_GT(Widest(compared), kColumns / 2);
  // The first part of the table is the verdict. No interval of two values is shown: it would be wider than 100 points.
  EXPECT_THAT(compare.out, ContainsRegex("a - mcp +a is"));
  EXPECT_THAT(compare.out, ContainsRegex("max_logit +not tested: fewer than 3 splits \\(2\\)"));
  EXPECT_LT(compare.out.find(" a is "), compare.out.find(" diff."));
  EXPECT_THAT(compare.out, Not(ContainsRegex("max_logit .*-?[0-9]{3,}\\.[0-9]{2}")));
  EXPECT_THAT(compare.out, ContainsRegex("max_logit +not tested.* - +-"));
}

}  // namespace
}  // namespace openset
