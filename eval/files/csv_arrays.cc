#include "eval/files/csv_arrays.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "core/files/formats/csv.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"

namespace openset {

bool SaysUnknown(absl::string_view label) { return absl::EqualsIgnoreCase(label, "unknown"); }

namespace {

template <typename... Parts>
absl::Status At(int64_t line, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", parts...));
}

enum class Kind { kIgnored, kReal, kLabel, kPrediction, kNumClasses, kGroup, kCluster, kLogit, kFeature, kLoss };

struct Column {
  std::string name;   // as in the header
  std::string array;  // in lower case, with underscores
  Kind kind = Kind::kIgnored;
};

Column ColumnOf(absl::string_view name) {
  Column column;
  column.name = OneLine(absl::StripAsciiWhitespace(name));
  column.array = absl::StrReplaceAll(absl::AsciiStrToLower(column.name), {{" ", "_"}, {"-", "_"}});
  int64_t number = 0;
  if (absl::StartsWith(column.array, "logit_")) {
    column.kind = Kind::kLogit;
    // Names of classes may differ in case.
    if (!absl::SimpleAtoi(column.array.substr(6), &number)) column.array = "logit_" + column.name.substr(6);
  } else if (absl::StartsWith(column.array, "feature_") && absl::SimpleAtoi(column.array.substr(8), &number)) {
    column.kind = Kind::kFeature;
  } else if (column.array == "unknown_score" || column.array == "conf") {
    column.kind = Kind::kReal;
  } else if (column.array == "label") {
    column.kind = Kind::kLabel;
  } else if (column.array == "prediction" || column.array == "pred") {
    column.kind = Kind::kPrediction;
  } else if (column.array == "num_classes") {
    column.kind = Kind::kNumClasses;
  } else if (column.array == "group") {
    column.kind = Kind::kGroup;
  } else if (column.array == "correct" || column.array == "loss") {
    column.kind = Kind::kLoss;
  } else if (column.array == "cluster") {
    column.kind = Kind::kCluster;
  }
  return column;
}

// pandas writes it for a missing value.
bool IsBlank(absl::string_view cell) {
  return cell.empty() || absl::EqualsIgnoreCase(cell, "nan") || absl::EqualsIgnoreCase(cell, "<na>");
}

// "3" and "3.0".
bool ParseWhole(absl::string_view cell, int64_t* whole) {
  if (absl::SimpleAtoi(cell, whole)) return true;
  double real = 0;
  constexpr double kExact = 9007199254740992;  // 2^53
  if (!absl::SimpleAtod(cell, &real) || real != std::floor(real) || std::abs(real) > kExact) return false;
  *whole = static_cast<int64_t>(real);
  return true;
}

// Labels and predictions of one table: all numbers, or all names.
class ClassCells {
 public:
  // Allows only these names, which the logits have.
  void SetNames(const std::vector<std::string>& names) {
    closed_ = true;
    for (const std::string& name : names) Number(name);
  }

  // Returns the problem with the cell, to follow "column 'label': "; "" if there is none.
  std::string Add(absl::string_view cell, bool is_label, std::vector<int64_t>* values) {
    cell = absl::StripAsciiWhitespace(cell);
    if (IsBlank(cell) || SaysUnknown(cell)) {
      if (!is_label) {
        return absl::StrCat("'", cell,
                            "' is not a prediction: predictions are known classes, also for unknown samples");
      }
      values->push_back(-1);
      return "";
    }
    int64_t whole = 0;
    double real = 0;
    if (ParseWhole(cell, &whole)) {
      values->push_back(whole);
      if (is_label && whole == -1) return "";
      if (form_ == Form::kNames) {
        return absl::StrCat("'", cell, "' is a number, and cells before it are names of classes",
                            MarkText(is_label, names_.front()));
      }
      form_ = Form::kNumbers;
      return "";
    }
    const std::string name = OneLine(cell);
    if (form_ == Form::kNumbers || absl::SimpleAtod(cell, &real)) {
      return absl::StrCat("'", name.substr(0, 40), "' is not a whole number", MarkText(is_label, name));
    }
    form_ = Form::kNames;
    if (closed_ && number_.count(name) == 0) {
      return absl::StrCat(UnknownName("class", name.substr(0, 40), names_), ", by the logits",
                          MarkText(is_label, name));
    }
    values->push_back(Number(name));
    return "";
  }

  bool are_names() const { return form_ == Form::kNames; }
  bool are_numbers() const { return form_ == Form::kNumbers; }
  const std::vector<std::string>& names() const { return names_; }

 private:
  enum class Form { kUnspecified, kNumbers, kNames };

  static std::string MarkText(bool is_label, const std::string& name) {
    if (!is_label || !LooksUnknown(name)) return "";
    return absl::StrCat("; if '", name.substr(0, 40), "' stands for unknown samples, write -1, 'unknown' or nothing");
  }

  int64_t Number(const std::string& name) {
    const auto [entry, is_new] = number_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return entry->second;
  }

