#include "data/sets/folder_data_set.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/readers/folder_listing.h"
#include "data/readers/image_folder.h"

namespace openset {
namespace {

bool IsFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

// Returns the folders in `root` that have images, sorted, with their images.
absl::StatusOr<FolderListing> ClassesIn(const std::string& root) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(root));
  std::vector<std::string> folders;
  for (const std::string& name : names) {
    if (name[0] != '.' && IsFolder(JoinPath(root, name))) folders.push_back(name);
  }
  OPENSET_ASSIGN_OR_RETURN(FolderListing all, ListingMemory::OfUser().List(root, folders));
  FolderListing classes{root, {}, {}};
  for (size_t i = 0; i < folders.size(); ++i) {
    if (all.images[i].count == 0) continue;
    classes.folder.push_back(folders[i]);
    classes.images.push_back(std::move(all.images[i]));
  }
  return classes;
}

// Returns the images of a class's folder to skip.
std::set<std::string> SkippedOf(const FolderListing& listing, const std::string& folder, const FolderRequest& request) {
  std::set<std::string> skipped;
  const std::string prefix = absl::StrCat(folder, "/");
  for (const std::string& image : request.skip) {
    if (absl::StartsWith(image, prefix) && FileExists(JoinPath(listing.root, image))) skipped.insert(image);
  }
  return skipped;
}

// Adds a part with all the images of a listing or a share of them. `digest`: ListingDigest() of the listing.
void AddPart(const std::string& name, const FolderListing& listing, const std::string& digest,
             const FolderRequest& request, const FolderShare* share, DataSetInfo* info) {
  DataSetPart* part = info->mutable_layout(0)->add_part();
  part->set_name(name);
  ImageFolderFiles* files = part->mutable_image_folder();
  files->set_path(listing.root);
  files->set_exif_orientation(true);
  files->set_listing_sha256(digest);
  if (share != nullptr) *files->mutable_share() = *share;
  int64_t samples = 0;
  for (const std::string& class_name : info->class_name()) {
    const auto found = std::lower_bound(listing.folder.begin(), listing.folder.end(), class_name);
    int64_t count = 0;
    if (found != listing.folder.end() && *found == class_name) {
      const std::set<std::string> skipped = SkippedOf(listing, class_name, request);
      for (const std::string& image : skipped) files->add_skip(image);
      count = listing.images[found - listing.folder.begin()].count - static_cast<int64_t>(skipped.size());
    }
    if (share != nullptr) count = SizeOfShare({share->seed(), share->test_share(), share->test()}, count);
    part->add_samples_per_class(count);
    samples += count;
  }
  part->set_samples(samples);
}

}  // namespace

absl::StatusOr<DataSetInfo> DescribeFolder(const FolderRequest& request) {
  if (request.path.empty() || request.path[0] != '/') {
    return absl::InvalidArgumentError(absl::StrCat("'", request.path, "' is not an absolute path"));
  }
  if (!IsFolder(request.path)) return absl::NotFoundError(absl::StrCat("no such folder: ", request.path));
  const std::string train = JoinPath(request.path, "train");
  std::string test;
  for (const char* name : {"val", "test"}) {
    if (IsFolder(JoinPath(request.path, name))) test = name;
  }
  const bool has_parts = IsFolder(train) && !test.empty();
  OPENSET_ASSIGN_OR_RETURN(const FolderListing listing, ClassesIn(has_parts ? train : request.path));
  const std::vector<std::string>& classes = listing.folder;
  if (classes.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(has_parts ? train : request.path,
                                                   ": no folder in it has images "
                                                   "(.png, .jpg, .jpeg, .webp); make one folder for each class"));
  }
  for (const std::string& name : classes) {
    if (IsUtf8(name)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(listing.root, ": the name of the folder '", OneLine(name),
                     "' is not UTF-8; classes have the names of their folders: rename it"));
  }
  DataSetInfo info;
  info.set_name(request.name);
  info.set_title(absl::StrCat("images of ", classes.size(), " classes in ", request.path));
  for (const std::string& name : classes) info.add_class_name(name);
  info.set_channels(3);
  info.set_height(0);
  info.set_width(0);
  info.add_layout();
  OPENSET_ASSIGN_OR_RETURN(const std::string digest, ListingDigest(listing));
  if (has_parts) {
    OPENSET_ASSIGN_OR_RETURN(const FolderListing tested, ClassesIn(JoinPath(request.path, test)));
    for (const std::string& name : tested.folder) {
      if (absl::c_binary_search(classes, name)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(tested.root, " has a class '", name, "' that ", train, " has no images of"));
    }
    OPENSET_ASSIGN_OR_RETURN(const std::string tested_digest, ListingDigest(tested));
    AddPart("train", listing, digest, request, nullptr, &info);
    AddPart("test", tested, tested_digest, request, nullptr, &info);
  } else {
    FolderShare share;
    share.set_seed(request.seed);
    share.set_test_share(request.test_share);
    share.set_test(false);
    AddPart("train", listing, digest, request, &share, &info);
    share.set_test(true);
    AddPart("test", listing, digest, request, &share, &info);
    AddPart("all", listing, digest, request, nullptr, &info);
  }
  FillDefaults(&info);
  return info;
}

}  // namespace openset
