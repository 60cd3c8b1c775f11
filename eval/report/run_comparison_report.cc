#include "eval/report/run_comparison_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/text/json_text.h"
#include "core/text/table.h"
#include "eval/metrics/display.h"
#include "eval/report/comparison_words.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

constexpr int kWidth = 420;
// In rows of the diagram: the axis is at 0, negative is above it.
constexpr double kTop = -3.3, kDifference = -2.8, kFirstBar = 0.45, kBarStep = 0.4;
constexpr int kRow = 20;  // pixels

// A layer of marks with its own data.
VegaLite Layer(VegaLite values, VegaLite mark, VegaLite encoding) {
  VegaLite layer = VegaLite::object();
  layer["data"]["values"] = std::move(values);
  layer["mark"] = std::move(mark);
  layer["encoding"] = std::move(encoding);
  return layer;
}

}  // namespace

VegaLite CriticalDifferenceDiagram(const std::string& title, const std::vector<std::string>& methods,
                                   const FriedmanTest& test) {
  const int k = static_cast<int>(methods.size());
  const double first_row = kFirstBar + kBarStep * static_cast<double>(test.bars.size()) + 0.6;
  const double last_row = first_row + (k + 1) / 2;
  VegaLite x = {{"field", "x"}, {"type", "quantitative"}, {"scale", {{"domain", {1, k}}, {"nice", false}}}};
  x["axis"] = {{"orient", "top"},      {"values", VegaLite::array()},
               {"title", "mean rank"}, {"offset", kTop * kRow},
               {"grid", false},        {"format", "d"}};
  for (int rank = 1; rank <= k; ++rank) x["axis"]["values"].push_back(rank);
  const VegaLite y = {{"field", "y"},
                      {"type", "quantitative"},
                      {"scale", {{"domain", {last_row, kTop}}, {"nice", false}}},
                      {"axis", nullptr}};
  const VegaLite segment = {{"x", x}, {"x2", {{"field", "x2"}}}, {"y", y}, {"y2", {{"field", "y2"}}}};
  const auto line = [](double x1, double y1, double x2, double y2) {
    return VegaLite({{"x", x1}, {"y", y1}, {"x2", x2}, {"y2", y2}});
  };
  VegaLite thin = VegaLite::array(), bars = VegaLite::array(), left = VegaLite::array(), right = VegaLite::array();
  const double cd_end = std::min(1 + test.critical_difference, static_cast<double>(k));
  // The better half to the left, top down; the worse half to the right, the worst on top.
  for (int place = 0; place < k; ++place) {
    const int method = test.by_rank[place];
    const bool better = place < (k + 1) / 2;
    const double row = first_row + (better ? place : k - 1 - place);
    const double rank = test.mean_rank[method];
    thin.push_back(line(rank, 0, rank, row));
    thin.push_back(line(rank, row, better ? 1 : k, row));
    VegaLite& side = better ? left : right;
    side.push_back({{"x", better ? 1 : k}, {"y", row}, {"text", absl::StrFormat("%s (%.2f)", methods[method], rank)}});
  }
  for (size_t b = 0; b < test.bars.size(); ++b) {
    const double row = kFirstBar + kBarStep * static_cast<double>(b);
    bars.push_back(line(test.mean_rank[test.by_rank[test.bars[b].first]] - 0.03, row,
                        test.mean_rank[test.by_rank[test.bars[b].last]] + 0.03, row));
  }
  const auto words = [](const char* align, int dx) {
    return VegaLite({{"type", "text"}, {"align", align}, {"dx", dx}, {"clip", false}});
  };
  const VegaLite at = {{"x", x}, {"y", y}, {"text", {{"field", "text"}}}};
  VegaLite spec = {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"}, {"title", title}};
  spec["width"] = kWidth;
  spec["height"] = static_cast<int>(kRow * (last_row - kTop));
  spec["view"] = {{"stroke", nullptr}};
  spec["layer"] = VegaLite::array();
  spec["layer"].push_back(Layer(thin, "rule", segment));
  spec["layer"].push_back(Layer(bars, {{"type", "rule"}, {"strokeWidth", 4}}, segment));
  spec["layer"].push_back(Layer(VegaLite::array({line(1, kDifference, cd_end, kDifference)}),
                                {{"type", "rule"}, {"strokeWidth", 2}}, segment));
  spec["layer"].push_back(
      Layer(VegaLite::array({{{"x", cd_end},
                              {"y", kDifference},
                              {"text", absl::StrFormat("critical difference %.2f", test.critical_difference)}}}),
            words("left", 6), at));
  spec["layer"].push_back(Layer(left, words("right", -6), at));
  spec["layer"].push_back(Layer(right, words("left", 6), at));
  return spec;
}

namespace {

// The rows whose difference was tested have a value.
std::optional<double> IfTested(const ComparedRuns& row, double value) {
  return row.is_tested ? std::optional<double>(value) : std::nullopt;
}
std::optional<double> LowOf(const ComparedRuns& row) { return IfTested(row, row.test.low); }
std::optional<double> HighOf(const ComparedRuns& row) { return IfTested(row, row.test.high); }
std::optional<double> PValueOf(const ComparedRuns& row) { return row.is_tested ? row.test.p_value : std::nullopt; }
std::optional<double> AdjustedLowOf(const ComparedRuns& row) {
  return row.adjusted.has_value() ? std::optional<double>(row.adjusted->low) : std::nullopt;
}
std::optional<double> AdjustedHighOf(const ComparedRuns& row) {
  return row.adjusted.has_value() ? std::optional<double>(row.adjusted->high) : std::nullopt;
}

// Whether a metric has several tests, so that Holm's levels differ from a single test's.
bool HasSeveralTests(const RunComparison& comparison) {
  std::set<std::string> metrics;
  for (const ComparedRuns& row : comparison.pairs) {
    if (!metrics.insert(row.metric).second) return true;
  }
  return false;
}

nlohmann::ordered_json Number(std::optional<double> number) {
  return number.has_value() && std::isfinite(*number) ? nlohmann::ordered_json(*number) : nullptr;
}

nlohmann::ordered_json PairJson(const ComparedRuns& row) {
  const std::optional<ComparedRuns::Power>& power = row.power;
  return {{"metric", row.metric},
          {"task", row.task},
          {"a", row.a},
          {"b", row.b},
          {"runs", row.test.runs},
          {"splits", row.test.splits},
          {"mean_difference", row.test.mean_difference},
          {"cohen_dz", Number(row.test.cohen_dz)},
          {"rank_biserial", row.test.rank_biserial},
          {"low", Number(LowOf(row))},
          {"high", Number(HighOf(row))},
          {"p", Number(PValueOf(row))},
          {"p_holm", Number(row.adjusted_p_value)},
          {"low_holm", Number(AdjustedLowOf(row))},
          {"high_holm", Number(AdjustedHighOf(row))},
          {"confidence_holm", row.adjusted ? Number(row.adjusted->confidence) : nullptr},
          {"wilcoxon_p", row.test.wilcoxon_p_value},
          {"wilcoxon_p_holm", row.adjusted_wilcoxon},
          {"verdict", row.verdict},
          {"tested", row.is_tested},
          {"unpaired", row.unpaired},
          {"detects", power ? Number(power->detectable) : nullptr},
          {"detects_alone", power ? Number(power->detectable_alone) : nullptr},
          {"replicates_for_one",
           power && power->replicates_for_one > 0 ? nlohmann::ordered_json(power->replicates_for_one) : nullptr},
          {"unit", row.display.value_unit},
          {"label", row.display.label}};
}

nlohmann::ordered_json PairsJson(const RunComparison& comparison) {
  nlohmann::ordered_json pairs = nlohmann::ordered_json::array();
  for (const ComparedRuns& row : comparison.pairs) pairs.push_back(PairJson(row));
  return pairs;
}

constexpr char kCsvColumns[] =
    "metric,task,a,b,runs,splits,mean_difference,cohen_dz,rank_biserial,low,high,p,p_holm,wilcoxon_p,wilcoxon_p_holm,"
    "verdict,unit,label,low_holm,high_holm,confidence_holm,tested,unpaired,detects,replicates_for_one";

std::string FormatJson(const RunComparison& comparison) {
  nlohmann::ordered_json json;
  json["confidence"] = comparison.options.confidence;
  json["assumptions"] = comparison.assumptions;
  if (!comparison.baseline.empty()) json["baseline"] = comparison.baseline;
  json["holm"] = comparison.baseline.empty() ? "all pairs and tasks of a metric"
                                             : "all methods against the baseline, on all tasks, of a metric";
  json["pairs"] = PairsJson(comparison);
  json["all_methods"] = nlohmann::ordered_json::array();
  for (const ComparedMethods& all : comparison.methods) {
    nlohmann::ordered_json entry = {{"metric", all.metric},
                                    {"tasks", all.tasks},
                                    {"methods", all.methods},
                                    {"mean_rank", all.test.mean_rank},
                                    {"kendall_w", all.test.kendall_w},
                                    {"friedman_chi_squared", all.test.chi_squared},
                                    {"friedman_p", all.test.chi_squared_p_value},
                                    {"iman_davenport", Number(all.test.iman_davenport)},
                                    {"iman_davenport_p", all.test.iman_davenport_p_value},
                                    {"exact_p", Number(all.test.exact_p_value)},
                                    {"p", all.test.p_value},
                                    {"rejected", all.test.rejected}};
    if (all.test.rejected) {
      entry["critical_difference"] = all.test.critical_difference;
      entry["nemenyi_p"] = all.test.nemenyi_p_value;
    }
    json["all_methods"].push_back(std::move(entry));
  }
  json["left_out"] = comparison.left_out;
  json["hints"] = comparison.hints;
  return JsonText(json, 2) + "\n";
}

// Whether all pairs have the same task, which then needs no column.
bool IsOneTask(const RunComparison& comparison) {
  return std::all_of(comparison.pairs.begin(), comparison.pairs.end(),
                     [&](const ComparedRuns& row) { return row.task == comparison.pairs[0].task; });
}

// The names of the methods that are compared.
std::vector<std::string> NamesOf(const RunComparison& comparison) {
  std::set<std::string> names;
  for (const ComparedRuns& row : comparison.pairs) names.insert({row.a, row.b});
  return {names.begin(), names.end()};
}

// "5 splits", "4 seeds of one split".
std::string ReplicatesText(const PairedTest& test) {
  return absl::StrCat(test.replicates, test.splits > 1 ? " splits" : " seeds of one split");
}

// The table of one metric: all its pairs, [first, last).
DocumentSection PairSection(const RunComparison& comparison, size_t first, size_t last,
                            const std::map<std::string, std::string>& in_cells, const std::string& task_start,
                            std::optional<size_t> width) {
  const bool several = HasSeveralTests(comparison), one_task = IsOneTask(comparison);
  const bool one_pair = NamesOf(comparison).size() == 2;
  bool same_runs = true;
  for (size_t i = first; i < last; ++i) {
    const PairedTest &test = comparison.pairs[i].test, &of_first = comparison.pairs[first].test;
    same_runs = same_runs && test.runs == of_first.runs && test.splits == of_first.splits;
  }
  const std::string& baseline = comparison.baseline;
  const auto name = [&](const std::string& method) { return in_cells.at(method); };
  const std::string p = several ? "p (Holm)" : "p", wilcoxon = several ? "Wilcoxon p (Holm)" : "Wilcoxon p";
  Table table{{baseline.empty() ? "a - b" : absl::StrCat("a - ", name(baseline)), one_pair ? "verdict" : "a is"},
              {},
              one_task ? 2 : 3};
  if (!one_task) table.header.insert(table.header.begin(), "task");
  if (!same_runs) table.header.insert(table.header.end(), {"runs", "splits"});
  table.header.insert(table.header.end(), {"mean diff.", "low", "high"});
  if (several) table.header.insert(table.header.end(), {"low (Holm)", "high (Holm)"});
  table.header.insert(table.header.end(), {"detects", "d_z", p, wilcoxon});
  for (size_t i = first; i < last; ++i) {
    const ComparedRuns& row = comparison.pairs[i];
    const auto shown = [&](std::optional<double> value) { return value ? Shown(*value, row.display) : "-"; };
    std::vector<std::string> cells;
    if (!one_task) cells.push_back(row.task.substr(task_start.size()));
    cells.insert(cells.end(), {baseline.empty() ? absl::StrCat(name(row.a), " - ", name(row.b)) : name(row.a),
                               one_pair ? row.verdict : ShortVerdict(row.verdict, row.a, row.b)});
    if (!same_runs) cells.insert(cells.end(), {absl::StrCat(row.test.runs), absl::StrCat(row.test.splits)});
    cells.insert(cells.end(), {shown(row.test.mean_difference), shown(LowOf(row)), shown(HighOf(row))});
    if (several) cells.insert(cells.end(), {shown(AdjustedLowOf(row)), shown(AdjustedHighOf(row))});
    cells.insert(cells.end(),
                 {shown(row.power ? std::optional<double>(row.power->detectable) : std::nullopt),
                  std::isfinite(row.test.cohen_dz) ? absl::StrFormat("%.2f", row.test.cohen_dz) : "-",
                  row.adjusted_p_value ? ShowPValue(*row.adjusted_p_value) : "-", ShowPValue(row.adjusted_wilcoxon)});
    table.rows.push_back(std::move(cells));
  }
  const ComparedRuns& of_first = comparison.pairs[first];
  std::string title = LabelWithUnit(of_first.display);
  if (same_runs) {
    absl::StrAppend(&title, ": ", of_first.test.runs, " runs, ", of_first.test.splits,
                    of_first.test.splits == 1 ? " split" : " splits");
  }
  if (width.has_value()) {
    const std::vector<std::string> dropped =
        DropToFit({"d_z", wilcoxon, "low", "high", "runs", "detects", "low (Holm)", "high (Holm)"}, *width, &table);
    if (!dropped.empty()) {
      absl::StrAppend(&title, "; left out for the width: ", absl::StrJoin(dropped, ", "), " (--format=csv has them)");
    }
  }
  return {std::move(title), std::move(table)};
}

// What the columns of the tables are.
std::string ColumnsText(const RunComparison& comparison) {
  std::string text =
      absl::StrFormat("paired by run, clustered by split; low, high: %g %% interval of the mean difference",
                      100 * comparison.options.confidence);
  if (HasSeveralTests(comparison)) {
    absl::StrAppend(&text, " of this row alone; ", kHolmColumns,
                    "; p (Holm): of the t test, adjusted by Holm over the ", "tests of a metric (",
                    comparison.baseline.empty() ? "all pairs of methods"
                                                : absl::StrCat("each method against ", comparison.baseline),
                    " on each task), and so is Wilcoxon's");
  }
  absl::StrAppend(&text, "; detects: the smallest difference that this test finds in 4 of 5 studies",
                  HasSeveralTests(comparison) ? ", at the first of Holm's levels" : "");
  return text;
}

// "2.30", "2.30 to 4.10".
std::string RangeText(double least, double most, const Display& display) {
  const std::string low = Shown(least, display), high = AmountText(most, display);
  return Shown(least, display) == Shown(most, display) ? high : absl::StrCat(low, " to ", high);
}

// For each metric with pairs without a detectable difference: what can't be detected, and what it would take.
std::vector<std::string> PowerLines(const RunComparison& comparison) {
  std::vector<std::string> lines;
  for (size_t first = 0, last = 0; first < comparison.pairs.size(); first = last) {
    const Display& display = comparison.pairs[first].display;
    double least = 0, most = 0;
    int few = 0, many = 0;  // replicates for 1
    bool any = false, too_many = false;
    std::set<std::string> replicates;
    for (last = first;
         last < comparison.pairs.size() && comparison.pairs[last].metric == comparison.pairs[first].metric; ++last) {
      const ComparedRuns& row = comparison.pairs[last];
      if (!row.power.has_value() || row.verdict != kNoDifference) continue;
      const int needed = row.power->replicates_for_one;
      least = any ? std::min(least, row.power->detectable) : row.power->detectable;
      most = std::max(most, row.power->detectable);
      too_many = too_many || needed == 0;
      if (needed > 0) few = few == 0 ? needed : std::min(few, needed);
      many = std::max(many, needed);
      replicates.insert(ReplicatesText(row.test));
      any = true;
    }
    if (!any) continue;
    const auto is_of_seeds = [](const std::string& text) { return absl::StrContains(text, "seeds"); };
    const bool some_seeds = absl::c_any_of(replicates, is_of_seeds),
               all_seeds = absl::c_all_of(replicates, is_of_seeds);
    lines.push_back(absl::StrCat(display.label, ": with ", absl::StrJoin(replicates, ", "),
                                 ", differences below about ", RangeText(least, most, display), " can't be detected; ",
                                 OneText(display), " takes ",
                                 too_many && few == 0 ? "more than 10,000"
                                 : too_many           ? absl::StrCat(few, " to more than 10,000")
                                 : few == many        ? absl::StrCat(few)
                                                      : absl::StrCat(few, " to ", many),
                                 all_seeds    ? " seeds"
                                 : some_seeds ? " splits or seeds"
                                              : " splits"));
  }
  return lines;
}

// A comparison as a paper says it, and what it could not have found.
std::string SentenceOf(const ComparedRuns& row, const RunComparison& comparison) {
  const PairedTest& test = row.test;
  const std::string on = test.splits > 1 ? absl::StrCat("On ", test.splits, " splits")
                                         : absl::StrCat("Over ", test.replicates, " seeds of one split");
  const std::string unknown =
      comparison.group == "pool" ? "all unknown samples" : absl::StrCat("unknown samples: ", comparison.group);
  const std::string unpaired =
      row.unpaired == 0
          ? ""
          : absl::StrCat(" (", row.unpaired, row.unpaired == 1 ? " run" : " runs", " without a partner left out)");
  const std::string place = absl::StrCat(on, row.task.empty() ? "" : " of ", row.task, unpaired,
                                         comparison.group.empty() ? "" : absl::StrCat(" (", unknown, ")"));
  if (test.differences == Differences::kZero) {
    return absl::StrCat(place, ", ", row.a, " and ", row.b, " had the same ", row.display.label, " in every run.");
  }
  if (!row.is_tested) {
    return absl::StrCat(place, ", ", row.a, " had ", AmountText(std::abs(test.mean_difference), row.display),
                        test.mean_difference < 0 ? " less " : " more ", row.display.label, " than ", row.b, " (",
                        row.verdict, ").");
  }
  ComparedInWords words;
  words.place = place;
  words.a = row.a;
  words.b = row.b;
  words.difference = test.mean_difference;
  words.low = test.low;
  words.high = test.high;
  words.confidence = comparison.options.confidence;
  words.p_value = *row.adjusted_p_value;
  words.tests =
      static_cast<int>(std::count_if(comparison.pairs.begin(), comparison.pairs.end(), [&](const ComparedRuns& other) {
        return other.is_tested && other.metric == row.metric;
      }));
  words.is_detected = row.verdict != kNoDifference;
  std::string text = ComparisonSentence(words, row.display);
  if (words.is_detected || !row.power.has_value()) return text;
  const int needed = row.power->replicates_for_one;
  const char* const replicates = test.splits > 1 ? " splits" : " seeds";
  absl::StrAppend(&text, " With ", ReplicatesText(test), ", differences below about ",
                  AmountText(row.power->detectable, row.display), " can't be detected");
  if (needed == 0) {
    absl::StrAppend(&text, "; for ", OneText(row.display), ", 10,000", replicates, " would not be enough");
  } else if (needed > test.replicates) {
    absl::StrAppend(&text, "; ", needed - test.replicates, " more", replicates, " would be needed for ",
                    OneText(row.display));
  }
  return text + ".";
}

DocumentSection MethodSection(const ComparedMethods& all, double confidence) {
  Table table{{"method", "mean rank", "not told apart from"}, {}, 1};
  for (size_t place = 0; place < all.test.by_rank.size(); ++place) {
    const int method = all.test.by_rank[place];
    std::vector<std::string> same;
    for (size_t other = 0; other < all.methods.size(); ++other) {
      if (other != method && (!all.test.rejected || std::abs(all.test.mean_rank[other] - all.test.mean_rank[method]) <
                                                        all.test.critical_difference)) {
        same.push_back(all.methods[other]);
      }
    }
    table.rows.push_back({all.methods[method], absl::StrFormat("%.2f", all.test.mean_rank[method]),
                          same.empty() ? "-" : absl::StrJoin(same, ", ")});
  }
  const std::string verdict = all.test.rejected
                                  ? absl::StrFormat("critical difference of mean ranks %.2f (Nemenyi, %g %%)",
                                                    all.test.critical_difference, 100 * (1 - confidence))
                                  : "no detectable difference among the methods";
  return {absl::StrFormat("%s over %d tasks: Kendall's W %.2f, p %s (%s; Friedman's chi-squared: %s); %s", all.metric,
                          all.tasks, all.test.kendall_w, ShowPValue(all.test.p_value),
                          all.test.exact_p_value ? "exact" : "of 20,000 random orders",
                          ShowPValue(all.test.chi_squared_p_value), verdict),
          std::move(table)};
}

}  // namespace

ComparisonSentences SentencesOf(const RunComparison& comparison) {
  ComparisonSentences sentences;
  for (const ComparedRuns& row : comparison.pairs) {
    (row.is_tested && row.verdict != kNoDifference ? sentences.detected : sentences.others)
        .push_back(SentenceOf(row, comparison));
  }
  return sentences;
}

std::string FormatRunComparison(const RunComparison& comparison, TextFormat format, size_t width) {
  if (format == TextFormat::kCsv) return JsonToCsv(kCsvColumns, PairsJson(comparison));
  if (format == TextFormat::kJson) return FormatJson(comparison);
  if (format == TextFormat::kSentence) {
    std::string text;
    for (const ComparedRuns& row : comparison.pairs) absl::StrAppend(&text, SentenceOf(row, comparison), "\n");
    return text;
  }
  Document document;
  document.above = comparison.notes;
  if (!comparison.pairs.empty() && IsOneTask(comparison) && !comparison.pairs[0].task.empty()) {
    document.above.push_back("task: " + comparison.pairs[0].task);
  }
  if (!comparison.assumptions.empty()) document.above.push_back(comparison.assumptions);
  const std::map<std::string, std::string> in_cells =
      NamesForCells(NamesOf(comparison), comparison.baseline.empty() ? 2 : 1, &document.above);
  std::vector<std::string> tasks;
  for (const ComparedRuns& row : comparison.pairs) tasks.push_back(row.task);
  const std::string task_start = IsOneTask(comparison) ? "" : SharedStart(tasks);
  if (!task_start.empty()) document.above.push_back("task: " + task_start.substr(0, task_start.size() - 2));
  for (const ComparedMethods& all : comparison.methods) {
    document.sections.push_back(MethodSection(all, comparison.options.confidence));
  }
  if (!comparison.pairs.empty()) document.above.push_back(ColumnsText(comparison));
  const std::optional<size_t> most = format == TextFormat::kText ? std::optional<size_t>(width) : std::nullopt;
  for (size_t first = 0, last = 0; first < comparison.pairs.size(); first = last) {
    while (last < comparison.pairs.size() && comparison.pairs[last].metric == comparison.pairs[first].metric) ++last;
    document.sections.push_back(PairSection(comparison, first, last, in_cells, task_start, most));
  }
  bool few = false, same = false;
  for (const ComparedRuns& row : comparison.pairs) {
    if (row.is_tested || row.test.differences == Differences::kZero) continue;
    (row.test.replicates < kFewestReplicates ? few : same) = true;
  }
  if (few) {
    document.below.push_back(
        absl::StrCat("not tested: a t test needs ", kFewestReplicates, " splits, or seeds of one split; use 5"));
  }
  if (same) {
    document.below.push_back(
        "not tested: differences that are all the same have no spread for a t test; p (Wilcoxon) needs none, and is at "
        "least 2 / 2^n for n of them");
  }
  for (std::string& line : PowerLines(comparison)) document.below.push_back(std::move(line));
  if (comparison.pairs.size() <= kMostSentences) {
    for (const ComparedRuns& row : comparison.pairs) document.below.push_back(SentenceOf(row, comparison));
  } else {
    document.below.push_back("--format=sentence writes each comparison as a sentence");
  }
  for (const std::string& line : comparison.left_out) document.below.push_back("left out: " + line);
  return FormatDocument(document, format, width);
}

}  // namespace openset
