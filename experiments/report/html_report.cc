#include "experiments/report/html_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "data/selection.h"
#include "data/task.pb.h"
#include "eval/report/run_comparison.h"
#include "eval/report/run_comparison_report.h"
#include "eval/report/run_table.h"
#include "experiments/report/charts/charts.h"
#include "experiments/report/format_report.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

constexpr size_t kMostFacts = 4;          // values that are visible without a click
constexpr size_t kMostValues = 20000;     // of all cells together, that the page contains in addition to their means
constexpr size_t kMostImprovements = 30;  // charts; a study of many tasks has rank charts
constexpr int kMaxExamples = 24;          // one trial for each method

std::string Preformatted(const std::string& text) { return absl::StrCat("<pre>", EscapeXml(text), "</pre>\n"); }

// Marks fields that the command line changed.
std::string SpecHtml(const ReportContext& context) {
  if (context.changed_spec.empty()) {
    return context.spec.empty() ? "" : absl::StrCat("<h2>Spec</h2>\n", Preformatted(context.spec));
  }
  std::string html = "<h2>Spec</h2>\n<p class=\"state\">Marked: changes by the command line.</p>\n<pre>";
  for (const SpecLine& line : context.changed_spec) {
    const std::string text = EscapeXml(line.text);
    absl::StrAppend(&html, line.changed ? absl::StrCat("<mark>", text, "</mark>") : text, "\n");
  }
  return html + "</pre>\n";
}

// ReportJson(), but with the common fields of a metric's cells once in `metrics` and of a row's in `rows`, and without
// single values if there are very many.
VegaLite PageJson(const Report& report) {
  size_t values = 0;
  for (const ReportCell& cell : report.cells) values += cell.values.size();
  VegaLite json = ReportJson(report, /*with_values=*/values <= kMostValues);
  json["metrics"] = VegaLite::object();
  json["rows"] = VegaLite::array();
  std::map<std::string, size_t> rows;
  for (VegaLite& cell : json["cells"]) {
    VegaLite row = VegaLite::object();
    for (const char* common : {"method", "task", "axis", "known_classes", "unknown_classes", "openness"}) {
      row[common] = cell[common];
      cell.erase(common);
    }
    const auto [at, is_new] = rows.try_emplace(JsonText(row), rows.size());
    if (is_new) json["rows"].push_back(std::move(row));
    cell["row"] = at->second;
    VegaLite& metric = json["metrics"][cell["metric"].get<std::string>()];
    for (const char* common : {"column", "unit", "display", "higher_is_better"}) {
      metric[common] = cell[common];
      cell.erase(common);
    }
  }
  return json;
}

// Adds an element for a chart, and the chart.
void AddFigure(const std::string& name, VegaLite chart, ChartPage* page) {
  absl::StrAppend(&page->body, "<figure data-chart=\"", EscapeXml(name), "\"></figure>\n");
  page->charts[name] = std::move(chart);
}

// Adds a section for each kind of chart.
void AddCharts(const std::vector<ReportChart>& charts, ChartPage* page) {
  std::string section;
  for (const ReportChart& chart : charts) {
    if (chart.section != section) {
      if (!section.empty()) absl::StrAppend(&page->body, "</div>\n");
      section = chart.section;
      absl::StrAppend(&page->body, "<h2>", EscapeXml(section), "</h2>\n<div class=\"charts\">\n");
    }
    AddFigure(chart.name, ToVegaLite(chart.plot), page);
  }
  if (!section.empty()) absl::StrAppend(&page->body, "</div>\n");
}

// Bars of each metric over the baseline, if there is one.
void AddImprovement(const Report& report, ChartPage* page) {
  if (report.baseline.empty()) return;
  const std::vector<ImprovementChart> charts = ImprovementCharts(report, report.baseline);
  if (charts.empty() || charts.size() > kMostImprovements) return;
  absl::StrAppend(&page->body, "<h2>Improvement over ", EscapeXml(report.baseline), "</h2>\n<div class=\"charts\">\n");
  for (const ImprovementChart& chart : charts) AddFigure(chart.name, ToVegaLite(chart.chart), page);
  absl::StrAppend(&page->body, "</div>\n");
}

