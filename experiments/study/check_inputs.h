// Checks the inputs of a study before it runs, and computes digests of data sets without checksums in the catalog.
#ifndef OPENSET_EXPERIMENTS_STUDY_CHECK_INPUTS_H_
#define OPENSET_EXPERIMENTS_STUDY_CHECK_INPUTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/text/terminal.h"
#include "data/catalog.h"
#include "data/task.pb.h"
#include "experiments/plan/plan.h"
#include "experiments/spec/experiment_file.h"
#include "experiments/store/store.h"

namespace openset {

// Content digests of data sets without checksums in the catalog (DataSetPart.content_sha256). They are part of the
// keys. The store saves them, so that machines without the files find the results.

struct ResolvedContents {
  std::vector<std::string> lines;       // which parts are not here, and how their digests were found
  std::vector<std::string> unresolved;  // the latter, each as "DATA_SET, PART"
  // A sentence for each data set whose images differ from the catalog's or from those of the store's last run, so that
  // results of the earlier images are not found.
  std::vector<std::string> changed;
  // A sentence for each data set with images in separate files of which some can't be decoded, as far as a look at the
  // new ones shows (CheckImageFile() in data/readers/images/decode_image.h).
  std::vector<std::string> damaged;
};

// Fills in the digests of the parts that the tasks use. It takes the first of these that exists:
//   1. the digest of the part's files below `data_folders`;
//   2. the digest that most of the store's records of the study that is called `study` ("" for none) have, the newest
//      of those that equally many have: a run on other images by mistake has few records;
//   3. the digest that the store's last run saved;
//   4. the digest in the newest record of the store that uses the part (data/sets/data_set_parts.h).
// AddContentDigests() (data/sets/data_set.h) reports `progress`. Errors: a read failure (IsReadFailure() in
// experiments/store/store.h) of the data or of a record; kInvalidArgument for a table of clusters that openset can't
// use.
absl::StatusOr<ResolvedContents> ResolveContentDigests(const Store& store, const std::vector<std::string>& data_folders,
                                                       const ProgressReport& progress,
                                                       const std::vector<TaskSpec>& tasks, const std::string& study,
                                                       Catalog* catalog);

// Saves the digests of the experiment's catalog in the store. Errors: kNotFound for a data set that is not in the
// catalog; a write error (core/files/files.h).
absl::Status RememberContents(const Store& store, const Experiment& experiment);

// ---- Checks that the files that a run will read exist, before anything is written.

// Checks each file that the needed actions of the plan read, once: data files by their checksums, or by reading them if
// they have none; model files only for existence. Draws the folds and validation samples of clusters.
// Errors: an error of the data (data/sets/data_set.h); kNotFound also for a missing model file; kInvalidArgument also
// for a class with too few clusters (SelectSamples() in data/selection.h).
absl::Status CheckInputs(const Plan& plan, const Catalog& catalog, const std::vector<std::string>& data_folders);

// Where a test is too easy: a sentence for each task in which the training samples, or the external images of a method
// that trains with them, have clusters of which other samples are tested. Data sets that can't be read are left out.
std::vector<std::string> SharedClusters(const Plan& plan, const Catalog& catalog,
                                        const std::vector<std::string>& data_folders);

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
