// The sets of samples that a name on the command line refers to.
#ifndef OPENSET_TOOLS_CLI_DATA_SETS_H_
#define OPENSET_TOOLS_CLI_DATA_SETS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/image_source.h"
#include "data/selection.h"

namespace openset {

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

#endif  // OPENSET_TOOLS_CLI_DATA_SETS_H_
