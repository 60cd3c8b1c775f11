#include "experiments/report/report.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/task.pb.h"
#include "experiments/report/format_report.h"
#include "experiments/spec/method.pb.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.pb.h"
#include "experiments/store/records/metric_groups.h"
#include "models/model.pb.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

TrialSpec Trial(const std::string& method, int split, int seed, const std::string& more = "") {
  TrialSpec trial = Parsed<TrialSpec>(
      "task: 'task' openness: 0.125 metric { accuracy {} } metric { auroc {} } "
      "data { test_known { class_id: [0, 1, 2] } test_unknown { selection { class_id: 3 } } }" +
      more);
  trial.mutable_method()->set_name(method);
  trial.set_split(split);
  trial.set_seed(seed);
  return trial;
}

TrialRecord Record(double accuracy, double auroc) {
  TrialRecord record;
  MetricRecord* metric = record.add_metric();
  metric->set_name("accuracy");
  metric->set_value(accuracy);
  metric = record.add_metric();
  metric->set_name("auroc");
  if (std::isnan(auroc)) {
    metric->set_absent_reason("no unknown samples");
  } else {
    metric->set_value(auroc);
  }
  for (MetricRecord& each : *record.mutable_metric()) each.mutable_group()->set_kind(MetricGroup::POOL);
  record.mutable_counts()->set_known(6000);
  record.mutable_counts()->set_unknown(2000);
  return record;
}

const TrialSpec kTrials[] = {Trial("a", 0, 5), Trial("a", 1, 5), Trial("b", 0, 5), Trial("b", 1, 5)};
const TrialRecord kRecords[] = {Record(0.5, 0.75), Record(0.75, 0.25), Record(0.875, NAN)};

Report Example() {
  return MakeReport(
      "study",
      {{&kTrials[0], &kRecords[0]}, {&kTrials[1], &kRecords[1]}, {&kTrials[2], &kRecords[2]}, {&kTrials[3], nullptr}});
}

TEST(MakeReport, SummarisesSplitsAndSeeds) {
  const Report report = Example();
  ASSERT_EQ(report.cells.size(), 4);
  const ReportCell& accuracy = report.cells[0];
  EXPECT_EQ(accuracy.method, "a");
  EXPECT_EQ(accuracy.task, "task");
  EXPECT_EQ(accuracy.metric, "accuracy");
  EXPECT_EQ(accuracy.n, 2);
  EXPECT_EQ(accuracy.mean, (0.5 + 0.75) / 2);
  EXPECT_EQ(accuracy.std, (0.75 - 0.5) / 2);  // population
  EXPECT_THAT(accuracy.values, ElementsAre(0.5, 0.75));
  EXPECT_THAT(accuracy.splits, ElementsAre(0, 1));
  EXPECT_THAT(accuracy.seeds, ElementsAre(5, 5));
  EXPECT_EQ(report.trials, 4);
  EXPECT_EQ(report.missing, 1);
  EXPECT_THAT(report.task_lines, ElementsAre("task: 3 known and 1 unknown classes, openness 0.125, known:unknown test "
                                             "samples 6,000:2,000"));
}

TEST(MakeReport, AbsentIsNeitherZeroNorMissing) {
  const Report report = Example();
  const ReportCell& auroc = report.cells[3];
  EXPECT_EQ(auroc.method, "b");
  EXPECT_EQ(auroc.metric, "auroc");
  EXPECT_EQ(auroc.n, 0);
  EXPECT_EQ(auroc.missing, 1);
  EXPECT_THAT(auroc.absent_reasons, ElementsAre("no unknown samples"));
}

TEST(MakeReport, AxisValuesAndOpennessMakeRowsAndTables) {
  TrialSpec trials[] = {Trial("a", 0, 0, "axis { name: 'lambda' value: '0.1' }"),
                        Trial("a", 0, 0, "axis { name: 'lambda' value: '0.2' }"),
                        Trial("a", 0, 0, "axis { name: 'lambda' value: '0.2' }")};
  trials[2].mutable_data()->mutable_test_unknown(0)->mutable_selection()->add_class_id(4);
  const Report report =
      MakeReport("study", {{&trials[0], &kRecords[0]}, {&trials[1], &kRecords[1]}, {&trials[2], &kRecords[0]}});
  ASSERT_EQ(report.cells.size(), 6);
  const std::string text = FormatReport(report, TextFormat::kText);
  EXPECT_THAT(text, HasSubstr("a, lambda 0.1"));
  EXPECT_THAT(text, HasSubstr("task, 1 unknown class, openness 0.125"));
  EXPECT_THAT(text, HasSubstr("task, 2 unknown classes, openness 0.125"));
}

