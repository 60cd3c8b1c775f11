#include "experiments/report/format_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/in_parallel.h"
#include "core/text/json_text.h"
#include "core/text/table.h"
#include "experiments/report/statistics.h"
#include "experiments/spec/trial.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

// A tuned method has the title of the method that was tuned.
std::string TitleOf(const std::string& method, const std::string& title) {
  return absl::StrCat(title, absl::EndsWith(method, kTunedSuffix) ? kTunedSuffix : "");
}

}  // namespace

std::string TitledRow(const Report& report, const std::string& row) {
  const std::string method = row.substr(0, row.find(", "));
  const auto title = report.titles.find(method);
  if (title == report.titles.end()) return row;
  const std::string own = TitleOf(method, title->second);
  const auto has_title = [&](const auto& other) { return TitleOf(other.first, other.second) == own; };
  if (absl::c_count_if(report.titles, has_title) > 1) return row;
  return absl::StrCat(own, row.substr(method.size()));
}

Report WithTitles(const Report& report) {
  Report titled = report;
  for (ReportCell& cell : titled.cells) cell.method = TitledRow(report, cell.method);
  titled.baseline = TitledRow(report, report.baseline);
  return titled;
}

namespace {

// The reasons why trials have no record, one per line.
std::vector<std::string> MissingLines(const Report& report) {
  constexpr size_t kMostNamed = 6;
  std::vector<std::string> lines;
  const auto of_trials = [&](int count) { return absl::StrCat(count, " of ", report.trials, " trials "); };
  if (report.failed > 0) {
    const std::vector<std::string>& all = report.failed_lines;
    const std::vector<std::string> named(all.begin(), all.begin() + std::min(all.size(), kMostNamed));
    lines.push_back(absl::StrCat(of_trials(report.failed), "failed: ", absl::StrJoin(named, "; "),
                                 all.size() > kMostNamed ? "; ..." : "", "."));
  }
  if (report.unevaluated > 0) {
    lines.push_back(absl::StrCat(of_trials(report.unevaluated), report.unevaluated == 1 ? "lacks" : "lack",
                                 " only the evaluation by exactly these metrics: `openset run` makes ",
                                 report.unevaluated == 1 ? "it" : "them", " without training."));
  }
  if (const int others = report.missing - report.unevaluated - report.failed; others > 0) {
    lines.push_back(absl::StrCat(of_trials(others), "have no record yet."));
  }
  return lines;
}

// "5", "3 to 5".
std::string RangeText(const std::set<int>& counts) {
  return counts.size() < 2 ? absl::StrCat(counts.empty() ? 0 : *counts.begin())
                           : absl::StrCat(*counts.begin(), " to ", *counts.rbegin());
}

// "5 splits", "3 to 5 splits", "4 seeds of one split": the runs that tests compare, or would compare.
std::string ReplicatesText(const Report& report, bool tested) {
  std::set<int> splits, seeds;
  for (const ReportCell& cell : report.cells) {
    if (!cell.significance.has_value() || cell.significance->replicates == 0) continue;
    if (cell.significance->p_value.has_value() != tested) continue;
    (cell.significance->of_seeds ? seeds : splits).insert(cell.significance->replicates);
  }
  std::vector<std::string> parts;
  if (!splits.empty()) parts.push_back(absl::StrCat(RangeText(splits), " splits"));
  if (!seeds.empty()) parts.push_back(absl::StrCat(RangeText(seeds), " seeds of one split"));
  return absl::StrJoin(parts, ", or ");
}

// "fewer than 3 splits, or seeds of one split (b, c); the same difference in every run (d by accuracy)": which cells
// were not tested against the baseline, and why.
std::string NotTestedText(const Report& report) {
  constexpr size_t kMostNamed = 6;
  std::map<std::string, std::vector<std::string>> rows;  // by reason
  for (const ReportCell& cell : report.cells) {
    if (!cell.significance.has_value() || cell.significance->p_value.has_value()) continue;
    std::string row = RowName(cell);
    if (cell.significance->is_constant) absl::StrAppend(&row, " by ", SharedDisplay(cell).label);
    std::vector<std::string>& of_reason = rows[WhyNotTested(*cell.significance)];
    if (!absl::c_linear_search(of_reason, row)) of_reason.push_back(std::move(row));
  }
  return absl::StrJoin(rows, "; ", [&](std::string* out, const auto& reason) {
    const std::vector<std::string>& all = reason.second;
    const std::vector<std::string> named(all.begin(), all.begin() + std::min(all.size(), kMostNamed));
    absl::StrAppend(out, reason.first, " (", absl::StrJoin(named, ", "), all.size() > kMostNamed ? ", ...)" : ")");
  });
}

}  // namespace

