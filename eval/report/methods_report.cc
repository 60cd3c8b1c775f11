#include "eval/report/methods_report.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/text/json_text.h"
#include "core/text/table.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

using Methods = absl::Span<const MethodReport>;

std::string Cell(const std::optional<double>& value, const std::optional<double>& low,
                 const std::optional<double>& high, const Display& display) {
  if (!value.has_value()) return "-";
  std::string cell = Shown(*value, display);
  if (low.has_value() && high.has_value()) {
    absl::StrAppend(&cell, " (", Shown(*low, display), ", ", Shown(*high, display), ")");
  }
  return cell;
}

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
      row.push_back(Cell(metric.value, metric.low, metric.high, metric.display));
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
      std::optional<double> value, low, high;
      if (group != nullptr) value = group->values[m].value;
      if (group != nullptr && m < group->intervals.size() && group->intervals[m].has_value()) {
        low = group->intervals[m]->first;
        high = group->intervals[m]->second;
      }
      row.push_back(Cell(value, low, high, metric.display));
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
      if (metric.remark.empty()) continue;
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
  for (const MethodReport& method : methods) {
    json["methods"][method.name] = EvaluationJson(method.report);
  }
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
