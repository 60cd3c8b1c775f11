#include "tools/cli/flags/deploy_flags.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/proto/overlay.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "experiments/action/memory_limits.h"
#include "tools/cli/flags/library_flags.h"

// They are optional, to distinguish a flag that is not given from one that is given its default.
ABSL_FLAG(std::optional<std::string>, deploy, std::nullopt,
          "A .textproto file that says where and how work runs: store, data_folder, engine, jobs, devices, worker, "
          "actions_per_gpu, memory (experiments/engine/deploy.proto). The flags below override it.");
ABSL_FLAG(std::optional<std::string>, store, std::nullopt,
          "Folder of records, checkpoints, outputs and reports. Default: openset-store.");
ABSL_FLAG(std::optional<std::string>, data, std::nullopt,
          "Folders with data files, separated by commas. openset searches them before those in the environment "
          "variable OPENSET_DATA, those that come with the program, and ~/.cache/openset/data. With `task`: the data "
          "set of a new task, by name, or a folder that contains a folder for each class.");
ABSL_FLAG(std::optional<std::string>, devices, std::nullopt,
          "cpu; cuda:0,1 for these GPUs; auto for all GPUs that 'openset devices' says can be used, otherwise cpu. For "
          "studies that leave the device open. Default: auto.");
ABSL_FLAG(std::optional<std::string>, engine, std::nullopt,
          "What runs the actions: local, on this machine; slurm, as job arrays of the cluster to which this machine "
          "can submit (with the settings in `slurm` of the --deploy file). Default: local.");
ABSL_FLAG(
    std::optional<int>, jobs, std::nullopt,
    "CPU slots. A training takes one for each thread that its study gives it. 0: the number of CPUs. Default: 0.");
ABSL_FLAG(std::optional<int64_t>, memory_per_slot, std::nullopt,
          "The memory that an action takes, in MB: openset runs as many actions at a time as fit into the machine's "
          "memory. 0: memory is not counted. Default: 0.");
ABSL_FLAG(std::optional<int>, retries, std::nullopt,
          "How often openset retries an action whose worker died, hung or ran out of memory. Default: 2.");
ABSL_FLAG(std::optional<int>, max_failures, std::nullopt,
          "Start nothing new after this many actions have failed; 0: continue with everything that does not depend on "
          "them. Default: 0.");
ABSL_FLAG(std::optional<bool>, keep_going, std::nullopt,
          "After a failure, continue with everything that does not depend on it; --nokeep_going is --max_failures=1. "
          "Default: true.");
ABSL_FLAG(
    std::optional<bool>, private, std::nullopt,
    "Only you may read and write what the command writes: folders have mode 0700, files 0600. Refuses a store that "
    "others can already read. Default: what the umask allows.");
ABSL_FLAG(std::optional<std::string>, worker, std::nullopt,
          "The program that trains and infers. Default: the one that comes with openset.");

namespace openset {
namespace {

std::string Absolute(const std::string& path) {
  std::error_code error;  // of ""
  return std::filesystem::absolute(path, error).lexically_normal().string();
}

// The file's spec, its paths absolute.
absl::StatusOr<TextSource> ReadDeploy(const std::string& path, DeploySpec* spec) {
  OPENSET_ASSIGN_OR_RETURN(TextSource source, ReadTextProto(path, spec));
  const std::string folder = std::filesystem::path(Absolute(path)).parent_path().string();
  const auto resolve = [&folder](std::string* text) { *text = Absolute(JoinPath(folder, *text)); };
  if (spec->has_store()) resolve(spec->mutable_store());
  for (std::string& data : *spec->mutable_data_folder()) resolve(&data);
  if (spec->has_worker()) resolve(spec->mutable_worker());
  const bool counts = IsAnySet(spec->memory());
  if (spec->has_memory_mb() && !counts && spec->memory_per_slot_mb() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        source.Where("memory_mb"), ": set actions' memory too: memory { train_mb: ... } or memory_per_slot_mb: ..."));
  }
  if (!spec->has_memory_mb() && counts) {
    return absl::InvalidArgumentError(absl::StrCat(source.Where("memory"), ": set the total too: memory_mb: ..."));
  }
  return source;
}

