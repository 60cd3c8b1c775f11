#include "experiments/report/examples/example_data.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/text/json_text.h"
#include "data/task.pb.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/details.pb.h"

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

}  // namespace openset
