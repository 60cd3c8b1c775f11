// Checks that the files that a run will read exist, before anything is written.
#ifndef OPENSET_EXPERIMENTS_STUDY_CHECK_INPUTS_H_
#define OPENSET_EXPERIMENTS_STUDY_CHECK_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "data/catalog.h"
#include "experiments/plan/plan.h"

namespace openset {

// Checks each file that the needed actions of the plan read, once: data files by their checksums, or by reading them if
// they have none; model files only for existence.
// Errors: those of CheckFiles() and OpenPart() (data/sets/data_set.h) and of CheckModelFiles()
// (experiments/spec/model_files.h).
absl::Status CheckInputs(const Plan& plan, const Catalog& catalog, const std::vector<std::string>& data_folders);

// A data set that is absent or incomplete, and that trainings or inferences of the plan read, done or not.
struct MissingData {
  std::string data_set;
  std::string why;  // the message of CheckFiles(), in one line
  std::string fix;  // "openset data fetch cifar10"
};

// Each data set once, in the order of names. Checksums of existing files are checked too. Skips data sets that are not
// in the catalog; Expand() has refused them.
std::vector<MissingData> FindMissingData(const Plan& plan, const Catalog& catalog,
                                         const std::vector<std::string>& data_folders);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_CHECK_INPUTS_H_
