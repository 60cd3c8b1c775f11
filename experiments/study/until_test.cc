#include "experiments/study/until.h"

#include <functional>
#include <map>
#include <memory>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/testing/status_matchers.h"
#include "experiments/report/format_report.h"
#include "experiments/store/record.pb.h"
#include "experiments/study/study.h"
#include "experiments/testing/spec_sandbox.h"

namespace openset {
namespace {

using Verdict = UntilComparison::Verdict;

constexpr char kDrawn[] = "name: 'task' data_set: 'digits' drawn { level { known: 3 unknown: 2 } }";
constexpr char kSpec[] = R"(
name: 'spec'
task: 'task'
method: ['plain', 'pairs']
seed: 0
metric { accuracy {} }
)";

// Records whose accuracy in percent is 50, plus `of_method` of method, split and seed.
using Values = std::function<std::optional<double>(const std::string& method, int split, int seed)>;

class UntilTest : public ::testing::Test {
 protected:
  UntilTest() : store_(sandbox_.folder() + "/store") { sandbox_.Write("data/tasks/task.textproto", kDrawn); }

  absl::StatusOr<std::unique_ptr<Study>> Load(const std::string& more) {
    sandbox_.Write("experiments/specs/spec.textproto", absl::StrCat(kSpec, more));
    return Study::Load("spec", sandbox_.folders(), store_, {});
  }

  // Stores the records that the plan lacks. Returns the number of records.
  int Fill(const Study& study, const Values& values) {
    int made = 0;
    for (size_t t = 0; t < study.plan().trials.size(); ++t) {
      const Trial& trial = study.plan().trials[t];
      const std::string& id = study.plan().trial_id(static_cast<int>(t));
      if (store_.HasRecord(id).value()) continue;
      const std::optional<double> more = values(trial.method().name(), trial.split(), static_cast<int>(trial.seed()));
      TrialRecord record;
      record.set_schema_version(kSchemaVersion);
      record.set_trial_id(id);
      *record.mutable_trial() = trial.Spec();
      MetricRecord* metric = record.add_metric();
      metric->set_name("accuracy");
      if (more.has_value()) metric->set_value((50 + *more) / 100);
      if (!more.has_value()) metric->set_absent_reason("no known samples");
      EXPECT_THAT(store_.CommitRecord(record), IsOk());
      ++made;
    }
    return made;
  }

  // Round by round, as `openset run` does. Returns the number of new records of each round.
  std::vector<int> RunAll(const std::string& more, const Values& values) {
    std::vector<int> rounds;
    while (true) {
      const absl::StatusOr<std::unique_ptr<Study>> study = Load(more);
      EXPECT_THAT(study, IsOk());
      if (!study.ok()) return rounds;
      const int made = Fill(**study, values);
      if (made == 0) return rounds;
      rounds.push_back(made);
    }
  }

