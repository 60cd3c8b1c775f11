#include "eval/report/evaluation_report.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/text/json_text.h"

namespace openset {
namespace {

std::string NumberShown(const std::optional<double>& value, const Display& display) {
  return value.has_value() ? Shown(*value, display) : "-";
}

// "62.50 (60.00, 65.00)"; "-" without a value.
std::string CellShown(const std::optional<double>& value, const std::optional<double>& low,
                      const std::optional<double>& high, const Display& display) {
  const bool has_interval = value.has_value() && low.has_value() && high.has_value();
  return absl::StrCat(NumberShown(value, display),
                      has_interval ? absl::StrCat(" (", Shown(*low, display), ", ", Shown(*high, display), ")") : "");
}

// The ends of a metric's interval in a group, which may be null.
std::pair<std::optional<double>, std::optional<double>> IntervalOf(const ReportedGroup* group, size_t metric) {
  if (group == nullptr || metric >= group->intervals.size() || !group->intervals[metric].has_value()) return {};
  return *group->intervals[metric];
}

std::string Full(const std::optional<double>& value) { return value.has_value() ? FullPrecision(*value) : ""; }

Table MetricTable(const EvaluationReport& report) {
  Table table{{"metric", "value"}, {}, 1};
  if (!report.interval.empty()) table.header.insert(table.header.end(), {"low", "high"});
  table.header.insert(table.header.end(), {"unit", "better", "label"});
  for (const ReportedMetric& metric : report.metrics) {
    if (!metric.value.has_value()) continue;
    std::vector<std::string> row = {metric.name, NumberShown(metric.value, metric.display)};
    if (!report.interval.empty()) {
      row.push_back(NumberShown(metric.low, metric.display));
      row.push_back(NumberShown(metric.high, metric.display));
    }
    row.push_back(metric.display.unit);
    row.push_back(BetterText(metric.display));
    row.push_back(metric.display.label);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table GroupTable(const EvaluationReport& report, const std::vector<ReportedGroup>& groups, const char* of) {
  Table table{{"metric"}, {}, 1};
  std::vector<std::string> samples = {of};
  for (const ReportedGroup& group : groups) {
    table.header.push_back(group.name);
    samples.push_back(absl::StrCat(group.samples));
  }
  table.header.push_back("unit");
  samples.push_back("");
  table.rows.push_back(std::move(samples));
  for (size_t m = 0; m < report.metrics.size(); ++m) {
    const ReportedMetric& metric = report.metrics[m];
    std::vector<std::string> row = {metric.name};
    bool any = false;
    for (const ReportedGroup& group : groups) {
      const auto [low, high] = IntervalOf(&group, m);
      row.push_back(CellShown(group.values[m].value, low, high, metric.display));
      any = any || group.values[m].value.has_value();
    }
    row.push_back(metric.display.unit);
    if (any) table.rows.push_back(std::move(row));
  }
  return table;
}

Table SourceTable(const EvaluationReport& report) {
  Table table{{"source", "samples", "errors", "part of pooled_aurc"}, {}, 1};
  AurcPart total;
  for (const ReportedSource& source : report.sources) {
    table.rows.push_back({source.name, absl::StrCat(source.part.samples), absl::StrCat(source.part.errors),
                          absl::StrFormat("%.2f", 1000 * source.part.aurc)});
    total.samples += source.part.samples;
    total.errors += source.part.errors;
    total.aurc += source.part.aurc;
  }
  table.rows.push_back(
      {"pool", absl::StrCat(total.samples), absl::StrCat(total.errors), absl::StrFormat("%.2f", 1000 * total.aurc)});
  return table;
}

// The lines before and after the tables.
std::vector<std::string> LinesBelow(const EvaluationReport& report) {
  std::vector<std::string> lines;
  for (const ReportedMetric& metric : report.metrics) {
    if (metric.remark.empty() || !metric.value.has_value()) continue;
    lines.push_back(absl::StrCat(metric.name, ": ", metric.remark));
  }
  for (const ReportedMetric& metric : report.metrics) {
    if (metric.value.has_value() && !report.interval.empty() && !metric.low.has_value() &&
        !metric.absent_reason.empty()) {
      lines.push_back(absl::StrCat("no interval: ", metric.name, " (", metric.absent_reason, ")"));
    }
  }
  std::vector<std::pair<std::string, std::string>> absent;  // reason, names, by the first name
  for (const ReportedMetric& metric : report.metrics) {
    if (metric.value.has_value()) continue;
    const auto same = std::find_if(absent.begin(), absent.end(),
                                   [&](const auto& reason) { return reason.first == metric.absent_reason; });
    if (same == absent.end()) {
      absent.emplace_back(metric.absent_reason, metric.name);
    } else {
      absl::StrAppend(&same->second, ", ", metric.name);
    }
  }
  for (const auto& [reason, names] : absent) lines.push_back(absl::StrCat("absent: ", names, " (", reason, ")"));
  return lines;
}

Document MakeDocument(const EvaluationReport& report) {
  Document document;
  document.above = report.notes;
  document.above.push_back(SamplesText(report));
  document.sections.push_back(
      {report.interval.empty() ? "" : absl::StrCat("low, high: ", report.interval), MetricTable(report)});
  if (!report.groups.empty()) {
    const bool intervals = !report.groups[0].intervals.empty();
    document.sections.push_back({absl::StrCat("each set of unknown samples against all known samples",
                                              intervals ? absl::StrCat("; in brackets: ", report.interval) : ""),
                                 GroupTable(report, report.groups, "unknown samples")});
  }
  if (!report.known_sets.empty()) {
    document.sections.push_back({"each set of known samples against all unknown samples",
                                 GroupTable(report, report.known_sets, "known samples")});
  }
  if (!report.sources.empty()) document.sections.push_back({"components of pooled_aurc (x1000)", SourceTable(report)});
  document.below = LinesBelow(report);
  return document;
}

// An object whose entries keep their order. ordered_json itself compares a new name with each of those before it, which
// takes long for thousands of groups.
class ObjectByName {
 public:
  nlohmann::ordered_json& operator[](const std::string& name) {
    const auto [at, is_new] = index_.try_emplace(name, entries_.size());
    if (is_new) entries_.push_back({name, nlohmann::ordered_json()});
    return (entries_.begin() + static_cast<ptrdiff_t>(at->second))->second;
  }
  void MoveTo(nlohmann::ordered_json* json, const char* name) {
    if (!entries_.empty()) (*json)[name] = std::move(entries_);
  }

 private:
  nlohmann::ordered_json::object_t entries_;
  std::unordered_map<std::string, size_t> index_;
};

}  // namespace

std::string SamplesText(const EvaluationReport& report) {
  std::string text = absl::StrCat(report.num_known, report.num_known == 1 ? " known sample of " : " known samples of ",
                                  report.num_classes, report.num_classes == 1 ? " class, " : " classes, ",
                                  report.num_unknown, report.num_unknown == 1 ? " unknown sample" : " unknown samples");
  if (report.num_unknown > 0) {
    absl::StrAppendFormat(&text, " (known : unknown = %.4g : 1)",
                          static_cast<double>(report.num_known) / report.num_unknown);
  }
  return text;
}

Table EvaluationTable(const EvaluationReport& report) {
  Table table{{"set", "metric", "value", "low", "high", "absent", "unit", "better", "label"}, {}, 2};
  const auto add = [&](const std::string& set, const ReportedMetric& metric, const std::optional<double>& value,
                       const std::optional<double>& low, const std::optional<double>& high,
                       const std::string& absent_reason) {
    table.rows.push_back({set, metric.name, Full(value), Full(low), Full(high), value.has_value() ? "" : absent_reason,
                          metric.display.value_unit, BetterText(metric.display), metric.display.label});
  };
  for (const ReportedMetric& metric : report.metrics) {
    add("all", metric, metric.value, metric.low, metric.high, metric.absent_reason);
  }
  for (const ReportedGroup& group : report.groups) {
    for (size_t m = 0; m < report.metrics.size(); ++m) {
      const auto [low, high] = IntervalOf(&group, m);
      add(group.name, report.metrics[m], group.values[m].value, low, high, group.values[m].absent_reason);
    }
  }
  for (const ReportedGroup& set : report.known_sets) {
    for (size_t m = 0; m < report.metrics.size(); ++m) {
      add(set.name, report.metrics[m], set.values[m].value, {}, {}, set.values[m].absent_reason);
    }
  }
  return table;
}

nlohmann::ordered_json EvaluationJson(const EvaluationReport& report) {
  nlohmann::ordered_json json;
  json["n_known"] = report.num_known;
  json["n_unknown"] = report.num_unknown;
  json["metrics"] = nlohmann::ordered_json::object();
  json["absent"] = nlohmann::ordered_json::object();
  for (const ReportedMetric& metric : report.metrics) {
    if (!metric.value.has_value()) {
      json["absent"][metric.name] = metric.absent_reason;
      continue;
    }
    nlohmann::ordered_json& entry = json["metrics"][metric.name];
    entry["value"] = *metric.value;
    if (metric.low.has_value()) entry["low"] = *metric.low;
    if (metric.high.has_value()) entry["high"] = *metric.high;
    entry["unit"] = metric.display.value_unit;
    const std::optional<bool>& higher = metric.display.higher_is_better;
    entry["higher_is_better"] = higher.has_value() ? nlohmann::ordered_json(*higher) : nlohmann::ordered_json();
    entry["label"] = metric.display.label;
  }
  ObjectByName groups, known_sets;
  for (const ReportedGroup& group : report.groups) {
    nlohmann::ordered_json& entry = groups[group.name];
    entry["n_unknown"] = group.samples;
    entry["metrics"] = nlohmann::ordered_json::object();
    for (size_t m = 0; m < report.metrics.size(); ++m) {
      if (!group.values[m].value.has_value()) continue;
      nlohmann::ordered_json& metric = entry["metrics"][report.metrics[m].name];
      metric["value"] = *group.values[m].value;
      if (m < group.intervals.size() && group.intervals[m].has_value()) {
        metric["low"] = group.intervals[m]->first;
        metric["high"] = group.intervals[m]->second;
      }
    }
  }
  groups.MoveTo(&json, "groups");
  for (const ReportedGroup& set : report.known_sets) {
    nlohmann::ordered_json& entry = known_sets[set.name];
    entry["n_known"] = set.samples;
    for (size_t m = 0; m < report.metrics.size(); ++m) {
      if (set.values[m].value.has_value()) entry["metrics"][report.metrics[m].name]["value"] = *set.values[m].value;
    }
  }
  known_sets.MoveTo(&json, "known_sets");
  for (const ReportedSource& source : report.sources) {
    json["pooled_aurc_parts"][source.name] = {
        {"samples", source.part.samples}, {"errors", source.part.errors}, {"value", source.part.aurc}};
  }
  return json;
}

std::string FormatEvaluation(const EvaluationReport& report, TextFormat format) {
  if (format == TextFormat::kCsv) return ToCsv(EvaluationTable(report));
  if (format == TextFormat::kJson) return JsonText(EvaluationJson(report), 2) + "\n";
  return FormatDocument(MakeDocument(report), format);
}

namespace {

using Methods = absl::Span<const MethodReport>;

Table StartTable(Methods methods, const std::string& rows) {
  Table table{{rows}, {}, 1};
  for (const MethodReport& method : methods) table.header.push_back(method.name);
  return table;
}

Table MetricTable(Methods methods) {
  Table table = StartTable(methods, "metric");
  table.header.insert(table.header.end(), {"unit", "better", "label"});
  for (size_t m = 0; m < methods[0].report.metrics.size(); ++m) {
    const ReportedMetric& first = methods[0].report.metrics[m];
    std::vector<std::string> row = {first.name};
    bool any = false;
    for (const MethodReport& method : methods) {
      const ReportedMetric& metric = method.report.metrics[m];
      row.push_back(CellShown(metric.value, metric.low, metric.high, metric.display));
      any = any || metric.value.has_value();
    }
    row.insert(row.end(), {first.display.unit, BetterText(first.display), first.display.label});
    if (any) table.rows.push_back(std::move(row));
  }
  return table;
}

using GroupsOf = std::function<const std::vector<ReportedGroup>&(const EvaluationReport&)>;

const ReportedGroup* Find(const std::vector<ReportedGroup>& groups, const std::string& name) {
  const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& other) { return other.name == name; });
  return group == groups.end() ? nullptr : &*group;
}

// The names of sets, in the order in which they first occur in the methods.
std::vector<std::string> GroupNames(Methods methods, const GroupsOf& groups_of) {
  std::vector<std::string> names;
  for (const MethodReport& method : methods) {
    for (const ReportedGroup& group : groups_of(method.report)) {
      if (std::find(names.begin(), names.end(), group.name) == names.end()) names.push_back(group.name);
    }
  }
  return names;
}

Table GroupTable(Methods methods, const GroupsOf& groups_of, const std::string& name, const std::string& samples) {
  Table table = StartTable(methods, "metric");
  table.header.push_back("unit");
  std::vector<std::string> counts = {samples};
  for (const MethodReport& method : methods) {
    const ReportedGroup* group = Find(groups_of(method.report), name);
    counts.push_back(group == nullptr ? "-" : absl::StrCat(group->samples));
  }
  counts.push_back("");
  table.rows.push_back(std::move(counts));
  for (size_t m = 0; m < methods[0].report.metrics.size(); ++m) {
    const ReportedMetric& metric = methods[0].report.metrics[m];
    std::vector<std::string> row = {metric.name};
    bool any = false;
    for (const MethodReport& method : methods) {
      const ReportedGroup* group = Find(groups_of(method.report), name);
      const auto [low, high] = IntervalOf(group, m);
      const std::optional<double> value = group == nullptr ? std::nullopt : group->values[m].value;
      row.push_back(CellShown(value, low, high, metric.display));
      any = any || value.has_value();
    }
    row.push_back(metric.display.unit);
    if (any) table.rows.push_back(std::move(row));
  }
  return table;
}

// Transposes a table with a row for each metric: a row for each method, with the metrics' labels and units as header.
Table RowPerMethod(Methods methods, const Table& table) {
  Table turned{{"method"}, {}, 1};
  for (const MethodReport& method : methods) turned.rows.push_back({method.name});
  for (const std::vector<std::string>& row : table.rows) {
    std::string head = row[0];
    for (const ReportedMetric& metric : methods[0].report.metrics) {
      if (metric.name == row[0]) head = LabelWithUnit(metric.display);
    }
    turned.header.push_back(std::move(head));
    for (size_t i = 0; i < methods.size(); ++i) turned.rows[i].push_back(row[1 + i]);
  }
  return turned;
}

// Sums to pooled_aurc.
Table SourceTable(Methods methods) {
  Table table = StartTable(methods, "source");
  std::vector<std::string> names;
  for (const MethodReport& method : methods) {
    for (const ReportedSource& source : method.report.sources) {
      if (std::find(names.begin(), names.end(), source.name) == names.end()) names.push_back(source.name);
    }
  }
  for (const std::string& name : names) {
    std::vector<std::string> row = {name};
    for (const MethodReport& method : methods) {
      std::string cell = "-";
      for (const ReportedSource& source : method.report.sources) {
        if (source.name == name) cell = absl::StrFormat("%.2f", 1000 * source.part.aurc);
      }
      row.push_back(std::move(cell));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// "absent: aurc, nll (no predictions)", "absent of b: ...": what is missing for the same reason in the same methods.
std::vector<std::string> LinesBelow(Methods methods) {
  std::vector<std::string> lines;
  std::set<std::string> said;
  const size_t metrics = methods[0].report.metrics.size();
  for (size_t m = 0; m < metrics; ++m) {
    for (const MethodReport& method : methods) {
      const ReportedMetric& metric = method.report.metrics[m];
      if (metric.remark.empty() || !metric.value.has_value()) continue;
      const std::string line = absl::StrCat(metric.name, ": ", metric.remark);
      if (said.insert(line).second) lines.push_back(line);
    }
  }
  struct Missing {
    std::string what, reason;
    std::vector<std::string> methods, metrics;
  };
  std::vector<Missing> missing;
  for (size_t m = 0; m < metrics; ++m) {
    std::vector<Missing> of_metric;
    for (const MethodReport& method : methods) {
      const ReportedMetric& metric = method.report.metrics[m];
      if (metric.absent_reason.empty() || metric.low.has_value()) continue;
      const std::string what = metric.value.has_value() ? "no interval" : "absent";
      const auto same = std::find_if(of_metric.begin(), of_metric.end(), [&](const Missing& other) {
        return other.what == what && other.reason == metric.absent_reason;
      });
      if (same == of_metric.end()) {
        of_metric.push_back({what, metric.absent_reason, {method.name}, {methods[0].report.metrics[m].name}});
      } else {
        same->methods.push_back(method.name);
      }
    }
    for (Missing& entry : of_metric) {
      const auto same = std::find_if(missing.begin(), missing.end(), [&](const Missing& other) {
        return other.what == entry.what && other.reason == entry.reason && other.methods == entry.methods;
      });
      if (same == missing.end()) {
        missing.push_back(std::move(entry));
      } else {
        same->metrics.push_back(entry.metrics[0]);
      }
    }
  }
  for (const Missing& entry : missing) {
    const bool all = entry.methods.size() == methods.size();
    lines.push_back(absl::StrCat(entry.what, all ? "" : absl::StrCat(" of ", absl::StrJoin(entry.methods, ", ")), ": ",
                                 absl::StrJoin(entry.metrics, ", "), " (", entry.reason, ")"));
  }
  return lines;
}

Document MakeDocument(Methods methods, MethodsLayout layout) {
  const auto laid_out = [&](Table table) {
    return layout == MethodsLayout::kRowPerMethod ? RowPerMethod(methods, table) : table;
  };
  Document document;
  std::set<std::string> samples;
  for (const MethodReport& method : methods) samples.insert(SamplesText(method.report));
  for (const MethodReport& method : methods) {
    document.above.push_back(absl::StrCat(method.name, ": ", absl::StrJoin(method.report.notes, ", "),
                                          samples.size() == 1 ? "" : absl::StrCat("; ", SamplesText(method.report))));
  }
  if (samples.size() == 1) document.above.push_back(*samples.begin());
  const std::string& interval = methods[0].report.interval;
  const std::string brackets = interval.empty() ? "" : absl::StrCat("in brackets: ", interval);
  document.sections.push_back({brackets, laid_out(MetricTable(methods))});
  const GroupsOf unknown_sets = [](const EvaluationReport& report) -> const auto& { return report.groups; };
  const GroupsOf known_sets = [](const EvaluationReport& report) -> const auto& { return report.known_sets; };
  for (const std::string& name : GroupNames(methods, unknown_sets)) {
    document.sections.push_back({absl::StrCat("unknown samples: ", name, brackets.empty() ? "" : "; ", brackets),
                                 laid_out(GroupTable(methods, unknown_sets, name, "unknown samples"))});
  }
  for (const std::string& name : GroupNames(methods, known_sets)) {
    document.sections.push_back(
        {absl::StrCat("known samples: ", name), laid_out(GroupTable(methods, known_sets, name, "known samples"))});
  }
  Table sources = SourceTable(methods);
  if (!sources.rows.empty()) {
    document.sections.push_back({"components of pooled_aurc (x1000)", laid_out(std::move(sources))});
  }
  document.below = LinesBelow(methods);
  return document;
}

std::string FormatCsv(Methods methods) {
  Table all;
  for (const MethodReport& method : methods) {
    Table table = EvaluationTable(method.report);
    all.header = std::move(table.header);
    for (std::vector<std::string>& row : table.rows) {
      row.insert(row.begin(), method.name);
      all.rows.push_back(std::move(row));
    }
  }
  all.header.insert(all.header.begin(), "method");
  return ToCsv(all);
}

std::string FormatJson(Methods methods) {
  nlohmann::ordered_json json;
  for (const MethodReport& method : methods) json["methods"][method.name] = EvaluationJson(method.report);
  // Names come from files: bytes that are not UTF-8 are replaced.
  return JsonText(json, 2) + "\n";
}

}  // namespace

std::string FormatMethods(absl::Span<const MethodReport> methods, TextFormat format, MethodsLayout layout) {
  if (format == TextFormat::kCsv) return FormatCsv(methods);
  if (format == TextFormat::kJson) return FormatJson(methods);
  return FormatDocument(MakeDocument(methods, layout), format);
}

}  // namespace openset
