#include "tools/cli/task/sample_table.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "data/catalog.pb.h"
#include "data/sets/data_set.h"
#include "experiments/arrays/sample_file.h"
#include "experiments/report/examples.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/details.pb.h"

namespace openset {
namespace {

// "cat"; "class 7" if the catalog doesn't name it.
std::string ClassName(const std::string& data_set, int64_t class_id, const Catalog& catalog) {
  const absl::StatusOr<const DataSetInfo*> info = catalog.Find(data_set);
  if (info.ok() && class_id >= 0 && class_id < (*info)->class_name_size()) {
    return (*info)->class_name(static_cast<int>(class_id));
  }
  return absl::StrCat("class ", class_id);
}

}  // namespace

absl::StatusOr<Table> SampleTable(const TaskData& data, const Catalog& catalog,
                                  const std::vector<std::string>& data_folders) {
  OpenParts open_parts;
  OPENSET_ASSIGN_OR_RETURN(const TestSamples samples, TestSamples::Open(data, catalog, data_folders, &open_parts));
  Table table{{"row", "label", "class", "group", "sample"}, {}, 5};
  const auto add = [&](const Selection& selection, bool is_known, const std::string& group) -> absl::Status {
    OPENSET_ASSIGN_OR_RETURN(const OpenedSelection opened, OpenSelection(selection, catalog, data_folders));
    for (int64_t i = 0; i < opened.samples.size(); ++i) {
      const int64_t label = opened.samples.label[i], row = static_cast<int64_t>(table.rows.size());
      OPENSET_ASSIGN_OR_RETURN(std::string name, samples.NameOf(row));
      table.rows.push_back({absl::StrCat(row), absl::StrCat(is_known ? label : -1),
                            ClassName(selection.data_set(), ClassOfLabel(selection, label), catalog), group,
                            std::move(name)});
    }
    return absl::OkStatus();
  };
  OPENSET_RETURN_IF_ERROR(add(data.test_known(), true, ""));
  for (const UnknownGroup& group : data.test_unknown()) {
    OPENSET_RETURN_IF_ERROR(add(group.selection(), false, group.name()));
  }
  for (const ShiftedGroup& group : data.test_shifted()) OPENSET_RETURN_IF_ERROR(add(group.selection(), true, ""));
  return table;
}

Table MistakeTable(const TrialRecord& record, const Catalog& catalog, const std::vector<std::string>& data_folders,
                   std::string* why_unnamed) {
  const TaskData& data = record.trial().data();
  OpenParts open_parts;
  const absl::StatusOr<std::vector<std::string>> samples =
      MistakenSamples(record.trial(), record, catalog, data_folders, &open_parts);
  *why_unnamed = std::string(samples.status().message());
  Table table{{"kind", "row", "class", "group", "predicted", "unknown_score", "sample"}, {}, 7};
  const std::vector<Mistake> mistakes = MistakesOf(record);
  for (size_t m = 0; m < mistakes.size(); ++m) {
    const Mistake& mistake = mistakes[m];
    const bool is_unknown = mistake.kind() == Mistake::UNKNOWN_TAKEN_FOR_KNOWN;
    std::string data_set = data.test_known().data_set();
    for (const UnknownGroup& group : data.test_unknown()) {
      if (is_unknown && (mistake.set().empty() || group.name() == mistake.set())) {
        data_set = group.selection().data_set();
        break;
      }
    }
    const int label = mistake.has_predicted_label() ? mistake.predicted_label() : -1;
    const Selection& known = data.test_known();
    table.rows.push_back({mistake.kind() == Mistake::KNOWN_TAKEN_FOR_UNKNOWN ? "known taken for unknown"
                          : is_unknown                                       ? "unknown taken for known"
                                                                             : "wrong class",
                          absl::StrCat(mistake.row()), ClassName(data_set, mistake.class_id(), catalog), mistake.set(),
                          label >= 0 && label < known.class_id_size()
                              ? ClassName(known.data_set(), known.class_id(label), catalog)
                              : "unknown",
                          FullPrecision(mistake.unknown_score()), samples.ok() ? (*samples)[m] : ""});
  }
  return table;
}

}  // namespace openset
