#include "core/process/gpu/cuda_library.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

std::string FakeDriver() { return *RunfilesFolder() + "/openset/core/process/gpu/libfake_gpu_driver.so"; }

// A folder like PyTorch's; without a version file if `version` is empty.
std::string TorchFolder(const std::string& name, const std::string& version) {
  std::string folder = JoinPath(::testing::TempDir(), name);
  EXPECT_THAT(MakeFolders(JoinPath(folder, "lib")), IsOk());
  EXPECT_THAT(WriteFileAtomically(JoinPath(folder, "lib/libtorch_cuda.so"), "no library"), IsOk());
  if (!version.empty()) {
    const std::string text = "__all__ = ['__version__']\n__version__ = '" + version + "'\ndebug = False\n";
    EXPECT_THAT(WriteFileAtomically(JoinPath(folder, "version.py"), text), IsOk());
  }
  return folder;
}

TEST(CudaLibrary, IsThatOfAPyTorchOfOurVersion) {
  for (const char* version : {"2.11.0+cu130", "2.11.0"}) {
    const std::string folder = TorchFolder(std::string("torch_") + version, version);
    EXPECT_THAT(CudaLibraryIn(folder), IsOkAndHolds(folder + "/lib/libtorch_cuda.so"));
    setenv("OPENSET_TORCH", folder.c_str(), 1);
    EXPECT_THAT(FindCudaLibrary(), IsOkAndHolds(folder + "/lib/libtorch_cuda.so"));
  }
  unsetenv("OPENSET_TORCH");
}

TEST(CudaLibrary, AnotherVersionIsRefused) {
  for (const char* version : {"2.10.0+cu128", "2.11.0+cu128", "2.11.01", "2.11.0+cpu"}) {
    EXPECT_THAT(CudaLibraryIn(TorchFolder(std::string("other_") + version, version)),
                StatusIs(absl::StatusCode::kFailedPrecondition,
                         AllOf(HasSubstr(std::string("is PyTorch ") + version),
                               HasSubstr("needs 2.11.0 for CUDA 13; 'pip install torch==2.11.0'"))));
  }
  EXPECT_THAT(CudaLibraryIn(TorchFolder("nameless", "")), IsFailedPrecondition("of an unknown version"));
}

TEST(CudaLibrary, WorkersGetThePath) {
  TellWorkers(FakeDriver());
  EXPECT_THAT(FindCudaLibrary(), IsOkAndHolds(FakeDriver()));
  const std::string folder = TorchFolder("named", "2.11.0");
  setenv("OPENSET_TORCH", folder.c_str(), 1);
  EXPECT_THAT(FindCudaLibrary(), IsOkAndHolds(folder + "/lib/libtorch_cuda.so"));
  unsetenv("OPENSET_TORCH");
  TellWorkers("/nowhere");  // does not count
}

TEST(CudaLibrary, ALibraryThatCannotBeOpenedIsNotMissing) {
  const std::string folder = TorchFolder("pipe", "2.11.0"), library = folder + "/lib/libtorch_cuda.so";
  std::filesystem::remove(library);
  ASSERT_EQ(mkfifo(library.c_str(), 0600), 0);
  EXPECT_THAT(CudaLibraryIn(folder), IsDataLoss("lib/libtorch_cuda.so: is a pipe or a device"));
}

TEST(CudaLibrary, AMissingLibraryIsNotFound) {
  setenv("OPENSET_TORCH", "/nowhere/torch", 1);
  EXPECT_THAT(FindCudaLibrary(), IsNotFound("OPENSET_TORCH: /nowhere/torch has no lib/libtorch_cuda.so"));
  unsetenv("OPENSET_TORCH");
  // A Python that fails or is too slow is not one without PyTorch.
  const std::string python = JoinPath(::testing::TempDir(), "failing_python");
  ASSERT_THAT(WriteFileAtomically(python, "#!/bin/sh\necho no memory >&2\nexit 3\n"), IsOk());
  ASSERT_EQ(chmod(python.c_str(), 0700), 0);
  setenv("OPENSET_PYTHON", python.c_str(), 1);
  EXPECT_THAT(FindCudaLibrary(),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(HasSubstr("failing_python names no PyTorch ("), HasSubstr("exited with 3"),
                             HasSubstr("no memory"), HasSubstr("), whose CUDA library is needed"))));
}

// The machine's Python is asked, which would import `importlib` and find a `torch` here.
TEST(CudaLibrary, NothingIsTakenFromTheCurrentFolder) {
  unsetenv("OPENSET_TORCH");
  unsetenv("OPENSET_PYTHON");
  const std::string here = std::filesystem::current_path(), folder = JoinPath(::testing::TempDir(), "hostile");
  ASSERT_THAT(MakeFolders(JoinPath(folder, "torch/lib")), IsOk());
  for (const char* file : {"types.py", "re.py", "importlib.py"}) {
    ASSERT_THAT(WriteFileAtomically(JoinPath(folder, file), "open('ran', 'w')\n"), IsOk());
  }
  ASSERT_THAT(WriteFileAtomically(JoinPath(folder, "torch/__init__.py"), "open('ran', 'w')\n"), IsOk());
  ASSERT_THAT(WriteFileAtomically(JoinPath(folder, "torch/version.py"), "__version__ = '2.11.0'\n"), IsOk());
  ASSERT_THAT(WriteFileAtomically(JoinPath(folder, "torch/lib/libtorch_cuda.so"), "not a library"), IsOk());
  std::filesystem::current_path(folder);
  const absl::StatusOr<std::string> library = FindCudaLibrary();
  std::filesystem::current_path(here);
  EXPECT_FALSE(FileExists(JoinPath(folder, "ran")));
  EXPECT_THAT(library.value_or("none"), ::testing::Not(HasSubstr("hostile")));
}

TEST(CudaLibrary, AnInvalidLibraryCannotBeLoaded) {
  EXPECT_THAT(LoadCudaLibrary(*CudaLibraryIn(TorchFolder("broken", "2.11.0"))),
              IsFailedPrecondition("CUDA library can't be loaded: "));
  EXPECT_THAT(LoadCudaLibrary(FakeDriver()), IsOk());
}

TEST(CheckGpuDriver, OneThatIsTooOldIsRefused) {
  for (const char* enough : {"13000", "13020", "14000"}) {
    setenv("FAKE_GPU_CUDA", enough, 1);
    EXPECT_THAT(CheckGpuDriver(FakeDriver()), IsOk());
  }
  setenv("FAKE_GPU_CUDA", "12040", 1);
  EXPECT_THAT(CheckGpuDriver(FakeDriver()),
              IsFailedPrecondition("can run CUDA 12.4, and openset needs CUDA 13.0: install driver 580 or later, or"));
  unsetenv("FAKE_GPU_CUDA");
  EXPECT_THAT(CheckGpuDriver("libno_such_driver.so.1"), StatusIs(absl::StatusCode::kNotFound));
}

TEST(CheckGpu, FromComputeCapability75) {
  EXPECT_THAT(CheckGpu({"Tesla T4", 0, 7, 5}), IsOk());
  EXPECT_THAT(CheckGpu({"NVIDIA H200", 0, 9, 0}), IsOk());
  EXPECT_THAT(CheckGpu({"Tesla V100", 0, 7, 0}),
              IsFailedPrecondition("Tesla V100 has compute capability 7.0, and CUDA 13 needs 7.5 or later"));
}

}  // namespace
}  // namespace openset
