// The longer actions of `openset data`, each in a file of its own.
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

// `show`: of a task, a data set or a folder.
absl::Status ShowImages(const std::string& name);
// `describe`: of a folder.
absl::Status DescribeImages(const std::string& folder);
// `audit`: of a task, a data set or a folder.
absl::Status AuditImages(const std::string& name);

// An image that can't be decoded.
struct DamagedImage {
  int64_t sample;
  std::string reason;  // with the file
};

// Calls `use` with each image of a source in order; those that can't be decoded are returned. Progress in `what` goes
// to standard error. Errors: other ones of reading.
absl::StatusOr<std::vector<DamagedImage>> ForEachImage(
    const std::string& what, const ImageSource& source,
    const std::function<void(int64_t sample, const Image& image)>& use);

// kDataLoss with the first of them and their number.
absl::Status DamagedStatus(const std::vector<DamagedImage>& damaged);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_DATA_ACTIONS_H_
