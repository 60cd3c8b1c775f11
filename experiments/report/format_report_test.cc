#include "experiments/report/format_report.h"

#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/in_parallel.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "eval/metrics/display.h"

namespace openset {
namespace {

TEST(WithTitles, ReplacesNamesThatHaveATitleOfTheirOwn) {
  Report report;
  report.titles = {{"a", "Method A"}, {"b", "the same"}, {"c", "the same"}};
  EXPECT_EQ(TitledRow(report, "a"), "Method A");
  EXPECT_EQ(TitledRow(report, "a, lambda 0.1"), "Method A, lambda 0.1");
  EXPECT_EQ(TitledRow(report, "b"), "b");
  EXPECT_EQ(TitledRow(report, "none"), "none");
  report.titles["a (tuned)"] = "Method A";
  EXPECT_EQ(TitledRow(report, "a (tuned)"), "Method A (tuned)");
  EXPECT_EQ(TitledRow(report, "a"), "Method A");
  report.baseline = "a, lambda 0.1";
  report.cells.resize(2);
  report.cells[0].method = "a";
  report.cells[1].method = "c";
  const Report titled = WithTitles(report);
  EXPECT_EQ(titled.cells[0].method, "Method A");
  EXPECT_EQ(titled.cells[1].method, "c");
  EXPECT_EQ(titled.baseline, "Method A, lambda 0.1");
}

// A method with `n` of `of` runs, one for each split.
ReportCell Cell(int n, int of) {
  ReportCell cell;
  for (int i = 0; i < n; ++i) {
    cell.values.push_back(0.5);
    cell.splits.push_back(i);
    cell.seeds.push_back(0);
  }
  Summarise(&cell);
  cell.missing = of - n;
  return cell;
}

TEST(HeadLines, AreOfDataAndOfTheCommandLine) {
  Report report;
  EXPECT_THAT(HeadLines(report), IsEmpty());
  report.data_lines = {"The images are not here."};
  report.overrides = {"--set=training.epochs=2", "--seeds=0..4"};
  EXPECT_THAT(HeadLines(report), ElementsAre("The images are not here.",
                                             "Changed on the command line: --set=training.epochs=2 --seeds=0..4"));
}

TEST(FooterLines, SayWhyTrialsHaveNoRecord) {
  Report report;
  report.cells = {Cell(3, 4)};
  report.trials = 24;
  report.missing = 5;
  report.failed = 2;
  report.failed_lines = {"vim, splits 0 and 1, seed 1"};
  report.unevaluated = 1;
  report.waiting = 3;
  EXPECT_THAT(FooterLines(report),
              ElementsAre("Mean ± population standard deviation over splits and seeds (n=4).",
                          "2 of 24 trials failed: vim, splits 0 and 1, seed 1.",
                          "1 of 24 trials lacks only the evaluation by exactly these metrics: `openset run` makes it "
                          "without training.",
                          "2 of 24 trials have no record yet.", "Tuned trials that wait for their search: 3."));
}

TEST(FooterLines, OneRunHasNoSpread) {
  Report report;
  report.cells = {Cell(1, 1)};
  EXPECT_THAT(FooterLines(report), ElementsAre("One run: no spread."));
  report.cells = {Cell(2, 2), Cell(5, 5)};
  EXPECT_THAT(FooterLines(report),
              ElementsAre("Mean ± population standard deviation over splits and seeds (n=2 to 5)."));
}

TEST(StarText, NamesWhatTestsAreOver) {
  Report report;
  report.baseline = "mcp";
  report.cells = {Cell(2, 2), Cell(2, 2)};
  report.cells[0].method = "b";
  report.cells[0].significance = Significance{{}, false, 2};
  EXPECT_EQ(StarText(report),
            "No stars: not tested against mcp: fewer than 3 splits, or seeds of one split (b); here are 2 splits. Use "
            "5.");
  report.cells[1].significance = Significance{0.01, true, 5};
  EXPECT_THAT(StarText(report),
              HasSubstr("* differs from mcp: two-sided t test of differences paired by split and "
                        "seed, over 5 splits (a split counts once, by its mean over seeds; the standard error "
                        "is the larger of those between splits and within them), Holm's"));
  EXPECT_THAT(StarText(report), EndsWith("as in `openset compare`. Not tested, so without a star: fewer than 3 splits, "
                                         "or seeds of one split (b)."));
  report.cells[0].display.label = "AUROC";
  report.cells[0].significance = Significance{{}, false, 5, false, /*is_constant=*/true};
  EXPECT_THAT(StarText(report), EndsWith("without a star: the same difference in every run (b by AUROC)."));
  report.cells[0].significance = Significance{0.01, true, 4, /*of_seeds=*/true};
  EXPECT_THAT(StarText(report), HasSubstr("over 5 splits, or 4 seeds of one split (a"));
}

TEST(MarkText, NamesRowsIfMetricsAreRows) {
  Report report;
  EXPECT_THAT(MarkText(report), HasSubstr("Bold: the best mean of its column; underlined: the second best;"));
  report.cells = {Cell(1, 1)};
  report.cells[0].group = "near";
  EXPECT_THAT(MarkText(report), HasSubstr("the best mean of its column, for the same task and unknown samples; under"));
  report.rows = {"metric"};
  EXPECT_THAT(MarkText(report), HasSubstr("Bold: the best mean of its row, for the same"));
}

ReportCell Cell(const std::string& method, const std::string& group, const std::string& metric,
                std::vector<double> values) {
  const MetricSpec spec = Parsed<MetricSpec>(absl::StrCat(metric, " {}"));
  ReportCell cell;
  cell.method = method;
  cell.task = "task";
  cell.unknown_classes = 1;
  cell.openness = 0.125;
  cell.group = group;
  cell.metric = metric;
  cell.display = DisplayOf(spec);
  cell.n = static_cast<int>(values.size());
  for (const double value : values) cell.mean += value / cell.n;
  // For at most two values.
  if (cell.n == 2) cell.std = std::abs(values[0] - values[1]) / 2;
  for (int i = 0; i < cell.n; ++i) {
    cell.splits.push_back(i);
    cell.seeds.push_back(5);
    cell.intervals.emplace_back();
  }
  cell.values = std::move(values);
  return cell;
}

// Method "a" has two runs; "b" one, of which AUROC is undefined, and one that is missing.
Report Example() {
  Report report;
  report.experiment = "study";
  report.trials = 4;
  report.missing = 1;
  report.task_lines = {"task: about the task"};
  report.cells = {Cell("a", "pool", "accuracy", {0.5, 0.75}), Cell("a", "pool", "auroc", {0.75, 0.25}),
                  Cell("b", "pool", "accuracy", {0.875}), Cell("b", "pool", "auroc", {})};
  report.cells[2].missing = report.cells[3].missing = 1;
  report.cells[3].absent_reasons = {"no unknown samples"};
  return report;
}

TEST(FormatReport, Text) {
  EXPECT_EQ(FormatReport(Example(), TextFormat::kText),
            "task\n"
            "\n"
            "method  accuracy, % ↑     AUROC, % ↑\n"
            "------------------------------------\n"
            "a       62.50 ± 12.50  50.00 ± 25.00\n"
            "b         87.50 (n=1)              -\n"
            "\n"
            "task: about the task\n"
            "Mean ± population standard deviation over splits and seeds (n=2).\n"
            "1 of 4 trials have no record yet.\n");
}

TEST(FormatReport, ExplainsMissingRecords) {
  Report report = Example();
  report.trials = 24;
  report.missing = 5;
  report.failed = 2;
  report.failed_lines = {"vim, splits 0 and 1, seed 1"};
  report.unevaluated = 1;
  EXPECT_THAT(FormatReport(report, TextFormat::kText),
              HasSubstr("2 of 24 trials failed: vim, splits 0 and 1, seed 1.\n"
                        "1 of 24 trials lacks only the evaluation by exactly these metrics: `openset run` makes it "
                        "without training.\n"
                        "2 of 24 trials have no record yet.\n"));
}

// b's mean accuracy is the best, but it is from one of two runs. AUROC has only one mean, so that none is marked.
TEST(FormatReport, TheBestAmongThoseWithAllRunsIsBold) {
  Report report = Example();
  EXPECT_THAT(FormatReport(report, TextFormat::kMarkdown), HasSubstr("| a      | 62.50 ± 12.50 | 50.00 ± 25.00 |\n"));
  EXPECT_THAT(FormatReport(report, TextFormat::kMarkdown), HasSubstr("| b      |   87.50 (n=1) |"));
  report.cells[2] = Cell("b", "pool", "accuracy", {0.875, 0.875});
  EXPECT_THAT(FormatReport(report, TextFormat::kMarkdown), HasSubstr("**87.50 ± 0.00**"));
  EXPECT_THAT(FormatReport(report, TextFormat::kMarkdown), HasSubstr("<u>62.50 ± 12.50</u> | 50.00 ± 25.00"));
  report.cells.clear();
  report.cells = {Cell("a", "pool", "aurc", {0.0625}), Cell("b", "pool", "aurc", {0.125}),
                  Cell("c", "pool", "aurc", {0.25})};
  const std::string latex = FormatReport(report, TextFormat::kLatex);
  EXPECT_THAT(latex, HasSubstr("a & \\textbf{62.50} \\\\\n  b & \\underline{125.00} \\\\\n  c & 250.00 \\\\\n"));
  EXPECT_THAT(latex, HasSubstr("Bold: the best mean of its column; underlined: the second best"));
  EXPECT_THAT(latex, HasSubstr("AURC, x1000 $\\downarrow$"));
}

// Each metric in its own unit: risks times 1000, nats and ratios unchanged.
TEST(FormatReport, EachMetricHasItsUnit) {
  Report report;
  report.cells = {Cell("a", "pool", "aurc", {0.0625}), Cell("a", "pool", "nll", {1.25}),
                  Cell("a", "pool", "known_unknown_ratio", {1.5})};
  EXPECT_THAT(FormatReport(report, TextFormat::kText),
              HasSubstr("method  AURC, x1000 ↓  NLL, nats ↓  known : unknown\n"
                        "---------------------------------------------------\n"
                        "a               62.50       1.2500           1.5000\n"));
}

// The pool's table has all metrics; each metric of unknown samples has a table of methods by sets.
TEST(FormatReport, SetsOfUnknownSamplesHaveATableOfTheirOwn) {
  Report report;
  report.experiment = "study";
  for (const char* method : {"a", "b"}) {
    report.cells.push_back(Cell(method, "pool", "accuracy", {0.5}));
    report.cells.push_back(Cell(method, "pool", "auroc", {0.75}));
    report.cells.push_back(Cell(method, "cats", "auroc", {0.625}));
    report.cells.push_back(Cell(method, "mean of near", "auroc", {0.875}));
  }
  EXPECT_THAT(FormatReport(report, TextFormat::kText),
              HasSubstr("task: all unknown samples\n"
                        "\n"
                        "method  accuracy, % ↑  AUROC, % ↑\n"
                        "---------------------------------\n"
                        "a               50.00       75.00\n"
                        "b               50.00       75.00\n"
                        "\n"
                        "task: AUROC, % ↑, each set of unknown samples against all known ones\n"
                        "\n"
                        "method   cats  mean of near\n"
                        "---------------------------\n"
                        "a       62.50         87.50\n"
                        "b       62.50         87.50\n"));
  EXPECT_THAT(FormatReport(report, TextFormat::kCsv), HasSubstr("a,,task,1,0.125,cats,auroc,0.625,0,1,0,0.625,"));
  const nlohmann::json json = nlohmann::json::parse(FormatReport(report, TextFormat::kJson));
  EXPECT_EQ(json["cells"][1]["group"], "pool");
  EXPECT_EQ(json["cells"][2]["group"], "cats");
  EXPECT_THAT(FormatReport(Example(), TextFormat::kText), Not(HasSubstr("unknown samples")));
}

TEST(FormatReport, ASingleRunShowsItsInterval) {
  Report report;
  report.cells = {Cell("a", "pool", "auroc", {0.75}), Cell("b", "pool", "auroc", {0.75, 0.5})};
  for (ReportCell& cell : report.cells) cell.intervals[0] = {0.7, 0.8};
  const std::string text = FormatReport(report, TextFormat::kText);
  EXPECT_THAT(text, HasSubstr("75.00 [70.00, 80.00]\n"));
  EXPECT_THAT(text, HasSubstr("62.50 ± 12.50\n"));
  const nlohmann::json json = nlohmann::json::parse(FormatReport(report, TextFormat::kJson));
  EXPECT_EQ(json["cells"][1]["low"][0], 0.7);
  EXPECT_TRUE(json["cells"][1]["low"][1].is_null());
}

TEST(FormatReport, Markdown) {
  const std::string text = FormatReport(Example(), TextFormat::kMarkdown);
  EXPECT_THAT(text, HasSubstr("# study\n\n## task\n\n| method |"));
  EXPECT_THAT(text, HasSubstr("| a      | 62.50 ± 12.50 | 50.00 ± 25.00 |\n"));
}

TEST(FormatReport, CsvHoldsFullPrecision) {
  const std::string text = FormatReport(Example(), TextFormat::kCsv);
  EXPECT_THAT(
      text,
      HasSubstr("method,axis,task,unknown_classes,openness,group,metric,mean,std,n,missing,values,unit,"
                "better,label,known_classes,p_value,not_tested,published,published_std,difference,published_source,"
                "difference_may_be_due_to,overrides\n"));
  EXPECT_THAT(text,
              HasSubstr("a,,task,1,0.125,pool,accuracy,0.625,0.125,2,0,0.5 0.75,share,higher,accuracy,0,,,,,,,,\n"));
  EXPECT_THAT(text, HasSubstr("b,,task,1,0.125,pool,auroc,,,0,1,,share,higher,AUROC,0,,,,,,,,\n"));
}

TEST(FormatReport, Json) {
  const nlohmann::json json = nlohmann::json::parse(FormatReport(Example(), TextFormat::kJson));
  EXPECT_EQ(json["experiment"], "study");
  EXPECT_EQ(json["std"], "population");
  const nlohmann::json& cell = json["cells"][0];
  EXPECT_EQ(cell["method"], "a");
  EXPECT_EQ(cell["task"], "task");
  EXPECT_EQ(cell["metric"], "accuracy");
  EXPECT_EQ(cell["label"], "accuracy");
  EXPECT_EQ(cell["unit"], "share");
  EXPECT_EQ(cell["higher_is_better"], true);
  EXPECT_EQ(cell["mean"], 0.625);
  EXPECT_EQ(cell["std"], 0.125);
  EXPECT_EQ(cell["n"], 2);
  EXPECT_EQ(cell["values"], (std::vector<double>{0.5, 0.75}));
  EXPECT_TRUE(json["cells"][3]["mean"].is_null());
  EXPECT_EQ(json["cells"][3]["absent"][0], "no unknown samples");
}

TEST(FormatReport, EachFormatShowsChangesByTheCommandLine) {
  Report report = Example();
  report.overrides = {"--set=training.epochs=2", "--seeds=0..4"};
  const std::string line = "Changed on the command line: --set=training.epochs=2 --seeds=0..4\n";
  EXPECT_EQ(FormatReport(report, TextFormat::kText).rfind(line + "\ntask\n", 0), 0);
  // The line has no underscore, which Markdown would need escaped.
  EXPECT_THAT(FormatReport(report, TextFormat::kMarkdown), HasSubstr("# study\n\n" + line));
  EXPECT_THAT(FormatReport(report, TextFormat::kLatex), HasSubstr("\n% " + line));
  EXPECT_THAT(FormatReport(report, TextFormat::kCsv),
              HasSubstr("share,higher,AUROC,0,,,,,,,,'--set=training.epochs=2 --seeds=0..4\n"));
  EXPECT_EQ(nlohmann::json::parse(FormatReport(report, TextFormat::kJson))["overrides"],
            (std::vector<std::string>{"--set=training.epochs=2", "--seeds=0..4"}));
  for (const TextFormat format : {TextFormat::kText, TextFormat::kMarkdown, TextFormat::kLatex}) {
    EXPECT_THAT(FormatReport(Example(), format), Not(HasSubstr("command line")));
  }
}

TEST(FormatReport, CountsTheChoicesOfManySearches) {
  Report report = Example();
  report.search_lines.assign(13, "what was chosen");
  report.choices = {{"odin (tuned)", {{"temperature 1", 5}, {"temperature 10", 8}}}};
  const std::string text = FormatReport(report, TextFormat::kText);
  EXPECT_THAT(text, HasSubstr("odin (tuned), 13 searches: temperature 10 (8), temperature 1 (5)\n"));
  EXPECT_THAT(text, Not(HasSubstr("what was chosen")));
  EXPECT_THAT(FormatReport(report, TextFormat::kJson), HasSubstr("what was chosen"));
}

TEST(FormatReport, ShowsChoicesOfSearchesAndWaitingTrials) {
  Report report = Example();
  report.search_lines = {"what was chosen"};
  report.waiting = 3;
  for (const TextFormat format : {TextFormat::kText, TextFormat::kMarkdown, TextFormat::kJson}) {
    EXPECT_THAT(FormatReport(report, format), HasSubstr("what was chosen"));
  }
  EXPECT_THAT(FormatReport(report, TextFormat::kText), HasSubstr("Tuned trials that wait for their search: 3."));
}

TEST(FormatReport, TextIsAsWideAsTheTerminal) {
  const std::string text = FormatReport(Example(), TextFormat::kText, 40);
  EXPECT_THAT(text, HasSubstr("Mean ± population standard deviation\n  over splits and seeds (n=2).\n"));
  Report report;
  report.cells = {Cell("a", "pool", "accuracy", {0.5})};
  EXPECT_THAT(FormatReport(report, TextFormat::kText), HasSubstr("\nOne run: no spread.\n"));
  report.cells[0].intervals[0] = {0.25, 0.75};
  EXPECT_THAT(FormatReport(report, TextFormat::kText),
              HasSubstr("\nOne run: no spread; in brackets, the interval over its test samples.\n"));
}

TEST(FormatReport, LatexHasTitlesLabelsAndItsFootnoteInTheFloat) {
  Report report = Example();
  report.titles = {{"a", "Method A"}, {"b", "the same"}, {"c", "the same"}};
  report.baseline = "a";
  EXPECT_THAT(FormatReport(report, TextFormat::kLatex), Not(HasSubstr("differs from")));  // no star
  for (ReportCell& cell : report.cells) {
    if (cell.method == "b") cell.significance = Significance{0.01, true, 6};
    cell.missing = 0;
    cell.absent_reasons.clear();
  }
  const std::string latex = FormatReport(report, TextFormat::kLatex);
  EXPECT_THAT(latex, HasSubstr(". Mean $\\pm$ population standard deviation over splits and seeds (n=1 to 2).}\n"
                               "  \\label{tab:study}\n\\begin{tabular}"));
  EXPECT_THAT(latex, HasSubstr("\n  Method A & "));
  EXPECT_THAT(latex, HasSubstr("\n  b & "));  // a method without a title
  EXPECT_THAT(
      latex,
      HasSubstr(
          "\\end{tabular}\n\\par\n{\\footnotesize\\raggedright Bold: the best mean of its column; underlined: the "
          "second best; among methods with all runs, by the mean alone, without a test. * differs "
          "from Method A: two-sided t test of differences paired by split and seed, over 6 splits"));
  EXPECT_THAT(latex, HasSubstr("p $<$ 0.05 over all tests of a metric and group, as in \\texttt{openset compare}."
                               "\\par}\n\\end{table}\n"));
  // Also without a star, if something was not tested.
  for (ReportCell& cell : report.cells) {
    if (cell.method == "b") cell.significance = Significance{{}, false, 2};
  }
  EXPECT_THAT(FormatReport(report, TextFormat::kLatex),
              HasSubstr("No stars: not tested against Method A: fewer than 3 splits, or seeds of one split (b)"));
}

// The best of each set of unknown samples: a has the larger AUROC on cats, b on dogs, whichever set is easier. A page
// has the same marks, from the JSON.
TEST(FormatReport, MarksTheBestOfEachSet) {
  Report report;
  report.experiment = "study";
  for (const auto& [method, cats, dogs] : {std::tuple("a", 0.625, 0.875), std::tuple("b", 0.5, 0.9375)}) {
    report.cells.push_back(Cell(method, "pool", "auroc", {0.75}));
    report.cells.push_back(Cell(method, "cats", "auroc", {cats}));
    report.cells.push_back(Cell(method, "dogs", "auroc", {dogs}));
  }
  EXPECT_THAT(FormatReport(report, TextFormat::kMarkdown),
              AllOf(HasSubstr("| a      |    **62.50** | <u>87.50</u> |\n| b      | <u>50.00</u> |    **93.75** |\n"),
                    HasSubstr("Bold: the best mean of its column, for the same task and unknown samples;")));
  EXPECT_THAT(FormatReport(report, TextFormat::kLatex), HasSubstr("a & \\textbf{62.50} & \\underline{87.50} \\\\\n"));
  const nlohmann::json json = nlohmann::json::parse(FormatReport(report, TextFormat::kJson));
  EXPECT_FALSE(json["cells"][0].contains("mark"));  // equal means
  EXPECT_EQ(json["cells"][1]["mark"], "best");
  EXPECT_EQ(json["cells"][2]["mark"], "second");
  EXPECT_EQ(json["cells"][4]["mark"], "second");
  EXPECT_EQ(json["cells"][5]["mark"], "best");
}

// CSV and JSON have a p-value only of tests, and say why there is none.
TEST(FormatReport, HasNoPValueWithoutATest) {
  Report report = Example();
  report.cells[2].significance = Significance{{}, false, 2};
  report.cells[0].significance = Significance{0.5, false, 5};
  EXPECT_THAT(FormatReport(report, TextFormat::kCsv),
              AllOf(HasSubstr("share,higher,accuracy,0,0.5,,"),
                    HasSubstr("share,higher,accuracy,0,,\"fewer than 3 splits, or seeds of one split\",")));
  const nlohmann::json json = nlohmann::json::parse(FormatReport(report, TextFormat::kJson));
  EXPECT_EQ(json["cells"][0]["p_value"], 0.5);
  EXPECT_EQ(json["cells"][0]["detectable"], false);
  EXPECT_FALSE(json["cells"][2].contains("p_value"));
  EXPECT_FALSE(json["cells"][2].contains("detectable"));
  EXPECT_EQ(json["cells"][2]["not_tested"], "fewer than 3 splits, or seeds of one split");
}

TEST(FormatReport, MarkdownsFootnoteIsNoBullet) {
  Report report = Example();
  report.baseline = "a";
  report.cells[0].significance = Significance{0.01, true, 3};
  for (ReportCell& cell : report.cells) cell.missing = 0;
  EXPECT_THAT(
      FormatReport(report, TextFormat::kMarkdown),
      AllOf(HasSubstr("(n=1 to 2).\n\nBold: the best mean of its column; "), HasSubstr("\n\n\\* differs from a: ")));
}

TEST(FormatReport, OnlyTextWrapsItsLines) {
  Report report = Example();
  report.note_lines = {std::string(110, 'x') + " and the rest"};
  EXPECT_THAT(FormatReport(report, TextFormat::kText), HasSubstr(std::string(110, 'x') + " and the\n  rest\n"));
  EXPECT_THAT(FormatReport(report, TextFormat::kMarkdown), HasSubstr(report.note_lines[0]));
}

TEST(FormatReport, TheSameReportGivesTheSameText) {
  EXPECT_EQ(FormatReport(Example(), TextFormat::kJson), FormatReport(Example(), TextFormat::kJson));
}

// More trials than are converted to text at once.
TEST(FormatReport, JsonOfManyTrialsIsThatOfOneList) {
  Report report = Example();
  for (int t = 0; t < 600; ++t) {
    ReportTrial& trial = report.results.emplace_back();
    trial.id = absl::StrCat("trial ", t);
    trial.method = "a";
    trial.task = "task";
    trial.seed = t;
    if (t % 2 == 0) trial.epochs.emplace_back().set_loss(0.5);
  }
  const std::string text = FormatReport(report, TextFormat::kJson);
  const nlohmann::ordered_json json = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(json.dump(2) + "\n", text);
  ASSERT_EQ(json["results"].size(), 600);
  for (int t = 0; t < 600; ++t) EXPECT_EQ(json["results"][t]["seed"], t);
  EXPECT_EQ(json["results"][0]["curve"].size(), 1);
  EXPECT_EQ(json["results"][1]["curve"].size(), 0);
  LimitThreads(1);
  EXPECT_EQ(FormatReport(report, TextFormat::kJson), text);
  LimitThreads(std::numeric_limits<int>::max());
  report.results.clear();
  EXPECT_EQ(nlohmann::json::parse(FormatReport(report, TextFormat::kJson))["results"].size(), 0);
}

}  // namespace
}  // namespace openset
