#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "core/files/temporary_folder.h"
#include "core/proto/field_differences.h"
#include "core/proto/proto_rules.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "core/text/one_line.h"
#include "core/text/table.h"
#include "core/text/wrapped_text.h"
#include "experiments/spec/experiment.proto.h"
#include "experiments/spec/trial.h"
#include "experiments/store/merge.h"
#include "experiments/store/records/metric_groups.h"
#include "experiments/store/records/record_fields.h"
#include "experiments/store/store_contents.h"
#include "google/protobuf/util/json_util.h"
#include "nlohmann/json.hpp"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/run_config.h"
#include "tools/cli/records/actions.h"
#include "tools/cli/records/brief_record.h"
#include "tools/cli/records/bundle_records.h"
#include "tools/cli/records/spec_of_record.h"

namespace openset {
namespace {

// The fields that distinguish records; the others are in csv and json.
const std::set<std::string>& Hidden() {
  static const auto* const hidden =
      new std::set<std::string>{"unknown_classes", "openness", "measured_on", "experiment", "device", "host", "commit"};
  return *hidden;
}

// Fractional numbers have four decimals.
std::string Short(const RecordField& field) {
  double number = 0;
  if (field.name == "trial") return field.value.substr(0, 12);
  const bool is_long = field.kind == FieldKind::kReal && absl::StrContains(field.value, '.') && field.value.size() >= 8;
  return is_long && absl::SimpleAtod(field.value, &number) ? absl::StrFormat("%.4f", number) : field.value;
}

Table TableOf(const std::vector<RecordFields>& records, const std::vector<std::string>& asked, bool all) {
  Table table;
  std::set<std::string> filled;
  for (const RecordFields& fields : records) {
    for (const RecordField& field : fields) {
      if (!field.value.empty()) filled.insert(field.name);
    }
  }
  // Columns in the order in which they first occur in the records.
  for (const RecordFields& fields : records) {
    for (const RecordField& field : fields) {
      const std::string& name = field.name;
      if (!all && filled.count(name) == 0) continue;
      const bool wanted = all || (Hidden().count(name) == 0 && name.find('.') == std::string::npos) ||
                          absl::c_linear_search(asked, name);
      if (!wanted || absl::c_linear_search(table.header, name)) continue;
      table.header.push_back(name);
    }
  }
  for (const RecordFields& fields : records) {
    std::vector<std::string>& row = table.rows.emplace_back();
    for (const std::string& name : table.header) {
      const RecordField* const field = Find(fields, name);
      const bool is_empty = field == nullptr || field->value.empty();
      row.push_back(is_empty ? (all ? "" : "-") : all ? field->value : Short(*field));
    }
  }
  table.left_columns = 3;
  return table;
}

// Texts as texts, integers with all digits; a real number that is not finite becomes null.
nlohmann::ordered_json JsonValue(const RecordField& field) {
  uint64_t whole = 0;
  int64_t below_0 = 0;
  double real = 0;
  if (field.kind == FieldKind::kInteger && absl::SimpleAtoi(field.value, &whole)) return whole;
  if (field.kind == FieldKind::kInteger && absl::SimpleAtoi(field.value, &below_0)) return below_0;
  if (field.kind == FieldKind::kReal && absl::SimpleAtod(field.value, &real)) return real;
  return field.value;
}

std::string Json(const std::vector<RecordFields>& records) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const RecordFields& fields : records) {
    nlohmann::ordered_json& record = json.emplace_back(nlohmann::ordered_json::object());
    for (const RecordField& field : fields) record[field.name] = JsonValue(field);
  }
  return JsonText(json, 2) + "\n";
}

// The trial whose id has this prefix; "" is the only one of the store.
absl::StatusOr<std::string> TrialOf(const Store& store, const std::string& beginning) {
  UnreadRecords unread;
  if (!beginning.empty()) return FindTrial(store, beginning);
  const std::vector<std::string> ids = RecordIds(store, &unread);
  if (ids.size() == 1) return ids[0];
  return absl::InvalidArgumentError(absl::StrCat(store.folder(), ": ", ids.size(),
                                                 " trials: give the first digits of one ('openset records ls ",
                                                 store.folder(), "' lists them)"));
}

