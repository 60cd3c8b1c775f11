#include "experiments/store/records/record_fields.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/numeric/int128.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "core/status_macros.h"
#include "core/text/hex.h"
#include "core/text/suggest.h"
#include "core/text/synonyms.h"
#include "core/text/table.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/merge.h"
#include "experiments/store/records/metric_groups.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"

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

// "nan" is no number, since it is neither less nor greater than any.
bool IsNumber(absl::string_view text, double* value) {
  return !text.empty() && absl::SimpleAtod(text, value) && !std::isnan(*value);
}

// Holds uint64 seeds and negative values of swept fields.
bool IsInteger(absl::string_view text, absl::int128* value) { return absl::SimpleAtoi(text, value); }

template <typename T>
int Sign(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

// Compares a field with a value of a query or of a field of its kind: -1, 0 or 1. Absent if the value can't be of that
// kind.
std::optional<int> Compare(const RecordField& field, absl::string_view value) {
  switch (field.kind) {
    case FieldKind::kText:
      return Sign<absl::string_view>(field.value, value);
    case FieldKind::kInteger: {
      absl::int128 a = 0, b = 0;
      if (!IsInteger(field.value, &a)) return std::nullopt;
      if (IsInteger(value, &b)) return Sign(a, b);
      double real = 0;  // "seed<3.5", "epochs=1e3"; digits that a double doesn't hold would be lost
      if (!IsNumber(value, &real) || std::abs(real) > 9007199254740992.0) return std::nullopt;
      return Sign(static_cast<long double>(a), static_cast<long double>(real));
    }
    case FieldKind::kReal: {
      double a = 0, b = 0;
      if (!IsNumber(field.value, &a) || !IsNumber(value, &b)) return std::nullopt;
      return Sign(a, b);
    }
  }
  return std::nullopt;
}

bool IsOfOrder(absl::string_view op) { return op[0] == '<' || op[0] == '>'; }

// Whether the comparison has an answer: a number needs a number, and the order of texts says nothing about a number.
bool MakesSense(const RecordField& field, absl::string_view op, absl::string_view value) {
  double ignored = 0;
  if (op == "~") return true;
  if (field.kind == FieldKind::kText) return !IsOfOrder(op) || !IsNumber(value, &ignored);
  return Compare(field, value).has_value();
}

// Whether fields of a kind have a value.
struct KindsFound {
  bool text = false, real = false, integer = false;
};

// Finds the fields of the message, at any depth, with this value: `named` are those with this name.
void FindValue(const google::protobuf::Message& message, const std::string& name, const std::string& text,
               double number, KindsFound* named, KindsFound* others) {
  using Field = google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const Field*> fields;
  reflection.ListFields(message, &fields);
  for (const Field* field : fields) {
    KindsFound* const found = field->name() == name ? named : others;
    if (field->cpp_type() == Field::CPPTYPE_MESSAGE) {
      for (int i = 0; field->is_repeated() && i < reflection.FieldSize(message, field); ++i) {
        FindValue(reflection.GetRepeatedMessage(message, field, i), name, text, number, named, others);
      }
      if (!field->is_repeated()) FindValue(reflection.GetMessage(message, field), name, text, number, named, others);
      continue;
    }
    if (field->is_repeated()) continue;
    switch (field->cpp_type()) {
      case Field::CPPTYPE_STRING:
        found->text = found->text || reflection.GetString(message, field) == text;
        break;
      case Field::CPPTYPE_DOUBLE:
        found->real = found->real || reflection.GetDouble(message, field) == number;
        break;
      case Field::CPPTYPE_FLOAT:
        found->real = found->real || reflection.GetFloat(message, field) == static_cast<float>(number);
        break;
      case Field::CPPTYPE_BOOL:
      case Field::CPPTYPE_ENUM:
        break;
      default: {
        std::string digits;
        google::protobuf::TextFormat::PrintFieldValueToString(message, field, -1, &digits);
        found->integer = found->integer || digits == text;
      }
    }
  }
}

// The kind of a swept field. The record has its name and value as texts, and the field itself is in the resolved
// method; its name is another if the study says so, and then any field with the value counts. Reals come before
// integers, since some value of a real field is an integer, too.
FieldKind KindOfSwept(const AxisValue& axis, const MethodSpec& method) {
  double number = 0;
  if (!IsNumber(axis.value(), &number)) return FieldKind::kText;
  KindsFound named, others;
  FindValue(method, axis.name(), axis.value(), number, &named, &others);
  for (const KindsFound& found : {named, others}) {
    if (found.text) return FieldKind::kText;
    if (found.real) return FieldKind::kReal;
    if (found.integer) return FieldKind::kInteger;
  }
  return FieldKind::kText;
}

// The first digits of an id identify it.
bool IsTrial(absl::string_view name, absl::string_view op) { return name == "trial" && (op == "=" || op == "!="); }

// Returns all names without duplicates, in the order in which they occur.
std::vector<std::string> NamesOf(const std::vector<RecordFields>& records) {
  std::vector<std::string> names;
  absl::flat_hash_set<absl::string_view> seen;
  for (const RecordFields& fields : records) {
    for (const RecordField& field : fields) {
      if (seen.insert(field.name).second) names.push_back(field.name);
    }
  }
  return names;
}

std::vector<std::string> MethodsOf(const std::vector<RecordFields>& records) {
  std::set<std::string> methods;
  for (const RecordFields& fields : records) methods.insert(Find(fields, "method")->value);
  return {methods.begin(), methods.end()};
}

}  // namespace