// The values of the flags, and which were given.
absl::StatusOr<DeploySpec> FlagsGiven(std::vector<std::string>* given) {
  DeploySpec spec;
  const auto take = [given](const char* name, const auto& flag) {
    auto value = absl::GetFlag(flag);
    if (value.has_value()) given->push_back(name);
    return value;
  };
  if (const auto store = take("store", FLAGS_store)) spec.set_store(Absolute(UserPath(*store)));
  if (const auto data = take("data", FLAGS_data)) {
    for (absl::string_view folder : absl::StrSplit(*data, ',', absl::SkipEmpty())) {
      spec.add_data_folder(Absolute(UserPath(std::string(folder))));
    }
  }
  if (const auto engine = take("engine", FLAGS_engine)) {
    DeploySpec::Engine value;
    const std::vector<std::string> names = EngineNames();
    if (std::find(names.begin(), names.end(), *engine) == names.end() ||
        !DeploySpec::Engine_Parse(absl::AsciiStrToUpper(*engine), &value)) {
      return absl::InvalidArgumentError(absl::StrCat("--engine: ", UnknownName("engine", *engine, names)));
    }
    spec.set_engine(value);
  }
  if (const auto jobs = take("jobs", FLAGS_jobs)) spec.set_jobs(*jobs);
  if (const auto devices = take("devices", FLAGS_devices)) spec.set_devices(*devices);
  if (const auto memory = take("memory_per_slot", FLAGS_memory_per_slot)) spec.set_memory_per_slot_mb(*memory);
  if (const auto retries = take("retries", FLAGS_retries)) spec.set_retries(*retries);
  const auto max_failures = take("max_failures", FLAGS_max_failures);
  if (const auto keep_going = take("keep_going", FLAGS_keep_going)) {
    if (max_failures.has_value() && *keep_going != (*max_failures != 1)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", *keep_going ? "" : "no", "keep_going: can't be combined with ", "--max_failures=", *max_failures));
    }
    if (!max_failures.has_value()) spec.set_max_failures(*keep_going ? 0 : 1);
  }
  if (max_failures.has_value()) spec.set_max_failures(*max_failures);
  if (const auto is_private = take("private", FLAGS_private)) spec.set_private_(*is_private);
  if (const auto worker = take("worker", FLAGS_worker)) spec.set_worker(Absolute(UserPath(*worker)));
  for (const FieldProblem& problem : FindProblems(spec, Completeness::kPartial)) {
    const absl::string_view flag = absl::StripSuffix(problem.path, "_mb");  // the flag has the field's name
    return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", problem.message));
  }
  return spec;
}

constexpr mode_t kOfOthers = 077;

// Applies to this process and its children from now on.
absl::Status BePrivate(const Store& store, const std::string& where) {
  umask(umask(0) | kOfOthers);
  struct stat info;
  if (stat(store.folder().c_str(), &info) != 0 || (info.st_mode & kOfOthers) == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(where, ": other users can read the store ", store.folder(),
                                                    "; 'chmod -R go= ", store.folder(), "' makes it private"));
}

bool IsNotMadeYet(const Store& store) {
  const absl::StatusOr<std::vector<std::string>> names = ListFolder(store.folder());
  return names.ok() ? names->empty() : !FileExists(store.folder());
}

}  // namespace

std::string Deployment::Where(const std::string& field) const {
  if (!source.has_value() || std::count(flags.begin(), flags.end(), field) > 0) return absl::StrCat("--", field);
  return source->Where(field);
}

std::vector<std::string> EngineNames() {
  std::vector<std::string> names;
  for (int value = DeploySpec::ENGINE_UNSPECIFIED + 1; value < DeploySpec::Engine_ARRAYSIZE; ++value) {
    names.push_back(absl::AsciiStrToLower(DeploySpec::Engine_Name(value)));
  }
  return names;
}

absl::StatusOr<Deployment> DeploymentFromFlags() {
  Deployment deployment;
  if (const std::optional<std::string> file = absl::GetFlag(FLAGS_deploy); file.has_value()) {
    OPENSET_ASSIGN_OR_RETURN(deployment.source, ReadDeploy(UserPath(*file), &deployment.spec));
  }
  OPENSET_ASSIGN_OR_RETURN(const DeploySpec flags, FlagsGiven(&deployment.flags));
  Overlay(flags, &deployment.spec);
  if (!deployment.spec.has_store()) deployment.spec.set_store(Absolute(UserPath(deployment.spec.store())));
  FillDefaults(&deployment.spec);
  if (deployment.spec.worker().empty()) deployment.spec.clear_worker();
  return deployment;
}

absl::StatusOr<Store> StoreFromFlags(StoreUse use) {
  OPENSET_ASSIGN_OR_RETURN(const Deployment deployment, DeploymentFromFlags());
  Store store(deployment.spec.store());
  if (deployment.spec.private_()) OPENSET_RETURN_IF_ERROR(BePrivate(store, deployment.Where("private")));
  if (use == StoreUse::kMayMake || IsNotMadeYet(store)) {
    OPENSET_RETURN_IF_ERROR(store.CheckVersion());
  } else {
    OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
  }
  return store;
}

absl::StatusOr<std::vector<std::string>> DataFoldersFromFlags() {
  OPENSET_ASSIGN_OR_RETURN(const Deployment deployment, DeploymentFromFlags());
  std::vector<std::string> folders(deployment.spec.data_folder().begin(), deployment.spec.data_folder().end());
  if (const char* variable = std::getenv("OPENSET_DATA"); variable != nullptr) {
    for (absl::string_view folder : absl::StrSplit(variable, ',', absl::SkipEmpty())) {
      folders.push_back(Absolute(UserPath(std::string(folder))));
    }
  }
  const absl::StatusOr<std::string> runfiles = RunfilesFolder();
  if (runfiles.ok()) folders.push_back(JoinPath(*runfiles, "openset/data/packaged"));
  if (std::string folder = UserCacheFolder("data"); !folder.empty()) folders.push_back(std::move(folder));
  return folders;
}

absl::StatusOr<Devices> DevicesFromFlags() {
  OPENSET_ASSIGN_OR_RETURN(const Deployment deployment, DeploymentFromFlags());
  absl::StatusOr<Devices> devices = ChooseDevices(deployment.spec.devices(), ThisGpuMachine());
  if (!devices.ok()) return Annotate(devices.status(), deployment.Where("devices"));
  return devices;
}

}  // namespace openset
