#include "experiments/report/charts/softmax_map.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "eval/softmax.h"

namespace openset {
namespace {

// The group of each class, -1 if it is in none.
std::map<int, int> GroupsOf(const DataSetInfo& info) {
  std::map<int, int> group;
  for (int g = 0; g < info.class_group_size(); ++g) {
    for (const int id : info.class_group(g).class_id()) group[id] = g;
  }
  return group;
}

// At most this many of the classes; see softmax_map.h.
std::vector<int> Chosen(const std::vector<int>& classes, const DataSetInfo& info, int most) {
  std::vector<int> chosen;
  const int all = static_cast<int>(classes.size());
  const std::map<int, int> group = GroupsOf(info);
  if (group.empty()) {
    const int taken = std::min(all, most);
    for (int i = 0; i < taken; ++i) chosen.push_back(classes[static_cast<int64_t>(i) * all / taken]);
    return chosen;
  }
  // Sorted by the number of earlier classes in the same group, then by group.
  std::map<int, int> seen;
  std::vector<std::pair<std::pair<int, int>, int>> order;
  for (const int id : classes) {
    const auto found = group.find(id);
    const int of = found == group.end() ? -1 : found->second;
    order.push_back({{seen[of]++, of}, id});
  }
  absl::c_stable_sort(order, [](const auto& a, const auto& b) { return a.first < b.first; });
  order.resize(std::min(all, most));
  absl::c_stable_sort(order, [](const auto& a, const auto& b) { return a.first.second < b.first.second; });
  for (const auto& [place, id] : order) chosen.push_back(id);
  return chosen;
}

// The classes' names, made unique.
std::vector<std::string> NamesOf(const std::vector<int>& classes, const DataSetInfo& info) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const int id : classes) {
    std::string name = id < info.class_title_size() ? info.class_title(id) : info.class_name(id);
    if (!seen.insert(name).second) absl::StrAppend(&name, " ", id);
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

absl::StatusOr<HeatMap> MeanSoftmax(const Outputs& outputs, const TaskData& data, const std::string& set,
                                    const Catalog& catalog, int most) {
  std::vector<std::string> sets;
  const UnknownGroup* group = nullptr;
  for (const UnknownGroup& of : data.test_unknown()) {
    sets.push_back(of.name());
    if (of.name() == set || (set.empty() && data.test_unknown_size() == 1)) group = &of;
  }
  if (group == nullptr) return absl::InvalidArgumentError(UnknownName("set of unknown samples", set, sets));
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* known_info, catalog.Find(data.test_known().data_set()));
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(group->selection().data_set()));
  const auto stored = absl::c_find(outputs.group_names, group->name());
  const int64_t number = stored - outputs.group_names.begin();
  const auto& known = data.test_known().class_id();
  if (stored == outputs.group_names.end() || outputs.num_outputs < known.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the stored outputs have no set '", group->name(), "', or fewer outputs than known classes"));
  }
  std::map<int, std::pair<std::vector<double>, int64_t>> sums;  // by class: softmax, samples
  for (int64_t i = 0; i < outputs.size(); ++i) {
    if (outputs.group[i] != number) continue;
    if (outputs.class_id[i] < 0 || outputs.class_id[i] >= info->class_name_size()) {
      return absl::InvalidArgumentError(absl::StrCat("the stored outputs have class ", outputs.class_id[i],
                                                     ", which data set '", info->name(), "' has not"));
    }
    auto& [sum, samples] = sums[static_cast<int>(outputs.class_id[i])];
    sum.resize(outputs.num_outputs, 0);
    const auto logits = absl::MakeConstSpan(outputs.logits).subspan(i * outputs.num_outputs, outputs.num_outputs);
    const std::vector<double> softmax = Softmax(logits);
    for (size_t k = 0; k < softmax.size(); ++k) sum[k] += softmax[k];
    ++samples;
  }
  std::vector<int> unknown;
  for (const auto& [id, sum] : sums) unknown.push_back(id);
  std::map<int, int> label;  // of each known class
  std::vector<int> known_ids;
  for (const int id : known) {
    label[id] = static_cast<int>(known_ids.size());
    known_ids.push_back(id);
  }
  absl::c_sort(known_ids);
  const std::vector<int> rows = Chosen(unknown, *info, most), columns = Chosen(known_ids, *known_info, most);
  HeatMap map;
  map.row_label = "unknown class";
  map.column_label = "known class";
  map.rows = NamesOf(rows, *info);
  map.columns = NamesOf(columns, *known_info);
  for (const int row : rows) {
    const auto& [sum, samples] = sums[row];
    for (const int column : columns) map.values.push_back(sum[label[column]] / static_cast<double>(samples));
  }
  return map;
}

}  // namespace openset
