#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>

#include "absl/algorithm/container.h"
#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/files/files.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "core/text/one_line.h"
#include "data/class_names.h"
#include "data/inspect/channel_statistics.h"
#include "data/sets/data_set.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/data_set_problems.h"
#include "data/sets/folder_data_set.h"
#include "tools/cli/data/actions.h"
#include "tools/cli/data/data_flags.h"
#include "tools/cli/flags/library_flags.h"

ABSL_FLAG(double, test_share, 0.2, "Share of each class's images to use as test images, if the folder has no parts.");
ABSL_FLAG(bool, skip_damaged, false, "Leave out images that can't be decoded; the entry lists them.");
ABSL_DECLARE_FLAG(uint64_t, seed);

namespace openset {
namespace {

double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

}  // namespace

absl::Status DescribeImages(const std::string& folder) {
  if (folder.empty()) return absl::InvalidArgumentError("the folder's name is empty: name a folder of images");
  FolderRequest request;
  std::error_code error;
  request.path = std::filesystem::absolute(UserPath(folder), error).lexically_normal().string();
  if (request.path.size() > 1 && request.path.back() == '/') request.path.pop_back();
  request.name = absl::GetFlag(FLAGS_name);
  if (request.name.empty()) request.name = std::filesystem::path(request.path).filename().string();
  if (const std::string problem = NameProblem(request.name); !problem.empty()) {
    return absl::InvalidArgumentError(absl::GetFlag(FLAGS_name).empty()
                                          ? absl::StrCat(OneLine(request.path), ": ", problem, "; give one (--name)")
                                          : absl::StrCat("--name: ", problem));
  }
  request.test_share = absl::GetFlag(FLAGS_test_share);
  if (!(request.test_share > 0 && request.test_share < 1)) {
    return absl::InvalidArgumentError("--test_share: must be above 0 and below 1");
  }
  request.seed = absl::GetFlag(FLAGS_seed);
  OPENSET_ASSIGN_OR_RETURN(DataSetInfo info, DescribeFolder(request));
  const DataSetInfo whole = info;  // with corrupt images
  const std::string& root = info.layout(0).part(0).image_folder().path();
  if (root != request.path && root != JoinPath(request.path, "train")) {
    return absl::InvalidArgumentError(
        absl::StrCat(OneLine(request.path),
                     ": has images, but no folders of classes: make one folder for each class. "
                     "As unknown images of a task it can stay as it is: openset task new NAME --far=",
                     OneLine(request.path)));
  }

  for (const char* part : {"train", "test"}) {
    if (FindPart(info, part).ok()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(OneLine(request.path), ": no class has two images, one to train on and one to test on"));
  }
  std::vector<DamagedImage> damaged;
  ChannelStatistics training;
  for (const std::string& part : PartNames(info)) {
    if (part == "all") continue;  // "train" and "test" together
    OPENSET_ASSIGN_OR_RETURN(const auto source, OpenPart(info, part, {}));
    OPENSET_ASSIGN_OR_RETURN(const auto bad,
                             ForEachImage("reading the images", *source, [&](int64_t, const Image& image) {
                               if (part == "train") training.Add(image);
                             }));
    for (const DamagedImage& image : bad) {
      damaged.push_back(image);
      request.skip.insert(source->Describe(image.sample));
    }
  }
  if (!damaged.empty()) {
    for (const DamagedImage& image : damaged) std::cerr << "openset: " << image.reason << "\n";
    if (!absl::GetFlag(FLAGS_skip_damaged)) {
      return absl::DataLossError(absl::StrCat(
          damaged.size(), " images can't be decoded: repair or remove them, or leave them out with --skip_damaged"));
    }
    // Describes the folder again, because the shares are drawn without the damaged images.
    OPENSET_ASSIGN_OR_RETURN(info, DescribeFolder(request));
    training = {};
    OPENSET_ASSIGN_OR_RETURN(const auto source, OpenPart(info, "train", {}));
    OPENSET_RETURN_IF_ERROR(ForEachImage("reading the images", *source, [&](int64_t, const Image& image) {
                              training.Add(image);
                            }).status());
  }
  for (const double mean : training.Means()) info.add_mean(Rounded(mean));
  for (const double deviation : training.Deviations()) info.add_std(Rounded(deviation));
  for (const FieldProblem& problem : FindDataSetProblems(info)) {
    return absl::InvalidArgumentError(absl::StrCat(request.path, ": ", problem.path, ": ", problem.message));
  }
  OPENSET_ASSIGN_OR_RETURN(
      const std::string path,
      WriteIntoLibrary(
          "catalog", info.name(),
          absl::StrCat("# proto-file: data/catalog.proto\n# proto-message: openset.DataSetInfo\n\n", ToText(info))));
  std::cout << info.name() << ": " << info.class_name_size() << " classes";
  for (const DataSetPart& part : info.layout(0).part()) std::cout << ", " << part.samples() << " in " << part.name();
  std::cout << absl::StrFormat("\nmean %.4f %.4f %.4f, std %.4f %.4f %.4f (training images, with equal weight)\n",
                               info.mean(0), info.mean(1), info.mean(2), info.std(0), info.std(1), info.std(2));
  if (!damaged.empty()) std::cout << "left out: " << damaged.size() << " corrupt images\n";
  for (const std::string& name : whole.class_name()) {
    if (absl::c_linear_search(info.class_name(), name)) continue;
    std::cout << "left out: class " << OneLine(name) << ", all of whose images are corrupt\n";
  }
  for (const std::string& line : LeftOutLines(request.path, whole)) std::cout << line << "\n";
  std::map<std::string, std::string> first;  // by composed name
  for (const std::string& name : info.class_name()) {
    const auto [known, is_new] = first.emplace(Composed(name), name);
    if (is_new) continue;
    std::cerr << "hint: two classes are called " << OneLine(name) << ", in two forms of Unicode; are they one?\n";
  }
  for (const std::string& line : FewImagesLines(info)) std::cerr << "hint: " << line << "\n";
  std::cout << path << "\n";
  return absl::OkStatus();
}

}  // namespace openset