  Form form_ = Form::kUnspecified;
  bool closed_ = false;
  std::vector<std::string> names_;
  std::map<std::string, int64_t> number_;
};

class Table {
 public:
  absl::Status Add(int64_t line, absl::Span<const absl::string_view> cells) {
    if (columns_.empty()) return SetHeader(cells);
    for (size_t c = 0; c < cells.size(); ++c) {
      const std::string problem = AddCell(columns_[c], cells[c]);
      if (!problem.empty()) {
        return absl::InvalidArgumentError(absl::StrCat("line ", line, ": column '", columns_[c].name, "': ", problem));
      }
    }
    if (lines_.empty() && line != rows_ + 2) {
      for (int64_t row = 0; row < rows_; ++row) lines_.push_back(row + 2);
    }
    if (!lines_.empty() || line != rows_ + 2) lines_.push_back(line);
    ++rows_;
    return absl::OkStatus();
  }

  absl::StatusOr<CsvArrays> Finish() {
    if (columns_.empty()) {
      return absl::InvalidArgumentError(
          "there are no samples: the first line names the columns ('label,prediction,unknown_score'), and each line "
          "below is a sample");
    }
    if (rows_ == 0) return absl::InvalidArgumentError("there are no samples: no line follows the names of the columns");
    OPENSET_RETURN_IF_ERROR(CheckClasses());
    CsvArrays table;
    table.lines = std::move(lines_);
    for (const Column& column : columns_) table.columns.push_back(column.name);
    if (classes_.are_names() || logits_by_name_) table.class_names = classes_.names();
    NpzArrays& arrays = table.arrays;
    if (num_logits_ > 0) arrays["logits"] = MakeNpy(logits_, {rows_, num_logits_});
    if (num_features_ > 0) arrays["features"] = MakeNpy(features_, {rows_, num_features_});
    for (const auto& [name, values] : reals_) arrays[name] = MakeNpy(values, {rows_});
    for (const auto& [name, values] : wholes_) arrays[name] = MakeNpy(values, {rows_});
    if (!num_classes_.empty()) {
      if (absl::c_adjacent_find(num_classes_, std::not_equal_to<>()) != num_classes_.end()) {
        return absl::InvalidArgumentError("column 'num_classes' holds different numbers");
      }
      arrays["num_classes"] = MakeNpy(absl::MakeConstSpan(num_classes_).first(1), {1});
    }
    if (!groups_.empty()) {
      arrays["group"] = MakeNpy(groups_, {rows_});
      arrays["group_names"] = MakeNpy(group_names_);
    }
    if (!clusters_.empty()) arrays["cluster"] = MakeNpy(clusters_);
    return table;
  }

 private:
  absl::Status SetHeader(absl::Span<const absl::string_view> cells) {
    std::set<std::string> arrays;
    std::vector<size_t> named_logits;  // columns
    for (absl::string_view cell : cells) {
      Column column = ColumnOf(cell);
      if (column.kind != Kind::kIgnored && !arrays.insert(column.array).second) {
        return absl::InvalidArgumentError(absl::StrCat("line 1: there are two columns '", column.array, "'"));
      }
      int64_t number = 0;
      if (column.kind == Kind::kLogit && !absl::SimpleAtoi(column.array.substr(6), &number)) {
        named_logits.push_back(columns_.size());
      } else if (column.kind == Kind::kLogit && number != num_logits_++) {
        return MissingColumn("logit_", column.name);
      }
      if (column.kind == Kind::kFeature && column.array != absl::StrCat("feature_", num_features_++)) {
        return MissingColumn("feature_", column.name);
      }
      columns_.push_back(std::move(column));
    }
    if (arrays.count("pred") > 0 && arrays.count("prediction") > 0) {
      return absl::InvalidArgumentError("line 1: 'pred' and 'prediction' are two columns of predictions: keep one");
    }
    if (num_logits_ > 0 && !named_logits.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line 1: column '", columns_[named_logits.front()].name,
                       "' has no number, and other logits have: number it too (num_classes says which are known "
                       "classes), or give it a name that doesn't begin with logit_"));
    }
    logits_by_name_ = named_logits.size() > 1;
    if (named_logits.size() == 1) columns_[named_logits.front()].kind = Kind::kIgnored;
    if (logits_by_name_) {
      std::vector<std::string> names;
      for (const size_t c : named_logits) names.push_back(columns_[c].name.substr(6));
      num_logits_ = static_cast<int64_t>(names.size());
      classes_.SetNames(names);
    }
    return absl::OkStatus();
  }

  static absl::Status MissingColumn(absl::string_view prefix, absl::string_view name) {
    return absl::InvalidArgumentError(absl::StrCat("line 1: column '", name, "' is out of order; ", prefix, "0, ",
                                                   prefix, "1, ... must follow each other"));
  }

