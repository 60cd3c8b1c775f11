#include "experiments/worker/image_cache.h"

#include "core/status_macros.h"
#include "data/data_set.h"

namespace openset {

absl::StatusOr<std::shared_ptr<const ImageSet>> ImageCache::Get(const Selection& selection) {
  OPENSET_RETURN_IF_ERROR(Count(selection).status());  // compares the digests
  std::shared_ptr<const ImageSet>& set = sets_[{selection.data_set(), selection.part()}];
  if (set != nullptr) return set;
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog_.Find(selection.data_set()));
  absl::StatusOr<ImageSet> loaded = LoadPart(*info, selection.part(), data_folders_);
  if (!loaded.ok()) return loaded.status();
  auto loaded_set = std::make_shared<const ImageSet>(*std::move(loaded));
  const int64_t size = loaded_set->size() * loaded_set->image_bytes();
  if (bytes_ + size > max_bytes_) {
    sets_.clear();
    bytes_ = 0;
  }
  bytes_ += size;
  sets_[{selection.data_set(), selection.part()}] = loaded_set;
  return loaded_set;
}

}  // namespace openset