void AddRanks(const RankCharts& ranks, ChartPage* page) {
  if (ranks.charts.empty() && ranks.lines.empty()) return;
  absl::StrAppend(&page->body, "<h2>Ranks</h2>\n<div class=\"charts\">\n");
  for (const auto& [name, chart] : ranks.charts) AddFigure(name, chart, page);
  absl::StrAppend(&page->body, "</div>\n");
  for (const std::string& line : ranks.lines) absl::StrAppend(&page->body, "<p>", EscapeXml(line), "</p>\n");
}

// The provenance of the records: each fact with its values and the number of stages that had each value.
class Facts {
 public:
  // `of_stage`: if there are several values, the page shows how many stages have each.
  void Add(const std::string& fact, const std::string& value, bool of_stage = false) {
    if (value.empty()) return;
    if (of_stage) counted_.insert(fact);
    if (values_.count(fact) == 0) order_.push_back(fact);
    ++values_[fact][value];
  }

  std::string Html() const {
    std::string html = "<table class=\"facts\">\n";
    for (const std::string& fact : order_) {
      const std::map<std::string, int>& values = values_.at(fact);
      const std::string text = absl::StrJoin(values, "<br>", [&](std::string* out, const auto& value) {
        out->append(EscapeXml(value.first));
        if (values.size() > 1 && counted_.count(fact) > 0) absl::StrAppend(out, " (", value.second, " stages)");
      });
      absl::StrAppend(&html, "<tr><th scope=\"row\">", EscapeXml(fact), "</th><td>",
                      values.size() > kMostFacts
                          ? absl::StrCat("<details><summary>", values.size(), "</summary>", text, "</details>")
                          : text,
                      "</td></tr>\n");
    }
    return html + "</table>\n";
  }

 private:
  std::vector<std::string> order_;
  std::set<std::string> counted_;
  std::map<std::string, std::map<std::string, int>> values_;
};

// "6000 known samples of 6 classes, 4000 unknown ones of 4 classes: near 1000, far 3000".
std::string PoolText(const SampleCounts& counts) {
  std::string text = absl::StrCat(counts.known(), " known samples of ", counts.known_classes(), " classes, ",
                                  counts.unknown(), " unknown ones of ", counts.unknown_classes());
  for (int g = 0; counts.group_size() > 1 && g < counts.group_size(); ++g) {
    absl::StrAppend(&text, g == 0 ? ": " : ", ", counts.group(g).name(), " ", counts.group(g).samples());
  }
  return text;
}

// "12 s", "3.4 min", "5.6 h".
std::string SecondsText(double seconds) {
  if (seconds < 100) return absl::StrFormat("%.0f s", seconds);
  if (seconds < 6000) return absl::StrFormat("%.1f min", seconds / 60);
  return absl::StrFormat("%.1f h", seconds / 3600);
}

std::string ListHtml(const std::vector<std::string>& lines) {
  std::string html = "<ul>\n";
  for (const std::string& line : lines) absl::StrAppend(&html, "<li>", EscapeXml(line), "</li>\n");
  return html + "</ul>\n";
}

// The comparisons with the baseline on all unknown samples, as `openset compare` has them: a sentence for each
// difference, and, folded, for each other pair, and the tables; nothing for a study that looks at its results while it
// runs.
std::string ComparisonsHtml(const Report& report) {
  constexpr size_t kMostCells = 2000;  // for the time that it takes
  if (report.baseline.empty() || report.until.has_value()) return "";
  std::string html = "<h2>Comparisons</h2>\n";
  if (report.cells.size() > kMostCells) {
    return absl::StrCat(html, "<p>Left out, because there are more than 2,000 numbers: <code>openset compare ",
                        EscapeXml(report.experiment), "</code> has them.</p>\n");
  }
  const absl::StatusOr<RunTable> table = TableOf(report, kPool);
  if (!table.ok()) return "";
  absl::StatusOr<RunComparison> comparison = CompareRuns(*table, {}, {}, table->baseline);
  if (!comparison.ok()) return "";
  if (table->groups.size() > 1) comparison->group = kPool;
  const ComparisonSentences sentences = SentencesOf(*comparison);
  html += sentences.detected.empty() ? "<p>No difference was detected.</p>\n" : ListHtml(sentences.detected);
  if (!sentences.others.empty()) {
    absl::StrAppend(&html, "<details><summary>Without a detected difference: ", sentences.others.size(), " of ",
                    comparison->pairs.size(), " comparisons</summary>\n", ListHtml(sentences.others), "</details>\n");
  }
  return absl::StrCat(html,
                      "<details><summary>All numbers: intervals, effect sizes, what can't be detected</summary>\n",
                      Preformatted(FormatRunComparison(*comparison, TextFormat::kText)), "</details>\n");
}

