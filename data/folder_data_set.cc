#include "data/folder_data_set.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "data/readers/image_folder.h"

namespace openset {
namespace {

bool IsFolder(const std::string& path) { return std::filesystem::is_directory(path); }

// The folders in `root` that have images, sorted.
absl::StatusOr<std::vector<std::string>> ClassesIn(const std::string& root) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(root));
  std::vector<std::string> classes;
  for (const std::string& name : names) {
    if (name[0] == '.' || !IsFolder(JoinPath(root, name))) continue;
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> images, ImagesIn(JoinPath(root, name)));
    if (!images.empty()) classes.push_back(name);
  }
  return classes;
}

// Adds a part of the images below `root`.
absl::Status AddPart(const std::string& name, const std::string& root, const FolderRequest& request,
                     const FolderShare* share, DataSetInfo* info) {
  DataSetPart* part = info->mutable_layout(0)->add_part();
  part->set_name(name);
  ImageFolderFiles* files = part->mutable_image_folder();
  files->set_path(root);
  files->set_exif_orientation(true);
  const std::vector<std::string> classes(info->class_name().begin(), info->class_name().end());
  OPENSET_ASSIGN_OR_RETURN(*files->mutable_listing_sha256(), ListingDigest(root, classes));
  if (share != nullptr) *files->mutable_share() = *share;
  ImageFolderOptions options;
  for (const std::string& image : request.skip) {
    if (!FileExists(JoinPath(root, image))) continue;
    files->add_skip(image);
    options.skip.insert(image);
  }
  if (share != nullptr) options.share = {share->seed(), share->test_share(), share->test()};
  std::vector<bool> is_empty;
  for (const std::string& folder : classes) is_empty.push_back(!IsFolder(JoinPath(root, folder)));
  OPENSET_ASSIGN_OR_RETURN(const auto source, OpenImageFolder(root, classes, {3, 0, 0}, name, options, is_empty));
  std::vector<int64_t> count(classes.size(), 0);
  for (const int32_t label : source->index().label) ++count[label];
  for (const int64_t samples : count) part->add_samples_per_class(samples);
  part->set_samples(source->index().size());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DataSetInfo> DescribeFolder(const FolderRequest& request) {
  if (request.path.empty() || request.path[0] != '/') {
    return absl::InvalidArgumentError(absl::StrCat("'", request.path, "' is no absolute path"));
  }
  if (!IsFolder(request.path)) return absl::NotFoundError(absl::StrCat("no such folder: ", request.path));
  const std::string train = JoinPath(request.path, "train");
  std::string test;
  for (const char* name : {"val", "test"}) {
    if (IsFolder(JoinPath(request.path, name))) test = name;
  }
  const bool has_parts = IsFolder(train) && !test.empty();
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> classes, ClassesIn(has_parts ? train : request.path));
  if (classes.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(has_parts ? train : request.path,
                                                   ": no folder in it has images "
                                                   "(.png, .jpg, .jpeg, .webp); a folder for each class is wanted"));
  }
  DataSetInfo info;
  info.set_name(request.name);
  info.set_title(absl::StrCat("images of ", classes.size(), " classes in ", request.path));
  for (const std::string& name : classes) info.add_class_name(name);
  info.set_channels(3);
  info.set_height(0);
  info.set_width(0);
  info.add_layout();
  if (has_parts) {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> tested, ClassesIn(JoinPath(request.path, test)));
    for (const std::string& name : tested) {
      if (absl::c_binary_search(classes, name)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(JoinPath(request.path, test), " has a class '", name, "' that ", train, " has no images of"));
    }
    OPENSET_RETURN_IF_ERROR(AddPart("train", train, request, nullptr, &info));
    OPENSET_RETURN_IF_ERROR(AddPart("test", JoinPath(request.path, test), request, nullptr, &info));
  } else {
    FolderShare share;
    share.set_seed(request.seed);
    share.set_test_share(request.test_share);
    share.set_test(false);
    OPENSET_RETURN_IF_ERROR(AddPart("train", request.path, request, &share, &info));
    share.set_test(true);
    OPENSET_RETURN_IF_ERROR(AddPart("test", request.path, request, &share, &info));
    OPENSET_RETURN_IF_ERROR(AddPart("all", request.path, request, nullptr, &info));
  }
  FillDefaults(&info);
  return info;
}

}  // namespace openset