RecordFields FieldsOf(const TrialRecord& record) {
  const TrialSpec& trial = record.trial();
  RecordFields fields;
  const auto text = [&](std::string name, std::string value) {
    fields.push_back({std::move(name), std::move(value), FieldKind::kText});
  };
  const auto integer = [&](std::string name, auto value) {
    fields.push_back({std::move(name), absl::StrCat(value), FieldKind::kInteger});
  };
  const auto real = [&](std::string name, double value) {
    fields.push_back({std::move(name), FullPrecision(value), FieldKind::kReal});
  };
  text("trial", record.trial_id());
  text("method", trial.method().name());
  text("task", trial.task());
  integer("split", trial.split());
  integer("seed", trial.seed());
  for (const AxisValue& axis : trial.axis()) {
    fields.push_back({axis.name(), axis.value(), KindOfSwept(axis, trial.method())});
  }
  if (const int epochs = trial.method().training().stop_after_epochs(); epochs > 0)
    integer("stop_after_epochs", epochs);
  text("changed", absl::StrJoin(trial.overrides(), " "));
  for (const MetricRecord& metric : record.metric()) {
    if (!metric.has_value()) continue;
    const bool is_pool = metric.group().kind() == MetricGroup::POOL || !metric.has_group();
    const std::string group = absl::StrReplaceAll(GroupText(metric.group()), {{" ", "_"}});
    real(is_pool ? MeasuredName(metric) : absl::StrCat(group, ".", MeasuredName(metric)), metric.value());
  }
  integer("unknown_classes", CountUnknownClasses(trial.data()));
  real("openness", trial.openness());
  text(kMeasuredOn, trial.data().test_known().only_last_per_class() > 0 ? kValidation : "test");
  if (trial.has_experiment()) text("experiment", trial.experiment());
  if (trial.tag_size() > 0) text("tag", absl::StrJoin(trial.tag(), ","));
  text("device", absl::AsciiStrToLower(ExecutionSpec::Device_Name(trial.execution().device())));
  if (record.provenance().stage_size() > 0) {
    const StageProvenance& last = record.provenance().stage(record.provenance().stage_size() - 1);
    text("host", last.host());
    if (record.has_former_trial_id()) text("former_trial", record.former_trial_id());
    text("commit", last.commit());
  }
  return fields;
}

const RecordField* Find(const RecordFields& fields, absl::string_view name) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const RecordField& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

bool Before(const RecordField* a, const RecordField* b) {
  if (a == nullptr || b == nullptr) return a != nullptr;
  const bool a_is_text = a->kind == FieldKind::kText, b_is_text = b->kind == FieldKind::kText;
  if (a_is_text != b_is_text) return b_is_text;
  if (a->kind == b->kind) return Compare(*a, b->value).value_or(0) < 0;
  double x = 0, y = 0;
  return IsNumber(a->value, &x) && IsNumber(b->value, &y) && x < y;
}

