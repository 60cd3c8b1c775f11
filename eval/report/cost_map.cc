#include "eval/report/cost_map.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/text/json_text.h"
#include "core/text/table.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

constexpr double kPrevalences[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5};
constexpr double kCosts[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};

std::string CellName(double prevalence, double cost) {
  return absl::StrFormat("prevalence_%g_cost_%g", prevalence, cost);
}

// A method in a cell.
struct CellMethod {
  std::optional<double> cost;
  const ComparedMetric* against_best = nullptr;  // null for the best one, and without costs
  bool is_best = false;
  bool is_worse = false;  // detectably, than the best one
};

struct Cell {
  double prevalence = 0, unknown_cost = 0;
  std::vector<CellMethod> methods;
  bool is_tie = false;  // all methods have the same cost
  std::string absent_reason;

  bool has_costs() const { return absent_reason.empty(); }
  bool is_decided() const {
    return has_costs() &&
           std::all_of(methods.begin(), methods.end(), [](const CellMethod& m) { return m.is_best || m.is_worse; });
  }
};

Cell CellOf(double prevalence, double unknown_cost, const std::vector<const ComparedMetric*>& rows,
            const std::map<std::string, size_t>& place) {
  Cell cell{prevalence, unknown_cost, std::vector<CellMethod>(place.size())};
  for (const ComparedMetric* row : rows) {
    if (!row->difference.has_value()) {
      cell.absent_reason = row->absent_reason;
      return cell;
    }
    cell.methods[place.at(row->a)].cost = row->value_a;
    cell.methods[place.at(row->b)].cost = row->value_b;
  }
  const auto cost_of = [](const CellMethod& method) { return *method.cost; };
  const auto best = std::min_element(cell.methods.begin(), cell.methods.end(),
                                     [&](const auto& a, const auto& b) { return cost_of(a) < cost_of(b); });
  best->is_best = true;
  cell.is_tie = std::all_of(cell.methods.begin(), cell.methods.end(),
                            [&](const CellMethod& method) { return *method.cost == *best->cost; });
  const size_t best_place = best - cell.methods.begin();
  for (const ComparedMetric* row : rows) {
    const size_t a = place.at(row->a), b = place.at(row->b);
    if (a != best_place && b != best_place) continue;
    CellMethod& other = cell.methods[a == best_place ? b : a];
    other.against_best = row;
    other.is_worse = row->verdict == absl::StrCat(a == best_place ? row->a : row->b, " is better");
  }
  return cell;
}

std::vector<Cell> CellsOf(const SampleComparison& comparison) {
  const std::vector<std::string>& names = comparison.names;
  std::map<std::string, size_t> place;
  for (size_t i = 0; i < names.size(); ++i) place[names[i]] = i;
  std::map<std::string, std::vector<const ComparedMetric*>> rows;
  for (const ComparedMetric& row : comparison.rows) rows[row.metric].push_back(&row);
  std::vector<Cell> cells;
  for (const double prevalence : kPrevalences) {
    for (const double cost : kCosts) cells.push_back(CellOf(prevalence, cost, rows[CellName(prevalence, cost)], place));
  }
  return cells;
}

// The verdict on a method in its cell; "least": of the least cost, and undecided.
std::string WordOf(const CellMethod& method, const Cell& cell) {
  if (!cell.has_costs()) return "absent";
  if (cell.is_tie) return "equal";
  if (method.is_worse) return "worse";
  if (!method.is_best) return "undecided";
  return cell.is_decided() ? "best" : "least";
}

std::string LetterOf(size_t method) {
  return method < 26 ? std::string(1, static_cast<char>('A' + method)) : absl::StrCat(method + 1);
}

std::string TextOf(const Cell& cell) {
  if (!cell.has_costs()) return "-";
  if (cell.is_tie) return "=";
  std::vector<std::string> letters;
  for (size_t m = 0; m < cell.methods.size(); ++m) {
    if (!cell.methods[m].is_worse) letters.push_back(LetterOf(m));
  }
  return letters.size() == cell.methods.size() ? "?" : absl::StrJoin(letters, " ");
}

std::string CsvOf(const std::vector<Cell>& cells, const std::vector<std::string>& names) {
  Table table{{"prevalence", "unknown_cost", "method", "expected_cost", "verdict", "best_less_this", "low_holm",
               "high_holm", "p_holm"},
              {},
              3};
  for (const Cell& cell : cells) {
    for (size_t m = 0; m < names.size(); ++m) {
      const CellMethod& method = cell.methods[m];
      std::vector<std::string> row = {absl::StrFormat("%g", cell.prevalence), absl::StrFormat("%g", cell.unknown_cost),
                                      names[m], method.cost.has_value() ? FullPrecision(*method.cost) : "",
                                      WordOf(method, cell)};
      if (const ComparedMetric* test = method.against_best; test != nullptr) {
        const bool best_is_a = test->b == names[m];
        const double sign = best_is_a ? 1 : -1;
        row.push_back(FullPrecision(sign * *test->difference));
        row.push_back(FullPrecision(best_is_a ? test->adjusted.low : -test->adjusted.high));
        row.push_back(FullPrecision(best_is_a ? test->adjusted.high : -test->adjusted.low));
        row.push_back(FullPrecision(test->adjusted_p_value));
      }
      row.resize(table.header.size());
      table.rows.push_back(std::move(row));
    }
  }
  return ToCsv(table);
}

