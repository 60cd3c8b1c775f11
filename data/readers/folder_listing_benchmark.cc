// Times for listing the images of a folder: for the first time, with a memory, opened as a source, and with the sizes
// of all files. OPENSET_FOLDER names a folder with a folder for each class (tools/peers/image_folder_peer.py --make=N
// makes one); without it, one with 24,000 empty files is made and deleted again. Whether the system has the folder in
// its cache makes a large difference: the first run after a boot is the one that counts.
//
//   OPENSET_FOLDER=/data/big bazel run //data:folder_listing_benchmark
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_format.h"
#include "benchmark/benchmark.h"
#include "core/files/files.h"
#include "core/files/temporary_folder.h"
#include "data/readers/image_folder.h"

namespace openset {
namespace {

// The folder to be listed, and the folder of the memory.
class Folders {
 public:
  Folders() : temporary_(folder_.path()) {
    const char* given = std::getenv("OPENSET_FOLDER");
    root_ = given != nullptr ? std::string(given) : (temporary_ / "images").string();
    if (given == nullptr) MakeFiles();
    classes_ = ListFolder(root_).value();
    // The memory of ListingMemory::OfUser() is below HOME.
    setenv("HOME", temporary_.c_str(), 1);
  }
  const std::string& root() const { return root_; }
  const std::vector<std::string>& classes() const { return classes_; }
  void Forget() const { std::filesystem::remove_all(temporary_ / ".cache"); }

 private:
  void MakeFiles() const {
    for (int folder = 0; folder < 20; ++folder) {
      const std::string path = JoinPath(root_, absl::StrFormat("class%04d", folder));
      std::filesystem::create_directories(path);
      for (int i = 0; i < 1200; ++i) std::ofstream(JoinPath(path, absl::StrFormat("n01440764_%05d.JPEG", i)));
    }
  }

  const TemporaryFolder folder_ = TemporaryFolder::Make("listing_benchmark").value();
  const std::filesystem::path temporary_;
  std::string root_;
  std::vector<std::string> classes_;
};

const Folders& TheFolders() {
  static const Folders folders;
  return folders;
}

FolderListing List() { return ListingMemory::OfUser().List(TheFolders().root(), TheFolders().classes()).value(); }

void Report(benchmark::State& state) {
  int64_t images = 0;
  for (const ImageNames& names : List().images) images += names.count;
  state.counters["images"] = static_cast<double>(images);
}

void BM_ListForTheFirstTime(benchmark::State& state) {
  for (auto _ : state) {
    TheFolders().Forget();
    benchmark::DoNotOptimize(List());
  }
  Report(state);
}
BENCHMARK(BM_ListForTheFirstTime)->Unit(benchmark::kMillisecond)->Iterations(3)->UseRealTime();

// Folders that were changed in the last seconds are listed again.
void BM_ListAgain(benchmark::State& state) {
  List();
  for (auto _ : state) benchmark::DoNotOptimize(List());
  Report(state);
}
BENCHMARK(BM_ListAgain)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_OpenAgain(benchmark::State& state) {
  List();
  for (auto _ : state) {
    benchmark::DoNotOptimize(OpenImageFolder(TheFolders().root(), TheFolders().classes(), {3, 0, 0}, "all").value());
  }
  Report(state);
}
BENCHMARK(BM_OpenAgain)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_SizesOfAllFiles(benchmark::State& state) {
  const FolderListing listing = List();
  for (auto _ : state) benchmark::DoNotOptimize(ListingDigest(listing).value());
  Report(state);
}
BENCHMARK(BM_SizesOfAllFiles)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace openset