absl::StatusOr<RecordQuery::Comparison> RecordQuery::ParseComparison(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const size_t at = text.find_first_of("=!<>~");
  const auto problem = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat("'", text, "' is not a comparison; write NAME=VALUE, or use !=, <, <=, >, >= or ~"));
  };
  if (absl::StartsWith(text, "(")) {
    return absl::InvalidArgumentError(absl::StrCat("'", text,
                                                   "': a query has no parentheses; `and` binds before `or`: write ",
                                                   "'a=1 and b=2 or a=1 and b=3' for 'a=1 and (b=2 or b=3)'"));
  }
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
  if (absl::StripAsciiWhitespace(text).empty()) {
    return absl::InvalidArgumentError("the query is blank; write one such as 'experiment=first_try'");
  }
  RecordQuery query;
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
  const RecordField* const field = openset::Find(fields, comparison.name);
  if (field == nullptr) return false;
  // A record may have several tags.
  if (comparison.name == "tag" && (comparison.op == "=" || comparison.op == "!=")) {
    const std::vector<std::string> tags = absl::StrSplit(field->value, ',');
    return (std::count(tags.begin(), tags.end(), comparison.value) > 0) == (comparison.op == "=");
  }
  if (comparison.op == "~") return absl::StrContains(field->value, comparison.value);
  if (IsTrial(comparison.name, comparison.op)) {
    return absl::StartsWith(field->value, comparison.value) == (comparison.op == "=");
  }
  if (!MakesSense(*field, comparison.op, comparison.value)) return comparison.op == "!=";
  const int order = *Compare(*field, comparison.value);
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

std::vector<std::string> RecordQuery::TrialsOf(const std::vector<RecordFields>& records) const {
  std::vector<std::string> trials;
  for (const RecordFields& fields : records) {
    if (Matches(fields)) trials.push_back(Find(fields, "trial")->value);
  }
  return trials;
}

std::vector<std::string> RecordQuery::ValuesOf(absl::string_view name) const {
  std::vector<std::string> values;
  for (const std::vector<Comparison>& all : any_of_all_) {
    for (const Comparison& one : all) {
      if (one.name == name && one.op == "=") values.push_back(one.value);
    }
  }
  return values;
}

absl::Status RecordQuery::Resolve(const std::vector<RecordFields>& records) {
  if (any_of_all_.empty()) return absl::OkStatus();
  const std::vector<std::string> fields = NamesOf(records), methods = MethodsOf(records);
  for (std::vector<Comparison>& all : any_of_all_) {
    for (Comparison& one : all) {
      one.name = ResolveSynonym(one.name, fields).value_or(one.name);
      const bool names_method = one.name == "method" && (one.op == "=" || one.op == "!=");
      if (names_method) one.value = ResolveSynonym(one.value, methods).value_or(one.value);
    }
  }
  OPENSET_RETURN_IF_ERROR(CheckNames(names(), records));
  for (const std::vector<Comparison>& all : any_of_all_) {
    for (const Comparison& one : all) OPENSET_RETURN_IF_ERROR(CheckMakesSense(one, records));
  }
  return absl::OkStatus();
}

// The values of the field that begin with the one that is asked for; empty if a record has that one.
std::set<std::string> RecordQuery::ValuesThatBegin(const Comparison& one, const std::vector<RecordFields>& records) {
  std::set<std::string> longer;
  for (const RecordFields& fields : records) {
    const RecordField* const field = openset::Find(fields, one.name);
    if (one.op != "=" || field == nullptr || field->kind != FieldKind::kText) continue;
    if (field->value == one.value) return {};
    if (absl::StartsWith(field->value, one.value)) longer.insert(field->value);
  }
  return longer;
}

