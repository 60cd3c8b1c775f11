// A folder of specs for tests: a tiny data set, a task and methods that tests can change.
#ifndef OPENSET_EXPERIMENTS_TESTING_SPEC_SANDBOX_H_
#define OPENSET_EXPERIMENTS_TESTING_SPEC_SANDBOX_H_

#include <string>

#include "experiments/spec/experiment_file.h"

namespace openset {

// The files it starts with:
//   data set "digits": 5 classes of 8x8 grey images, 20 training and 10 test images each
//   task "task": split 0 knows {0, 1, 2}, unknown {3, 4}; split 1 knows {4, 3}, unknown {0, 1, 2}
//   method "plain": cross entropy; "pairs": cross entropy and OpenAUC with feature mixup
class SpecSandbox {
 public:
  // Below the test's temporary folder, named after the test.
  SpecSandbox();

  const std::string& folder() const { return folder_; }
  SpecFolders folders() const { return SpecFoldersBelow(folder_); }

  // Writes a file below the folder, and creates missing parent folders.
  void Write(const std::string& path, const std::string& content) const;

  // Writes experiments/specs/spec.textproto and loads it.
  absl::StatusOr<Experiment> Load(const std::string& spec) const;

 private:
  std::string folder_;
};

// An experiment of method "plain" on split 0, which tests append to.
inline constexpr char kMinimalSpec[] =
    "name: 'spec'\n"
    "task: 'task'\n"
    "method: 'plain'\n"
    "split: 0\n"
    "seed: 0\n"
    "metric { accuracy {} }\n";

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_TESTING_SPEC_SANDBOX_H_