std::vector<std::string> HeadLines(const Report& report) {
  std::vector<std::string> lines = report.data_lines;
  if (!report.overrides.empty()) {
    lines.push_back(absl::StrCat("Changed on the command line: ", absl::StrJoin(report.overrides, " ")));
  }
  return lines;
}

std::vector<std::string> FooterLines(const Report& report) {
  std::vector<std::string> lines = {absl::StrCat(MeanText(report), ".")};
  for (std::string& line : MissingLines(report)) lines.push_back(std::move(line));
  if (!report.baseline.empty()) lines.push_back(StarText(report));
  if (report.waiting > 0) {
    lines.push_back(absl::StrCat("Tuned trials that wait for their search: ", report.waiting, "."));
  }
  return lines;
}

std::string MeanText(const Report& report) {
  std::set<int> runs;
  for (const ReportCell& cell : report.cells) {
    if (cell.n > 0 && !IsIncomplete(cell)) runs.insert(cell.n);  // other cells show their number in the table
  }
  if (runs.empty() && !report.cells.empty()) runs.insert(report.cells[0].n + report.cells[0].missing);
  if (runs == std::set<int>{1}) {
    const bool has_intervals = absl::c_any_of(report.cells, [](const ReportCell& cell) {
      return cell.n == 1 && !cell.intervals.empty() && cell.intervals[0].has_value();
    });
    return has_intervals ? "One run: no spread; in brackets, the interval over its test samples" : "One run: no spread";
  }
  return absl::StrCat("Mean ± ", SpreadText(report.spread),
                      runs.empty() ? "" : absl::StrCat(" (n=", RangeText(runs), ")"));
}

std::string MarkText(const Report& report) {
  const bool of_groups =
      !report.rows.empty() || absl::c_any_of(report.cells, [](const ReportCell& cell) { return cell.group != kPool; });
  return absl::StrCat("Bold: the best mean of its ", BestOfRows(report) ? "row" : "column",
                      of_groups ? ", for the same task and unknown samples" : "",
                      "; underlined: the second best; among methods with all runs, by the mean alone, without a test.");
}

std::string StarText(const Report& report) {
  if (report.until.has_value()) {
    return absl::StrCat("No stars: how many runs a method has depends on ", report.until->display.label,
                        "; the table of comparisons takes that into account.");
  }
  const bool tested = absl::c_any_of(report.cells, [](const ReportCell& cell) {
    return cell.significance.has_value() && cell.significance->p_value.has_value();
  });
  const std::string not_tested = NotTestedText(report);
  if (!tested) {
    const std::string over = ReplicatesText(report, false);
    return absl::StrCat("No stars: not tested against ", report.baseline, ": ", not_tested,
                        over.empty() ? "" : absl::StrCat("; here are ", over), ". Use 5.");
  }
  return absl::StrCat(
      "* differs from ", report.baseline, ": two-sided t test of differences paired by split and seed, over ",
      ReplicatesText(report, true),
      " (a split counts once, by its mean over seeds; the standard error is the larger of those between "
      "splits and within them), Holm's p < 0.05 over all tests of a metric and group, as in `openset "
      "compare`.",
      not_tested.empty() ? "" : absl::StrCat(" Not tested, so without a star: ", not_tested, "."));
}

