#include "eval/files/csv_arrays.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/one_line.h"
#include "core/status_macros.h"
#include "eval/files/csv.h"

namespace openset {
namespace {

enum class Kind { kIgnored, kReal, kWhole, kGroup, kLogit, kFeature };

struct Column {
  std::string name;
  Kind kind = Kind::kIgnored;
  int64_t number = 0;  // of a logit or feature
};

Column ColumnOf(absl::string_view name) {
  Column column{OneLine(absl::StripAsciiWhitespace(name))};
  absl::string_view rest = column.name;
  if (absl::ConsumePrefix(&rest, "logit_") && absl::SimpleAtoi(rest, &column.number)) {
    column.kind = Kind::kLogit;
  } else if (absl::ConsumePrefix(&rest, "feature_") && absl::SimpleAtoi(rest, &column.number)) {
    column.kind = Kind::kFeature;
  } else if (column.name == "unknown_score" || column.name == "conf") {
    column.kind = Kind::kReal;
  } else if (column.name == "label" || column.name == "prediction" || column.name == "pred" ||
             column.name == "num_classes") {
    column.kind = Kind::kWhole;
  } else if (column.name == "group") {
    column.kind = Kind::kGroup;
  }
  return column;
}

class Table {
 public:
  absl::Status Add(int64_t line, absl::Span<const absl::string_view> cells) {
    if (columns_.empty()) return SetHeader(cells);
    for (size_t c = 0; c < cells.size(); ++c) {
      if (!AddCell(columns_[c], cells[c])) {
        return absl::InvalidArgumentError(absl::StrCat("line ", line, ": column '", columns_[c].name, "': '",
                                                       OneLine(cells[c].substr(0, 40)), "' is not a ",
                                                       columns_[c].kind == Kind::kWhole ? "whole number" : "number"));
      }
    }
    ++rows_;
    return absl::OkStatus();
  }

  absl::StatusOr<NpzArrays> Finish() {
    if (rows_ == 0) return absl::InvalidArgumentError("there are no samples");
    NpzArrays arrays;
    if (!logits_.empty()) arrays["logits"] = MakeNpy(logits_, {rows_, num_logits_});
    if (!features_.empty()) arrays["features"] = MakeNpy(features_, {rows_, num_features_});
    for (const auto& [name, values] : reals_) arrays[name] = MakeNpy(values, {rows_});
    for (const auto& [name, values] : wholes_) {
      if (name != "num_classes") {
        arrays[name] = MakeNpy(values, {rows_});
      } else if (absl::c_adjacent_find(values, std::not_equal_to<>()) != values.end()) {
        return absl::InvalidArgumentError("column 'num_classes' holds different numbers");
      } else {
        arrays[name] = MakeNpy(absl::MakeConstSpan(values).first(1), {1});
      }
    }
    if (!groups_.empty()) {
      arrays["group"] = MakeNpy(groups_, {rows_});
      arrays["group_names"] = MakeNpy(group_names_);
    }
    return arrays;
  }

 private:
  absl::Status SetHeader(absl::Span<const absl::string_view> cells) {
    std::set<std::string> names;
    for (absl::string_view cell : cells) {
      Column column = ColumnOf(cell);
      if (!names.insert(column.name).second) {
        return absl::InvalidArgumentError(absl::StrCat("line 1: there are two columns '", column.name, "'"));
      }
      if (column.kind == Kind::kLogit && column.number != num_logits_++) return MissingColumn("logit_", column.name);
      if (column.kind == Kind::kFeature && column.number != num_features_++) {
        return MissingColumn("feature_", column.name);
      }
      columns_.push_back(std::move(column));
    }
    return absl::OkStatus();
  }

  static absl::Status MissingColumn(absl::string_view prefix, absl::string_view name) {
    return absl::InvalidArgumentError(absl::StrCat("line 1: column '", name, "' is out of order; ", prefix, "0, ",
                                                   prefix, "1, ... must follow each other"));
  }

  bool AddCell(const Column& column, absl::string_view cell) {
    double real = 0;
    int64_t whole = 0;
    switch (column.kind) {
      case Kind::kIgnored:
        return true;
      case Kind::kGroup:
        AddGroup(std::string(absl::StripAsciiWhitespace(cell)));
        return true;
      case Kind::kWhole:
        if (!absl::SimpleAtoi(cell, &whole)) return false;
        wholes_[column.name].push_back(whole);
        return true;
      case Kind::kReal:
      case Kind::kLogit:
      case Kind::kFeature:
        if (!absl::SimpleAtod(cell, &real)) return false;
        if (column.kind == Kind::kReal) reals_[column.name].push_back(real);
        if (column.kind == Kind::kLogit) logits_.push_back(static_cast<float>(real));
        if (column.kind == Kind::kFeature) features_.push_back(static_cast<float>(real));
        return true;
    }
    return false;
  }

  void AddGroup(const std::string& name) {
    if (name.empty()) {
      groups_.push_back(-1);
      return;
    }
    const auto [entry, is_new] = group_index_.try_emplace(name, group_names_.size());
    if (is_new) group_names_.push_back(name);
    groups_.push_back(entry->second);
  }

  std::vector<Column> columns_;
  int64_t rows_ = 0;
  int64_t num_logits_ = 0;
  int64_t num_features_ = 0;
  std::vector<float> logits_;
  std::vector<float> features_;
  std::map<std::string, std::vector<double>> reals_;
  std::map<std::string, std::vector<int64_t>> wholes_;
  std::vector<int64_t> groups_;
  std::vector<std::string> group_names_;
  std::map<std::string, int64_t> group_index_;
};

}  // namespace

absl::StatusOr<NpzArrays> ParseCsvArrays(absl::string_view text) {
  Table table;
  OPENSET_RETURN_IF_ERROR(
      ReadCsv(text, [&](int64_t line, absl::Span<const absl::string_view> cells) { return table.Add(line, cells); }));
  return table.Finish();
}

}  // namespace openset
