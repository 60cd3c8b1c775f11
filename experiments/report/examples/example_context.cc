#include "experiments/report/examples/example_context.h"

#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "data/task.pb.h"
#include "experiments/spec/trial.proto.h"
#include "experiments/store/record.proto.h"

namespace openset {
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

}  // namespace openset
