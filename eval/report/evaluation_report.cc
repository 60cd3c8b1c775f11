#include "eval/report/evaluation_report.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/text/json_text.h"
#include "core/text/table.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

std::string NumberShown(const std::optional<double>& value, const Display& display) {
  return value.has_value() ? Shown(*value, display) : "-";
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
      row.push_back(NumberShown(group.values[m].value, metric.display));
      if (m < group.intervals.size() && group.intervals[m].has_value()) {
        absl::StrAppend(&row.back(), " (", NumberShown(group.intervals[m]->first, metric.display), ", ",
                        NumberShown(group.intervals[m]->second, metric.display), ")");
      }
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
    if (!metric.remark.empty()) lines.push_back(absl::StrCat(metric.name, ": ", metric.remark));
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
  if (!report.sources.empty()) {
    document.sections.push_back({"components of pooled_aurc (x1000)", SourceTable(report)});
  }
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
      const bool has_interval = m < group.intervals.size() && group.intervals[m].has_value();
      add(group.name, report.metrics[m], group.values[m].value,
          has_interval ? std::make_optional(group.intervals[m]->first) : std::nullopt,
          has_interval ? std::make_optional(group.intervals[m]->second) : std::nullopt, group.values[m].absent_reason);
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

}  // namespace openset
