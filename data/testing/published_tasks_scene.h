// Helpers for tests of the tasks that openset includes: reads these tasks, and the published lists.
#ifndef OPENSET_DATA_TESTING_PUBLISHED_TASKS_SCENE_H_
#define OPENSET_DATA_TESTING_PUBLISHED_TASKS_SCENE_H_

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "data/catalog.h"
#include "data/splits/class_splits.h"
#include "data/task.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace openset {

using Ids = std::vector<int>;

inline const Catalog& TheCatalog() {
  static const auto* const catalog = new Catalog(*Catalog::Open("data/catalog"));
  return *catalog;
}

inline TaskSpec Task(const std::string& name) {
  const absl::StatusOr<TaskSpec> task = ReadTask(absl::StrCat("data/tasks/", name, ".textproto"), TheCatalog());
  EXPECT_TRUE(task.ok()) << task.status();
  return task.value_or(TaskSpec());
}

inline nlohmann::json Published(const std::string& file) {
  std::ifstream stream(absl::StrCat("data/tasks/testdata/", file, ".json"));
  return nlohmann::json::parse(stream);
}

inline Ids List(const google::protobuf::RepeatedField<int32_t>& ids) { return {ids.begin(), ids.end()}; }

inline TaskData Data(const TaskSpec& task, int split) {
  const absl::StatusOr<TaskData> data = ResolveTask(task, {split}, TheCatalog());
  EXPECT_TRUE(data.ok()) << task.name() << ": " << data.status();
  return data.value_or(TaskData());
}

// Returns the numbers of known and unknown test samples.
inline std::pair<int64_t, int64_t> TestSizes(const TaskData& data) {
  int64_t unknown = 0;
  for (const UnknownGroup& group : data.test_unknown()) unknown += *CountSamples(group.selection(), TheCatalog());
  return {*CountSamples(data.test_known(), TheCatalog()), unknown};
}

}  // namespace openset

#endif  // OPENSET_DATA_TESTING_PUBLISHED_TASKS_SCENE_H_