namespace {

// Whether a comparison that stayed open to the end has the baseline's value in every run.
bool IsEqual(const UntilComparison& comparison) {
  return comparison.verdict == UntilComparison::Verdict::kUndecided && comparison.difference == 0.0 &&
         !comparison.interval.has_value();
}

std::string VerdictText(const UntilComparison& comparison, const std::string& size) {
  switch (comparison.verdict) {
    case UntilComparison::Verdict::kOpen:
      return "open";
    case UntilComparison::Verdict::kHigher:
      return "higher";
    case UntilComparison::Verdict::kLower:
      return "lower";
    case UntilComparison::Verdict::kExcluded:
      return absl::StrCat("no difference of ", size);
    case UntilComparison::Verdict::kUndecided:
      return IsEqual(comparison) ? "equal in every run" : "undecided";
    case UntilComparison::Verdict::kUndefined:
      return "undefined";
    case UntilComparison::Verdict::kSame:
      return "the same trials";
  }
  return "";
}

// "1.5", and the unit of tables.
std::string SizeText(const UntilReport& until) {
  const std::string unit = until.display.unit == "%"
                               ? (until.size == 1 ? " point" : " points")
                               : absl::StrCat(until.display.unit.empty() ? "" : " ", until.display.unit);
  return absl::StrCat(until.size, unit);
}

// Why comparisons are undecided, and the flag that lets them have more runs.
std::string UndecidedLine(const UntilReport& until) {
  int splits = 0, seeds = 0, listed = 0;  // the most of an undecided comparison; the least that a task lists
  for (const UntilComparison& c : until.comparisons) {
    if (c.verdict != UntilComparison::Verdict::kUndecided || IsEqual(c)) continue;
    splits = std::max(splits, c.splits);
    seeds = std::max(seeds, c.seeds);
    if (c.listed_splits > 0) listed = listed == 0 ? c.listed_splits : std::min(listed, c.listed_splits);
  }
  if (splits == 0) return "";
  const bool may_split = listed == 0 || splits < listed;
  const std::string limits = may_split ? absl::StrCat("max_splits: ", listed == 0 ? 2 * splits : listed,
                                                      seeds > 1 ? absl::StrCat(" max_seeds: ", seeds) : "")
                                       : absl::StrCat("max_seeds: ", seeds + 2);
  return absl::StrCat("Undecided: the interval still includes 0 and a difference of ", SizeText(until),
                      " after all that the study may "
                      "use, ",
                      Counted(splits, "split"), listed == splits ? " (the task has no others)" : "", " and ",
                      Counted(seeds, "seed"), ". More runs: --until='", until.metric, ": ", until.size, " ", limits,
                      "'", may_split ? "" : ", or a task that draws its splits (`drawn`), which tells more",
                      ". A limit that is raised after a look spends more than the level: say so with the result, or "
                      "take draws that no look has seen.");
}

}  // namespace

DocumentSection UntilTable(const Report& report) {
  const UntilReport& until = *report.until;
  DocumentSection titled;
  titled.title =
      absl::StrCat("Until ", until.display.label, until.group == kPool ? "" : absl::StrCat(" of ", until.group),
                   " differs from ", until.baseline, ", or differences of ", SizeText(until), " are excluded");
  std::set<std::tuple<std::string, int, int>> levels;
  for (const UntilComparison& c : until.comparisons) levels.insert({c.task, c.known_classes, c.unknown_classes});
  const bool has_levels = levels.size() > 1;
  Table& table = titled.table;
  if (has_levels) table.header = {"task", "known : unknown classes"};
  for (const char* column : {"method", "finding", "difference", "interval", "looks", "splits", "seeds"}) {
    table.header.push_back(column);
  }
  table.left_columns = has_levels ? 4 : 2;
  for (const UntilComparison& c : until.comparisons) {
    std::vector<std::string>& row = table.rows.emplace_back();
    if (has_levels) row = {c.task, absl::StrCat(c.known_classes, " : ", c.unknown_classes)};
    const auto shown = [&](double value) { return Shown(value, until.display); };
    row.insert(
        row.end(),
        {c.row, VerdictText(c, SizeText(until)), c.difference.has_value() ? shown(*c.difference) : "-",
         c.interval.has_value() ? absl::StrCat(shown(c.interval->first), " to ", shown(c.interval->second)) : "-",
         absl::StrCat(c.looks), absl::StrCat(c.splits), absl::StrCat(c.seeds)});
  }
  titled.note = absl::StrJoin(UntilLines(report), " ");
  return titled;
}

