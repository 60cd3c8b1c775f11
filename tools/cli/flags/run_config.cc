#include "tools/cli/flags/run_config.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <type_traits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/flags/marshalling.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "core/files/input_file.h"
#include "core/files/runfiles.h"
#include "core/machine/machine.h"
#include "core/proto/overlay.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"
#include "experiments/action/stage.h"
#include "experiments/store/merge.h"
#include "experiments/store/records/record_fields.h"

namespace openset {
namespace {

using FlagTable = std::map<std::string, Flag, std::less<>>;

// What the help of a flag says in a command, instead of what it says in others or, if `is_more`, after it.
struct CommandHelp {
  const char* command;
  const char* text;
  bool is_more = false;
};
CommandHelp In(const char* command, const char* text) { return {command, text}; }
CommandHelp AlsoIn(const char* command, const char* text) { return {command, text, /*is_more=*/true}; }

template <typename T, typename... Own>
Flag& AddFlag(absl::string_view name, T& (*field)(RunConfig& config), FlagTable* flags, const char* help, Own... own) {
  RunConfig defaults;
  Flag flag = {std::string(absl::StripSuffix(name, "_")),
               help,
               {},
               absl::UnparseFlag(field(defaults)),
               std::is_same_v<T, bool> || std::is_same_v<T, std::optional<bool>>};
  for (const CommandHelp& of : std::initializer_list<CommandHelp>{own...}) {
    flag.help_in[of.command] = of.is_more ? absl::StrCat(help, " ", of.text) : of.text;
  }
  flag.parse = [field](absl::string_view text, RunConfig* config, std::string* error) {
    return absl::ParseFlag(text, &field(*config), error);
  };
  return (*flags)[flag.name] = std::move(flag);
}

// Each text is added to the field, which has no commas to separate them.
void AddRepeatedFlag(absl::string_view name, std::vector<std::string>& (*field)(RunConfig& config), FlagTable* flags,
                     const char* help) {
  AddFlag(name, field, flags, help).parse = [field](absl::string_view text, RunConfig* config, std::string* /*error*/) {
    for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      field(*config).emplace_back(line);
    }
    return true;
  };
}

FlagTable MakeFlags() {
  FlagTable flags;
#define OPENSET_FIELD(path)          \
  +[](RunConfig & config) -> auto& { \
    return config.path;              \
  }
#define OPENSET_FLAG(type, name, value, ...) AddFlag(#name, OPENSET_FIELD(name), &flags, __VA_ARGS__);
#define OPENSET_FLAG_IN(place, name, ...) AddFlag(#name, OPENSET_FIELD(place.name), &flags, __VA_ARGS__);
#define OPENSET_REPEATED_FLAG(place, name, help) AddRepeatedFlag(#name, OPENSET_FIELD(place.name), &flags, help);
#include "tools/cli/flags/flag_list.inc"
#undef OPENSET_FIELD
#undef OPENSET_FLAG
#undef OPENSET_FLAG_IN
#undef OPENSET_REPEATED_FLAG
  return flags;
}

// The file's spec, its paths absolute.
absl::StatusOr<TextSource> ReadDeploy(const std::string& path, DeploySpec* spec) {
  OPENSET_ASSIGN_OR_RETURN(TextSource source, ReadTextProto(path, spec));
  const std::string folder = std::filesystem::path(AbsolutePath(path)).parent_path().string();
  const auto resolve = [&folder](std::string* text) { *text = AbsolutePath(JoinPath(folder, *text)); };
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

// The fields that flags set.
absl::StatusOr<DeploySpec> SpecOfFlags(const RunConfig& config) {
  DeploySpec spec;
  if (config.store.has_value()) spec.set_store(AbsolutePath(UserPath(*config.store)));
  for (absl::string_view folder : absl::StrSplit(config.data.value_or(""), ',', absl::SkipEmpty())) {
    spec.add_data_folder(AbsolutePath(UserPath(std::string(folder))));
  }
  if (config.engine.has_value()) {
    DeploySpec::Engine value;
    const std::vector<std::string> names = EngineNames();
    if (!absl::c_linear_search(names, *config.engine) ||
        !DeploySpec::Engine_Parse(absl::AsciiStrToUpper(*config.engine), &value)) {
      return absl::InvalidArgumentError(absl::StrCat("--engine: ", UnknownName("engine", *config.engine, names)));
    }
    spec.set_engine(value);
  }
  if (config.jobs.has_value()) spec.set_jobs(*config.jobs);
  if (config.devices.has_value()) spec.set_devices(*config.devices);
  if (config.memory_per_slot.has_value()) spec.set_memory_per_slot_mb(*config.memory_per_slot);
  if (config.retries.has_value()) spec.set_retries(*config.retries);
  const std::optional<int> max_failures = config.max_failures;
  if (const std::optional<bool> keep_going = config.keep_going; keep_going.has_value()) {
    if (max_failures.has_value() && *keep_going != (*max_failures != 1)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", *keep_going ? "" : "no", "keep_going: can't be combined with ", "--max_failures=", *max_failures));
    }
    spec.set_max_failures(*keep_going ? 0 : 1);
  }
  if (max_failures.has_value()) spec.set_max_failures(*max_failures);
  if (config.private_.has_value()) spec.set_private_(*config.private_);
  if (config.worker.has_value()) spec.set_worker(AbsolutePath(UserPath(*config.worker)));
  for (const FieldProblem& problem : FindProblems(spec, Completeness::kPartial)) {
    const absl::string_view flag = absl::StripSuffix(problem.path, "_mb");  // the flag has the field's name
    return absl::InvalidArgumentError(absl::StrCat("--", flag, ": ", problem.message));
  }
  return spec;
}

// The deployment's own, then those that are always searched.
std::vector<std::string> DataFolders(const DeploySpec& deployment) {
  std::vector<std::string> folders(deployment.data_folder().begin(), deployment.data_folder().end());
  if (const char* variable = std::getenv("OPENSET_DATA"); variable != nullptr) {
    for (absl::string_view folder : absl::StrSplit(variable, ',', absl::SkipEmpty())) {
      folders.push_back(AbsolutePath(UserPath(std::string(folder))));
    }
  }
  const absl::StatusOr<std::string> runfiles = RunfilesFolder();
  if (runfiles.ok()) folders.push_back(JoinPath(*runfiles, "openset/data/packaged"));
  if (std::string folder = UserCacheFolder("data"); !folder.empty()) folders.push_back(std::move(folder));
  return folders;
}

constexpr mode_t kOfOthers = 077;

// Applies to this process and its children from now on.
absl::Status CloseToOthers(const Store& store, const std::string& where) {
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

// Whether a file has the last line of a bundle (experiments/store/bundle.h).
bool EndsAsBundle(const std::string& path) {
  constexpr absl::string_view kLine = "openset bundle sha256:";
  constexpr int64_t kBytes = 86;
  absl::StatusOr<InputFile> file = OpenRegularFile(path);
  if (!file.ok() || file->bytes() < kBytes || !file->MoveTo(file->bytes() - kBytes).ok()) return false;
  std::string line(kLine.size(), '\0');
  const absl::StatusOr<size_t> read = file->Read(line.data(), line.size());
  return read.ok() && *read == line.size() && line == kLine;
}

// The libraries in the current folder, where `data describe` and `task new` write. openset's source tree doesn't count:
// its files come with the program, which may be older.
SpecFolders LibrariesInCurrentFolder() {
  const std::string folder = UserPath(".");
  return FileExists(JoinPath(folder, "experiments/methods")) ? SpecFolders{} : SpecFoldersBelow(folder);
}

}  // namespace

const Flag& FindFlag(absl::string_view name) {
  static const auto* const flags = new FlagTable(MakeFlags());
  return flags->find(name)->second;
}

std::string RunConfig::Where(const std::string& field) const {
  return deploy_source != nullptr && given.count(field) == 0 ? deploy_source->Where(field) : absl::StrCat("--", field);
}

std::vector<std::string> EngineNames() {
  std::vector<std::string> names;
  for (int value = DeploySpec::ENGINE_UNSPECIFIED + 1; value < DeploySpec::Engine_ARRAYSIZE; ++value) {
    names.push_back(absl::AsciiStrToLower(DeploySpec::Engine_Name(value)));
  }
  return names;
}

absl::Status Deploy(RunConfig* config) {
  DeploySpec& spec = config->deployment;
  if (config->deploy.has_value()) {
    OPENSET_ASSIGN_OR_RETURN(TextSource source, ReadDeploy(UserPath(*config->deploy), &spec));
    config->deploy_source = std::make_shared<const TextSource>(std::move(source));
  }
  OPENSET_ASSIGN_OR_RETURN(const DeploySpec flags, SpecOfFlags(*config));
  Overlay(flags, &spec);
  if (!spec.has_store()) spec.set_store(AbsolutePath(UserPath(spec.store())));
  FillDefaults(&spec);
  if (spec.worker().empty()) spec.clear_worker();
  if (const int64_t each = spec.memory_per_slot_mb(); each > 0) {
    FillMemory(each, spec.mutable_memory());
    if (spec.memory_mb() == 0) spec.set_memory_mb(MachineMemoryMb());
  }
  config->data_folders = DataFolders(spec);
  return absl::OkStatus();
}

bool IsBundle(const std::string& path) {
  std::error_code error;
  if (path.empty() || std::filesystem::is_directory(UserPath(path), error)) return false;
  return absl::EndsWith(path, ".zip") || EndsAsBundle(UserPath(path));
}

std::string NameOfStudyFolder(const std::string& argument) {
  const std::filesystem::path given = std::filesystem::path(argument).lexically_normal();
  const std::filesystem::path folder = given.has_filename() ? given : given.parent_path();
  const std::string name = folder.filename().string(), path = UserPath(folder.string());
  std::error_code error;
  // A dangling link counts as an unreadable bundle, not as a missing one.
  for (const char* end : {".zip", ".textproto"}) {
    const std::string own = JoinPath(path, absl::StrCat(name, end));
    if (std::filesystem::exists(std::filesystem::symlink_status(own, error))) return name;
  }
  // Without a folder before it, the name may be a study's, and a store's bundles are not the store.
  if (!absl::StrContains(argument, '/') || FileExists(JoinPath(path, "version"))) return name;
  std::vector<std::string> bundles;
  for (const std::string& file : ListFolder(path).value_or(std::vector<std::string>())) {
    if (absl::EndsWith(file, ".zip") && EndsAsBundle(JoinPath(path, file))) bundles.push_back(file);
  }
  return bundles.size() == 1 ? std::string(absl::StripSuffix(bundles[0], ".zip")) : name;
}

std::string BundleOf(const std::string& argument) {
  std::error_code error;
  if (argument.empty() || !std::filesystem::is_directory(UserPath(argument), error)) {
    return IsBundle(argument) ? argument : "";
  }
  const std::filesystem::path given = std::filesystem::path(argument).lexically_normal();
  const std::filesystem::path folder = given.has_filename() ? given : given.parent_path();
  const std::string bundle = absl::StrCat(JoinPath(folder.string(), NameOfStudyFolder(argument)), ".zip");
  // A dangling link counts as an unreadable bundle, not as a missing one.
  return std::filesystem::exists(std::filesystem::symlink_status(UserPath(bundle), error)) ? bundle : "";
}

absl::StatusOr<bool> UseBundle(const std::string& argument, RunConfig* config) {
  const std::string bundle = BundleOf(argument);
  if (bundle.empty()) {
    // A path of neither a bundle nor a study is neither a query nor a trial.
    std::error_code error;
    const std::string path = UserPath(argument);
    if (!absl::StrContains(argument, '/') || argument.find_first_of("=<>~ ") != std::string::npos ||
        absl::EndsWith(argument, ".textproto") || FileExists(absl::StrCat(path, ".textproto"))) {
      return false;
    }
    if (std::filesystem::is_directory(path, error)) {
      const std::filesystem::path folder = std::filesystem::path(absl::StrCat(path, "/")).lexically_normal();
      const std::string name = folder.parent_path().filename().string();
      if (FileExists(JoinPath(path, absl::StrCat(name, ".textproto")))) return false;
      if (FileExists(JoinPath(path, "version"))) {
        return absl::InvalidArgumentError(absl::StrCat(argument, ": is a store: give it by --store=", argument));
      }
      std::string other;
      for (const std::string& file : ListFolder(path).value_or(std::vector<std::string>())) {
        if (absl::EndsWith(file, ".zip")) other = file;
      }
      return absl::InvalidArgumentError(absl::StrCat(
          argument, ": is a folder without a bundle ", name, ".zip",
          other.empty() ? ""
                        : absl::StrCat(": it has ", OneLine(other), ": name that file, or give the folder, ",
                                       "its spec and its bundle the same name")));
    }
    if (!std::filesystem::exists(path, error))
      return absl::NotFoundError(absl::StrCat(argument, ": no such file or folder"));
    return absl::InvalidArgumentError(absl::StrCat(argument, ": is not a bundle (BUNDLE.zip)"));
  }
  if (config->store.value_or(bundle) != bundle) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--store: ", bundle, " is read instead of a store: leave one of them out, or name the spec of a study"));
  }
  config->store = bundle;
  config->deployment.set_store(AbsolutePath(UserPath(bundle)));
  return true;
}

absl::StatusOr<Store> OpenStore(const RunConfig& config, StoreUse use) {
  if (IsBundle(config.deployment.store())) {
    // As the user named it.
    const std::string path = config.store.has_value() ? UserPath(*config.store) : config.deployment.store();
    if (use == StoreUse::kChange || use == StoreUse::kMayMake) return BundleIsReadOnly(path);
    static std::map<std::pair<std::string, StoreUse>, Store> opened;  // until the process exits
    const auto found = opened.find({path, use});
    if (found != opened.end()) return found->second;
    const absl::Span<const int> without =
        use == StoreUse::kFields ? absl::MakeConstSpan(kNotInFields) : absl::Span<const int>();
    OPENSET_ASSIGN_OR_RETURN(const Store bundle, OpenBundle(path, use == StoreUse::kRead, without));
    return opened.emplace(std::pair(path, use), bundle).first->second;
  }
  Store store(config.deployment.store());
  if (config.deployment.private_()) OPENSET_RETURN_IF_ERROR(CloseToOthers(store, config.Where("private")));
  if (use == StoreUse::kMayMake) {
    OPENSET_RETURN_IF_ERROR(store.CheckMayBeMade());
  } else if (IsNotMadeYet(store)) {
    OPENSET_RETURN_IF_ERROR(store.CheckVersion());
  } else {
    OPENSET_RETURN_IF_ERROR(store.CheckIsStore());
  }
  return store;
}

absl::Status CheckNamedStore(const RunConfig& config) {
  if (!config.store.has_value()) return absl::OkStatus();
  OPENSET_ASSIGN_OR_RETURN(const Store store, OpenStore(config, StoreUse::kRead));
  std::error_code missing;
  const bool is_empty = std::filesystem::is_empty(store.folder(), missing);
  return missing || !is_empty ? store.CheckIsStore() : absl::OkStatus();
}

absl::StatusOr<Devices> FindDevices(const RunConfig& config) {
  absl::StatusOr<Devices> devices = ChooseDevices(config.deployment.devices(), ThisGpuMachine());
  if (!devices.ok()) return Annotate(devices.status(), config.Where("devices"));
  return devices;
}

std::string UserPath(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  return folder == nullptr ? path : JoinPath(folder, path);
}

absl::StatusOr<SpecFolders> FindSpecFolders(const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  SpecFolders folders = SpecFoldersBelow(JoinPath(runfiles, "openset"));
  AddSpecFolders(LibrariesInCurrentFolder(), &folders);
  const char* variable = std::getenv("OPENSET_LIBRARY");
  for (const auto& [name, list] : {std::pair<std::string, std::string>{"OPENSET_LIBRARY", variable ? variable : ""},
                                   {"--library", config.library}}) {
    for (absl::string_view folder : absl::StrSplit(list, ',', absl::SkipEmpty())) {
      const std::string path = UserPath(std::string(folder));
      const SpecFolders more = SpecFoldersBelow(path);
      if (more.empty()) {
        return absl::InvalidArgumentError(absl::StrCat(name, ": ", path,
                                                       FileExists(path) ? " has" : " doesn't exist, or has",
                                                       " none of methods/, presets/, tasks/, catalog/ and specs/"));
      }
      AddSpecFolders(more, &folders);
    }
  }
  return folders;
}

absl::StatusOr<Catalog> OpenCatalog(const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders, FindSpecFolders(config));
  return Catalog::Open(folders.catalog);
}

}  // namespace openset