absl::StatusOr<TrialRecord> RecordOf(const Store& store, const std::string& beginning) {
  OPENSET_ASSIGN_OR_RETURN(const std::string id, TrialOf(store, beginning));
  return LoadFirstRecord(store, id);
}

bool IsNamed(const std::vector<std::string>& names, const std::string& name) {
  return absl::c_linear_search(names, name);
}

}  // namespace

absl::StatusOr<Store> StoreNamed(const std::string& argument) {
  std::error_code error;
  const std::string bundle = BundleOf(argument), path = UserPath(bundle.empty() ? argument : bundle);
  if (!std::filesystem::is_directory(path, error)) return OpenBundle(path);
  Store store(path);
  OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
  return store;
}

absl::Status ListRecords(const std::optional<std::string>& text, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const TextFormat format, ParseFormat(config));
  RecordQuery query;
  if (text.has_value()) {
    OPENSET_ASSIGN_OR_RETURN(query, RecordQuery::Parse(*text));
  }
  OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config, StoreUse::kFields));
  UnreadRecords unread;
  std::vector<RecordFields> all = LoadFields(store, &unread);
  for (const std::string& line : unread.VersionLines()) std::cerr << line << "\n";
  absl::string_view sort = config.sort;
  const bool descending = absl::ConsumePrefix(&sort, "-");
  OPENSET_RETURN_IF_ERROR(query.Resolve(all));
  std::vector<std::string> names = query.names();
  if (!sort.empty()) {
    names.emplace_back(sort);
    OPENSET_RETURN_IF_ERROR(CheckNames({names.back()}, all));
  }
  // Candidates of searches are no results, and are listed only if the query asks for them.
  const bool with_candidates = IsNamed(query.names(), kMeasuredOn) || IsNamed(query.names(), "trial");
  std::vector<RecordFields> found;
  size_t candidates = 0;
  for (RecordFields& fields : all) {
    if (!query.Matches(fields)) continue;
    if (!with_candidates && Find(fields, kMeasuredOn)->value == kValidation) {
      ++candidates;
    } else {
      found.push_back(std::move(fields));
    }
  }
  const std::string left_out =
      candidates == 0 ? ""
                      : absl::StrCat(candidates, candidates == 1 ? " candidate of a search" : " candidates of searches",
                                     " left out: openset records ls '", kMeasuredOn, "=", kValidation, "' lists ",
                                     candidates == 1 ? "it" : "them");
  if (!sort.empty()) {
    std::stable_sort(found.begin(), found.end(), [&](const RecordFields& a, const RecordFields& b) {
      const RecordField *x = Find(a, sort), *y = Find(b, sort);
      if (x == nullptr || y == nullptr) return x != nullptr && y == nullptr;  // absent values last
      return descending ? Before(y, x) : Before(x, y);
    });
  }
  if (format == TextFormat::kJson) {
    std::cout << Json(found);
  } else if (format == TextFormat::kCsv) {
    std::cout << ToCsv(TableOf(found, names, /*all=*/true));
  } else {
    Document document;
    if (!found.empty()) document.sections = {{"", TableOf(found, names, /*all=*/false)}};
    document.below = {absl::StrCat(found.size(), " of ", all.size(), all.size() == 1 ? " record" : " records")};
    if (!left_out.empty()) document.below.push_back(left_out);
    std::cout << FormatDocument(document, format);
  }
  if (!left_out.empty() && (format == TextFormat::kJson || format == TextFormat::kCsv)) {
    std::cerr << "hint: " << OneLine(left_out) << "\n";
  }
  if (found.empty() && candidates == 0) {
    for (const std::string& hint : query.HintsAbout(all)) std::cerr << "hint: " << OneLine(hint) << "\n";
  }
  return unread.Problems();
}