std::string JsonOf(const std::vector<Cell>& cells, const std::vector<std::string>& names) {
  nlohmann::ordered_json json;
  json["cells"] = nlohmann::ordered_json::array();
  for (const Cell& cell : cells) {
    nlohmann::ordered_json entry = {{"prevalence", cell.prevalence}, {"unknown_cost", cell.unknown_cost}};
    if (!cell.has_costs()) entry["absent"] = cell.absent_reason;
    for (size_t m = 0; m < names.size(); ++m) {
      const CellMethod& method = cell.methods[m];
      nlohmann::ordered_json of_method = {{"method", names[m]}, {"verdict", WordOf(method, cell)}};
      if (method.cost.has_value()) of_method["expected_cost"] = *method.cost;
      if (method.against_best != nullptr) of_method["p_holm"] = method.against_best->adjusted_p_value;
      entry["methods"].push_back(std::move(of_method));
    }
    json["cells"].push_back(std::move(entry));
  }
  return JsonText(json, 2) + "\n";
}

// "A (softmax) is best in 12 of 90 cells, B (energy) in 20; 30 are undecided, in 28 all cost the same".
std::string Summary(const std::vector<Cell>& cells, const std::vector<std::string>& names) {
  std::vector<int> best(names.size(), 0);
  int undecided = 0, ties = 0, absent = 0;
  for (const Cell& cell : cells) {
    if (!cell.has_costs()) {
      ++absent;
    } else if (cell.is_tie) {
      ++ties;
    } else if (!cell.is_decided()) {
      ++undecided;
    } else {
      for (size_t m = 0; m < names.size(); ++m) best[m] += cell.methods[m].is_best ? 1 : 0;
    }
  }
  std::vector<std::string> parts;
  for (size_t m = 0; m < names.size(); ++m) {
    parts.push_back(absl::StrCat(LetterOf(m), parts.empty() ? " is best in " : " in ", best[m]));
  }
  parts[0] = absl::StrCat(parts[0], " of ", cells.size(), " cells");
  std::string text = absl::StrCat(absl::StrJoin(parts, ", "), "; ", undecided, " undecided; the same cost in ", ties);
  if (absent > 0) absl::StrAppend(&text, "; no cost in ", absent);
  return text;
}

}  // namespace

absl::Span<const double> CostMapPrevalences() { return kPrevalences; }
absl::Span<const double> CostMapCosts() { return kCosts; }

std::vector<MetricSpec> CostMapMetrics(const ExpectedCostSpec& cost) {
  std::vector<MetricSpec> metrics;
  for (const double prevalence : kPrevalences) {
    for (const double unknown_cost : kCosts) {
      MetricSpec& metric = metrics.emplace_back();
      metric.set_name(CellName(prevalence, unknown_cost));
      *metric.mutable_expected_cost() = cost;
      metric.mutable_expected_cost()->set_prevalence(prevalence);
      metric.mutable_expected_cost()->set_unknown_cost(unknown_cost);
    }
  }
  return metrics;
}

std::string FormatCostMap(const SampleComparison& comparison, TextFormat format) {
  const std::vector<std::string>& names = comparison.names;
  const std::vector<Cell> cells = CellsOf(comparison);
  if (format == TextFormat::kCsv) return CsvOf(cells, names);
  if (format == TextFormat::kJson) return JsonOf(cells, names);
  Document document;
  document.above = comparison.notes;
  for (size_t m = 0; m < names.size(); ++m) document.above.push_back(absl::StrCat(LetterOf(m), ": ", names[m]));
  Table table{{"prevalence"}, {}, 1};
  for (const double cost : kCosts) table.header.push_back(absl::StrFormat("%g", cost));
  for (size_t row = 0; row < std::size(kPrevalences); ++row) {
    table.rows.push_back({absl::StrFormat("%g", kPrevalences[row])});
    for (size_t column = 0; column < std::size(kCosts); ++column) {
      table.rows.back().push_back(TextOf(cells[row * std::size(kCosts) + column]));
    }
  }
  document.sections = {
      {"the method of the least expected cost; rows: prevalence of unknown samples; columns: cost of "
       "accepting one, in costs of rejecting a known sample",
       std::move(table)}};
  document.below = {
      Summary(cells, names),
      absl::StrFormat(
          "two letters or more: undecided between these methods, or (?) between all: a paired test finds no "
          "difference (%g %% interval of the paired bootstrap, Holm over the pairs of a cell, not over cells)",
          100 * comparison.confidence),
      "=: all methods cost the same"};
  for (const Cell& cell : cells) {
    if (cell.has_costs()) continue;
    document.below.push_back(absl::StrCat("-: no cost: ", cell.absent_reason));
    break;
  }
  document.below.push_back(
      "--format=csv has each method's cost and test in each cell (best; least: undecided, of the least cost; "
      "undecided; worse; equal)");
  return FormatDocument(document, format);
}

}  // namespace openset
