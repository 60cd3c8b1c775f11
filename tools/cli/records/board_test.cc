#include "tools/cli/records/board.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/merge.h"

namespace openset {
namespace {

// A record of a trial of `method` whose training began at `trained`, and evaluation at `evaluated`, on `host`.
TrialRecord Made(const std::string& method, int split, double auroc, const std::string& host, int trained,
                 int evaluated) {
  TrialRecord record = Parsed<TrialRecord>(absl::Substitute(
      R"(trial { task: 'cats' split: $0 seed: 1 experiment: 'study' metric { auroc {} } }
         metric { name: 'auroc' spec { auroc {} } value: $1 group { kind: POOL } unit: 'share' higher_is_better: true }
         provenance { stage { stage: TRAIN key: '$2' started_at_seconds: $3 cpu_seconds: 1800 }
                      stage { stage: EVALUATE key: 'e$0' started_at_seconds: $4 } })",
      split, auroc, std::string(64, 'a'), trained, evaluated));
  record.mutable_trial()->mutable_method()->set_name(method);
  record.set_trial_id(absl::StrCat(method, split));
  for (StageProvenance& stage : *record.mutable_provenance()->mutable_stage()) {
    stage.set_host(host);
    stage.set_user_name("anna");
    stage.set_cpu("Xeon");
    stage.set_cpu_capability("AVX2");
  }
  return record;
}

Rerun RerunOfTwo(const TrialRecord& a, const TrialRecord& b, const std::vector<TrialRecord>& stored = {}) {
  return RerunOf(std::vector<const TrialRecord*>{&a, &b}, stored);
}

TEST(RerunOf, NeedsAnIndependentRecordWithTheSameNumbers) {
  const TrialRecord first = Made("m", 0, 0.75, "lab", 100, 200);
  EXPECT_EQ(RerunOf(std::vector<const TrialRecord*>{&first}, {}), Rerun::kOnce);
  // Evaluated again, elsewhere too, on the same training.
  EXPECT_EQ(RerunOfTwo(first, Made("m", 0, 0.75, "lab", 100, 300)), Rerun::kOnce);
  TrialRecord copied = Made("m", 0, 0.75, "attic", 100, 300);
  copied.mutable_provenance()->mutable_stage(0)->set_host("lab");
  EXPECT_EQ(RerunOfTwo(first, copied), Rerun::kOnce);
  EXPECT_EQ(RerunOfTwo(first, Made("m", 0, 0.75, "lab", 300, 400)), Rerun::kAgain);
  EXPECT_EQ(RerunOfTwo(first, Made("m", 0, 0.75, "attic", 300, 400)), Rerun::kByOthers);
  // The same clock on two machines is no coincidence that matters.
  EXPECT_EQ(RerunOfTwo(first, Made("m", 0, 0.75, "attic", 100, 200)), Rerun::kByOthers);
}

TEST(RerunOf, UnknownOriginsAreNotIndependent) {
  const TrialRecord first = Made("m", 0, 0.75, "lab", 100, 200);
  EXPECT_EQ(RerunOfTwo(first, Made("m", 0, 0.75, "", 300, 400)), Rerun::kOnce);
  EXPECT_EQ(RerunOfTwo(first, Made("m", 0, 0.75, "attic", 0, 400)), Rerun::kOnce);
  TrialRecord without = first;
  without.clear_provenance();
  EXPECT_EQ(RerunOfTwo(first, without), Rerun::kOnce);
}

// The other three seeds of a split, 0.74, 0.76 and 0.77, have the standard deviation 0.01528: 4 times that is 0.061.
TEST(RerunOf, OtherBitsMayDifferAsMuchAsSeeds) {
  std::vector<TrialRecord> stored;
  for (const double auroc : {0.74, 0.75, 0.76, 0.77}) {
    stored.push_back(Made("m", 0, auroc, "lab", 100, 200));
    stored.back().mutable_trial()->set_seed(stored.size());
  }
  const TrialRecord& first = stored[1];
  const auto again = [&](double auroc, const std::string& host, int trained = 300) {
    TrialRecord record = Made("m", 0, auroc, host, trained, trained + 100);
    record.mutable_trial()->set_seed(first.trial().seed());
    return record;
  };
  EXPECT_EQ(RerunOfTwo(first, again(0.81, "attic"), stored), Rerun::kByOthersWithinSpread);
  EXPECT_EQ(RerunOfTwo(first, again(0.81, "lab"), stored), Rerun::kAgainWithinSpread);
  EXPECT_EQ(RerunOfTwo(first, again(0.82, "attic"), stored), Rerun::kOtherNumbers);
  EXPECT_EQ(RerunOfTwo(first, again(0.76, "attic"), {first}), Rerun::kOtherNumbers);
  // One record with other bits outweighs another with the same, and so does one with other numbers.
  const TrialRecord same = again(0.75, "attic"), near = again(0.76, "lab", 500), other = again(0.95, "cellar", 700);
  EXPECT_EQ(RerunOf(std::vector<const TrialRecord*>{&first, &same, &near}, stored), Rerun::kByOthersWithinSpread);
  EXPECT_EQ(RerunOf(std::vector<const TrialRecord*>{&first, &same, &other}, stored), Rerun::kOtherNumbers);
  // The same outputs don't give another number.
  TrialRecord forged = again(0.76, "attic"), real = first;
  forged.set_outputs_sha256("ab");
  real.set_outputs_sha256("ab");
  EXPECT_EQ(RerunOfTwo(real, forged, stored), Rerun::kOtherNumbers);
}

std::vector<BoardRecord> Example() {
  return {{"11", Made("mcp", 0, 0.75, "lab", 100, 200), {"ours.zip (c0ffee)"}},
          {"22", Made("mcp", 0, 0.75, "attic", 300, 400)},
          {"33", Made("mcp", 1, 0.85, "lab", 500, 600)},
          {"44", Made("ghost", 0, 0.95, "lab", 700, 800)},
          {"55", Made("ghost", 1, 0.95, "attic", 90, 95)},
          {"66", Made("ghost", 1, 0.95, "lab", 900, 1000)}};
}

TEST(MakeBoard, ShowsMeansIntervalsAndReruns) {
  const std::vector<BoardSource> sources = {{"ours.zip", "c0ffee", 4}, {"openset-store", "", 2}};
  const Board board = MakeBoard(sources, Example()).value();
  EXPECT_THAT(board.page, HasSubstr("<h1>Board: 2 methods on 1 task</h1>"));
  EXPECT_THAT(board.page, HasSubstr("4 trials, 6 records: 2 not rerun, 2 rerun by others (same bits).</p>"));
  // 80 +- t(0.975, 1) * 5 = 12.706 * 5 = 63.53.
  EXPECT_THAT(
      board.page,
      HasSubstr(
          "<tr><th scope=\"row\">ghost</th><td class=\"once\"><b>95.00</b><small>2 runs: 1 not rerun, 1 "
          "rerun by others (same bits)</small></td></tr>\n<tr><th scope=\"row\">mcp</th><td class=\"once\">80.00 ± "
          "63.53<small>2 runs: 1 not rerun, 1 rerun by others (same bits)</small></td></tr>"));
  // 4 trainings of half an hour on the lab's machine; 2 on the other.
  EXPECT_THAT(board.page, HasSubstr("<td class=\"text\">anna on lab</td><td class=\"text\">Xeon (AVX2)</td><td "
                                    "class=\"text\"></td><td>4</td><td></td><td></td><td>4</td><td>2</td></tr>"));
  EXPECT_THAT(board.page, HasSubstr("<td class=\"text\">ours.zip</td><td class=\"text\">c0ffee</td><td>4</td>"));
  EXPECT_THAT(
      board.csv,
      HasSubstr(
          "\nmcp0,11,mcp,,cats,0,1,study,anna on lab,Xeon (AVX2),,rerun by others (same bits),,ours.zip (c0ffee)\n"));
  EXPECT_THAT(board.csv, HasSubstr("\nmcp1,33,mcp,,cats,1,1,study,anna on lab,Xeon (AVX2),,not rerun,,\n"));
  EXPECT_THAT(board.page, HasSubstr("<td class=\"text\">ours.zip (c0ffee)</td><td>0</td>"));
}

// Of two records with other numbers that were evaluated at the same moment, the board takes the same one as every list
// (CompareOrder() in experiments/store/merge.h), whatever their digests are.
TEST(MakeBoard, TakesTheRecordThatRepresentsTheTrial) {
  const TrialRecord a = Made("m", 0, 0.25, "lab", 100, 200), b = Made("m", 0, 0.75, "lab", 100, 200);
  const bool is_a = CompareOrder(a, b) < 0;
  for (const auto& [of_a, of_b] : {std::pair("11", "22"), std::pair("22", "11")}) {
    const Board board = MakeBoard({}, {{of_a, a}, {of_b, b}}).value();
    EXPECT_THAT(board.page, HasSubstr(is_a ? ">25.00<small>" : ">75.00<small>"));
  }
}

TEST(MakeBoard, CountsMethodsOfSeveralStudiesOnceAndBreaksNamesAtTheirParts) {
  std::vector<BoardRecord> records = {{"11", Made("overlay_softmax+laptop", 0, 0.75, "lab", 100, 200)}};
  records.push_back({"22", records[0].record});
  records[1].record.mutable_trial()->set_experiment("other");
  records[1].record.set_trial_id("other");
  const Board board = MakeBoard({}, records).value();
  EXPECT_THAT(board.page, HasSubstr("<h1>Board: 1 method in 2 studies on 1 task</h1>"));
  EXPECT_THAT(board.page, HasSubstr("<th scope=\"row\">overlay_<wbr>softmax+<wbr>laptop, study other</th>"));
}

// A rerun of imported outputs repeats their evaluation alone.
TEST(MakeBoard, MarksImportedOutputs) {
  std::vector<BoardRecord> records = Example();
  for (BoardRecord& record : records) {
    if (record.record.trial().method().name() != "mcp") continue;
    record.record.mutable_trial()->mutable_method()->mutable_model()->mutable_outputs()->set_file("net.npz");
  }
  const Board board = MakeBoard({}, records).value();
  EXPECT_THAT(board.page, HasSubstr("<td class=\"once\">80.00 ± 63.53<small>2 runs: 1 not rerun, 1 rerun by others "
                                    "(same bits); imported outputs</small></td>"));
  EXPECT_THAT(board.page, HasSubstr("<td class=\"text\">rerun by others (same bits); imported outputs</td>"));
  EXPECT_THAT(board.csv, HasSubstr(",rerun by others (same bits),imported,"));
}

TEST(MakeBoard, DoesNotDependOnAnyOrder) {
  std::vector<BoardRecord> reversed = Example();
  std::reverse(reversed.begin(), reversed.end());
  const BoardSource ours = {"ours.zip", "c0ffee", 4}, store = {"openset-store", "", 2};
  const Board board = MakeBoard({ours, store}, Example()).value(), other = MakeBoard({store, ours}, reversed).value();
  EXPECT_EQ(board.page, other.page);
  EXPECT_EQ(board.csv, other.csv);
}

// Everything in a record and in the name of a file comes from strangers.
TEST(MakeBoard, EscapesNames) {
  const std::string hostile = "<script>alert('x')</script>\"\x1b[31m";
  std::vector<BoardRecord> records = {{"11", Made("m", 0, 0.75, hostile, 100, 200)}};
  TrialRecord& record = records[0].record;
  record.mutable_trial()->mutable_method()->set_name("=" + hostile);
  record.mutable_trial()->set_task(hostile);
  record.mutable_trial()->set_experiment(hostile);
  record.mutable_metric(0)->mutable_spec()->set_name(hostile);
  record.mutable_trial()->mutable_metric(0)->set_name(hostile);
  for (StageProvenance& stage : *record.mutable_provenance()->mutable_stage()) {
    stage.set_user_name(hostile);
    stage.set_cpu(hostile);
    stage.set_commit(hostile);
  }
  const Board board = MakeBoard(std::vector<BoardSource>{{hostile + ".zip", hostile, 1}}, records).value();
  EXPECT_THAT(board.page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("\x1b")), HasSubstr("&lt;script&gt;alert"),
                                HasSubstr("script-src 'none'")));
  EXPECT_THAT(board.csv, HasSubstr(",\"'=<script>"));  // not a spreadsheet's formula
}

}  // namespace
}  // namespace openset
