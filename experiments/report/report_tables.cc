#include "experiments/report/report_tables.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/text/suggest.h"
#include "experiments/report/statistics.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

// "AUROC, % ↑".
std::string MetricHead(const Display& display) {
  if (!display.higher_is_better.has_value()) return LabelWithUnit(display);
  return absl::StrCat(LabelWithUnit(display), *display.higher_is_better ? " ↑" : " ↓");
}

// The label of a column or row with cells of several methods.
std::string SharedHead(const ReportCell& cell) { return MetricHead(SharedDisplay(cell)); }

// The marks of cells, of which those with the same key are compared.
template <typename KeyOf>
std::vector<Emphasis> MarksOf(const std::vector<const ReportCell*>& cells, const KeyOf& key_of) {
  const auto quality = [](const ReportCell* cell) -> std::optional<double> {  // larger = better
    if (cell == nullptr || cell->n == 0 || IsIncomplete(*cell)) return std::nullopt;
    if (!cell->display.higher_is_better.has_value()) return std::nullopt;
    return *cell->display.higher_is_better ? cell->mean : -cell->mean;
  };
  std::map<decltype(key_of(*cells[0])), std::set<double>> qualities;
  for (const ReportCell* cell : cells) {
    if (const std::optional<double> q = quality(cell); q.has_value()) qualities[key_of(*cell)].insert(*q);
  }
  std::vector<Emphasis> marks(cells.size(), Emphasis::kNone);
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::optional<double> q = quality(cells[i]);
    if (!q.has_value()) continue;
    const std::set<double>& all = qualities[key_of(*cells[i])];
    if (all.size() < 2) continue;
    if (*q == *all.rbegin()) marks[i] = Emphasis::kBest;
    if (*q == *std::next(all.rbegin())) marks[i] = Emphasis::kSecond;
  }
  return marks;
}

// A table to which cells are added.
class Grid {
 public:
  Grid(std::string title, std::vector<std::string> row_heads)
      : title_(std::move(title)), heads_(std::move(row_heads)) {}

  bool IsEmpty() const { return rows_.empty(); }

  void Put(const std::vector<std::string>& row, const std::string& column, const ReportCell* cell) {
    cells_[{IndexOf(row, &rows_, &row_places_), IndexOf(column, &columns_, &column_places_)}] = cell;
  }

  // Rows with the best mean of a metric first, those without one last.
  void SortBy(const std::string& metric) {
    std::vector<std::pair<double, int>> order;  // worse is larger, row
    for (int r = 0; r < static_cast<int>(rows_.size()); ++r) {
      double worse = std::numeric_limits<double>::infinity();
      for (int c = 0; c < static_cast<int>(columns_.size()); ++c) {
        const ReportCell* cell = At(r, c);
        if (cell == nullptr || cell->metric != metric || cell->n == 0) continue;
        worse = cell->display.higher_is_better.value_or(true) ? -cell->mean : cell->mean;
        break;
      }
      order.emplace_back(worse, r);
    }
    Order(std::move(order));
  }

  // Rows in the order of another table's, others last.
  void SortLike(const Grid& other) {
    std::vector<std::pair<double, int>> order;
    for (int r = 0; r < static_cast<int>(rows_.size()); ++r) {
      const auto at = other.rows_.begin();
      order.emplace_back(static_cast<double>(std::find(at, other.rows_.end(), rows_[r]) - at), r);
    }
    Order(std::move(order));
  }
  // Marks the best of each column, or of each row, among cells of the same place and, if cells are parts of others,
  // split and seed.
  DocumentSection Make(bool best_of_rows, Spread spread, bool by_split = false, bool by_seed = false) const {
    const auto key_of = [&](const ReportCell& cell) {
      return std::tuple(PlaceOf(cell), by_split ? cell.splits[0] : 0, by_seed ? cell.seeds[0] : 0);
    };
    const size_t left = heads_.size();
    DocumentSection titled{title_, Table{heads_, {}, static_cast<int>(left)}};
    Table& table = titled.table;
    table.header.insert(table.header.end(), columns_.begin(), columns_.end());
    for (size_t r = 0; r < rows_.size(); ++r) {
      std::vector<std::string>& row = table.rows.emplace_back(rows_[r]);
      for (size_t c = 0; c < columns_.size(); ++c) {
        const ReportCell* cell = At(r, c);
        row.push_back(cell == nullptr ? "" : CellText(*cell, spread));
      }
    }
    table.emphasis.assign(rows_.size(), std::vector<Emphasis>(table.header.size(), Emphasis::kNone));
    const size_t lines = best_of_rows ? rows_.size() : columns_.size();
    const size_t length = best_of_rows ? columns_.size() : rows_.size();
    for (size_t line = 0; line < lines; ++line) {
      std::vector<const ReportCell*> cells;
      for (size_t i = 0; i < length; ++i) cells.push_back(best_of_rows ? At(line, i) : At(i, line));
      const std::vector<Emphasis> marks = MarksOf(cells, key_of);
      for (size_t i = 0; i < length; ++i) {
        (best_of_rows ? table.emphasis[line][left + i] : table.emphasis[i][left + line]) = marks[i];
      }
    }
    return titled;
  }

