

#include "experiments/report/examples.h"

#include <array>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "data/inspect/contact_sheet.h"
#include "data/sets/data_set.h"
#include "data/sets/feature_data_set.h"
#include "data/task.pb.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/details.pb.h"
#include "experiments/store/record.proto.h"

namespace openset {
namespace {

using Json = nlohmann::ordered_json;

class ExampleWriter {
 public:
  ExampleWriter(const ExampleTrial& example, const ExampleContext& context) : example_(example), context_(context) {}

  Json Write() const {
    const TrialDetails& details = example_.record->details();
    const DecisionTable& table = details.decisions();
    Json json = Json::object();
    json["line"] = example_.line;
    json["task"] = example_.trial->task();
    json["split"] = example_.trial->split();
    json["seed"] = example_.trial->seed();
    json["rule"] = table.rule();
    json["threshold"] = table.threshold();
    json["known"] = Json::array();
    for (const ClassDecisions& row : table.known()) {
      json["known"].push_back(
          {KnownName(row.class_id()), row.samples(), row.right(), row.rejected(), row.right_rejected()});
    }
    json["unknown"] = Json::array();
    for (const ClassDecisions& row : table.unknown()) {
      json["unknown"].push_back({UnknownName(row.set(), row.class_id()), row.set(), row.samples(), row.rejected()});
    }
    json["confusion"] = Json::array();
    for (const Confusion& cell : table.confusion()) {
      json["confusion"].push_back({cell.actual(), cell.predicted(), cell.samples()});
    }
    json["cut"] = table.confusion_cut();
    json["mistakes"] = Json::array();
    for (const Mistake& mistake : details.mistake()) {
      const bool unknown = mistake.kind() == Mistake::UNKNOWN_TAKEN_FOR_KNOWN;
      json["mistakes"].push_back(
          {static_cast<int>(mistake.kind()),
           unknown ? UnknownName(mistake.set(), mistake.class_id()) : KnownName(mistake.class_id()), mistake.set(),
           PredictedName(mistake), mistake.unknown_score()});
    }
    const auto sheet = context_.sheets.find(example_.record->trial_id());
    if (sheet != context_.sheets.end()) {
      json["sheet"] = absl::StrCat("data:image/png;base64,", absl::Base64Escape(sheet->second));
    }
    return json;
  }

 private:
  std::string Name(const std::string& data_set, int64_t class_id) const {
    const auto names = context_.class_names.find(data_set);
    if (names == context_.class_names.end() || class_id < 0 || class_id >= static_cast<int64_t>(names->second.size())) {
      return absl::StrCat("class ", class_id);
    }
    return names->second[class_id];
  }

  std::string KnownName(int64_t class_id) const {
    return Name(example_.trial->data().test_known().data_set(), class_id);
  }

  std::string UnknownName(const std::string& set, int64_t class_id) const {
    for (const UnknownGroup& group : example_.trial->data().test_unknown()) {
      if (set.empty() || group.name() == set) return Name(group.selection().data_set(), class_id);
    }
    return Name("", class_id);
  }

  std::string PredictedName(const Mistake& mistake) const {
    const Selection& known = example_.trial->data().test_known();
    const int label = mistake.has_predicted_label() ? mistake.predicted_label() : -1;
    if (label < 0 || label >= known.class_id_size()) return "unknown";
    return KnownName(known.class_id(mistake.predicted_label()));
  }

