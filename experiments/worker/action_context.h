// The environment in which an action runs, with the images that a worker keeps between actions.
#ifndef OPENSET_EXPERIMENTS_WORKER_ACTION_CONTEXT_H_
#define OPENSET_EXPERIMENTS_WORKER_ACTION_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/process/steady_clock.h"
#include "core/tensor/torch.h"
#include "data/batcher.h"
#include "data/catalog.h"
#include "data/catalog.pb.h"
#include "data/image_source.h"
#include "data/selection.h"
#include "data/sets/data_set.h"
#include "data/task.pb.h"
#include "experiments/spec/action.proto.h"
#include "experiments/store/stage_clock.h"
#include "experiments/store/store.h"
#include "experiments/worker/worker_loop.h"

namespace openset {

// ---- Caches the data set parts that a worker has read, across actions, and notices if their files change.

// A part's content is compared with the selection's digest when it is first used. From then on, its files must stay as
// they are: the cache looks at their states (data/sets/data_set.h). Before an action stores anything that it made
// from images, it calls CheckUnchanged().
class ImageCache {
 public:
  ImageCache(Catalog catalog, std::vector<std::string> data_folders, int64_t max_bytes = int64_t{4} << 30)
      : catalog_(std::move(catalog)), data_folders_(std::move(data_folders)), max_bytes_(max_bytes) {}
  virtual ~ImageCache() = default;

  // A new action begins, which has read no image.
  void BeginAction();

  // Returns the batches of a selection, for a model with `channels` input channels. A part whose files have changed
  // since an earlier action is opened again. Errors: an error of the data (data/sets/data_set.h); kInvalidArgument also
  // if the selection names samples that its parts lack, or the images don't have `channels` channels; kDataLoss also if
  // the part is not the one from which the selection was made, by the catalog or by its files.
  virtual absl::StatusOr<Batcher> MakeBatcher(const Selection& selection, int channels, at::Device device);

  // Errors: kDataLoss, with its path, if a file has changed from which MakeBatcher()'s batches of this action read. The
  // part is opened again when it is next used.
  absl::Status CheckUnchanged();

  const Catalog& catalog() const { return catalog_; }
  const std::vector<std::string>& data_folders() const { return data_folders_; }

  // Returns the number of samples of a selection. Errors: an error of the data; kInvalidArgument also for a class id
  // out of range; kDataLoss also if the part, by the catalog or by its files, has changed since the selection was made.
  absl::StatusOr<int64_t> Count(const Selection& selection);

 private:
  using PartKey = std::pair<std::string, std::string>;  // data set and part
  struct Part {
    DataSetPart entry;                          // of the catalog, without what its files add
    PartStates states;                          // from before its content was compared with the digest
    std::shared_ptr<const ImageSource> source;  // null: not opened
    std::vector<bool> is_read;                  // samples that the action reads; empty: it reads none
    int64_t samples;                            // of the source, also after it was closed to free memory
  };

  absl::Status LoadPart(const PartKey& key);
  void Forget(const PartKey& key);
  // Forgets the part, one of whose files has changed. Returns the error that says so.
  absl::Status Changed(const PartKey& key, const std::string& path);
  absl::StatusOr<std::shared_ptr<const ImageSource>> GetPart(const PartKey& key);
  absl::StatusOr<OpenedSelection> Open(const Selection& selection);
  // Notes which samples the action reads. Returns the error for a file that has changed.
  absl::Status RecordReads(const Selection& selection, const SelectedSamples& samples);

  Catalog catalog_;
  std::vector<std::string> data_folders_;
  int64_t max_bytes_;  // if the images exceed it, the cache is emptied first
  int64_t bytes_ = 0;
  std::map<PartKey, Part> parts_;
  std::map<PartKey, std::string> changed_;  // the last file of a part that has changed
};

// ---- The environment of an action: what a worker passes to the code that executes it.

struct ActionContext {
  std::string key;                                         // digest of the action
  google::protobuf::RepeatedPtrField<ActionInput> inputs;  // of the action
  Store store;
  at::Device device;
  ImageCache* images;
  ReportProgress report;
  StageClock clock;  // runs since the context was made
  // For a training that may continue a stopped one: that training's key (WorkRequest.continued_key); otherwise "".
  std::string continued_key;
  // Returns the number of CPUs that the action may use now if this doesn't change any bit of the result
  // (WorkRequest.cpu_slots). It grows when other CPUs become free, so an inference calls it before each batch.
  std::function<int()> cpu_slots = [] { return 1; };
  // Whether to save the state and stop. Called after each step of a training.
  Poll poll = [] { return false; };
  // The clock that determines when a training's state is saved. Tests set it.
  std::function<absl::Duration()> now = SteadyNow;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_WORKER_ACTION_CONTEXT_H_
