#include "experiments/report/examples.h"

#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "data/inspect/contact_sheet.h"
#include "data/selection.h"
#include "data/sets/feature_data_set.h"
#include "experiments/spec/method.proto.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"

namespace openset {

std::vector<Mistake> MistakesOf(const TrialRecord& record) {
  const TrialDetails& details = record.details();
  std::vector<Mistake> mistakes;
  for (const Mistake& mistake : details.mistake()) {
    const bool rejected = mistake.unknown_score() > details.decisions().threshold() || !mistake.has_predicted_label();
    if (!details.has_decisions() || rejected == (mistake.kind() == Mistake::KNOWN_TAKEN_FOR_UNKNOWN)) {
      mistakes.push_back(mistake);
    }
  }
  return mistakes;
}

std::array<int64_t, 3> NumMistakes(const TrialRecord& record) {
  const DecisionTable& table = record.details().decisions();
  int64_t known_rejected = 0, unknown_accepted = 0, wrong_accepted = 0;
  for (const ClassDecisions& row : table.known()) {
    known_rejected += row.rejected();
    wrong_accepted += (row.samples() - row.rejected()) - (row.right() - row.right_rejected());
  }
  for (const ClassDecisions& row : table.unknown()) unknown_accepted += row.samples() - row.rejected();
  return {known_rejected, unknown_accepted, wrong_accepted};
}

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
    const auto samples = context_.samples.find(example_.record->trial_id());
    const std::vector<Mistake> mistakes = MistakesOf(*example_.record);
    for (size_t m = 0; m < mistakes.size(); ++m) {
      const Mistake& mistake = mistakes[m];
      const bool unknown = mistake.kind() == Mistake::UNKNOWN_TAKEN_FOR_KNOWN;
      json["mistakes"].push_back(
          {static_cast<int>(mistake.kind()),
           unknown ? UnknownName(mistake.set(), mistake.class_id()) : KnownName(mistake.class_id()), mistake.set(),
           PredictedName(mistake), mistake.unknown_score()});
      if (samples != context_.samples.end() && m < samples->second.size()) {
        json["mistakes"].back().push_back(samples->second[m]);
      }
    }
    json["num_mistakes"] = NumMistakes(*example_.record);
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

}  // namespace

absl::StatusOr<TestSamples> TestSamples::Open(const TaskData& data, const Catalog& catalog,
                                              const std::vector<std::string>& data_folders, OpenParts* open_parts) {
  TestSamples samples;
  const auto add = [&](const Selection& selection) -> absl::Status {
    OPENSET_ASSIGN_OR_RETURN(OpenedSelection opened, openset::Open(selection, catalog, data_folders, open_parts));
    samples.sets_.push_back({selection.data_set(), std::move(opened)});
    return absl::OkStatus();
  };
  for (const Selection* selection : TestSelections(data)) OPENSET_RETURN_IF_ERROR(add(*selection));
  return samples;
}

int64_t TestSamples::size() const {
  int64_t size = 0;
  for (const Set& set : sets_) size += set.opened.samples.size();
  return size;
}

absl::StatusOr<std::pair<const TestSamples::Set*, int64_t>> TestSamples::Find(int64_t row) const {
  const int64_t asked = row;
  for (const Set& set : sets_) {
    if (row < 0) break;  // a record may have any value
    if (row < set.opened.samples.size()) return std::pair{&set, set.opened.samples.index[row]};
    row -= set.opened.samples.size();
  }
  return absl::InvalidArgumentError(absl::StrCat("the test has no sample ", asked));
}

absl::StatusOr<std::string> TestSamples::NameOf(int64_t row) const {
  OPENSET_ASSIGN_OR_RETURN(const auto found, Find(row));
  std::string name = found.first->opened.source->Describe(found.second);
  return absl::StartsWith(name, "/") ? name : absl::StrCat(found.first->data_set, ": ", name);
}

absl::StatusOr<Image> TestSamples::ImageOf(int64_t row) const {
  OPENSET_ASSIGN_OR_RETURN(const auto found, Find(row));
  OPENSET_ASSIGN_OR_RETURN(std::vector<Image> images, found.first->opened.source->Read({found.second}));
  return std::move(images[0]);
}

absl::StatusOr<std::vector<std::string>> MistakenSamples(const TrialSpec& trial, const TrialRecord& record,
                                                         const Catalog& catalog,
                                                         const std::vector<std::string>& data_folders,
                                                         OpenParts* open_parts) {
  std::vector<std::string> names;
  const std::vector<Mistake> mistakes = MistakesOf(record);
  if (mistakes.empty()) return names;
  OPENSET_ASSIGN_OR_RETURN(const TestSamples samples,
                           TestSamples::Open(trial.data(), catalog, data_folders, open_parts));
  for (const Mistake& mistake : mistakes) {
    OPENSET_ASSIGN_OR_RETURN(names.emplace_back(), samples.NameOf(mistake.row()));
  }
  return names;
}

absl::StatusOr<std::string> MistakeSheet(const TrialSpec& trial, const TrialRecord& record, const Catalog& catalog,
                                         const std::vector<std::string>& data_folders, OpenParts* open_parts) {
  static const std::map<Mistake::Kind, std::array<uint8_t, 3>> kColours = {
      {Mistake::KNOWN_TAKEN_FOR_UNKNOWN, {0, 140, 60}},
      {Mistake::UNKNOWN_TAKEN_FOR_KNOWN, {200, 30, 30}},
      {Mistake::WRONG_CLASS, {40, 80, 200}}};
  const std::vector<Mistake> mistakes = MistakesOf(record);
  if (mistakes.empty()) return std::string();
  const absl::StatusOr<const DataSetInfo*> info = catalog.Find(trial.data().test_known().data_set());
  if (info.ok() && HasFeatures(**info)) return std::string();  // there is nothing to look at
  OPENSET_ASSIGN_OR_RETURN(const TestSamples samples,
                           TestSamples::Open(trial.data(), catalog, data_folders, open_parts));
  std::vector<SheetRow> rows;
  for (const auto& [kind, colour] : kColours) {
    SheetRow row{colour, {}};
    for (const Mistake& mistake : mistakes) {
      if (mistake.kind() != kind || row.images.size() == kSheetColumns) continue;
      OPENSET_ASSIGN_OR_RETURN(row.images.emplace_back(), samples.ImageOf(mistake.row()));
    }
    if (!row.images.empty()) rows.push_back(std::move(row));
  }
  return EncodePng(MakeContactSheet(rows, kSheetTile));
}

}  // namespace openset
