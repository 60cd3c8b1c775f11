#include "experiments/worker/action_context.h"

#include <cstddef>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/status_macros.h"
#include "data/sets/data_set_parts.h"

namespace openset {
namespace {

int64_t BytesOf(const ImageSource& source) { return source.index().size() * source.shape().bytes(); }

absl::Status WasChanged(const std::string& path, const std::string& data_set, const std::string& part) {
  return absl::DataLossError(absl::StrCat(
      path, ": was changed while openset used it (part '", part, "' of data set '", data_set,
      "'); no result was stored. Put the old file back, or run the same command again to measure the changed data"));
}

}  // namespace

absl::Status ImageCache::LoadPart(const PartKey& key) {
  if (parts_.count(key) > 0) return absl::OkStatus();
  const auto& [data_set, part] = key;
  // What is missing is reported where it is needed.
  const absl::StatusOr<const DataSetInfo*> info = catalog_.Find(data_set);
  if (!info.ok()) return absl::OkStatus();
  const absl::StatusOr<const DataSetPart*> entry = FindPart(**info, part);
  if (!entry.ok()) return absl::OkStatus();
  const DataSetPart before = **entry;
  absl::StatusOr<PartStates> states = PartStates::Of(**info, part, data_folders_);
  if (states.ok() && HasChecksums(before)) OPENSET_RETURN_IF_ERROR(CheckFiles(**info, part, data_folders_));
  OPENSET_RETURN_IF_ERROR(AddContentDigests(data_set, {part}, data_folders_, &catalog_));
  if (states.ok()) parts_[key] = {before, *std::move(states), nullptr, {}, 0};
  return absl::OkStatus();
}

void ImageCache::Forget(const PartKey& key) {
  const auto known = parts_.find(key);
  for (DataSetPart& part : *catalog_.FindMutable(key.first)->mutable_layout(0)->mutable_part()) {
    if (part.name() != key.second) continue;
    part = known->second.entry;
    part.clear_content_sha256();
  }
  if (known->second.source != nullptr) bytes_ -= BytesOf(*known->second.source);
  parts_.erase(known);
}

absl::Status ImageCache::Changed(const PartKey& key, const std::string& path) {
  Forget(key);
  changed_[key] = path;
  return WasChanged(path, key.first, key.second);
}

absl::StatusOr<int64_t> ImageCache::Count(const Selection& selection) {
  for (const PartOfDataSet& part : PartsOf(selection)) {
    OPENSET_RETURN_IF_ERROR(LoadPart({selection.data_set(), part.part()}));
  }
  absl::StatusOr<int64_t> count = CountSamples(selection, catalog_);
  if (!absl::IsDataLoss(count.status())) return count;
  // The old files may be back when the part is next used.
  for (const PartOfDataSet& part : PartsOf(selection)) {
    const PartKey key = {selection.data_set(), part.part()};
    if (parts_.count(key) > 0) Forget(key);
    const auto changed = changed_.find(key);
    if (changed != changed_.end()) count = WasChanged(changed->second, key.first, key.second);
  }
  return count;
}

absl::StatusOr<std::shared_ptr<const ImageSource>> ImageCache::GetPart(const PartKey& key) {
  const auto known = parts_.find(key);
  if (known != parts_.end() && known->second.source != nullptr) return known->second.source;
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog_.Find(key.first));
  OPENSET_ASSIGN_OR_RETURN(std::shared_ptr<const ImageSource> source, OpenPart(*info, key.second, data_folders_));
  if (known == parts_.end()) return source;
  const int64_t size = BytesOf(*source);
  if (bytes_ + size > max_bytes_) {
    for (auto& [other, part] : parts_) part.source = nullptr;
    bytes_ = 0;
  }
  bytes_ += size;
  known->second.source = source;
  known->second.samples = source->index().size();
  return source;
}

absl::StatusOr<OpenedSelection> ImageCache::Open(const Selection& selection) {
  OPENSET_RETURN_IF_ERROR(Count(selection).status());  // also compares the digests
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog_.Find(selection.data_set()));
  return OpenSelection(selection, *info, [&](const std::string& part) {
    return GetPart({selection.data_set(), part});
  });
}

absl::Status ImageCache::RecordReads(const Selection& selection, const SelectedSamples& samples) {
  int64_t begin = 0;  // of the part in the joined index
  for (const PartOfDataSet& wanted : PartsOf(selection)) {
    const auto known = parts_.find({selection.data_set(), wanted.part()});
    if (known == parts_.end()) return absl::OkStatus();
    Part& part = known->second;
    const int64_t size = part.samples;
    std::vector<bool> is_read(static_cast<size_t>(size));
    for (const int64_t sample : samples.index) {
      if (sample >= begin && sample < begin + size) is_read[sample - begin] = true;
    }
    begin += size;
    const std::string path = part.states.FindChange(is_read);
    if (!path.empty()) return Changed({selection.data_set(), wanted.part()}, path);
    if (part.is_read.empty()) part.is_read.resize(is_read.size());
    for (size_t s = 0; s < is_read.size(); ++s) part.is_read[s] = part.is_read[s] || is_read[s];
  }
  return absl::OkStatus();
}

absl::StatusOr<Batcher> ImageCache::MakeBatcher(const Selection& selection, int channels, at::Device device) {
  OPENSET_ASSIGN_OR_RETURN(OpenedSelection opened, Open(selection));
  const std::vector<PartOfDataSet> parts = PartsOf(selection);
  const bool is_first_use = absl::c_all_of(parts, [&](const PartOfDataSet& part) {
    const auto known = parts_.find({selection.data_set(), part.part()});
    return known == parts_.end() || known->second.is_read.empty();
  });
  const absl::Status changed = RecordReads(selection, opened.samples);
  if (!changed.ok()) {
    if (!is_first_use) return changed;
    // Since an earlier action: the content is compared with the digest again.
    absl::StatusOr<OpenedSelection> again = Open(selection);
    if (!again.ok()) return changed;
    opened = *std::move(again);
    OPENSET_RETURN_IF_ERROR(RecordReads(selection, opened.samples));
  }
  return Batcher::Make(std::move(opened.source), std::move(opened.samples), channels, device);
}

void ImageCache::BeginAction() {
  for (auto& [key, part] : parts_) part.is_read.clear();
}

absl::Status ImageCache::CheckUnchanged() {
  for (const auto& [key, part] : parts_) {
    if (part.is_read.empty()) continue;
    const std::string path = part.states.FindChange(part.is_read);
    if (!path.empty()) return Changed(PartKey(key), path);
  }
  return absl::OkStatus();
}

}  // namespace openset