  absl::Status CheckClasses() const {
    if (logits_by_name_ && classes_.are_numbers()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "labels are numbers, and the columns of logits name classes ('logit_", classes_.names().front().substr(0, 40),
          "'): call them logit_0, logit_1, ... in the order of the labels, or write the labels as names; "
          "give other columns names that don't begin with logit_"));
    }
    if (!classes_.are_names()) return absl::OkStatus();
    if (num_logits_ > 0 && !logits_by_name_) {
      return absl::InvalidArgumentError(
          absl::StrCat("labels are names of classes ('", classes_.names().front().substr(0, 40),
                       "'), and logit_0, logit_1, ... don't say whose they are: call these columns logit_NAME, or "
                       "number the labels as the logits are"));
    }
    const bool truth = absl::c_all_of(classes_.names(), [](const std::string& name) {
      return absl::EqualsIgnoreCase(name, "true") || absl::EqualsIgnoreCase(name, "false");
    });
    if (truth) {
      return absl::InvalidArgumentError(
          "column 'label' holds True and False; it must hold the classes of known samples, and -1, nothing or "
          "'unknown' for unknown ones");
    }
    return absl::OkStatus();
  }

  // Returns the problem with the cell; "" if there is none.
  std::string AddCell(const Column& column, absl::string_view cell) {
    double real = 0;
    int64_t whole = 0;
    switch (column.kind) {
      case Kind::kIgnored:
        return "";
      case Kind::kGroup:
        AddGroup(std::string(absl::StripAsciiWhitespace(cell)));
        return "";
      case Kind::kCluster:
        clusters_.emplace_back(absl::StripAsciiWhitespace(cell));
        if (!clusters_.back().empty()) return "";
        return "is blank: give a sample that belongs to no other one a name of its own";
      case Kind::kLabel:
      case Kind::kPrediction:
        return classes_.Add(cell, column.kind == Kind::kLabel, &wholes_[column.array]);
      case Kind::kNumClasses:
        if (!ParseWhole(cell, &whole)) return absl::StrCat("'", OneLine(cell.substr(0, 40)), "' is not a whole number");
        num_classes_.push_back(whole);
        return "";
      case Kind::kLoss:
        // Unknown samples have none. pandas writes True and False.
        if (IsBlank(cell)) {
          real = std::numeric_limits<double>::quiet_NaN();
        } else if (absl::EqualsIgnoreCase(cell, "true") || absl::EqualsIgnoreCase(cell, "false")) {
          real = absl::EqualsIgnoreCase(cell, "true") ? 1 : 0;
        } else if (!absl::SimpleAtod(cell, &real)) {
          return absl::StrCat("'", OneLine(cell.substr(0, 40)), "' is not a number");
        }
        reals_[column.array].push_back(real);
        return "";
      case Kind::kReal:
      case Kind::kLogit:
      case Kind::kFeature:
        if (!absl::SimpleAtod(cell, &real)) {
          return absl::StrCat("'", OneLine(cell.substr(0, 40)), "' is not a number",
                              absl::StrContains(cell, ',') ? "; decimals are written with a point" : "");
        }
        if (column.kind == Kind::kReal) reals_[column.array].push_back(real);
        if (column.kind == Kind::kLogit) logits_.push_back(static_cast<float>(real));
        if (column.kind == Kind::kFeature) features_.push_back(static_cast<float>(real));
        return "";
    }
    return "";
  }

  void AddGroup(const std::string& name) {
    if (IsBlank(name)) {
      groups_.push_back(-1);
      return;
    }
    const auto [entry, is_new] = group_index_.try_emplace(name, group_names_.size());
    if (is_new) group_names_.push_back(name);
    groups_.push_back(entry->second);
  }

  std::vector<Column> columns_;
  int64_t rows_ = 0;
  std::vector<int64_t> lines_;  // CsvArrays.lines
  int64_t num_logits_ = 0;
  bool logits_by_name_ = false;
  int64_t num_features_ = 0;
  std::vector<float> logits_;
  std::vector<float> features_;
  std::map<std::string, std::vector<double>> reals_;
  ClassCells classes_;
  std::map<std::string, std::vector<int64_t>> wholes_;
  std::vector<int64_t> num_classes_;
  std::vector<int64_t> groups_;
  std::vector<std::string> group_names_;
  std::vector<std::string> clusters_;
  std::map<std::string, int64_t> group_index_;
};

}  // namespace

bool LooksUnknown(absl::string_view name) {
  static const auto* const names =
      new std::set<std::string>{"unk",      "unknown", "unknowns",  "unknown class", "ood",     "out of distribution",
                                "novel",    "novelty", "none",      "n/a",           "na",      "#n/a",
                                "null",     "nil",     "unseen",    "outlier",       "anomaly", "open",
                                "open set", "openset", "unlabeled", "unlabelled",    "?"};
  std::string plain = absl::AsciiStrToLower(absl::StripAsciiWhitespace(name));
  if (plain.size() > 2 && absl::StrContains("<[(", plain.front()) && absl::StrContains(">])", plain.back())) {
    plain = plain.substr(1, plain.size() - 2);
  }
  return names->count(absl::StrReplaceAll(plain, {{"_", " "}, {"-", " "}})) > 0;
}

absl::StatusOr<CsvArrays> ParseCsvArrays(absl::string_view text) {
  Table table;
  OPENSET_RETURN_IF_ERROR(
      ReadCsv(text, [&](int64_t line, absl::Span<const absl::string_view> cells) { return table.Add(line, cells); }));
  return table.Finish();
}

}  // namespace openset
