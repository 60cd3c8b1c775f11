#include "data/sets/feature_data_set.h"

#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/files/digest_cache.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "data/readers/feature_file.h"

namespace openset {
namespace {

void AddPart(const FeatureArrays& arrays, const std::string& name, const FeatureFile& file, DataSetInfo* info) {
  ImageFolderOptions::Share share;
  if (file.has_share()) share = {file.share().seed(), file.share().test_share(), file.share().test()};
  std::vector<int64_t> count(arrays.class_names.size());
  const std::vector<int64_t> rows = RowsOfPart(arrays, name, file.has_share() ? &share : nullptr);
  if (rows.empty()) return;
  for (const int64_t row : rows) ++count[arrays.class_id[row]];
  DataSetPart* part = info->mutable_layout(0)->add_part();
  part->set_name(name);
  part->set_samples(static_cast<int64_t>(rows.size()));
  *part->mutable_samples_per_class() = {count.begin(), count.end()};
  *part->mutable_features() = file;
}

}  // namespace

absl::StatusOr<DataSetInfo> DescribeFeatures(const std::string& name, const std::string& path) {
  OPENSET_ASSIGN_OR_RETURN(const std::string sha256, DigestCache::OfUser().Sha256Hex(path));
  OPENSET_ASSIGN_OR_RETURN(const FeatureArrays arrays, ReadFeatureFile(path));
  DataSetInfo info;
  info.set_name(name);
  info.set_title(absl::StrCat("Features in ", path));
  for (const std::string& class_name : arrays.class_names) info.add_class_name(class_name);
  info.set_unknown_classes(info.class_name_size() - arrays.known_classes);
  info.set_channels(1);
  info.set_height(arrays.dim > 0 ? 1 : 0);
  info.set_width(static_cast<int32_t>(arrays.dim * sizeof(float)));
  info.add_layout();
  FeatureFile file;
  file.mutable_file()->set_path(path);
  file.mutable_file()->add_sha256(sha256);
  file.set_clustered(!arrays.cluster.empty());
  if (absl::c_linear_search(arrays.part_names, kAllSamples)) {
    for (const bool test : {false, true}) {
      FeatureFile shared = file;
      shared.mutable_share()->set_test(test);
      FillDefaults(&shared);
      AddPart(arrays, test ? "test" : "train", shared, &info);
    }
  }
  for (const std::string& part : arrays.part_names) {
    const auto same = [&](const DataSetPart& known) { return known.name() == part; };
    if (absl::c_none_of(info.layout(0).part(), same)) AddPart(arrays, part, file, &info);
  }
  FillDefaults(&info);
  return info;
}

bool HasFeatures(const DataSetInfo& info) {
  return info.layout_size() > 0 && info.layout(0).part_size() > 0 && info.layout(0).part(0).has_features();
}

int KnownClasses(const DataSetInfo& info) { return info.class_name_size() - info.unknown_classes(); }

void AddUnknownGroups(const DataSetInfo& info, TaskSpec* task) {
  for (const DataSetPart& part : info.layout(0).part()) {
    if (!part.has_features() || part.features().has_share() || part.name() == kAllSamples) continue;
    UnknownSource* source = task->add_unknown();
    source->set_group(part.name());
    source->set_data_set(info.name());
    source->set_part(part.name());
  }
}

}  // namespace openset
