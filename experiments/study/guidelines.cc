#include "experiments/study/guidelines.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "core/openness.h"
#include "core/proto/traits.h"
#include "data/task.pb.h"
#include "eval/metrics/display.h"
#include "eval/metrics/metric.pb.h"
#include "experiments/spec/method.proto.h"
#include "models/model.pb.h"

namespace openset {
namespace {

constexpr double kUneven = 10;

int UnknownClasses(const TaskData& data) {
  int count = 0;
  for (const UnknownGroup& group : data.test_unknown()) count += group.selection().class_id_size();
  return count;
}

// The known and the unknown classes, each in any order.
std::set<std::pair<std::string, int>> ClassesOf(const TaskData& data) {
  std::set<std::pair<std::string, int>> classes;
  for (const int id : data.test_known().class_id()) classes.insert({"known", id});
  for (const UnknownGroup& group : data.test_unknown()) {
    for (const int id : group.selection().class_id()) classes.insert({group.selection().data_set(), id});
  }
  return classes;
}

using Level = std::tuple<int, int>;  // known and unknown classes

Guideline Levels(const std::vector<const Trial*>& trials) {
  std::set<Level> levels;
  for (const Trial* trial : trials) {
    levels.insert({trial->data().test_known().class_id_size(), UnknownClasses(trial->data())});
  }
  const auto [known, unknown] = *levels.begin();
  if (levels.size() > 1) return {true, absl::StrCat(levels.size(), " levels of openness")};
  return {false, absl::StrFormat(
                     "only one openness level (%.3f: %d known and %d unknown classes): measure several, by tasks or "
                     "unknown_classes",
                     Openness(known, unknown), known, unknown)};
}

Guideline DrawsLine(const std::vector<const Trial*>& trials) {
  std::map<std::tuple<std::string, int, int>, std::set<std::set<std::pair<std::string, int>>>> draws;
  for (const Trial* trial : trials) {
    draws[{trial->task(), trial->data().test_known().class_id_size(), UnknownClasses(trial->data())}].insert(
        ClassesOf(trial->data()));
  }
  std::set<std::string> single;
  size_t fewest = draws.begin()->second.size();
  for (const auto& [level, of_level] : draws) {
    fewest = std::min(fewest, of_level.size());
    if (of_level.size() == 1) single.insert(std::get<0>(level));
  }
  if (single.empty()) return {true, absl::StrCat(fewest, " or more draws of the classes at each level")};
  return {false, absl::StrCat("only one draw of the classes in ", absl::StrJoin(single, ", "),
                              ": its results hold for those classes only; use more splits")};
}

std::vector<Guideline> Metrics(const Trial& trial) {
  const MetricSpec* headline = nullptr;
  std::string joint;
  for (const MetricSpec& metric : trial.metric()) {
    if (headline == nullptr && DisplayOf(metric).reads_unknown) headline = &metric;
    if (joint.empty() && TraitsOf(metric).joint()) joint = DisplayOf(metric).label;
  }
  std::vector<Guideline> lines;
  if (headline == nullptr) {
    lines.push_back({false, "no metric reads unknown samples: this is closed-set evaluation"});
  } else if (TraitsOf(*headline).depends_on_ratio()) {
    lines.push_back(
        {false, absl::StrCat("the first metric that reads unknown samples is ", DisplayOf(*headline).label,
                             ", which depends on known:unknown: results on other test sets are not comparable; "
                             "put auroc, openauc, outer or overall first")});
  } else {
    lines.push_back({true, absl::StrCat("the first metric that reads unknown samples is ", DisplayOf(*headline).label,
                                        ": neither an F-score nor accuracy")});
  }
  if (joint.empty()) {
    lines.push_back({false,
                     "no metric covers the closed-set and the open-set decision together: add openauc, halfpoint or "
                     "overall"});
  } else {
    lines.push_back({true, absl::StrCat(joint, " covers both decisions together")});
  }
  return lines;
}

Guideline Imbalance(const std::vector<const Trial*>& trials, const Catalog& catalog) {
  double least = 0, most = 0;
  std::set<const TrialData*> seen;
  for (const Trial* trial : trials) {
    if (!seen.insert(trial->shared_data().get()).second) continue;
    int64_t unknown = 0;
    for (const UnknownGroup& group : trial->data().test_unknown()) {
      unknown += CountSamples(group.selection(), catalog).value_or(0);
    }
    const int64_t known = CountSamples(trial->data().test_known(), catalog).value_or(0);
    if (known == 0 || unknown == 0) continue;
    const double ratio = static_cast<double>(known) / static_cast<double>(unknown);
    least = least == 0 ? ratio : std::min(least, ratio);
    most = std::max(most, ratio);
  }
  if (most == 0) return {false, "the ratio known:unknown of test samples is undefined: one side has no samples"};
  std::string text = absl::StrFormat("known:unknown test samples %.2f", least);
  if (most > least) absl::StrAppendFormat(&text, " to %.2f", most);
  if (most < kUneven && least > 1 / kUneven) return {true, absl::StrCat(text, "; each report states them")};
  return {false, absl::StrCat(text,
                              ": one side is ten times the other; interpret AUPR, accuracy and F-scores "
                              "accordingly, and state it with the results")};
}

}  // namespace

std::vector<std::string> InputWarnings(const std::vector<const Trial*>& trials, const Catalog& catalog) {
  std::vector<std::string> lines;
  std::set<std::string> seen;
  for (const Trial* trial : trials) {
    const InputSpec& input = trial->method().input();
    const std::string& data_set = trial->data().test_known().data_set();
    const absl::StatusOr<const DataSetInfo*> info = catalog.Find(data_set);
    if (!info.ok() || input.channels() != 1 || (*info)->channels() < 3) continue;
    if (!seen.insert(absl::StrCat(trial->method().name(), "\n", data_set)).second) continue;
    lines.push_back(
        absl::StrCat("warning: ", trial->method().name(), " sees grey images of ", input.size(), " x ", input.size(),
                     " pixels, but the images of ", data_set,
                     " are in colour: another preset (laptop_colour), or input.channels, keeps the colours"));
  }
  return lines;
}

std::vector<Guideline> CheckGuidelines(const std::vector<const Trial*>& trials, const Catalog& catalog) {
  if (trials.empty()) return {};
  std::vector<Guideline> lines = {Levels(trials), DrawsLine(trials)};
  for (Guideline& line : Metrics(*trials[0])) lines.push_back(std::move(line));
  lines.push_back(Imbalance(trials, catalog));
  return lines;
}

}  // namespace openset