 private:
  // Sorted by the numbers, then by the rows.
  void Order(std::vector<std::pair<double, int>> order) {
    std::sort(order.begin(), order.end());
    std::vector<std::vector<std::string>> rows;
    std::vector<int> place(rows_.size());  // the new index of each row
    for (size_t at = 0; at < order.size(); ++at) {
      const int row = order[at].second;
      rows.push_back(rows_[row]);
      place[row] = static_cast<int>(at);
    }
    rows_ = std::move(rows);
    std::map<std::pair<int, int>, const ReportCell*> cells;
    for (const auto& [at, cell] : cells_) cells[{place[at.first], at.second}] = cell;
    cells_ = std::move(cells);
  }

  template <typename T>
  static int IndexOf(const T& name, std::vector<T>* names, std::map<T, int>* places) {
    const auto [place, is_new] = places->try_emplace(name, static_cast<int>(names->size()));
    if (is_new) names->push_back(name);
    return place->second;
  }

  const ReportCell* At(size_t row, size_t column) const {
    const auto found = cells_.find({static_cast<int>(row), static_cast<int>(column)});
    return found == cells_.end() ? nullptr : found->second;
  }

  std::string title_;
  std::vector<std::string> heads_, columns_;
  std::vector<std::vector<std::string>> rows_;
  std::map<std::string, int> column_places_;  // in columns_
  std::map<std::vector<std::string>, int> row_places_;
  std::map<std::pair<int, int>, const ReportCell*> cells_;
};

std::vector<DocumentSection> DefaultTables(const Report& report) {
  const LevelTitles titles(report);
  std::set<Level> with_sets;
  for (const ReportCell& cell : report.cells) {
    if (cell.group != kPool) with_sets.insert(LevelOf(cell));
  }
  // The pool's table of a level has a column for each metric; the tables of its sets, one for each metric, have a
  // column for each set. They follow the pool's.
  std::vector<std::pair<Grid, std::vector<Grid>>> levels;
  std::map<Level, size_t> index;
  std::map<std::pair<Level, std::string>, size_t> set_index;  // by the metric's head
  for (const ReportCell& cell : report.cells) {
    const auto [at, is_new] = index.try_emplace(LevelOf(cell), levels.size());
    if (is_new) {
      const char* all = with_sets.count(LevelOf(cell)) > 0 ? ": all unknown samples" : "";
      levels.emplace_back(Grid(absl::StrCat(titles.Of(cell), all), {"method"}), std::vector<Grid>());
    }
    auto& [pool, sets] = levels[at->second];
    const std::string head = SharedHead(cell);
    if (cell.group == kPool) {
      pool.Put({RowName(cell)}, head, &cell);
      continue;
    }
    const auto [set, is_new_metric] = set_index.try_emplace({LevelOf(cell), head}, sets.size());
    if (is_new_metric) {
      sets.emplace_back(
          absl::StrCat(titles.Of(cell), ": ", head, ", each set of unknown samples against all known ones"),
          std::vector<std::string>{"method"});
    }
    sets[set->second].Put({RowName(cell)}, cell.group, &cell);
  }
  std::vector<DocumentSection> tables;
  for (auto& [pool, sets] : levels) {
    if (!report.sort_by.empty()) pool.SortBy(report.sort_by);
    if (!pool.IsEmpty()) tables.push_back(pool.Make(false, report.spread));
    for (Grid& set : sets) {
      if (!report.sort_by.empty()) set.SortLike(pool);
      tables.push_back(set.Make(false, report.spread));
    }
  }
  return tables;
}

using TextOf = std::function<std::string(const ReportCell&)>;

// The fields that can make rows, columns and tables. Splits and seeds belong to values, not cells.
std::vector<std::pair<std::string, TextOf>> CellFields(const Report& report) {
  std::vector<std::pair<std::string, TextOf>> fields = {
      {"method", [](const ReportCell& cell) { return cell.method; }},
      {"task", [](const ReportCell& cell) { return cell.task; }},
      {"group", [](const ReportCell& cell) { return cell.group; }},
      {"metric", SharedHead},
      {"known_classes", [](const ReportCell& cell) { return absl::StrCat(cell.known_classes); }},
      {"unknown_classes", [](const ReportCell& cell) { return absl::StrCat(cell.unknown_classes); }},
  };
  for (const ReportCell& cell : report.cells) {
    for (const AxisValue& axis : cell.axis) {
      const std::string name = axis.name();
      if (absl::c_any_of(fields, [&](const auto& field) { return field.first == name; })) continue;
      fields.emplace_back(name, [name](const ReportCell& of) {
        const auto value = absl::c_find_if(of.axis, [&](const AxisValue& a) { return a.name() == name; });
        return value == of.axis.end() ? std::string() : value->value();
      });
    }
  }
  return fields;
}