  const SpecSandbox sandbox_;
  const Store store_;
};

std::string Problem(const absl::StatusOr<std::unique_ptr<Study>>& study) {
  return std::string(study.status().message());
}

// Ten points with a deviation of at most 0.2: the interval of five splits excludes 0 even at the level of the first
// look, 0.05 / 16.
double Better(const std::string& method, int split) { return method == "pairs" ? 10 + 0.1 * (split % 3) : 0; }
// The differences of splits are 6, -6, 6, ...: their interval includes 0 and 1 at every look.
double Alike(const std::string& method, int split) { return method == "pairs" ? (split % 2 == 0 ? 6 : -6) : 0; }

TEST_F(UntilTest, ADecidedComparisonStops) {
  const std::string until = "until { metric { accuracy {} } difference: 1 }";
  EXPECT_THAT(RunAll(until, [](const std::string& method, int split, int) { return Better(method, split); }),
              ElementsAre(10));
  const std::unique_ptr<Study> study = *Load(until);
  const UntilState& state = *study->until();
  ASSERT_EQ(state.report.comparisons.size(), 1);
  const UntilComparison& found = state.report.comparisons[0];
  EXPECT_EQ(RoundLine(state), "until: 1 of 1 comparison is finished.");
  EXPECT_EQ(found.row, "pairs");
  EXPECT_EQ(found.verdict, Verdict::kHigher);
  EXPECT_EQ(found.looks, 1);
  EXPECT_EQ(found.splits, 5);
  // The splits have 10, 10.1, 10.2, 10 and 10.1 points. Of five draws of three of five classes, some are equal: the
  // mean is over the draws.
  std::map<std::set<int>, std::vector<double>> points;
  for (const Trial& trial : study->plan().trials) {
    const auto& known = trial.data().test_known().class_id();
    if (trial.method().name() == "pairs")
      points[{known.begin(), known.end()}].push_back(Better("pairs", trial.split()));
  }
  EXPECT_LT(points.size(), 5);
  double sum = 0;
  for (const auto& [known, of_draw] : points)
    sum += absl::c_accumulate(of_draw, 0.0) / static_cast<double>(of_draw.size());
  EXPECT_NEAR(*found.difference, sum / static_cast<double>(points.size()) / 100, 1e-12);
  EXPECT_EQ(state.report.trials, 10);
  EXPECT_EQ(state.report.most_trials, 40);  // 20 draws of two methods
  const Report report = study->MakeReport(*study->LoadResults());
  const std::string text = FormatReport(report, TextFormat::kText);
  EXPECT_THAT(text, HasSubstr("Until accuracy differs from plain, or differences of 1 point are excluded"));
  EXPECT_THAT(text, HasSubstr("Spent: 10 of at most 40 trials (75 % saved)"));
  EXPECT_THAT(text, HasSubstr("No stars: how many runs a method has depends on accuracy;"));
  EXPECT_EQ(ReportJson(report)["until"]["comparisons"][0]["verdict"], "higher");
  for (const ReportCell& cell : report.cells) EXPECT_FALSE(cell.significance.has_value());
}

// Two names of one trial need no look; values that are equal in every run stay undecided, and are called equal.
TEST_F(UntilTest, AnotherNameOfTheBaselineIsTheSame) {
  sandbox_.Write("experiments/methods/alias.textproto", "base: 'plain' name: 'alias'");
  const std::string until = "method: 'alias' until { metric { accuracy {} } difference: 1 max_splits: 7 }";
  RunAll(until, [](const std::string& /*method*/, int split, int) { return split; });
  const std::unique_ptr<Study> study = *Load(until);
  const auto& comparisons = study->until()->report.comparisons;
  ASSERT_EQ(comparisons.size(), 2);
  EXPECT_EQ(comparisons[0].row, "pairs");
  EXPECT_EQ(comparisons[0].verdict, Verdict::kUndecided);
  EXPECT_EQ(comparisons[0].splits, 7);
  EXPECT_EQ(comparisons[1].row, "alias");
  EXPECT_EQ(comparisons[1].verdict, Verdict::kSame);
  EXPECT_EQ(comparisons[1].splits, 5);
  EXPECT_EQ(study->plan().CountNeeded(ActionKind::kEvaluate), 0);
  const Report report = study->MakeReport(*study->LoadResults());
  EXPECT_THAT(FormatReport(report, TextFormat::kText),
              AllOf(HasSubstr("equal in every run"), HasSubstr("the same trials"),
                    HasSubstr("alias and plain are two names of the same trials, so they can't differ."),
                    Not(HasSubstr("Undecided:"))));
  EXPECT_EQ(ReportJson(report)["until"]["comparisons"][1]["verdict"], "same");
}

TEST_F(UntilTest, OnlyOpenComparisonsGetMoreSplits) {
  sandbox_.Write("experiments/methods/third.textproto", "base: 'plain' name: 'third' training { epochs: 3 }");
  const std::string until = "method: 'third' until { metric { accuracy {} } difference: 1 max_splits: 13 }";
  const auto values = [](const std::string& method, int split, int) {
    return method == "third" ? Alike("pairs", split) : Better(method, split);
  };
  // Looks at 5, 7, 9, 11 and 13 splits: three methods at first, then `third` and the baseline.
  EXPECT_THAT(RunAll(until, values), ElementsAre(15, 4, 4, 4, 4));
  const std::unique_ptr<Study> study = *Load(until);
  const auto& comparisons = study->until()->report.comparisons;
  EXPECT_EQ(comparisons[0].verdict, Verdict::kHigher);
  EXPECT_EQ(comparisons[0].splits, 5);
  EXPECT_EQ(comparisons[1].verdict, Verdict::kUndecided);
  EXPECT_EQ(comparisons[1].splits, 13);
  EXPECT_EQ(study->until()->report.trials, 31);
  EXPECT_EQ(study->plan().CountNeeded(ActionKind::kEvaluate), 0);
  EXPECT_EQ(RoundLine(*study->until()), "until: 2 of 2 comparisons are finished (1 undecided).");
  // The mean of 5 splits is not compared with means of 13.
  const Report table = study->MakeReport(*study->LoadResults());
  EXPECT_THAT(FormatReport(table, TextFormat::kMarkdown), HasSubstr("13 splits and 1 seed. More runs: "));
  EXPECT_THAT(FormatReport(table, TextFormat::kText), HasSubstr("60.08 ± 0.07 (n=5)"));
  for (const ReportCell& cell : table.cells) EXPECT_EQ(IsIncomplete(cell), cell.method == "pairs");
}

TEST_F(UntilTest, SmallDifferencesAreExcluded) {
  const std::string until = "until { metric { accuracy {} } difference: 1 }";
  RunAll(until, [](const std::string& method, int split, int) {
    return method == "pairs" ? (split % 2 == 0 ? 0.1 : -0.1) : 0;
  });
  EXPECT_EQ((*Load(until))->until()->report.comparisons[0].verdict, Verdict::kExcluded);
}

TEST_F(UntilTest, SeedsComeWhenThereAreNoMoreSplits) {
  const std::string until = "until { metric { accuracy {} } difference: 1 max_splits: 5 max_seeds: 3 }";
  EXPECT_THAT(RunAll(until, [](const std::string& method, int split, int) { return Alike(method, split); }),
              ElementsAre(10, 10, 10));
  const std::unique_ptr<Study> study = *Load(until);
  std::set<uint64_t> seeds;
  for (const Trial& trial : study->plan().trials) seeds.insert(trial.seed());
  EXPECT_THAT(seeds, ElementsAre(0, 1, 2));
  EXPECT_EQ(study->until()->report.comparisons[0].seeds, 3);
  // The task draws its splits, so that it may have more of them.
  EXPECT_THAT(
      UntilLines(study->MakeReport(*study->LoadResults())).back(),
      HasSubstr("after all that the study may use, 5 splits and 3 seeds. More runs: --until='accuracy: 1 "
                "max_splits: 10 max_seeds: 3'. A limit that is raised after a look spends more than the level: "));
}

TEST_F(UntilTest, SaysWhatATaskWithoutMoreSplitsNeeds) {
  sandbox_.Write("data/tasks/task.textproto",
                 "name: 'task' data_set: 'digits' split { known: [0, 1, 2] } split { known: [1, 2, 3] } "
                 "split { known: [2, 3, 4] } split { known: [0, 2, 4] } split { known: [0, 1, 3] }");
  const std::string until = "until { metric { accuracy {} } difference: 1 }";
  RunAll(until, [](const std::string& method, int split, int) { return Alike(method, split); });
  const std::unique_ptr<Study> study = *Load(until);
  EXPECT_THAT(
      UntilLines(study->MakeReport(*study->LoadResults())).back(),
      HasSubstr("5 splits (the task has no others) and 1 seed. More runs: --until='accuracy: 1 max_seeds: 3', or "
                "a task that draws its splits"));
}

// Differences of 1, 2, 3 and 3 points; the first and the last split are one draw, of 2 points: the mean over draws is
// 7/3 points, that over splits would be 2.25.
TEST_F(UntilTest, EqualDrawsAreOneSplit) {
  sandbox_.Write("data/tasks/task.textproto",
                 "name: 'task' data_set: 'digits' split { known: [0, 1, 2] } split { known: [1, 2, 3] } "
                 "split { known: [2, 3, 4] } split { known: [2, 1, 0] }");
  const std::string until = "until { metric { accuracy {} } difference: 1 }";
  RunAll(until,
         [](const std::string& method, int split, int) { return method == "pairs" ? std::min(split + 1, 3) : 0; });
  const std::unique_ptr<Study> study = *Load(until);
  EXPECT_NEAR(*study->until()->report.comparisons[0].difference, 0.07 / 3, 1e-12);
  EXPECT_THAT(study->RepeatLines(),
              ElementsAre(HasSubstr("split 3 has the same known and unknown classes as split 0")));
}

// What was stored before is replayed: the same trials, whether the study adds runs until its comparisons are decided or
// not.
TEST_F(UntilTest, ReplaysStoredRecords) {
  const std::unique_ptr<Study> plain = *Load("");
  EXPECT_EQ(Fill(*plain, [](const std::string& method, int split, int) { return Better(method, split); }), 10);
  const std::string until = "until { metric { accuracy {} } difference: 1 }";
  EXPECT_EQ((*Load(until))->until()->report.comparisons[0].verdict, Verdict::kHigher);
  // From three splits on, it is decided by three of the five.
  const std::unique_ptr<Study> replay = *Load("split: [0, 1, 2]" + until);
  EXPECT_EQ(replay->until()->report.comparisons[0].verdict, Verdict::kHigher);
  EXPECT_EQ(replay->until()->report.comparisons[0].splits, 3);
  EXPECT_EQ(replay->plan().trials.size(), 6);
  EXPECT_EQ(replay->plan().CountNeeded(ActionKind::kEvaluate), 0);
}

// Without the records of some trials, nothing is decided, and only those are missing.
TEST_F(UntilTest, ARunThatWasStoppedContinues) {
  const std::string until = "until { metric { accuracy {} } difference: 1 }";
  const std::unique_ptr<Study> plain = *Load("split: [0, 1, 2, 3]");
  Fill(*plain, [](const std::string& method, int split, int) { return Better(method, split); });
  const std::unique_ptr<Study> study = *Load(until);
  EXPECT_EQ(study->until()->report.comparisons[0].verdict, Verdict::kOpen);
  EXPECT_EQ(study->until()->report.comparisons[0].looks, 0);
  EXPECT_EQ(study->plan().CountNeeded(ActionKind::kEvaluate), 2);
  EXPECT_EQ(RoundLine(*study->until()), "until: 0 of 1 comparison is finished; next look: 5 splits, 1 seed.");
}

TEST_F(UntilTest, AnUndefinedMetricStopsItsComparison) {
  const std::string until = "until { metric { accuracy {} } difference: 1 }";
  EXPECT_THAT(
      RunAll(until, [](const std::string& method, int split,
                       int) { return method == "pairs" && split == 2 ? std::nullopt : std::optional<double>(1); }),
      ElementsAre(10));
  const std::unique_ptr<Study> study = *Load(until);
  EXPECT_EQ(study->until()->report.comparisons[0].verdict, Verdict::kUndefined);
  EXPECT_THAT(FormatReport(study->MakeReport(*study->LoadResults()), TextFormat::kText),
              HasSubstr("pairs: accuracy is undefined in a run, so it gets no more: no known samples"));
}

// A tuned method is compared like the others, as soon as its search has chosen; only its own comparison costs searches.
TEST_F(UntilTest, ATunedMethodIsARow) {
  const std::string until =
      "validation_per_class: 5 until { metric { accuracy {} } difference: 1 max_splits: 13 } search { method: "
      "'pairs' axis { path: 'training.epochs' value: '1' value: '3' } criterion { accuracy {} } }";
  // Ten points better as tuned; as written, the differences of splits are 6, -6, ...
  const Values values = [](const std::string& method, int split, int) {
    return method == "pairs (tuned)" ? Better("pairs", split) : Alike(method, split);
  };
  const std::unique_ptr<Study> first = *Load(until);
  EXPECT_EQ(first->until()->report.most_trials, 39);  // 13 draws of plain, pairs and tuned pairs
  EXPECT_GT(Fill(*first, values), 10);                // 5 draws of plain and pairs, and the candidates
  // The searches have chosen; the trials that they tune are missing.
  const std::unique_ptr<Study> tuned = *Load(until);
  EXPECT_EQ(tuned->until()->report.comparisons[1].row, "pairs (tuned)");
  EXPECT_EQ(tuned->until()->report.comparisons[1].verdict, Verdict::kOpen);
  EXPECT_EQ(tuned->waiting(), 0);
  // Five tuned trials, and the next two splits of plain and pairs; then no more searches.
  EXPECT_THAT(RunAll(until, values), ElementsAre(9, 4, 4, 4));
  const std::unique_ptr<Study> study = *Load(until);
  const UntilReport& report = study->until()->report;
  ASSERT_EQ(report.comparisons.size(), 2);
  EXPECT_EQ(report.comparisons[0].row, "pairs");
  EXPECT_EQ(report.comparisons[0].verdict, Verdict::kUndecided);
  EXPECT_EQ(report.comparisons[1].verdict, Verdict::kHigher);
  EXPECT_EQ(report.comparisons[1].splits, 5);
  EXPECT_EQ(report.trials, 13 + 13 + 5);
  // Tuned methods can be the baseline.
  EXPECT_EQ((*Load(absl::StrReplaceAll(until, {{"max_splits", "baseline: 'pairs (tuned)' max_splits"}})))
                ->until()
                ->report.baseline,
            "pairs (tuned)");
}

TEST_F(UntilTest, SaysWhatIsWrong) {
  const std::string until = "until { metric { accuracy {} } difference: 1 ";
  EXPECT_THAT(Problem(Load("until { metric { auroc {} } difference: 1 }")),
              HasSubstr("the study does not measure auroc; it measures accuracy"));
  EXPECT_THAT(Problem(Load("until { metric { accuracy {} } difference: 0 }")), HasSubstr("until.difference: "));
  EXPECT_THAT(Problem(Load("split: [0, 1] " + until + "}")), HasSubstr("task task begins with 2: take at least 3"));
  EXPECT_THAT(Problem(Load(until + "max_splits: 4 }")), HasSubstr("is 4, fewer than the 5 splits"));
  EXPECT_THAT(Problem(Load("seed: 1 seed: 2 " + until + "max_seeds: 2 }")), HasSubstr("fewer than the 3 of `seed`"));
  EXPECT_THAT(Problem(Load(until + "baseline: 'other' }")),
              HasSubstr("there is no row 'other'; there are pairs; plain"));
  sandbox_.Write("data/tasks/task.textproto",
                 "name: 'task' data_set: 'digits' split { known: [0, 1, 2] } split { known: [1, 2, 3] } "
                 "split { known: [2, 3, 4] }");
  EXPECT_THAT(Problem(Load(until + "max_splits: 4 }")),
              HasSubstr("is 4, but task task lists 3 splits and has no others"));
  EXPECT_THAT(Load(until + "}"), IsOk());
  sandbox_.Write("data/tasks/task.textproto", absl::StrCat(kDrawn, " cross_validation { folds: 2 }"));
  EXPECT_THAT(Problem(Load(until + "}")), HasSubstr("folds are not independent replicates"));
  sandbox_.Write("data/tasks/task.textproto", "name: 'task' data_set: 'digits' drawn { levels: 2 }");
  EXPECT_THAT(Problem(Load(until + "}")), HasSubstr("draws several levels of openness"));
}

}  // namespace
}  // namespace openset
