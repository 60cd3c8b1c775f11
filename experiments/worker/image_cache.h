// Caches the data set parts that a worker has read, across actions.
#ifndef OPENSET_EXPERIMENTS_WORKER_IMAGE_CACHE_H_
#define OPENSET_EXPERIMENTS_WORKER_IMAGE_CACHE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tensor/torch.h"
#include "data/batcher.h"
#include "data/catalog.h"
#include "data/image_source.h"
#include "data/task.pb.h"

namespace openset {

class ImageCache {
 public:
  ImageCache(Catalog catalog, std::vector<std::string> data_folders, int64_t max_bytes = int64_t{4} << 30)
      : catalog_(std::move(catalog)), data_folders_(std::move(data_folders)), max_bytes_(max_bytes) {}
  virtual ~ImageCache() = default;

  // Returns the batches of a selection, for a model with `channels` input channels. Errors: those of OpenSelection()
  // (data/sets/open_selection.h) and Batcher; kFailedPrecondition if the catalog's part is not the one from which the
  // selection was made.
  virtual absl::StatusOr<Batcher> MakeBatcher(const Selection& selection, int channels, at::Device device);

  const Catalog& catalog() const { return catalog_; }
  const std::vector<std::string>& data_folders() const { return data_folders_; }

  // Returns the number of samples of a selection. Errors: those of CountSamples(), also if its files have changed since
  // the selection was made.
  absl::StatusOr<int64_t> Count(const Selection& selection);

 private:
  absl::StatusOr<std::shared_ptr<const ImageSource>> GetPart(const std::string& data_set, const std::string& part);

  Catalog catalog_;
  std::vector<std::string> data_folders_;
  int64_t max_bytes_;  // if the images exceed it, the cache is emptied first
  int64_t bytes_ = 0;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const ImageSource>> sources_;  // by data set and part
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_IMAGE_CACHE_H_