// The time in which at least one of these spans ran.
double Elapsed(std::vector<std::pair<double, double>> spans) {
  std::sort(spans.begin(), spans.end());
  double elapsed = 0, until = 0;
  for (const auto& [begin, end] : spans) {
    elapsed += std::max(0.0, end - std::max(begin, until));
    until = std::max(until, end);
  }
  return elapsed;
}

std::string ProvenanceHtml(absl::Span<const TrialResult> results) {
  Facts facts;
  std::set<std::string> counted;  // stages by key: trials share them
  double cpu_seconds = 0, first = 0, last = 0;
  std::vector<std::pair<double, double>> spans;  // of the stages
  for (const TrialResult& result : results) {
    if (result.record == nullptr) continue;
    for (const StageProvenance& stage : result.record->provenance().stage()) {
      if (!counted.insert(stage.key()).second) continue;
      facts.Add("commit", absl::StrCat(stage.commit(), stage.dirty() ? ", with changes " : "", stage.changes_sha256()),
                true);
      facts.Add("program", stage.program_sha256(), true);
      facts.Add("compiler", stage.compiler(), true);
      facts.Add("LibTorch", stage.libtorch_version(), true);
      facts.Add("libraries", stage.libraries(), true);
      facts.Add("processor", stage.cpu(), true);
      facts.Add("kernels", stage.cpu_capability(), true);
      facts.Add("GPU", stage.gpu().empty() ? "" : absl::StrCat(stage.gpu(), ", driver ", stage.gpu_driver()), true);
      facts.Add("host", stage.host(), true);
      facts.Add("other packages than pinned", stage.third_party(), true);
      cpu_seconds += stage.cpu_seconds();
      const double start = stage.started_at_seconds();
      if (start > 0 && (first == 0 || start < first)) first = start;
      last = std::max({last, start, stage.ended_at_seconds()});
      spans.emplace_back(start, std::max(stage.ended_at_seconds(), start + stage.wall_seconds()));
    }
  }
  for (const TrialResult& result : results) {
    if (result.record == nullptr) continue;
    const TaskData& data = result.trial->data();
    facts.Add("pool", absl::StrCat(result.trial->task(), ", split ", result.trial->split(), ": ",
                                   PoolText(result.record->counts())));
    facts.Add("split", absl::StrCat(result.trial->task(), ", split ", result.trial->split(), ": ",
                                    result.record->split_sha256()));
    std::vector<const Selection*> selections = TestSelections(data);
    selections.insert(selections.begin(), &data.train());
    for (const Selection* selection : selections) {
      for (const PartOfDataSet& part : PartsOf(*selection)) {
        facts.Add("data", absl::StrCat(selection->data_set(), ", ", part.part(), ": ", part.part_digest()));
      }
    }
  }
  if (counted.empty()) return "";
  if (first > 0) {
    const auto text = [](double seconds) {
      return absl::FormatTime("%Y-%m-%d %H:%M", absl::UnixEpoch() + absl::Seconds(seconds), absl::UTCTimeZone());
    };
    facts.Add("made", absl::StrCat("from ", text(first), " to ", text(last), " UTC"));
  }
  facts.Add("time", absl::StrCat(SecondsText(cpu_seconds), " CPU, ", SecondsText(Elapsed(spans)), " elapsed, in ",
                                 counted.size(), counted.size() == 1 ? " stage" : " stages"));
  return absl::StrCat("<h2>Provenance</h2>\n", facts.Html());
}

}  // namespace

