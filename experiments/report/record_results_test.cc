#include "experiments/report/record_results.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "experiments/spec/method.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TrialRecord Record(const std::string& id, const std::string& method, int split, double time,
                   const std::string& more = "") {
  return Parsed<TrialRecord>(absl::StrCat("trial { task: 't' method { name: '", method, "' } split: ", split,
                                          " experiment: 's' metric { auroc {} } ", more,
                                          " } metric { name: 'auroc' group { kind: POOL } value: 0.5 } trial_id: '", id,
                                          "' provenance { stage { stage: EVALUATE started_at_seconds: ", time, " } }"));
}

std::vector<std::string> Ids(const RecordResults& made) {
  std::vector<std::string> ids;
  for (const TrialResult& result : made.results) ids.push_back(result.record->trial_id());
  return ids;
}

TEST(ResultsOf, AreSortedLikeTablesForAnyOrderOfRecords) {
  const RecordResults made = ResultsOf({Record("d", "vim", 0, 1), Record("c", "mcp", 1, 1), Record("b", "mcp", 0, 1)});
  EXPECT_THAT(Ids(made), ElementsAre("b", "c", "d"));
  EXPECT_THAT(made.notes, IsEmpty());
  const Report report = MakeReport("all.zip", made.results);
  ASSERT_EQ(report.cells.size(), 2);
  EXPECT_EQ(report.cells[0].method, "mcp");
  EXPECT_EQ(report.cells[0].n, 2);
  EXPECT_EQ(report.missing, 0);
}

TEST(ResultsOf, StudiesAndTheirVariantsAreRowsOfTheirOwn) {
  TrialRecord other = Record("c", "mcp", 0, 1);
  other.mutable_trial()->set_experiment("u");
  const RecordResults made = ResultsOf(
      {Record("a", "mcp", 0, 1), Record("b", "mcp", 0, 1, "laid_over: '--set=training.epochs=2'"), std::move(other)});
  std::vector<std::string> rows;
  for (const TrialResult& result : made.results) rows.push_back(RowName(*result.trial));
  EXPECT_THAT(rows, ElementsAre("mcp, study s", "mcp, study s, changed --set=training.epochs=2", "mcp, study u"));
}

TEST(ResultsOf, FlagsThatOnlyChooseTrialsMakeNoRow) {
  const RecordResults made = ResultsOf({Record("a", "mcp", 0, 1), Record("b", "mcp", 1, 1, "laid_over: '--seeds=1'"),
                                        Record("c", "mcp", 2, 1, "laid_over: ['--seeds=2', '--methods=mcp']")});
  for (const TrialResult& result : made.results) EXPECT_EQ(RowName(*result.trial), "mcp");
  EXPECT_EQ(made.results.size(), 3);
}

TEST(ResultsOf, LeaveOutCandidatesAndOlderRecordsOfTheSamePlace) {
  const RecordResults made =
      ResultsOf({Record("a", "mcp", 0, 1), Record("b", "mcp", 0, 2),
                 Record("c", "mcp (tuned)", 0, 1, "search { candidate { trial_id: 'd' } }"), Record("d", "mcp", 0, 3)});
  EXPECT_THAT(Ids(made), ElementsAre("b", "c"));
  EXPECT_THAT(made.notes, ElementsAre("1 record is left out: candidates of searches",
                                      HasSubstr("1 record is left out: a newer one")));
}

}  // namespace
}  // namespace openset
