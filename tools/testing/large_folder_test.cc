// The memory of a training whose images do not fit in memory: an epoch over 200,000 PNG files, with a folder for each
// of ten classes. Run by hand; it prints the result.
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

namespace fs = std::filesystem;

constexpr int kClasses = 10;
constexpr int kTrainPerClass = 20000;
constexpr int kTestPerClass = 50;

constexpr char kTask[] = R"(
name: "large_folder"
title: "Many small files"
data_set: "large_folder"
split { known: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] }
unknown { group: "fashion" data_set: "fashion_mnist" }
)";

constexpr char kSpec[] = R"(
name: "large"
task: "large_folder"
split: 0
seed: 0
method: "softmax"
override {
  model { osrci_cnn {} }
  input { size: 32 channels: 3 }
  training { epochs: 1 batch_size: 512 }
}
test_limit_per_class: 50
metric { accuracy {} }
metric { auroc {} }
)";

// Makes the files of class `id`: hard links to one of ten images, 32 x 32 in colour (in memory, the data takes 600 MB).
void MakeClass(const std::string& folder, int id, int files) {
  fs::create_directories(folder);
  const std::string image =
      absl::StrCat(*RunfilesFolder(), "/openset/tools/testing/testdata/folder_images/", id, ".png");
  for (int i = 0; i < files; ++i) {
    const std::string path = absl::StrCat(folder, "/", absl::StrFormat("%05d", i), ".png");
    // In some file systems, a file can have at most 65,000 links.
    if (i == 0) {
      fs::copy_file(image, path);
    } else {
      fs::create_hard_link(absl::StrCat(folder, "/00000.png"), path);
    }
  }
}

std::string CatalogPart(const std::string& name, int per_class) {
  return absl::StrFormat(
      "part { name: '%s' samples: %d samples_per_class: %d image_folder { path: 'large_folder/%s' } }", name,
      kClasses * per_class, per_class, name);
}

TEST(LargeFolder, TrainsAnEpochInLessThan500Megabytes) {
  const OpensetProgram program;
  std::string catalog = "name: 'large_folder' channels: 3 height: 32 width: 32\n";
  for (int id = 0; id < kClasses; ++id) {
    absl::StrAppend(&catalog, "class_name: 'class", id, "'\n");
    MakeClass(absl::StrCat(program.folder(), "/images/large_folder/train/class", id), id, kTrainPerClass);
    MakeClass(absl::StrCat(program.folder(), "/images/large_folder/test/class", id), id, kTestPerClass);
  }
  absl::StrAppend(&catalog, "layout {", CatalogPart("train", kTrainPerClass), CatalogPart("test", kTestPerClass), "}");
  program.Write("data/catalog/large_folder.textproto", catalog);
  program.Write("data/tasks/large_folder.textproto", kTask);
  program.Write("large.textproto", kSpec);

  const ProgramResult result =
      program.Run({"run", "large.textproto", "--devices=cpu", "--jobs=1", "--data=" + program.folder() + "/images"});
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  rusage usage = {};
  ASSERT_EQ(getrusage(RUSAGE_CHILDREN, &usage), 0);
  // In KiB, of the largest child that has ended: the worker.
  const double megabytes = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
  std::cout << result.out << absl::StrFormat("peak resident memory of the worker: %.0f MB\n", megabytes);
  EXPECT_GT(megabytes, 150) << "less than LibTorch takes: was the worker waited for?";
  EXPECT_LT(megabytes, 500);
}

}  // namespace
}  // namespace openset
