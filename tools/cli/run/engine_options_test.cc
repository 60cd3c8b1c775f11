#include "tools/cli/run/engine_options.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/temporary_folder.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

class WorkerProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<TemporaryFolder> made = TemporaryFolder::Make("worker_program");
    ASSERT_THAT(made, IsOk());
    kept_ = *std::move(made);
    folder_ = kept_->path();
    ASSERT_THAT(MakeFolders(absl::StrCat(folder_, "/openset/tools")), IsOk());
  }
  void TearDown() override { unsetenv("OPENSET_PYTHON"); }

  void NeedTorch(const std::string& version) {
    ASSERT_THAT(WriteFileAtomically(absl::StrCat(folder_, "/openset/tools/torch_version"), version), IsOk());
  }

  // A Python that prints `output` whatever it is asked.
  void UsePython(const std::string& output) {
    const std::string path = absl::StrCat(folder_, "/python");
    ASSERT_THAT(WriteFileAtomically(path, absl::StrCat("#!/bin/sh\ncat <<END\n", output, "END\n")), IsOk());
    ASSERT_EQ(chmod(path.c_str(), 0755), 0);
    setenv("OPENSET_PYTHON", path.c_str(), 1);
  }

  std::optional<TemporaryFolder> kept_;
  std::string folder_;
};

TEST_F(WorkerProgramTest, AWorkerWithLibTorchIsStartedDirectly) {
  EXPECT_THAT(WorkerProgram("/w", folder_), IsOkAndHolds(ElementsAre("/w")));
}

TEST_F(WorkerProgramTest, TheLibrariesAreThoseOfTheInstalledPyTorch) {
  NeedTorch("2.11.0\n");
  UsePython("2.11.1+cu130\n/site/torch/lib\n/site/nvidia/cu13/lib\n");
  unsetenv("LD_LIBRARY_PATH");
  EXPECT_THAT(WorkerProgram("/w", folder_),
              IsOkAndHolds(ElementsAre("/usr/bin/env", "LD_LIBRARY_PATH=/site/torch/lib:/site/nvidia/cu13/lib", "/w")));
  // Where a container names the folder of the GPU's driver.
  setenv("LD_LIBRARY_PATH", "/driver:/more", 1);
  EXPECT_THAT(WorkerProgram("/w", folder_),
              IsOkAndHolds(ElementsAre("/usr/bin/env",
                                       "LD_LIBRARY_PATH=/site/torch/lib:/site/nvidia/cu13/lib:/driver:/more", "/w")));
  unsetenv("LD_LIBRARY_PATH");
}

// Of other versions that were tested, each machine's is checked: the loader finds symbols that are missing.
TEST_F(WorkerProgramTest, OtherTestedVersionsAreChecked) {
  NeedTorch("2.11.0\n2.10\n2.12\n");
  UsePython("2.12.1+cpu\n/site/torch/lib\n");
  unsetenv("LD_LIBRARY_PATH");
  const std::string worker = absl::StrCat(folder_, "/worker");
  const auto write = [&](const std::string& script) {
    ASSERT_THAT(WriteFileAtomically(worker, absl::StrCat("#!/bin/sh\n", script, "\n")), IsOk());
    ASSERT_EQ(chmod(worker.c_str(), 0755), 0);
  };
  write("[ \"$1 $LD_LIBRARY_PATH\" = '--check /site/torch/lib' ]");
  EXPECT_THAT(WorkerProgram(worker, folder_),
              IsOkAndHolds(ElementsAre("/usr/bin/env", "LD_LIBRARY_PATH=/site/torch/lib", worker)));
  write("echo 'worker: symbol lookup error: undefined symbol: _ZN2at3tan' >&2; exit 127");
  EXPECT_THAT(WorkerProgram(worker, folder_),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       AllOf(HasSubstr("the worker for PyTorch 2.11 doesn't run with 2.12.1+cpu of "),
                             HasSubstr("-m pip install 'torch==2.11.*'"), HasSubstr("undefined symbol: _ZN2at3tan"))));
  UsePython("2.13.0\n/site/torch/lib\n");
  EXPECT_THAT(WorkerProgram(worker, folder_), IsFailedPrecondition("needs PyTorch 2.11 (or 2.10, 2.12); "));
}

TEST_F(WorkerProgramTest, SaysWhatToInstallForAWrongOrMissingPyTorch) {
  NeedTorch("2.11.0");
  UsePython("2.1.0\n/site/torch/lib\n");
  EXPECT_THAT(WorkerProgram("/w", folder_), StatusIs(absl::StatusCode::kFailedPrecondition,
                                                     AllOf(HasSubstr("needs PyTorch 2.11;"), HasSubstr("has 2.1.0"),
                                                           HasSubstr("-m pip install 'torch==2.11.*'"))));
  UsePython("");
  EXPECT_THAT(WorkerProgram("/w", folder_), IsFailedPrecondition("has none: "));
}

TEST_F(WorkerProgramTest, WithoutPythonTheVariableIsNamed) {
  NeedTorch("2.11.0");
  setenv("OPENSET_PYTHON", "/nowhere/python", 1);
  EXPECT_THAT(WorkerProgram("/w", folder_), IsNotFound("set OPENSET_PYTHON to the Python that has it"));
}

// With this machine's Python, which may not have PyTorch: the query itself must not fail.
TEST_F(WorkerProgramTest, ARealPythonAnswers) {
  NeedTorch("0.0.1");
  EXPECT_THAT(WorkerProgram("/w", folder_), IsFailedPrecondition("training needs PyTorch 0.0; python3 has "));
}

// With them in the path, this Python would run `random.py` and take the libraries of ./torch.
TEST_F(WorkerProgramTest, NothingIsTakenFromTheCurrentFolder) {
  NeedTorch("9.9.9");
  const std::string here = std::filesystem::current_path(), hostile = absl::StrCat(folder_, "/hostile");
  ASSERT_THAT(MakeFolders(absl::StrCat(hostile, "/torch-9.9.9.dist-info")), IsOk());
  for (const char* file : {"random.py", "re.py", "types.py", "glob.py", "torch.py"}) {
    ASSERT_THAT(WriteFileAtomically(absl::StrCat(hostile, "/", file), "open('ran', 'w')\nraise SystemExit(3)\n"),
                IsOk());
  }
  ASSERT_THAT(WriteFileAtomically(absl::StrCat(hostile, "/torch-9.9.9.dist-info/METADATA"),
                                  "Metadata-Version: 2.1\nName: torch\nVersion: 9.9.9\n"),
              IsOk());
  std::filesystem::current_path(hostile);
  const absl::Status answer = WorkerProgram("/w", folder_).status();
  std::filesystem::current_path(here);
  EXPECT_THAT(answer, IsFailedPrecondition("needs PyTorch 9.9; python3 has "));
  EXPECT_FALSE(FileExists(absl::StrCat(hostile, "/ran")));
}

}  // namespace
}  // namespace openset