TEST(MakeReport, MethodsWithThresholdsOfTheirOwnShareAColumn) {
  std::vector<TrialSpec> trials = {Trial("a", 0, 5), Trial("b", 0, 5)};
  std::vector<TrialRecord> records(2);
  for (int i = 0; i < 2; ++i) {
    trials[i].clear_metric();
    trials[i].add_metric()->mutable_outer()->set_threshold(i == 0 ? -0.5 : 0);
    MetricRecord* metric = records[i].add_metric();
    metric->set_name("outer");
    metric->set_value(0.5 + 0.25 * i);
    metric->mutable_group()->set_kind(MetricGroup::POOL);
  }
  const Report report = MakeReport("study", {{&trials[0], &records[0]}, {&trials[1], &records[1]}});
  ASSERT_EQ(report.cells.size(), 2);
  EXPECT_EQ(report.cells[0].display.label, "outer score (threshold -0.5)");
  EXPECT_EQ(report.cells[1].display.label, "outer score (threshold 0)");
  for (const ReportCell& cell : report.cells) {
    EXPECT_EQ(SharedDisplay(cell).label, "outer score (threshold of the method)");
  }
  EXPECT_THAT(report.note_lines, ElementsAre("Thresholds (outer): 3 known classes: a -0.5, b 0"));
  EXPECT_THAT(FormatReport(report, TextFormat::kText),
              HasSubstr("\na                                            50.00\nb                                       "
                        "     75.00\n"));
}

TEST(MakeReport, JsonHasEachRecordWithItsLearningCurve) {
  TrialRecord record = Record(0.5, 0.75);
  record.set_trial_id("abc");
  record.set_checkpoint_key("def");
  record.set_outputs_key("012");
  *record.add_epoch() = Parsed<EpochSummary>(
      "epoch: 0 learning_rate: 0.1 loss: 1.5 term: [1, 0.5] train_accuracy: 0.25 "
      "metric { name: 'auroc' value: 0.75 group { kind: POOL } } "
      "metric { name: 'nll' absent_reason: 'none' group { kind: SET set: 'svhn' } }");
  const Report report = MakeReport("study", {{&kTrials[0], nullptr}, {&kTrials[1], &record}});
  const nlohmann::json json = nlohmann::json::parse(FormatReport(report, TextFormat::kJson));
  EXPECT_EQ(json["results"], nlohmann::json::parse(R"([{
      "id": "abc", "method": "a", "task": "task", "axis": {}, "split": 1, "seed": 5,
      "checkpoint": "def", "outputs": "012",
      "curve": [{
        "epoch": 0, "learning_rate": 0.1, "loss": 1.5, "terms": [1.0, 0.5], "train_accuracy": 0.25,
        "metrics": [{"metric": "auroc", "group": "pool", "value": 0.75},
                    {"metric": "nll", "group": "svhn", "value": null}]
      }]
    }])"));
}

TEST(MakeReport, NamesIgnoredTensorsOnce) {
  TrialRecord records[] = {Record(0.5, 0.75), Record(0.5, 0.75)};
  for (TrialRecord& record : records) record.add_ignored_tensor("bn.bias");
  const TrialRecord other = Record(0.5, 0.75);
  const Report report =
      MakeReport("study", {{&kTrials[0], &records[0]}, {&kTrials[1], &records[1]}, {&kTrials[2], &other}});
  EXPECT_THAT(report.note_lines, ElementsAre("a: 1 tensor of its weights was left out: bn.bias"));
  EXPECT_THAT(FormatReport(report, TextFormat::kText), HasSubstr("\na: 1 tensor of its weights was left out"));
}