  const ExampleTrial& example_;
  const ExampleContext& context_;
};

}  // namespace

Json ExamplesJson(const std::vector<ExampleTrial>& examples, const ExampleContext& context, size_t most_bytes) {
  Json list = Json::array();
  size_t bytes = 0;
  for (const ExampleTrial& example : examples) {
    Json json = ExampleWriter(example, context).Write();
    bytes += JsonText(json).size();
    if (bytes > most_bytes) break;
    list.push_back(std::move(json));
  }
  return list;
}

namespace {

constexpr size_t kMostSheets = 1'500'000;  // bytes of images in a page

}  // namespace

std::map<std::string, std::vector<std::string>> ClassNamesOf(const std::vector<ExampleTrial>& examples,
                                                             const Catalog& catalog) {
  std::set<std::string> data_sets;
  for (const ExampleTrial& example : examples) {
    data_sets.insert(example.trial->data().test_known().data_set());
    for (const UnknownGroup& group : example.trial->data().test_unknown())
      data_sets.insert(group.selection().data_set());
  }
  std::map<std::string, std::vector<std::string>> class_names;
  for (const std::string& name : data_sets) {
    const absl::StatusOr<const DataSetInfo*> info = catalog.Find(name);
    if (!info.ok()) continue;
    const auto& names = (*info)->class_title().empty() ? (*info)->class_name() : (*info)->class_title();
    class_names[name] = {names.begin(), names.end()};
  }
  return class_names;
}

void AddSheets(const std::vector<ExampleTrial>& examples,
               const std::function<std::string(const ExampleTrial& example)>& sheet_of, ExampleContext* context) {
  size_t bytes = 0;
  for (const ExampleTrial& example : examples) {
    std::string sheet = sheet_of(example);
    if (sheet.empty()) continue;
    bytes += sheet.size();
    if (bytes > kMostSheets) break;
    context->sheets[example.record->trial_id()] = std::move(sheet);
  }
}

namespace {

absl::StatusOr<OpenedSelection> Open(const Selection& selection, const Catalog& catalog,
                                     const std::vector<std::string>& folders, OpenParts* open_parts) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(selection.data_set()));
  const auto open_part = [&](const std::string& part) -> absl::StatusOr<std::shared_ptr<const ImageSource>> {
    std::shared_ptr<const ImageSource>& opened = (*open_parts)[{selection.data_set(), part}];
    if (opened == nullptr) {
      OPENSET_ASSIGN_OR_RETURN(opened, OpenPart(*info, part, folders));
    }
    return opened;
  };
  return OpenSelection(selection, *info, open_part);
}

// The sets of test samples, in the order of the outputs' rows (experiments/infer/inference.cc).
absl::StatusOr<std::vector<OpenedSelection>> OpenAll(const TaskData& data, const Catalog& catalog,
                                                     const std::vector<std::string>& folders, OpenParts* open_parts) {
  std::vector<OpenedSelection> sets;
  OPENSET_ASSIGN_OR_RETURN(sets.emplace_back(), Open(data.test_known(), catalog, folders, open_parts));
  for (const UnknownGroup& group : data.test_unknown()) {
    OPENSET_ASSIGN_OR_RETURN(sets.emplace_back(), Open(group.selection(), catalog, folders, open_parts));
  }
  for (const ShiftedGroup& group : data.test_shifted()) {
    OPENSET_ASSIGN_OR_RETURN(sets.emplace_back(), Open(group.selection(), catalog, folders, open_parts));
  }
  return sets;
}

absl::StatusOr<Image> ImageOf(int64_t row, const std::vector<OpenedSelection>& sets) {
  const int64_t asked = row;
  for (const OpenedSelection& set : sets) {
    if (row < 0) break;  // a record may have any value
    if (row < set.samples.size()) {
      OPENSET_ASSIGN_OR_RETURN(std::vector<Image> images, set.source->Read({set.samples.index[row]}));
      return std::move(images[0]);
    }
    row -= set.samples.size();
  }
  return absl::InvalidArgumentError(absl::StrCat("the test has no sample ", asked));
}

}  // namespace

absl::StatusOr<std::string> MistakeSheet(const TrialSpec& trial, const TrialRecord& record, const Catalog& catalog,
                                         const std::vector<std::string>& data_folders, OpenParts* open_parts) {
  static const std::map<Mistake::Kind, std::array<uint8_t, 3>> kColours = {
      {Mistake::KNOWN_TAKEN_FOR_UNKNOWN, {0, 140, 60}},
      {Mistake::UNKNOWN_TAKEN_FOR_KNOWN, {200, 30, 30}},
      {Mistake::WRONG_CLASS, {40, 80, 200}}};
  if (record.details().mistake().empty()) return std::string();
  const absl::StatusOr<const DataSetInfo*> info = catalog.Find(trial.data().test_known().data_set());
  if (info.ok() && HasFeatures(**info)) return std::string();  // there is nothing to look at
  OPENSET_ASSIGN_OR_RETURN(const std::vector<OpenedSelection> sets,
                           OpenAll(trial.data(), catalog, data_folders, open_parts));
  std::vector<SheetRow> rows;
  for (const auto& [kind, colour] : kColours) {
    SheetRow row{colour, {}};
    for (const Mistake& mistake : record.details().mistake()) {
      if (mistake.kind() != kind || row.images.size() == kSheetColumns) continue;
      OPENSET_ASSIGN_OR_RETURN(row.images.emplace_back(), ImageOf(mistake.row(), sets));
    }
    if (!row.images.empty()) rows.push_back(std::move(row));
  }
  return EncodePng(MakeContactSheet(rows, kSheetTile));
}

}  // namespace openset
