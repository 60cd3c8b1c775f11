// Files with the samples of a task, for programs that train or infer elsewhere.
#ifndef OPENSET_EXPERIMENTS_ARRAYS_SAMPLE_FILE_H_
#define OPENSET_EXPERIMENTS_ARRAYS_SAMPLE_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "data/catalog.h"
#include "data/image_source.h"
#include "data/task.pb.h"
#include "experiments/store/outputs.h"

namespace openset {

// The class, in the selection's data set, of its samples with this label; -1 if it has none.
int64_t ClassOfLabel(const Selection& selection, int64_t label);

// The samples of several selections, all in one form: `images` u8 [N, H, W, C], `path`s of image files, or `features`
// f32 [N, D]. The arrays `label` (-1: unknown), `class_id` (in the data set), `group` (of an unknown sample, else -1)
// and `sample` (a name for people) have a row for each, and so have `cluster`, if a data set has clusters, and
// `as_stored` (0 or 1), if a selection is so (Selection.as_stored); `group_names` has the groups.
class SampleFile {
 public:
  // Both must outlive the object.
  SampleFile(const Catalog& catalog, const std::vector<std::string>& data_folders)
      : catalog_(catalog), data_folders_(data_folders) {}

  // Appends the samples of a selection; `group` is -1 for known ones. Errors: an error of the data
  // (data/sets/data_set.h); kInvalidArgument also if the selection names samples that its parts lack; kUnimplemented if
  // the samples have another form or size than the samples before them, and then nothing is appended.
  absl::Status Add(const Selection& selection, int64_t group);

  bool empty() const { return label_.empty(); }
  int64_t size() const { return static_cast<int64_t>(label_.size()); }
  const std::vector<int64_t>& label() const { return label_; }
  const std::vector<int64_t>& class_id() const { return class_id_; }
  const std::vector<int64_t>& group() const { return group_; }

  // After Write(): the cluster of each sample; empty if no data set has clusters.
  const std::vector<int64_t>& cluster() const { return cluster_; }

  // Writes the .npz, atomically. The images or features are gone afterwards. Errors: a write error
  // (core/files/files.h).
  absl::Status Write(const std::string& path, const std::vector<std::string>& group_names);

 private:
  enum class Form { kImages, kPaths, kFeatures };

  void Append(const Image& image);

  const Catalog& catalog_;
  const std::vector<std::string>& data_folders_;
  Form form_ = Form::kImages;
  ImageShape shape_;
  std::vector<int64_t> label_, class_id_, group_, cluster_, as_stored_;
  std::vector<std::string> class_names_;  // of the first known samples' labels
  ClusterNumbers clusters_;
  std::vector<std::string> sample_;
  std::string bytes_;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_ARRAYS_SAMPLE_FILE_H_