// Two methods on the same weights, which the line names rather than the methods.
TEST(MakeReport, SaysOnceWhatAnImportDid) {
  TrialSpec trials[] = {kTrials[0], kTrials[0]};
  trials[1].mutable_method()->set_name("other");
  TrialRecord records[] = {Record(0.5, 0.75), Record(0.5, 0.75)};
  for (int i = 0; i < 2; ++i) {
    trials[i].mutable_method()->mutable_model()->mutable_weights()->set_file("/home/a/net.ckpt");
    records[i].add_import_note("all names begin with 'model.', which is left out");
  }
  const Report report = MakeReport("study", {{&trials[0], &records[0]}, {&trials[1], &records[1]}});
  EXPECT_THAT(report.note_lines, ElementsAre("weights of net.ckpt: all names begin with 'model.', which is left out"));
}

TEST(MakeReport, ShowsChoicesOfSearches) {
  const TrialSpec tuned = Trial("a (tuned)", 1, 5, R"(
      search {
        criterion { aurc {} }
        candidate { axis { name: 'clip' value: '1' } value: 0.25 }
        candidate { axis { name: 'clip' value: '2' } value: 0.125 }
        chosen: 1
      })");
  const TrialRecord record = Record(0.5, 0.75);
  EXPECT_THAT(MakeReport("study", {{&tuned, &record}}).search_lines,
              ElementsAre("a (tuned) on task, split 1, seed 5: clip 2 (best validation aurc of 2: 0.125)"));
}

// A task with a near and a far set: cells of the pool, of each set and of the means; accuracy is of known samples only.
TEST(MakeReport, EachSetHasItsCells) {
  TrialSpec trial = Trial("a", 0, 5);
  UnknownGroup* near = trial.mutable_data()->mutable_test_unknown(0);
  near->set_name("cats");
  near->set_distance(UnknownGroup::NEAR);
  trial.mutable_data()->add_test_unknown()->set_name("noise");
  TrialRecord record = Record(0.5, 0.75);
  for (const MetricGroup& group : MetricGroupsOf(trial.data())) {
    if (group.kind() == MetricGroup::POOL) continue;
    MetricRecord* metric = record.add_metric();
    metric->set_name("auroc");
    metric->set_value(GroupText(group) == "noise" ? 1 : 0.625);
    *metric->mutable_group() = group;
  }
  for (const auto& [name, samples] : {std::pair("cats", 500), std::pair("noise", 1500)}) {
    GroupCount* count = record.mutable_counts()->add_group();
    count->set_name(name);
    count->set_samples(samples);
  }
  const Report report = MakeReport("study", {{&trial, &record}});
  std::vector<std::string> cells;
  for (const ReportCell& cell : report.cells) {
    cells.push_back(absl::StrCat(cell.group, " ", cell.metric, " ", cell.values.at(0)));
  }
  EXPECT_THAT(cells, ElementsAre("pool accuracy 0.5", "pool auroc 0.75", "cats auroc 0.625", "noise auroc 1",
                                 "mean of near auroc 0.625"));
  EXPECT_THAT(report.task_lines[0], HasSubstr("test samples 6,000:2,000 (cats 500, noise 1,500)"));
  // The only near set is its own mean.
  EXPECT_TRUE(report.cells[4].mean_of_one);
  for (int c = 0; c < 4; ++c) EXPECT_FALSE(report.cells[c].mean_of_one) << c;
  trial.mutable_data()->mutable_test_unknown(1)->set_distance(UnknownGroup::NEAR);
  EXPECT_FALSE(MakeReport("study", {{&trial, &record}}).cells.back().mean_of_one);
}

ReportCell Cell(const std::string& task, int known, int unknown) {
  ReportCell cell;
  cell.task = task;
  cell.known_classes = known;
  cell.unknown_classes = unknown;
  cell.openness = 0.25;
  return cell;
}

TEST(LevelTitles, NameWhatDistinguishesALevel) {
  Report report;
  report.cells = {Cell("birds", 3, 7), Cell("birds", 3, 7), Cell("cats", 6, 4),
                  Cell("cats", 6, 5),  Cell("dogs", 2, 8),  Cell("dogs", 4, 8)};
  const LevelTitles titles(report);
  EXPECT_EQ(titles.size(), 5);
  EXPECT_EQ(titles.Of(report.cells[0]), "birds");
  EXPECT_EQ(titles.Of(report.cells[2]), "cats, 4 unknown classes, openness 0.250");
  EXPECT_EQ(titles.Of(report.cells[4]), "dogs, 2 known and 8 unknown classes, openness 0.250");
}