std::vector<std::string> RecordQuery::HintsAbout(const std::vector<RecordFields>& records) const {
  std::vector<std::string> hints;
  for (const std::vector<Comparison>& all : any_of_all_) {
    for (const Comparison& one : all) {
      double asked = 0;
      // "openauc" of records of "openauc+laptop".
      if (const std::set<std::string> longer = ValuesThatBegin(one, records); !longer.empty()) {
        hints.push_back(absl::StrCat("'", one.name, one.op, one.value, "': the records have ",
                                     absl::StrJoin(longer, ", "), ": ask for one of them, or '", one.name, "~",
                                     one.value, "'"));
      }
      if (!IsNumber(one.value, &asked) || asked <= 1 || asked > 100) continue;
      std::optional<double> low, high;
      for (const RecordFields& fields : records) {
        const RecordField* const field = openset::Find(fields, one.name);
        double value = 0;
        if (field == nullptr || field->kind != FieldKind::kReal || !IsNumber(field->value, &value)) continue;
        low = std::min(low.value_or(value), value);
        high = std::max(high.value_or(value), value);
      }
      if (!high.has_value() || *low < 0 || *high > 1) continue;
      hints.push_back(absl::StrCat("'", one.name, one.op, one.value, "': ", one.name, " is a share, from ",
                                   absl::StrFormat("%.4g to %.4g", *low, *high), " in these records: ", asked, " % is ",
                                   asked / 100));
    }
  }
  return hints;
}

absl::Status RecordQuery::CheckMakesSense(const Comparison& one, const std::vector<RecordFields>& records) {
  const std::string text = absl::StrCat("'", one.name, one.op, one.value, "': ");
  if (IsTrial(one.name, one.op) && (one.value.size() < kFewestTrialDigits || !IsHex(one.value))) {
    return absl::InvalidArgumentError(
        absl::StrCat(text, "give the first ", kFewestTrialDigits, " digits of the trial's id or more"));
  }
  const RecordField* first = nullptr;
  for (const RecordFields& fields : records) {
    const RecordField* const field = openset::Find(fields, one.name);
    if (field == nullptr) continue;
    if (MakesSense(*field, one.op, one.value)) return absl::OkStatus();
    if (first == nullptr) first = field;
  }
  if (first == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      text, first->kind == FieldKind::kText ? absl::StrCat(one.name, " is a text; compare it by =, != or ~")
                                            : absl::StrCat(one.name, " is a number, but '", one.value, "' is not")));
}

absl::Status CheckNames(const std::vector<std::string>& names, const std::vector<RecordFields>& records) {
  // Fields that records may lack: a comparison with them is false.
  static constexpr absl::string_view kOptional[] = {"stop_after_epochs", "experiment", "tag", "host", "commit",
                                                    "former_trial"};
  const std::vector<std::string> known = NamesOf(records);
  for (const std::string& name : names) {
    if (std::find(std::begin(kOptional), std::end(kOptional), name) != std::end(kOptional)) continue;
    if (known.empty() || std::find(known.begin(), known.end(), name) != known.end()) continue;
    return absl::InvalidArgumentError(UnknownName("field of these records", name, known));
  }
  return absl::OkStatus();
}

std::vector<RecordFields> LoadFields(const Store& store, UnreadRecords* unread) {
  const std::vector<std::string> ids = RecordIds(store, unread);
  std::vector<RecordFields> all(ids.size());
  const auto keep = [&all](int64_t i, TrialRecord* record) { all[i] = FieldsOf(*record); };
  ForEachRecord(store, ids, kNotInFields, keep, unread);
  // For the few trials with several records, another record may represent the trial.
  for (const std::string& id : ReplicaIds(store, unread)) {
    const auto place = std::lower_bound(ids.begin(), ids.end(), id) - ids.begin();
    if (place == static_cast<int64_t>(ids.size()) || ids[place] != id || all[place].empty()) continue;
    const absl::StatusOr<TrialRecord> first = LoadFirstRecord(store, id);
    unread->Add(first.status());
    all[place] = first.ok() ? FieldsOf(*first) : RecordFields();
  }
  all.erase(std::remove_if(all.begin(), all.end(), [](const RecordFields& fields) { return fields.empty(); }),
            all.end());
  return all;
}

}  // namespace openset