absl::Status PrintSpec(const std::string& trial, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config));
  OPENSET_ASSIGN_OR_RETURN(const TrialRecord record, RecordOf(store, trial));
  OPENSET_ASSIGN_OR_RETURN(SpecFolders folders, FindSpecFolders(config));
  OPENSET_ASSIGN_OR_RETURN(const TemporaryFolder unpacked, TemporaryFolder::Make("bundle"));
  OPENSET_RETURN_IF_ERROR(AddLibraryOf(store, unpacked.path(), &folders));
  OPENSET_ASSIGN_OR_RETURN(const StudyOptions options, MakeStudyOptions(config));
  const absl::StatusOr<SpecThatRepeats> spec = SpecOfRecord(record, folders, store, options);
  if (!spec.ok()) return WithMissingLibrary(spec.status(), store, record);
  std::cout << SpecFile(*spec, record);
  if (!spec->unchecked.empty()) std::cerr << "hint: the study is unchecked: " << spec->unchecked << "\n";
  return absl::OkStatus();
}

namespace {

// "034c4486..., softmax on cats, split 0, seed 1; measured on lab-a".
std::string WhatAndWhere(const TrialRecord& record) {
  const auto& stages = record.provenance().stage();
  const std::string host = stages.empty() ? "" : stages[stages.size() - 1].host();
  return OneLine(absl::StrCat(record.trial_id(), ", ", Describe(record.trial()),
                              host.empty() ? "" : absl::StrCat("; measured on ", host)));
}

// Prints in what two records differ.
void PrintDifferences(const TrialRecord& a, const TrialRecord& b) {
  std::cout << "a  " << WhatAndWhere(a) << "\nb  " << WhatAndWhere(b) << "\n";
  const auto show = [](const std::string& what, const std::vector<std::string>& lines) {
    std::cout << what << (lines.empty() ? ": the same\n" : "\n");
    for (const std::string& line : lines) std::cout << Wrapped(absl::StrCat("  ", OneLine(line))) << "\n";
  };
  std::vector<std::string> settings, data;
  // A record of an older program lacks fields that were added since: they have their defaults.
  TrialSpec trial_a = a.trial(), trial_b = b.trial();
  FillDefaults(&trial_a);
  FillDefaults(&trial_b);
  for (const FieldDifference& difference : FindDifferences(trial_a, trial_b)) {
    const auto value = [](const std::string& text) { return text.empty() ? "absent" : Shortened(text, 1, 100); };
    (absl::StartsWith(difference.path, "data") ? data : settings)
        .push_back(absl::StrCat(difference.path, ": ", value(difference.before), "; ", value(difference.after)));
  }
  show("settings", settings);
  show("data", data);
  std::vector<std::string> program = ProvenanceDifferences({a, b});
  const std::string kind_a = KindOfMachine(a), kind_b = KindOfMachine(b);
  if (kind_a != kind_b) program.insert(program.begin(), absl::StrCat("kind of CPU or GPU: ", kind_a, "; ", kind_b));
  show("program and machine", program);
  std::vector<std::string> names, numbers;
  for (const TrialRecord* record : {&a, &b}) {
    for (const MetricRecord& metric : record->metric()) {
      const std::string name = MeasuredNameInGroup(metric);
      if (!absl::c_linear_search(names, name)) names.push_back(name);
    }
  }
  const auto value_of = [](const TrialRecord& record, const std::string& name) -> std::optional<double> {
    for (const MetricRecord& metric : record.metric()) {
      if (metric.has_value() && MeasuredNameInGroup(metric) == name) return metric.value();
    }
    return std::nullopt;
  };
  for (const std::string& name : names) {
    const std::optional<double> x = value_of(a, name), y = value_of(b, name);
    if (x == y) continue;
    // All digits if a few don't tell them apart.
    std::string of_x = x.has_value() ? absl::StrFormat("%.6g", *x) : "undefined",
                of_y = y.has_value() ? absl::StrFormat("%.6g", *y) : "undefined";
    if (of_x == of_y) of_x = FullPrecision(*x), of_y = FullPrecision(*y);
    numbers.push_back(
        absl::StrCat(name, ": ", of_x, "; ", of_y,
                     x.has_value() && y.has_value() ? absl::StrFormat(" (changed by %+.3g)", *y - *x) : ""));
  }
  show("metrics", numbers);
}

}  // namespace

