#include "experiments/store/records/record_fields.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "core/text/synonyms.h"
#include "core/text/table.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/records/measured_name.h"
#include "experiments/store/records/metric_groups.h"

namespace openset {
namespace {

// Splits at each occurrence of a separate word outside of quotes.
std::vector<absl::string_view> SplitAtWord(absl::string_view text, absl::string_view word) {
  std::vector<absl::string_view> parts;
  char quote = '\0';
  size_t begin = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (absl::StartsWithIgnoreCase(text.substr(at), word) && at > 0 && absl::ascii_isspace(text[at - 1]) &&
               at + word.size() < text.size() && absl::ascii_isspace(text[at + word.size()])) {
      parts.push_back(text.substr(begin, at - begin));
      begin = at + word.size();
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

// "nan" is a text, since it is neither less nor greater than any number.
bool IsNumber(absl::string_view text, double* value) {
  return !text.empty() && absl::SimpleAtod(text, value) && !std::isnan(*value);
}

// Returns -1, 0 or 1. Texts that are not numbers are compared by their bytes.
int Compare(const std::string& a, const std::string& b) {
  double left = 0, right = 0;
  if (IsNumber(a, &left) && IsNumber(b, &right)) return left < right ? -1 : left > right ? 1 : 0;
  return a < b ? -1 : a > b ? 1 : 0;
}

bool AreBothNumbersOrTexts(const std::string& a, const std::string& b) {
  double ignored = 0;
  return IsNumber(a, &ignored) == IsNumber(b, &ignored);
}

bool IsOfOrder(absl::string_view op) { return op[0] == '<' || op[0] == '>'; }

// Returns all names without duplicates, in the order in which they occur.
std::vector<std::string> NamesOf(const std::vector<RecordFields>& records) {
  std::vector<std::string> names;
  absl::flat_hash_set<absl::string_view> seen;
  for (const RecordFields& fields : records) {
    for (const auto& [name, value] : fields) {
      if (seen.insert(name).second) names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> MethodsOf(const std::vector<RecordFields>& records) {
  std::set<std::string> methods;
  for (const RecordFields& fields : records) methods.insert(*Find(fields, "method"));
  return {methods.begin(), methods.end()};
}

}  // namespace

RecordFields FieldsOf(const TrialRecord& record) {
  const TrialSpec& trial = record.trial();
  RecordFields fields = {{"trial", record.trial_id()},
                         {"method", trial.method().name()},
                         {"task", trial.task()},
                         {"split", absl::StrCat(trial.split())},
                         {"seed", absl::StrCat(trial.seed())}};
  for (const AxisValue& axis : trial.axis()) fields.emplace_back(axis.name(), axis.value());
  if (const int epochs = trial.method().training().stop_after_epochs(); epochs > 0) {
    fields.emplace_back("stop_after_epochs", absl::StrCat(epochs));
  }
  for (const MetricRecord& metric : record.metric()) {
    if (!metric.has_value()) continue;
    const bool is_pool = metric.group().kind() == MetricGroup::POOL || !metric.has_group();
    const std::string group = absl::StrReplaceAll(GroupText(metric.group()), {{" ", "_"}});
    fields.emplace_back(is_pool ? MeasuredName(metric) : absl::StrCat(group, ".", MeasuredName(metric)),
                        FullPrecision(metric.value()));
  }
  fields.emplace_back("unknown_classes", absl::StrCat(CountUnknownClasses(trial.data())));
  fields.emplace_back("openness", FullPrecision(trial.openness()));
  if (trial.has_experiment()) fields.emplace_back("experiment", trial.experiment());
  fields.emplace_back("device", absl::AsciiStrToLower(ExecutionSpec::Device_Name(trial.execution().device())));
  if (record.provenance().stage_size() > 0) {
    const StageProvenance& last = record.provenance().stage(record.provenance().stage_size() - 1);
    fields.emplace_back("host", last.host());
    fields.emplace_back("commit", last.commit());
  }
  return fields;
}

const std::string* Find(const RecordFields& fields, absl::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.first == name; });
  return found == fields.end() ? nullptr : &found->second;
}

bool Before(const std::string* a, const std::string* b) {
  if (a == nullptr || b == nullptr) return a != nullptr;
  double value;
  const bool a_is_number = IsNumber(*a, &value), b_is_number = IsNumber(*b, &value);
  if (a_is_number != b_is_number) return a_is_number;
  return Compare(*a, *b) < 0;
}

absl::StatusOr<RecordQuery::Comparison> RecordQuery::ParseComparison(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const size_t at = text.find_first_of("=!<>~");
  const auto problem = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a comparison; write NAME=VALUE, or use !=, <, <=, >, >= or ~"));
  };
  if (at == absl::string_view::npos || at == 0) return problem();
  Comparison comparison;
  comparison.name = std::string(absl::StripAsciiWhitespace(text.substr(0, at)));
  for (const char* op : {"!=", "<=", ">=", "=", "<", ">", "~"}) {
    if (!absl::StartsWith(text.substr(at), op)) continue;
    comparison.op = op;
    break;
  }
  if (comparison.op.empty()) return problem();
  absl::string_view value = absl::StripAsciiWhitespace(text.substr(at + comparison.op.size()));
  if (value.size() >= 2 && (value[0] == '\'' || value[0] == '"') && value.back() == value[0]) {
    value = value.substr(1, value.size() - 2);
  } else if (value.empty() || value.find_first_of("=<>~ \t") != absl::string_view::npos) {
    return problem();
  }
  comparison.value = std::string(value);
  return comparison;
}

absl::StatusOr<RecordQuery> RecordQuery::Parse(absl::string_view text) {
  RecordQuery query;
  if (absl::StripAsciiWhitespace(text).empty()) return query;
  for (const absl::string_view all : SplitAtWord(text, "or")) {
    std::vector<Comparison>& comparisons = query.any_of_all_.emplace_back();
    for (const absl::string_view one : SplitAtWord(all, "and")) {
      OPENSET_ASSIGN_OR_RETURN(Comparison comparison, ParseComparison(one));
      comparisons.push_back(std::move(comparison));
    }
  }
  return query;
}

bool RecordQuery::Holds(const Comparison& comparison, const RecordFields& fields) {
  const std::string* value = openset::Find(fields, comparison.name);
  if (value == nullptr) return false;
  if (comparison.op == "~") return absl::StrContains(*value, comparison.value);
  // The first digits of an id identify it.
  if (comparison.name == "trial" && comparison.op == "=") return absl::StartsWith(*value, comparison.value);
  if (IsOfOrder(comparison.op) && !AreBothNumbersOrTexts(*value, comparison.value)) return false;
  const int order = Compare(*value, comparison.value);
  if (comparison.op == "=") return order == 0;
  if (comparison.op == "!=") return order != 0;
  if (comparison.op == "<") return order < 0;
  if (comparison.op == "<=") return order <= 0;
  if (comparison.op == ">") return order > 0;
  return order >= 0;
}

bool RecordQuery::Matches(const RecordFields& fields) const {
  if (any_of_all_.empty()) return true;
  return std::any_of(any_of_all_.begin(), any_of_all_.end(), [&](const std::vector<Comparison>& all) {
    return std::all_of(all.begin(), all.end(), [&](const Comparison& one) { return Holds(one, fields); });
  });
}

std::vector<std::string> RecordQuery::names() const {
  std::vector<std::string> names;
  for (const std::vector<Comparison>& all : any_of_all_) {
    for (const Comparison& one : all) names.push_back(one.name);
  }
  return names;
}

absl::Status RecordQuery::Resolve(const std::vector<RecordFields>& records) {
  if (any_of_all_.empty()) return absl::OkStatus();
  const std::vector<std::string> fields = NamesOf(records), methods = MethodsOf(records);
  for (std::vector<Comparison>& all : any_of_all_) {
    for (Comparison& one : all) {
      one.name = MeantName(one.name, fields).value_or(one.name);
      const bool names_method = one.name == "method" && (one.op == "=" || one.op == "!=");
      if (names_method) one.value = MeantName(one.value, methods).value_or(one.value);
    }
  }
  OPENSET_RETURN_IF_ERROR(CheckNames(names(), records));
  for (const std::vector<Comparison>& all : any_of_all_) {
    for (const Comparison& one : all) {
      if (!IsOfOrder(one.op) || records.empty()) continue;
      const bool makes_sense = std::any_of(records.begin(), records.end(), [&](const RecordFields& fields) {
        const std::string* value = openset::Find(fields, one.name);
        return value != nullptr && AreBothNumbersOrTexts(*value, one.value);
      });
      double ignored = 0;
      if (makes_sense) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "'", one.name, one.op, one.value, "': ",
          IsNumber(one.value, &ignored) ? absl::StrCat(one.name, " is a text; compare it by =, != or ~")
                                        : absl::StrCat(one.name, " is a number, but '", one.value, "' is not")));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckNames(const std::vector<std::string>& names, const std::vector<RecordFields>& records) {
  const std::vector<std::string> known = NamesOf(records);
  for (const std::string& name : names) {
    if (known.empty() || std::find(known.begin(), known.end(), name) != known.end()) continue;
    return absl::InvalidArgumentError(UnknownName("field of these records", name, known));
  }
  return absl::OkStatus();
}

}  // namespace openset