constexpr char kSplit[] = "split", kSeed[] = "seed";

// The cell's values of each split or seed, as cells.
std::vector<ReportCell> PartsOf(const ReportCell& cell, bool by_split, bool by_seed) {
  std::vector<ReportCell> parts;
  std::map<std::pair<int, uint64_t>, size_t> index;
  for (int i = 0; i < cell.n; ++i) {
    const std::pair<int, uint64_t> key = {by_split ? cell.splits[i] : 0, by_seed ? cell.seeds[i] : 0};
    const auto [at, is_new] = index.try_emplace(key, parts.size());
    if (is_new) {
      ReportCell part = cell;
      part.n = part.missing = 0;
      part.values.clear(), part.splits.clear(), part.draws.clear(), part.seeds.clear(), part.intervals.clear();
      part.absent_reasons.clear();
      part.significance.reset();
      parts.push_back(std::move(part));
    }
    ReportCell& part = parts[at->second];
    part.values.push_back(cell.values[i]);
    part.splits.push_back(cell.splits[i]);
    part.draws.push_back(DrawOf(cell, i));
    part.seeds.push_back(cell.seeds[i]);
    part.intervals.push_back(cell.intervals[i]);
  }
  for (ReportCell& part : parts) Summarise(&part);
  return parts;
}

std::vector<DocumentSection> LaidOutTables(const Report& report) {
  const auto is_in = [](const std::vector<std::string>& list, const std::string& name) {
    return absl::c_linear_search(list, name);
  };
  const std::vector<std::pair<std::string, TextOf>> fields = CellFields(report);
  const bool by_split = is_in(report.rows, kSplit) || is_in(report.columns, kSplit);
  const bool by_seed = is_in(report.rows, kSeed) || is_in(report.columns, kSeed);
  std::vector<ReportCell> parts;  // the tables point to them
  if (by_split || by_seed) {
    for (const ReportCell& cell : report.cells) {
      for (ReportCell& part : PartsOf(cell, by_split, by_seed)) parts.push_back(std::move(part));
    }
  }
  const std::vector<ReportCell>& cells = by_split || by_seed ? parts : report.cells;
  const auto texts = [&](const ReportCell& cell, const std::vector<std::string>& names) {
    std::vector<std::string> found;
    for (const std::string& name : names) {
      if (name == kSplit) found.push_back(absl::StrCat(cell.splits[0]));
      if (name == kSeed) found.push_back(absl::StrCat(cell.seeds[0]));
      for (const auto& [field, text] : fields) {
        if (field == name) found.push_back(text(cell));
      }
    }
    return found;
  };
  std::vector<std::string> other;  // fields that distinguish tables: more than one value
  for (const auto& [field, text] : fields) {
    if (is_in(report.rows, field) || is_in(report.columns, field)) continue;
    std::set<std::string> values;
    for (const ReportCell& cell : cells) values.insert(text(cell));
    if (values.size() > 1) other.push_back(field);
  }
  std::vector<Grid> grids;
  std::map<std::vector<std::string>, size_t> index;
  for (const ReportCell& cell : cells) {
    const std::vector<std::string> key = texts(cell, other);
    const auto [at, is_new] = index.try_emplace(key, grids.size());
    if (is_new) {
      std::vector<std::string> words;
      for (size_t i = 0; i < other.size(); ++i) {
        const bool is_number =
            other[i] != "method" && other[i] != "task" && other[i] != "group" && other[i] != "metric";
        words.push_back(is_number ? absl::StrCat(other[i], " ", key[i].empty() ? "-" : key[i]) : key[i]);
      }
      grids.emplace_back(words.empty() ? report.experiment : absl::StrJoin(words, ", "), report.rows);
    }
    const std::vector<std::string> column = texts(cell, report.columns);
    grids[at->second].Put(texts(cell, report.rows), absl::StrJoin(column, ", "), &cell);
  }
  std::vector<DocumentSection> tables;
  for (Grid& grid : grids) {
    if (!report.sort_by.empty() && !is_in(report.rows, "metric")) grid.SortBy(report.sort_by);
    tables.push_back(grid.Make(BestOfRows(report), report.spread, by_split, by_seed));
  }
  return tables;
}

}  // namespace

