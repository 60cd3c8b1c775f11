#include "data/testing/small_catalog.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace openset {

Catalog SmallCatalog() {
  std::vector<DataSetInfo> data_sets;
  for (const auto& [name, classes] : std::vector<std::pair<std::string, int>>{{"four", 4}, {"three", 3}, {"bare", 2}}) {
    DataSetInfo info;
    info.set_name(name);
    for (int i = 0; i < classes; ++i) info.add_class_name(absl::StrCat("class ", i));
    for (const auto& [part_name, samples] : std::vector<std::pair<std::string, int>>{{"train", 10}, {"test", 5}}) {
      if (name == "bare" && part_name == "test") continue;
      DataSetPart* part = (info.layout_size() == 0 ? info.add_layout() : info.mutable_layout(0))->add_part();
      part->set_name(part_name);
      part->set_samples(samples * classes);
      part->add_samples_per_class(samples);
    }
    data_sets.push_back(info);
  }
  return Catalog(data_sets);
}

}  // namespace openset
