// The commands of `openset` on data sets.
#ifndef OPENSET_TOOLS_CLI_DATA_DATA_COMMAND_H_
#define OPENSET_TOOLS_CLI_DATA_DATA_COMMAND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/image_source.h"
#include "data/selection.h"
#include "tools/cli/command.h"

namespace openset {

Command DataCommand();

// The longer subcommands of `openset data`. Each has its own file.

// `show`, for a task, a data set or a folder.
absl::Status ShowImages(const std::string& name);
// `describe`, for a folder.
absl::Status DescribeImages(const std::string& folder);
// `audit`, for a task, a data set or a folder.
absl::Status AuditImages(const std::string& name);

// An image that can't be decoded.
struct DamagedImage {
  int64_t sample;
  std::string reason;  // names the file
};

// Calls `use` with each image of a source, in order. Returns the images that can't be decoded. Prints progress, named
// `what`, to standard error. Errors: other errors of reading.
absl::StatusOr<std::vector<DamagedImage>> ForEachImage(
    const std::string& what, const ImageSource& source,
    const std::function<void(int64_t sample, const Image& image)>& use);

// Returns kDataLoss with the number of these images and the first of them.
absl::Status DamagedStatus(const std::vector<DamagedImage>& damaged);

// The sets of samples that a name on the command line refers to.

struct NamedSamples {
  enum Role { PLAIN, TRAIN, KNOWN, UNKNOWN, EXTERNAL };
  std::string name;  // "train", "test of svhn"
  Role role = PLAIN;
  std::shared_ptr<const ImageSource> source;
  SelectedSamples samples;
  std::vector<std::string> class_name;  // of each label; its title if the data set has titles
};

// For a data set or a folder, returns each part that is on this machine, or those of --parts. For a task, by name or
// file, returns the sets of --split (0 if it is not given): the training samples, the known test samples, each set of
// shifted and of unknown samples, and the external samples. Errors: those of the catalog, of the task and of
// OpenPart(); kNotFound if no part is on this machine.
absl::StatusOr<std::vector<NamedSamples>> SamplesOf(const std::string& name);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_DATA_DATA_COMMAND_H_
