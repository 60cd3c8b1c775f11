#include "tools/cli/run/engine_options.h"

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/in_parallel.h"
#include "core/process/build_info.h"
#include "core/process/python.h"
#include "core/process/subprocess.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"

namespace openset {
namespace {

// Prints the version of the installed PyTorch and its library folders, one per line; nothing if there is none.
// It does not import PyTorch, which takes seconds.
constexpr char kFindTorch[] = R"py(
import glob, importlib.metadata, importlib.util, os
try:
    print(importlib.metadata.version("torch"))
    torch = os.path.dirname(importlib.util.find_spec("torch").origin)
    print(os.path.join(torch, "lib"))
    for folder in sorted(glob.glob(os.path.join(os.path.dirname(torch), "nvidia", "*", "lib"))):
        print(folder)
except (ImportError, AttributeError):
    pass
)py";

// "2.11" of "2.11.0+cu130".
std::string MinorVersion(const std::string& version) {
  const std::vector<std::string> parts = absl::StrSplit(version, '.');
  return parts.size() < 2 ? version : absl::StrCat(parts[0], ".", parts[1]);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> WorkerProgram(const std::string& worker, const std::string& runfiles) {
  const std::string version_file = JoinPath(runfiles, "openset/tools/torch_version");
  if (!FileExists(version_file)) return std::vector<std::string>{worker};
  OPENSET_ASSIGN_OR_RETURN(const std::string versions, ReadFile(version_file));
  std::vector<std::string> tested = absl::StrSplit(versions, '\n', absl::SkipWhitespace());
  for (std::string& version : tested) version = MinorVersion(version);
  if (tested.empty()) return absl::InternalError(absl::StrCat(version_file, " names no version"));
  const std::string& wanted = tested[0];

  const std::string python = PythonProgram();
  absl::StatusOr<std::string> found = CaptureOutput(PythonCode(kFindTorch));
  if (absl::IsNotFound(found.status())) {
    return absl::NotFoundError(absl::StrCat("training needs Python with PyTorch ", wanted, ": ", python,
                                            " can't be started; set OPENSET_PYTHON to the Python that has it"));
  }
  OPENSET_RETURN_IF_ERROR(found.status());
  std::vector<std::string> lines = absl::StrSplit(*found, '\n', absl::SkipWhitespace());
  const std::string install = absl::StrCat(python, " -m pip install 'torch==", wanted, ".*'");
  if (lines.size() < 2 || !absl::c_linear_search(tested, MinorVersion(lines[0]))) {
    std::vector<std::string> others(tested.begin() + 1, tested.end());
    return absl::FailedPreconditionError(
        absl::StrCat("training needs PyTorch ", wanted,
                     others.empty() ? "" : absl::StrCat(" (or ", absl::StrJoin(others, ", "), ")"), "; ", python,
                     " has ", lines.empty() ? "none" : lines[0], ": ", install));
  }
  const std::string has = lines[0];
  lines.erase(lines.begin());
  // Containers may name the folder of the GPU's driver here.
  if (const char* inherited = std::getenv("LD_LIBRARY_PATH"); inherited != nullptr && *inherited != '\0') {
    lines.push_back(inherited);
  }
  std::vector<std::string> command = {"/usr/bin/env", absl::StrCat("LD_LIBRARY_PATH=", absl::StrJoin(lines, ":")),
                                      worker};
  if (MinorVersion(has) == wanted) return command;
  // The worker was compiled for another version: this one must have all of its symbols, and the same tensors.
  std::vector<std::string> check = command;
  check.push_back("--check");
  const absl::Status fits = CaptureOutput(check).status();
  if (fits.ok()) return command;
  return absl::FailedPreconditionError(absl::StrCat("the worker for PyTorch ", wanted, " doesn't run with ", has,
                                                    " of ", python, ": ", install, " (", OneLine(fits.message()), ")"));
}

int CpuSlots(const DeploySpec& deploy) { return deploy.jobs() > 0 ? deploy.jobs() : NumThreads(); }

absl::StatusOr<LocalEngineOptions> EngineOptions(const RunConfig& config,
                                                 const std::vector<std::string>& catalog_folders, bool with_trainer) {
  const DeploySpec& deploy = config.deployment;
  LocalEngineOptions options;
  options.capacity.cpu_threads = CpuSlots(deploy);
  OPENSET_ASSIGN_OR_RETURN(const Devices devices, FindDevices(config));
  options.capacity.gpus = devices.cuda;
  options.capacity.shares_per_gpu = deploy.actions_per_gpu();
  options.capacity.memory_mb = deploy.memory_mb();
  options.hang = absl::Seconds(deploy.hang_seconds());
  options.data_folders = config.data_folders;

  options.evaluator = {ProgramPath(), "evaluate-worker"};
  options.evaluator.insert(options.evaluator.end(), catalog_folders.begin(), catalog_folders.end());
  if (!with_trainer) return options;
  options.trainer = {deploy.worker()};
  std::string worker = deploy.worker();
  if (worker.empty()) {
    OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
    worker =
        JoinPath(runfiles, IsStamped() ? "openset/tools/openset_worker" : "openset/tools/openset_worker_unstamped");
    OPENSET_ASSIGN_OR_RETURN(options.trainer, WorkerProgram(worker, runfiles));
  }
  if (!FileExists(worker)) return absl::NotFoundError(absl::StrCat("the worker doesn't exist: ", worker));
  options.trainer.insert(options.trainer.end(), catalog_folders.begin(), catalog_folders.end());
  return options;
}

}  // namespace openset
