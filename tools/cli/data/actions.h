// The longer subcommands of `openset data`. Each has its own file.
#ifndef OPENSET_TOOLS_CLI_DATA_ACTIONS_H_
#define OPENSET_TOOLS_CLI_DATA_ACTIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/image_source.h"

namespace openset {

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

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_DATA_ACTIONS_H_
