// The settings of a command: its flags, and the --deploy file that says where and how work runs.
#ifndef OPENSET_TOOLS_CLI_FLAGS_RUN_CONFIG_H_
#define OPENSET_TOOLS_CLI_FLAGS_RUN_CONFIG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/proto/text_proto.h"
#include "data/catalog.h"
#include "experiments/engine/deploy.pb.h"
#include "experiments/spec/spec_folders.h"
#include "experiments/store/store.h"
#include "experiments/study/study.h"
#include "tools/cli/devices/devices.h"

namespace openset {

// Made once, when the command line is parsed, and passed by reference. A flag that the command does not take, or that
// was not given, has its default.
struct RunConfig {
#define OPENSET_FLAG(type, name, value, ...) type name = value;
#define OPENSET_FLAG_IN(place, name, ...)
#define OPENSET_REPEATED_FLAG(place, name, ...)
#include "tools/cli/flags/flag_list.inc"
#undef OPENSET_FLAG
#undef OPENSET_FLAG_IN
#undef OPENSET_REPEATED_FLAG

  std::set<std::string> given;  // the names of the flags on the command line

  // How a study is loaded, without what MakeStudyOptions() adds.
  StudyOptions study;

  // The --deploy file, overridden by the flags. Defaults are explicit, paths absolute, `memory` and `memory_mb` set if
  // `memory_per_slot_mb` is; without `worker`, the worker is the one that comes with this program.
  DeploySpec deployment;
  std::shared_ptr<const TextSource> deploy_source;  // of the file, if one was given
  // Where data is searched: the deployment's folders, then the folders that OPENSET_DATA names, the one in the
  // program's runfiles, and ~/.cache/openset/data.
  std::vector<std::string> data_folders;

  // Where a field of the deployment was set: "--jobs", "FILE:LINE: jobs".
  std::string Where(const std::string& field) const;
  // Whether this process is a job that `openset run --engine=slurm` has submitted.
  bool is_slurm_task() const { return !slurm_task.empty(); }
};

// One row of flag_list.inc.
struct Flag {
  std::string name, help;
  std::map<std::string, std::string> help_in;  // the help in some commands, by their names
  std::string default_value;                   // as text
  bool is_switch = false;                      // Boolean: "--NAME" and "--noNAME" need no value
  // Sets the flag from text, or adds the text if the flag may be given several times. Returns false, perhaps with an
  // error, if the text is not valid.
  std::function<bool(absl::string_view text, RunConfig* config, std::string* error)> parse;
};

// Precondition: there is such a flag.
const Flag& FindFlag(absl::string_view name);

// Reads the --deploy file and fills in `deployment` and `data_folders`.
// Errors: kNotFound if there is no such file; kInvalidArgument with the flag, or the file and line, and the field.
absl::Status Deploy(RunConfig* config);

// The values of --engine, from DeploySpec.Engine: "local", "slurm".
std::vector<std::string> EngineNames();

// What a command does with the store. Commands that make results (`run`, `score` and `records merge`) may create it,
// but not in a folder that contains other files. All others create nothing and refuse a folder that is not a store.
// kFields: reads the fields of records (LoadFields() in experiments/store/records/record_fields.h); kRecords: reads
// records, and no outputs or checkpoints; kRead: reads all; kChange: removes or moves results.
enum class StoreUse { kFields, kRecords, kRead, kChange, kMayMake };

// Returns the deployment's store: a folder or, for a command that reads, a bundle (OpenBundle() in
// experiments/store/merge.h), which is opened once and stays open. With `private`, only the user can read what this
// process writes from now on. The store may be missing or its folder empty. Errors: kFailedPrecondition for another
// schema version, for a path that is not a folder, for a folder that is not a store (except with kMayMake), for a
// bundle that would be changed, and if the store is to be private and others can read it; kNotFound for a bundle that
// doesn't exist; kDataLoss for a corrupt one; kPermissionDenied if one of the store's own folders is a link; a read
// error (core/files/system_calls.h); a write error of the folder into which a bundle is unpacked.
absl::StatusOr<Store> OpenStore(const RunConfig& config, StoreUse use);

// A store that --store names is there, if only as an empty folder; the default one may not have been made yet. Errors:
// as Store::CheckIsStore() and OpenStore().
absl::Status CheckNamedStore(const RunConfig& config);

// Whether a path names a bundle: it is not a folder, and ends in ".zip" or has a bundle's last line.
bool IsBundle(const std::string& path);

// The name NAME of the published study in a folder, whose files are NAME.textproto and NAME.zip: the folder's own, or,
// if a path was given that was renamed, the name of the only bundle in it.
std::string NameOfStudyFolder(const std::string& argument);

// The bundle that `argument` names: itself, or the bundle of a published study's folder (NameOfStudyFolder()),
// "results/pets/pets.zip" of "results/pets". "" if it names none.
std::string BundleOf(const std::string& argument);

// If `argument` names a bundle, makes that the store, as --store=BUNDLE does, and returns true. Errors:
// kInvalidArgument if --store names another store.
absl::StatusOr<bool> UseBundle(const std::string& argument, RunConfig* config);

// The deployment's devices. kInvalidArgument if it names none that this machine has.
absl::StatusOr<Devices> FindDevices(const RunConfig& config);

// Returns the absolute form of a path that is relative to the user's folder (`bazel run` changes the working folder).
std::string UserPath(const std::string& path);

// Returns the folders that come with the program, and the libraries in the current folder, OPENSET_LIBRARY and
// --library.
// Errors: kInvalidArgument for a folder that is not a library.
absl::StatusOr<SpecFolders> FindSpecFolders(const RunConfig& config);

// Returns the data sets of these folders.
absl::StatusOr<Catalog> OpenCatalog(const RunConfig& config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_FLAGS_RUN_CONFIG_H_