TrialSpec TrialOf(const std::string& task, int known, int unknown) {
  TrialSpec trial;
  trial.set_task(task);
  for (int id = 0; id < known; ++id) trial.mutable_data()->mutable_test_known()->add_class_id(id);
  Selection* selection = trial.mutable_data()->add_test_unknown()->mutable_selection();
  for (int id = 0; id < unknown; ++id) selection->add_class_id(known + id);
  trial.set_openness(0.25);
  return trial;
}

TEST(LevelTitles, OfTrialsAreThoseOfTheirCells) {
  const TrialSpec birds = TrialOf("birds", 3, 7), four = TrialOf("cats", 6, 4), five = TrialOf("cats", 6, 5);
  EXPECT_EQ(LevelOf(four), LevelOf(Cell("cats", 6, 4)));
  const LevelTitles all({{&birds, nullptr}, {&four, nullptr}, {&five, nullptr}});
  EXPECT_EQ(all.size(), 3);
  EXPECT_EQ(all.tasks(), 2);
  EXPECT_EQ(all.Of(five), "cats, 5 unknown classes, openness 0.250");
  EXPECT_EQ(all.SuffixOf(birds), "_birds");
  EXPECT_EQ(all.SuffixOf(five), "_cats_6_5");
  EXPECT_EQ(LevelTitles({{&four, nullptr}, {&five, nullptr}}).SuffixOf(five), "_6_5");
  EXPECT_EQ(LevelTitles({{&four, nullptr}}).SuffixOf(four), "");
}

TEST(LevelOf, IsTheTaskWithItsClasses) {
  EXPECT_EQ(LevelOf(Cell("cats", 6, 4)), Level("cats", 6, 4));
  EXPECT_NE(LevelOf(Cell("cats", 6, 4)), LevelOf(Cell("cats", 4, 6)));
}

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
      {Record("a", "mcp", 0, 1), Record("b", "mcp", 0, 1, "overrides: '--set=training.epochs=2'"), std::move(other)});
  std::vector<std::string> rows;
  for (const TrialResult& result : made.results) rows.push_back(RowName(*result.trial));
  EXPECT_THAT(rows, ElementsAre("mcp, study s", "mcp, study s, changed --set=training.epochs=2", "mcp, study u"));
}

TEST(ResultsOf, FlagsThatOnlyChooseTrialsMakeNoRow) {
  const RecordResults made = ResultsOf({Record("a", "mcp", 0, 1), Record("b", "mcp", 1, 1, "overrides: '--seeds=1'"),
                                        Record("c", "mcp", 2, 1, "overrides: ['--seeds=2', '--methods=mcp']")});
  for (const TrialResult& result : made.results) EXPECT_EQ(RowName(*result.trial), "mcp");
  EXPECT_EQ(made.results.size(), 3);
}

TEST(ResultsOf, ARecordOfOtherImagesIsNamed) {
  const auto on = [](const std::string& digest) {
    return absl::StrCat("data { test_known { data_set: 'fotos' part: 'test' part_digest: '", digest, "' } }");
  };
  const std::vector<TrialRecord> records = {Record("a", "mcp", 0, 1, on("1")), Record("b", "vim", 0, 1, on("1")),
                                            Record("c", "mcp", 1, 1, on("1")), Record("d", "vim", 1, 1, on("2"))};
  EXPECT_THAT(
      ResultsOf(records).notes,
      ElementsAre("t: the records were measured on 2 states of part 'test' of data set 'fotos'; 1 of them (vim, "
                  "split 1, seed 0) on one that the others don't have: their differences are not between "
                  "methods"));
  EXPECT_THAT(ResultsOf({records[0], records[1], records[2]}).notes, IsEmpty());
  // Each split may have a file of features of its own, of the same name.
  const std::string first = "data { test_known { data_set: 'features:t.npz' part: 'all' part_digest: '1' } }",
                    second = absl::StrReplaceAll(first, {{"'1'", "'2'"}});
  EXPECT_THAT(ResultsOf({Record("a", "mcp", 0, 1, first), Record("b", "mcp", 1, 1, second)}).notes, IsEmpty());
  EXPECT_THAT(ResultsOf({Record("a", "mcp", 0, 1, first), Record("b", "vim", 0, 1, second)}).notes, SizeIs(1));
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