std::vector<std::string> UntilLines(const Report& report) {
  const UntilReport& until = *report.until;
  std::vector<std::string> lines = {
      absl::StrCat("Differences are the method's value minus the value of ", until.baseline, ". With a probability of ",
                   100 * (1 - until.level),
                   " %, no interval of any look and comparison misses the true difference (group-sequential, ",
                   until.comparisons.size(), until.comparisons.size() == 1 ? " comparison" : " comparisons",
                   "; splits are the replicates). Rows that stopped earlier have fewer splits, so that their means in "
                   "the other tables "
                   "are not comparable, and the other metrics' numbers are not corrected for the choice of runs.")};
  const int saved = until.most_trials - until.trials;
  lines.push_back(absl::StrCat(
      "Spent: ", until.trials, " of at most ", until.most_trials, " trials (",
      static_cast<int>(std::lround(100.0 * saved / std::max(1, until.most_trials))), " % saved",
      until.cpu_seconds > 0 ? absl::StrCat("), ", absl::StrFormat("%.1f", until.cpu_seconds / 60), " CPU minutes")
                            : ")",
      "."));
  for (const UntilComparison& c : until.comparisons) {
    if (c.verdict != UntilComparison::Verdict::kUndefined) continue;
    lines.push_back(
        absl::StrCat(c.row, ": ", until.display.label, " is undefined in a run, so it gets no more: ", c.reason));
  }
  for (const UntilComparison& c : until.comparisons) {
    if (c.verdict != UntilComparison::Verdict::kSame) continue;
    lines.push_back(
        absl::StrCat(c.row, " and ", until.baseline, " are two names of the same trials, so they can't differ."));
  }
  if (const std::string line = UndecidedLine(until); !line.empty()) lines.push_back(line);
  return lines;
}