absl::Status DiffRecords(const std::vector<std::string>& arguments, const RunConfig& config) {
  if (!BundleOf(arguments[0]).empty()) {
    return absl::InvalidArgumentError(absl::StrCat(arguments[0], ": is a bundle, and no trial. ", kCompareBundles));
  }
  OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config));
  OPENSET_ASSIGN_OR_RETURN(const std::string id, TrialOf(store, arguments[0]));
  OPENSET_ASSIGN_OR_RETURN(std::vector<TrialRecord> records, LoadReplicas(store, id));
  if (arguments.size() == 2) {
    std::error_code error;
    const std::string& other = arguments[1];
    if (!BundleOf(other).empty() || std::filesystem::is_directory(UserPath(other), error)) {
      OPENSET_ASSIGN_OR_RETURN(const Store there, StoreNamed(other));
      records.resize(1);
      absl::StatusOr<TrialRecord> of_there = LoadFirstRecord(there, id);
      if (absl::IsNotFound(of_there.status())) {
        return absl::NotFoundError(absl::StrCat(other, " has no record of trial ", id));
      }
      OPENSET_ASSIGN_OR_RETURN(records.emplace_back(), std::move(of_there));
    } else {
      OPENSET_ASSIGN_OR_RETURN(const std::string second, TrialOf(store, other));
      if (second != id || records.size() == 1) {
        records.resize(1);
        OPENSET_ASSIGN_OR_RETURN(records.emplace_back(), LoadFirstRecord(store, second));
      }
    }
  }
  if (records.size() == 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        store.folder(), " has one record of trial ", id,
        "; name another trial, or a store or bundle with another record of this one: openset records diff ",
        id.substr(0, 12), " openset-again"));
  }
  for (size_t other = 1; other < records.size(); ++other) {
    if (other > 1) std::cout << "\n";
    PrintDifferences(records[0], records[other]);
  }
  return absl::OkStatus();
}

absl::Status ShowRecord(const std::string& trial, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const TextFormat format, ParseFormat(config, {TextFormat::kText, TextFormat::kJson}));
  OPENSET_ASSIGN_OR_RETURN(const Store store, ExistingStore(config));
  OPENSET_ASSIGN_OR_RETURN(const std::string id, TrialOf(store, trial));
  OPENSET_ASSIGN_OR_RETURN(const std::vector<TrialRecord> records, LoadReplicas(store, id));
  if (format == TextFormat::kJson) {
    std::string json;
    google::protobuf::util::JsonPrintOptions options;
    options.add_whitespace = true;
    options.preserve_proto_field_names = true;
    if (!google::protobuf::util::MessageToJsonString(records[0], &json, options).ok()) {
      return absl::InternalError("the record can't be written as JSON");
    }
    std::cout << WithoutControls(std::move(json));
    return absl::OkStatus();
  }
  if (config.brief) {
    std::cout << BriefText(records[0], absl::Now());
    for (const std::string& line : DifferenceLines(records)) std::cout << "differs    " << line << "\n";
    return absl::OkStatus();
  }
  std::cout << "# " << store.RecordPath(id) << "\n";
  if (records.size() > 1)
    std::cout << "# " << records.size() - 1 << " more of this trial: " << ReplicaFolder(store, id) << "\n";
  for (const std::string& line : DifferenceLines(records)) std::cout << "# " << line << "\n";
  std::cout << ToText(records[0]);
  return absl::OkStatus();
}

}  // namespace openset
