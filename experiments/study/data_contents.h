// Content digests of data sets without checksums in the catalog (DataSetPart.content_sha256). They are part of the
// keys. The store saves them, so that machines without the files find the results.
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

// Fills in the digests of the parts that the tasks use. It takes the first of these that exists:
//   1. the digest of the part's files below `data_folders`;
//   2. the digest that the store's last run saved;
//   3. the digest in the newest record of the store that uses the part (data/sets/data_set_parts.h).
// Returns lines that say which parts have a digest from records and which have none. Adds the latter to `untold`,
// unless it is null, each as "DATA_SET, PART". Errors: those of AddContentDigests() (data/sets/data_set.h), which also
// reports `progress`.
absl::StatusOr<std::vector<std::string>> TellContents(const Store& store, const std::vector<std::string>& data_folders,
                                                      const ProgressReport& progress,
                                                      const std::vector<TaskSpec>& tasks, Catalog* catalog,
                                                      std::vector<std::string>* untold = nullptr);

// Saves the digests of the experiment's catalog in the store. Errors: those of writing; kNotFound for a data set that
// is not in the catalog.
absl::Status RememberContents(const Store& store, const Experiment& experiment);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STUDY_DATA_CONTENTS_H_