namespace {

// A line for each search, or, if they are many, for each tuned row: "odin (tuned), 60 searches: temperature 10 (31),
// temperature 1 (29)".
std::vector<std::string> SearchLines(const Report& report) {
  constexpr size_t kMost = 12;
  if (report.search_lines.size() <= kMost) return report.search_lines;
  std::vector<std::string> lines;
  for (const auto& [row, choices] : report.choices) {
    std::vector<std::pair<int, std::string>> counted;
    int searches = 0;
    for (const auto& [choice, count] : choices) {
      counted.emplace_back(-count, choice);
      searches += count;
    }
    absl::c_sort(counted);
    lines.push_back(absl::StrCat(row, ", ", searches, searches == 1 ? " search: " : " searches: ",
                                 absl::StrJoin(counted, ", ", [](std::string* out, const auto& one) {
                                   absl::StrAppend(out, one.second, " (", -one.first, ")");
                                 })));
  }
  lines.push_back("(--format=json lists each search.)");
  return lines;
}

// The lines after the tables with published numbers: numbered notes, then the lines about doubts and conventions.
std::vector<std::string> PublishedLines(const Report& report, const std::vector<std::string>& notes) {
  std::vector<std::string> lines;
  for (size_t n = 0; n < notes.size(); ++n) lines.push_back(absl::StrCat("[", n + 1, "] ", notes[n]));
  lines.insert(lines.end(), report.published_lines.begin(), report.published_lines.end());
  return lines;
}

bool HasStar(const Table& table) {
  for (const std::vector<std::string>& row : table.rows) {
    for (size_t c = table.left_columns; c < row.size(); ++c) {
      if (absl::StrContains(row[c], '*')) return true;
    }
  }
  return false;
}

// Whether a cell is bold or underlined.
bool HasMarks(const Table& table) {
  return absl::c_any_of(table.emphasis, [](const std::vector<Emphasis>& row) {
    return absl::c_any_of(row, [](Emphasis mark) { return mark != Emphasis::kNone; });
  });
}

// In LaTeX, each table is a float that explains itself: what a cell shows, what bold and underlined cells mean and, if
// the table has stars or cells without a test, what they mean.
void ExplainFloats(const Report& report, std::vector<DocumentSection>* sections) {
  const bool some_untested = absl::c_any_of(report.cells, [](const ReportCell& cell) {
    return cell.significance.has_value() && !cell.significance->p_value.has_value();
  });
  for (DocumentSection& section : *sections) {
    std::vector<std::string> texts;
    if (HasMarks(section.table)) texts.push_back(MarkText(report));
    if (!report.baseline.empty() && (some_untested || HasStar(section.table))) texts.push_back(StarText(report));
    section.title = absl::StrCat(section.title, ". ", MeanText(report));
    section.note = absl::StrJoin(texts, " ");
  }
}

Document MakeDocument(const Report& report, TextFormat format) {
  Document document{report.experiment, HeadLines(report), ReportTables(report), {}};
  const bool has_marks = absl::c_any_of(document.sections, [](const auto& section) { return HasMarks(section.table); });
  if (format == TextFormat::kLatex) ExplainFloats(report, &document.sections);
  if (report.until.has_value()) document.sections.push_back(UntilTable(report));
  std::vector<std::string> notes;
  for (DocumentSection& section : PublishedTables(report, &notes)) document.sections.push_back(std::move(section));
  document.below = PublishedLines(report, notes);
  if (format == TextFormat::kLatex) return document;
  if (!notes.empty()) document.below.push_back("");
  if (report.until.has_value()) {
    const std::vector<std::string> lines = UntilLines(report);
    document.below.insert(document.below.end(), lines.begin(), lines.end());
    document.below.push_back("");
  }
  std::vector<std::string> footer = FooterLines(report);
  if (format == TextFormat::kMarkdown && has_marks) footer.insert(footer.begin() + 1, MarkText(report));
  const std::vector<std::string> searches = SearchLines(report);
  for (const auto* lines : {&report.task_lines, &searches, &report.note_lines, &std::as_const(footer)}) {
    document.below.insert(document.below.end(), lines->begin(), lines->end());
  }
  return document;
}

// The form that was run there, possible reasons for the difference, and doubts, in one line.
std::string NoteOf(const PublishedNumber& number) {
  std::vector<std::string> words = number.reasons;
  if (!number.form.empty()) words.insert(words.begin(), absl::StrCat("published run: ", number.form));
  for (const std::string& doubt : number.doubts) words.push_back(absl::StrCat("doubtful: ", doubt));
  return absl::StrJoin(words, "; ");
}

nlohmann::ordered_json PublishedJson(const ReportCell& cell, const PublishedNumber& number) {
  nlohmann::ordered_json json;
  json["value"] = number.value;
  if (number.std.has_value()) json["std"] = *number.std;
  json["source"] = number.source;
  json["place"] = number.place;
  if (!number.splits.empty()) json["splits"] = number.splits;
  if (cell.n > 0) json["difference"] = cell.mean - number.value;
  if (!number.form.empty()) json["form"] = number.form;
  json["reasons"] = number.reasons;
  json["doubts"] = number.doubts;
  const std::string note = NoteOf(number);
  json["note"] = absl::StrCat(number.source, ": ", number.place, note.empty() ? "" : absl::StrCat("; ", note));
  return json;
}

// The fields of cells in JSON, and a few in a form for tables.
std::string FormatCsv(const Report& report) {
  nlohmann::ordered_json rows = ReportJson(report)["cells"];
  for (size_t c = 0; c < report.cells.size(); ++c) {
    const ReportCell& cell = report.cells[c];
    nlohmann::ordered_json& row = rows[c];
    row["axis"] = AxisText(cell.axis);
    row["better"] = BetterText(cell.display);
    row["overrides"] = absl::StrJoin(report.overrides, " ");
    if (cell.published.empty()) continue;
    const PublishedNumber& number = cell.published[0];
    row["published"] = number.value;
    if (number.std.has_value()) row["published_std"] = *number.std;
    if (cell.n > 0) row["difference"] = cell.mean - number.value;
    row["published_source"] = absl::StrCat(number.source, ": ", number.place);
    row["difference_may_be_due_to"] = NoteOf(number);
  }
  return JsonToCsv(
      "method,axis,task,unknown_classes,openness,group,metric,mean,std,n,missing,values,unit,better,label,"
      "known_classes,p_value,not_tested,published,published_std,difference,published_source,difference_may_be_due_to,"
      "overrides",
      rows);
}

nlohmann::ordered_json AxisJson(const std::vector<AxisValue>& values) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const AxisValue& axis : values) json[axis.name()] = axis.value();
  return json;
}

