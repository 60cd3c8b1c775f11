#include "experiments/published/published.h"

#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "eval/metrics/display.h"
#include "eval/metrics/metric.pb.h"

namespace openset {
namespace {

absl::Status Check(const PublishedTable& table, const TextSource& source) {
  if (const std::string problem = NameProblem(table.name()); !problem.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(source.Where("name"), ": ", problem));
  }
  std::set<std::string> methods;
  for (int r = 0; r < table.row_size(); ++r) {
    const PublishedRow& row = table.row(r);
    const std::string where = absl::StrCat("row[", r, "]");
    if (row.cell_size() != table.column_size()) {
      return absl::InvalidArgumentError(absl::StrCat(source.Where(where), ": has ", row.cell_size(),
                                                     " cells for the table's ", table.column_size(),
                                                     " columns; an empty one is a number that is missing"));
    }
    for (const std::string& method : row.method()) {
      if (methods.insert(method).second) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(source.Where(absl::StrCat(where, ".method")), ": ", method, " is in two rows"));
    }
    for (int c = 0; c < row.cell_size(); ++c) {
      const PublishedCell& cell = row.cell(c);
      if (cell.has_value() || (!cell.has_std() && cell.of_split_size() == 0)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(source.Where(absl::StrCat(where, ".cell[", c, "]")), ": has no value"));
    }
  }
  return absl::OkStatus();
}

// "openauc+vaze600", "react (tuned)" -> "openauc", "react".
absl::string_view WithoutRecipe(absl::string_view method) {
  method = method.substr(0, method.find('+'));
  absl::ConsumeSuffix(&method, " (tuned)");
  return method;
}

const PublishedRow* RowOf(const PublishedTable& table, const std::string& method, bool* is_same) {
  *is_same = true;
  for (const PublishedRow& row : table.row()) {
    if (absl::c_linear_search(row.method(), method)) return &row;
  }
  *is_same = false;
  for (const PublishedRow& row : table.row()) {
    for (const std::string& other : row.method()) {
      if (WithoutRecipe(other) == WithoutRecipe(method)) return &row;
    }
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<PublishedTable> ReadPublished(const std::string& path) {
  PublishedTable table;
  OPENSET_ASSIGN_OR_RETURN(const TextSource source, ReadTextProto(path, &table));
  OPENSET_RETURN_IF_ERROR(Check(table, source));
  FillDefaults(&table);
  return table;
}

std::optional<PublishedPlace> FindPublished(const PublishedTable& table, const PublishedKey& key) {
  PublishedPlace place = {};
  place.row = RowOf(table, key.method, &place.is_same_method);
  if (place.row == nullptr) return std::nullopt;
  const std::string label = DisplayOf(*key.metric).label;
  for (int c = 0; c < table.column_size(); ++c) {
    const PublishedColumn& column = table.column(c);
    if (column.task() != key.task || column.group() != key.group) continue;
    if (column.known_classes() != 0 && column.known_classes() != key.known_classes) continue;
    if (column.unknown_classes() != 0 && column.unknown_classes() != key.unknown_classes) continue;
    if (column.metric().kind_case() != key.metric->kind_case()) continue;
    const bool is_same_metric = DisplayOf(column.metric()).label == label;
    if (place.cell != nullptr && (place.is_same_metric || !is_same_metric)) continue;
    place.column = &column;
    place.cell = &place.row->cell(c);
    place.is_same_metric = is_same_metric;
  }
  if (place.cell == nullptr || !place.cell->has_value()) return std::nullopt;
  return place;
}

std::string SourceText(const PublishedTable& table) { return absl::StrCat(table.paper(), ", ", table.table()); }

}  // namespace openset