std::vector<ExampleTrial> ExamplesOf(absl::Span<const TrialResult> results) {
  return ExampleTrials(results, kMaxExamples);
}

absl::StatusOr<ChartPage> ReportPage(const Report& report, absl::Span<const TrialResult> results,
                                     const ReportContext& context) {
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  const std::string folder = JoinPath(runfiles, "openset/experiments/report");
  ChartPage page;
  OPENSET_ASSIGN_OR_RETURN(page.script, ReadFile(JoinPath(folder, "report_page.js")));
  OPENSET_ASSIGN_OR_RETURN(page.style, ReadFile(JoinPath(folder, "report_page.css")));
  page.title = report.experiment;
  page.data["report"] = PageJson(report);
  if (!context.question.empty())
    page.body = absl::StrCat("<p class=\"question\">", EscapeXml(context.question), "</p>\n");
  for (const std::string& line : report.data_lines) {
    absl::StrAppend(&page.body, "<p class=\"overrides\">", EscapeXml(line), "</p>\n");
  }
  if (!report.overrides.empty()) {
    absl::StrAppend(&page.body, "<p class=\"overrides\">Changed on the command line: <code>",
                    EscapeXml(absl::StrJoin(report.overrides, " ")), "</code></p>\n");
  }
  absl::StrAppend(&page.body, "<p class=\"state\">", report.trials - report.missing, " of ", report.trials,
                  " trials have a record.</p>\n<nav id=\"contents\" aria-label=\"contents\"></nav>\n<div "
                  "id=\"controls\"></div>\n<div id=\"tables\"></div>\n");
  if (!report.baseline.empty())
    absl::StrAppend(&page.body, "<p class=\"state\">", EscapeXml(StarText(report)), "</p>\n");
  page.body += ComparisonsHtml(report);
  if (report.until.has_value()) {
    const DocumentSection until = UntilTable(report);
    absl::StrAppend(&page.body, "<h2>Comparisons</h2>\n<p>", EscapeXml(until.title), ".</p>\n",
                    Preformatted(ToText(until.table)));
    for (const std::string& line : UntilLines(report)) absl::StrAppend(&page.body, "<p>", EscapeXml(line), "</p>\n");
  }
  absl::StrAppend(&page.body, "<noscript>", Preformatted(FormatReport(report, TextFormat::kText)), "</noscript>\n");
  if (!report.task_lines.empty()) {
    absl::StrAppend(&page.body, "<h2>Tasks</h2>\n", Preformatted(absl::StrJoin(report.task_lines, "\n")));
  }
  AddImprovement(report, &page);
  AddRanks(MakeRankCharts(report), &page);
  AddCharts(SensitivityCharts(report), &page);
  AddCharts(OpennessCharts(report), &page);
  const std::vector<ExampleTrial> examples = ExamplesOf(results);
  AddCharts(CurveCharts(results), &page);
  AddCharts(DensityCharts(examples), &page);
  page.data["examples"] = ExamplesJson(examples, context.examples);
  absl::StrAppend(&page.body, "<div id=\"examples\"></div>\n");
  AddCharts(LearningCurves(results), &page);
  if (!report.note_lines.empty()) {
    absl::StrAppend(&page.body, "<h2>Notes</h2>\n", Preformatted(absl::StrJoin(report.note_lines, "\n")));
  }
  if (!report.search_lines.empty()) {
    absl::StrAppend(&page.body, "<h2>Searches</h2>\n", Preformatted(absl::StrJoin(report.search_lines, "\n")));
  }
  if (!context.failures.empty()) {
    absl::StrAppend(&page.body, "<h2>Failures</h2>\n");
    for (const std::string& failure : context.failures) absl::StrAppend(&page.body, Preformatted(failure));
  }
  absl::StrAppend(&page.body, ProvenanceHtml(results));
  absl::StrAppend(&page.body, SpecHtml(context));
  return page;
}

absl::StatusOr<std::string> HtmlReport(const Report& report, absl::Span<const TrialResult> results,
                                       const ReportContext& context) {
  OPENSET_ASSIGN_OR_RETURN(const ChartPage page, ReportPage(report, results, context));
  return ToHtml(page);
}

}  // namespace openset