// A learning curve: the training's values in each epoch, and the metrics after it.
nlohmann::ordered_json CurveJson(const std::vector<EpochSummary>& epochs) {
  nlohmann::ordered_json curve = nlohmann::ordered_json::array();
  for (const EpochSummary& epoch : epochs) {
    nlohmann::ordered_json point;
    point["epoch"] = epoch.epoch();
    point["learning_rate"] = epoch.learning_rate();
    point["loss"] = epoch.loss();
    point["terms"] = std::vector<double>(epoch.term().begin(), epoch.term().end());
    point["train_accuracy"] = epoch.train_accuracy();
    for (const MetricRecord& metric : epoch.metric()) {
      const nlohmann::ordered_json value = metric.has_value() ? nlohmann::ordered_json(metric.value()) : nullptr;
      point["metrics"].push_back(
          {{"metric", MeasuredName(metric)}, {"group", GroupText(metric.group())}, {"value", value}});
    }
    curve.push_back(std::move(point));
  }
  return curve;
}

nlohmann::ordered_json TrialJson(const ReportTrial& trial) {
  nlohmann::ordered_json entry;
  entry["id"] = trial.id;
  entry["method"] = trial.method;
  entry["task"] = trial.task;
  entry["axis"] = AxisJson(trial.axis);
  entry["split"] = trial.split;
  entry["seed"] = trial.seed;
  entry["checkpoint"] = trial.checkpoint_key;
  entry["outputs"] = trial.outputs_key;
  entry["curve"] = CurveJson(trial.epochs);
  return entry;
}

// Trials are the largest part: they are converted to text by the hundred, on all CPUs.
std::string FormatJson(const Report& report) {
  constexpr int64_t kRange = 256;
  const auto count = static_cast<int64_t>(report.results.size());
  nlohmann::ordered_json json = ReportJson(report);
  json["results"] = nlohmann::ordered_json::array();
  std::string text = JsonText(json, 2) + "\n";
  if (count == 0) return text;
  const std::string head = "{\n  \"results\": [\n", tail = "\n  ]\n}";
  std::vector<std::string> ranges((count + kRange - 1) / kRange);
  InParallelRanges(count, kRange, [&](int64_t from, int64_t to) {
    nlohmann::ordered_json range;
    for (int64_t i = from; i < to; ++i) range["results"].push_back(TrialJson(report.results[i]));
    const std::string whole = JsonText(range, 2);
    ranges[from / kRange] = whole.substr(head.size(), whole.size() - head.size() - tail.size());
  });
  // "results" is the last field: its empty list ends the text.
  text.resize(text.size() - absl::string_view("]\n}\n").size());
  absl::StrAppend(&text, "\n", absl::StrJoin(ranges, ",\n"), tail, "\n");
  return text;
}

