// The sets of samples that a name on the command line stands for.
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
  std::vector<std::string> class_name;  // of each label; titles where the data set has them
};

// Of a data set or folder: each part that is here (--parts: those). Of a task, by name or file: for --split (0 if it
// has several and none is named) what is trained on, the known test samples, each set of shifted and of unknown ones,
// and the external ones. Errors: those of the catalog, of the task and of OpenPart(); kNotFound if no part is here.
absl::StatusOr<std::vector<NamedSamples>> SamplesOf(const std::string& name);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_DATA_SETS_H_
