// Whether the files that a run will read are there, before anything is written.
#ifndef OPENSET_EXPERIMENTS_STUDY_CHECK_INPUTS_H_
#define OPENSET_EXPERIMENTS_STUDY_CHECK_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "data/catalog.h"
#include "experiments/plan/plan.h"

namespace openset {

// Looks at every file that the needed actions of the plan read, each once: data files by their checksums, or else by
// reading them; model files by their being there.
// Errors: those of CheckFiles() and OpenPart() (data/sets/data_set.h) and of CheckModelFiles()
// (experiments/spec/model_files.h).
absl::Status CheckInputs(const Plan& plan, const Catalog& catalog, const std::vector<std::string>& data_folders);

// A data set that trainings or inferences of the plan, done or not, read, and that is not there or not complete.
struct MissingData {
  std::string data_set;
  std::string why;  // that of CheckFiles(), in one line
  std::string fix;  // "openset data fetch cifar10"
};

// Each data set once, in order of their names. Of what is there, checksums are looked at too. Data sets that are not in
// the catalog are left out: expanding the experiment has refused them.
std::vector<MissingData> FindMissingData(const Plan& plan, const Catalog& catalog,
                                         const std::vector<std::string>& data_folders);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_CHECK_INPUTS_H_
