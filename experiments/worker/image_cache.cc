#include "experiments/worker/image_cache.h"

#include "core/status_macros.h"
#include "data/data_set.h"
#include "data/selection.h"

namespace openset {

absl::StatusOr<std::shared_ptr<const ImageSource>> ImageCache::Get(const Selection& selection) {
  OPENSET_RETURN_IF_ERROR(Count(selection).status());  // compares the digests
  std::shared_ptr<const ImageSource>& known = sources_[{selection.data_set(), selection.part()}];
  if (known != nullptr) return known;
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog_.Find(selection.data_set()));
  OPENSET_ASSIGN_OR_RETURN(const std::shared_ptr<const ImageSource> source,
                           OpenPart(*info, selection.part(), data_folders_));
  const int64_t size = source->index().size() * source->shape().bytes();
  if (bytes_ + size > max_bytes_) {
    sources_.clear();
    bytes_ = 0;
  }
  bytes_ += size;
  sources_[{selection.data_set(), selection.part()}] = source;
  return source;
}

absl::StatusOr<Batcher> ImageCache::MakeBatcher(const Selection& selection, int channels, at::Device device) {
  OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<const ImageSource> source, Get(selection));
  OPENSET_ASSIGN_OR_RETURN(SelectedSamples samples, SelectSamples(source->index(), selection));
  return Batcher::Make(std::move(source), std::move(samples), channels, device);
}

}  // namespace openset