nlohmann::ordered_json UntilJson(const UntilReport& until) {
  constexpr const char* kVerdicts[] = {"open", "higher", "lower", "excluded", "undecided", "undefined", "same"};
  nlohmann::ordered_json json = {
      {"metric", until.metric}, {"group", until.group},   {"baseline", until.baseline},      {"difference", until.size},
      {"level", until.level},   {"trials", until.trials}, {"most_trials", until.most_trials}};
  json["comparisons"] = nlohmann::ordered_json::array();
  for (const UntilComparison& c : until.comparisons) {
    nlohmann::ordered_json entry = {{"row", c.row},
                                    {"task", c.task},
                                    {"known_classes", c.known_classes},
                                    {"unknown_classes", c.unknown_classes},
                                    {"verdict", kVerdicts[static_cast<int>(c.verdict)]},
                                    {"looks", c.looks},
                                    {"splits", c.splits},
                                    {"seeds", c.seeds}};
    if (c.difference.has_value()) entry["mean_difference"] = *c.difference;
    if (c.interval.has_value()) entry["low"] = c.interval->first;
    if (c.interval.has_value()) entry["high"] = c.interval->second;
    if (!c.reason.empty()) entry["reason"] = c.reason;
    json["comparisons"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace

nlohmann::ordered_json ReportJson(const Report& report, bool with_values) {
  nlohmann::ordered_json json;
  json["experiment"] = report.experiment;
  if (!report.spec_sha256.empty()) json["spec_sha256"] = report.spec_sha256;
  if (!report.data_lines.empty()) json["data"] = report.data_lines;
  if (!report.overrides.empty()) json["overrides"] = report.overrides;
  json["trials"] = report.trials;
  json["missing"] = report.missing;
  json["std"] = "population";
  if (!report.search_lines.empty()) json["searches"] = report.search_lines;
  if (!report.note_lines.empty()) json["notes"] = report.note_lines;
  if (!report.baseline.empty()) json["baseline"] = report.baseline;
  if (!report.sort_by.empty()) json["sort_by"] = report.sort_by;
  if (report.until.has_value()) json["until"] = UntilJson(*report.until);
  if (!report.published_lines.empty()) json["published"] = report.published_lines;
  json["cells"] = nlohmann::ordered_json::array();
  const std::vector<Emphasis> marks = BestMarks(report);
  for (size_t c = 0; c < report.cells.size(); ++c) {
    const ReportCell& cell = report.cells[c];
    nlohmann::ordered_json entry;
    entry["method"] = cell.method;
    entry["task"] = cell.task;
    entry["axis"] = AxisJson(cell.axis);
    entry["known_classes"] = cell.known_classes;
    entry["unknown_classes"] = cell.unknown_classes;
    entry["openness"] = cell.openness;
    entry["group"] = cell.group;
    entry["metric"] = cell.metric;
    entry["label"] = cell.display.label;
    entry["column"] = SharedDisplay(cell).label;
    entry["unit"] = cell.display.value_unit;
    entry["display"] = {{"factor", cell.display.factor}, {"digits", cell.display.digits}, {"unit", cell.display.unit}};
    const std::optional<bool>& higher = cell.display.higher_is_better;
    entry["higher_is_better"] = higher.has_value() ? nlohmann::ordered_json(*higher) : nlohmann::ordered_json();
    entry["mean"] = cell.n > 0 ? nlohmann::ordered_json(cell.mean) : nlohmann::ordered_json();
    entry["std"] = cell.n > 0 ? nlohmann::ordered_json(cell.std) : nlohmann::ordered_json();
    entry["n"] = cell.n;
    if (with_values) {
      entry["values"] = cell.values;
      entry["splits"] = cell.splits;
      if (!cell.draws.empty() && cell.draws != cell.splits) entry["draws"] = cell.draws;
      entry["seeds"] = cell.seeds;
    }
    if (with_values &&
        std::any_of(cell.intervals.begin(), cell.intervals.end(), [](const auto& i) { return i.has_value(); })) {
      for (const auto& interval : cell.intervals) {
        entry["low"].push_back(interval.has_value() ? nlohmann::ordered_json(interval->first) : nullptr);
        entry["high"].push_back(interval.has_value() ? nlohmann::ordered_json(interval->second) : nullptr);
      }
    }
    entry["missing"] = cell.missing;
    if (!cell.absent_reasons.empty()) entry["absent"] = cell.absent_reasons;
    if (marks[c] != Emphasis::kNone) entry["mark"] = marks[c] == Emphasis::kBest ? "best" : "second";
    if (cell.among_best) entry["among_best"] = true;
    if (cell.mean_of_one) entry["mean_of_one"] = true;
    if (cell.significance.has_value() && cell.significance->p_value.has_value()) {
      entry["p_value"] = *cell.significance->p_value;
      entry["detectable"] = cell.significance->detectable;
      if (cell.significance->detects.has_value()) entry["detects"] = *cell.significance->detects;
      const VarianceShares& shares = cell.significance->shares;
      if (shares.split.has_value()) entry["split_share"] = *shares.split;
      if (shares.seed.has_value()) entry["seed_share"] = *shares.seed;
      if (shares.images.has_value()) entry["image_share"] = *shares.images;
    } else if (cell.significance.has_value()) {
      entry["not_tested"] = WhyNotTested(*cell.significance);
    }
    if (!cell.published.empty()) entry["published"] = PublishedJson(cell, cell.published[0]);
    for (size_t i = 1; i < cell.published.size(); ++i) {
      entry["also_published"].push_back(PublishedJson(cell, cell.published[i]));
    }
    json["cells"].push_back(std::move(entry));
  }
  return json;
}

std::string FormatReport(const Report& report, TextFormat format, size_t width) {
  if (format == TextFormat::kCsv) return FormatCsv(report);
  if (format == TextFormat::kJson) return FormatJson(report);
  return FormatDocument(MakeDocument(format == TextFormat::kLatex ? WithTitles(report) : report, format), format,
                        width);
}

}  // namespace openset