std::string CellText(const ReportCell& cell, Spread spread) {
  if (cell.n == 0) return cell.missing > 0 ? "-" : "undefined";
  std::string text = Shown(cell.mean, cell.display);
  if (const std::optional<double> width = SpreadOf(cell, spread); width.has_value()) {
    absl::StrAppend(&text, " ± ", Shown(*width, cell.display));
  }
  if (cell.n == 1 && cell.intervals[0].has_value()) {
    const auto& [low, high] = *cell.intervals[0];
    absl::StrAppend(&text, " [", Shown(low, cell.display), ", ", Shown(high, cell.display), "]");
  }
  if (cell.significance.has_value() && cell.significance->detectable) absl::StrAppend(&text, "*");
  if (cell.among_best) absl::StrAppend(&text, " †");
  if (IsIncomplete(cell)) absl::StrAppend(&text, " (n=", cell.n, ")");
  return text;
}

absl::Status CheckLayout(const Report& report, const std::string& flag, const std::vector<std::string>& fields) {
  std::vector<std::string> known;
  for (const auto& [field, text] : CellFields(report)) known.push_back(field);
  known.insert(known.end(), {kSplit, kSeed});
  std::set<std::string> seen;
  for (const std::string& field : fields) {
    if (!absl::c_linear_search(known, field)) {
      return absl::InvalidArgumentError(absl::StrCat(flag, ": ", UnknownName("field", field, known)));
    }
    if (!seen.insert(field).second) {
      return absl::InvalidArgumentError(absl::StrCat(flag, ": ", field, " is listed twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSort(const Report& report, const std::string& flag, const std::string& metric) {
  std::set<std::string> known;
  for (const ReportCell& cell : report.cells) known.insert(cell.metric);
  if (known.count(metric) > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": ", UnknownName("metric", metric, {known.begin(), known.end()})));
}

std::vector<DocumentSection> ReportTables(const Report& report) {
  const auto is_copy = [](const ReportCell& cell) { return cell.mean_of_one; };
  if (absl::c_any_of(report.cells, is_copy)) {
    Report without = report;
    without.cells.erase(std::remove_if(without.cells.begin(), without.cells.end(), is_copy), without.cells.end());
    return ReportTables(without);
  }
  return report.rows.empty() && report.columns.empty() ? DefaultTables(report) : LaidOutTables(report);
}

bool BestOfRows(const Report& report) {
  const bool method_rows = absl::c_linear_search(report.rows, "method");
  return absl::c_linear_search(report.columns, "method") ||
         (absl::c_linear_search(report.rows, "metric") && !method_rows);
}

std::vector<Emphasis> BestMarks(const Report& report) {
  std::vector<const ReportCell*> cells;
  for (const ReportCell& cell : report.cells) cells.push_back(&cell);
  return MarksOf(cells, PlaceOf);
}

std::vector<DocumentSection> PublishedTables(const Report& report, std::vector<std::string>* notes) {
  const LevelTitles titles(report);
  const auto number_of = [&](const std::string& note) {
    auto found = absl::c_find(*notes, note);
    if (found == notes->end()) found = notes->insert(found, note);
    return static_cast<int>(found - notes->begin()) + 1;
  };
  std::vector<DocumentSection> tables;
  std::map<Level, size_t> index;
  for (const ReportCell& cell : report.cells) {
    for (const PublishedNumber& number : cell.published) {
      const auto [at, is_new] = index.try_emplace(LevelOf(cell), tables.size());
      if (is_new) {
        const Table table{{"method", "metric", "ours", "published", "difference", "notes"}, {}, 2};
        tables.push_back({absl::StrCat(titles.Of(cell), ": compared with published numbers"), table});
      }
      std::set<int> numbers = {number_of(number.source)};
      if (!number.form.empty()) {
        numbers.insert(
            number_of(absl::StrCat("run for ", number.place.substr(0, number.place.find(',')), ": ", number.form)));
      }
      for (const std::string& reason : number.reasons) numbers.insert(number_of(reason));
      for (const std::string& doubt : number.doubts) numbers.insert(number_of(absl::StrCat("doubtful: ", doubt)));
      if (!number.splits.empty()) {
        numbers.insert(number_of(absl::StrCat("the mean of splits ", absl::StrJoin(number.splits, ", "), " there")));
      }
      std::string published = Shown(number.value, cell.display);
      if (number.std.has_value()) absl::StrAppend(&published, " ± ", Shown(*number.std, cell.display));
      std::string difference = "-";
      if (cell.n > 0) {
        difference = Shown(cell.mean - number.value, cell.display);
        if (cell.mean >= number.value) difference.insert(0, "+");
      }
      const std::string metric = cell.group == kPool ? MetricHead(cell.display)
                                                     : absl::StrCat(MetricHead(cell.display), " (", cell.group, ")");
      tables[at->second].table.rows.push_back(
          {RowName(cell), metric, CellText(cell), published, difference, absl::StrJoin(numbers, " ")});
    }
  }
  return tables;
}

}  // namespace openset
