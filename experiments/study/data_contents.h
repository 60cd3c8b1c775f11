// What the files hold of data sets that the catalog has no checksums of: it decides keys (DataSetPart.content_sha256),
// so that a store remembers what its last run found, for machines where the files are not.
#ifndef OPENSET_EXPERIMENTS_STUDY_DATA_CONTENTS_H_
#define OPENSET_EXPERIMENTS_STUDY_DATA_CONTENTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/text/progress_line.h"
#include "data/catalog.h"
#include "data/task.pb.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/store/store.h"

namespace openset {

// Tells the catalog, of the parts that the tasks take: by their files below `data_folders` or, where these are not
// there, as the store's last run found them, or by the digest that records in the store have of the part, the one of
// the newest record (TellPartDigest() in data/sets/data_set_parts.h); what none of them has stays untold. Returns lines
// that say which parts are told by records and which stay untold, and adds to `untold` (unless it is null) the latter,
// each "DATA_SET, PART". Errors: those of AddContentDigests() (data/sets/data_set.h), to which `progress` goes.
absl::StatusOr<std::vector<std::string>> TellContents(const Store& store, const std::vector<std::string>& data_folders,
                                                      const ProgressReport& progress,
                                                      const std::vector<TaskSpec>& tasks, Catalog* catalog,
                                                      std::vector<std::string>* untold = nullptr);

// Keeps in the store what the experiment's catalog was told. Errors: those of writing; kNotFound for a data set that
// the catalog lacks.
absl::Status RememberContents(const Store& store, const Experiment& experiment);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_DATA_CONTENTS_H_
