#include "experiments/worker/image_cache.h"

#include <set>
#include <string>
#include <utility>

#include "core/status_macros.h"
#include "data/selection.h"
#include "data/sets/data_set.h"
#include "data/sets/open_selection.h"

namespace openset {

absl::StatusOr<int64_t> ImageCache::Count(const Selection& selection) {
  std::set<std::string> parts;
  for (const PartOfDataSet& part : PartsOf(selection)) parts.insert(part.part());
  OPENSET_RETURN_IF_ERROR(AddContentDigests(selection.data_set(), parts, data_folders_, &catalog_));
  return CountSamples(selection, catalog_);
}

absl::StatusOr<std::shared_ptr<const ImageSource>> ImageCache::GetPart(const std::string& data_set,
                                                                       const std::string& part) {
  const auto known = sources_.find({data_set, part});
  if (known != sources_.end()) return known->second;
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog_.Find(data_set));
  OPENSET_ASSIGN_OR_RETURN(const std::shared_ptr<const ImageSource> source, OpenPart(*info, part, data_folders_));
  const int64_t size = source->index().size() * source->shape().bytes();
  if (bytes_ + size > max_bytes_) {
    sources_.clear();
    bytes_ = 0;
  }
  bytes_ += size;
  sources_[{data_set, part}] = source;
  return source;
}

absl::StatusOr<Batcher> ImageCache::MakeBatcher(const Selection& selection, int channels, at::Device device) {
  OPENSET_RETURN_IF_ERROR(Count(selection).status());  // also compares the digests
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog_.Find(selection.data_set()));
  OPENSET_ASSIGN_OR_RETURN(OpenedSelection opened, OpenSelection(selection, *info, [&](const std::string& part) {
                             return GetPart(selection.data_set(), part);
                           }));
  return Batcher::Make(std::move(opened.source), std::move(opened.samples), channels, device);
}

}  // namespace openset
