#include "data/sets/folder_data_set.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/proto/proto_rules.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "data/formats/part_format.h"
#include "data/path_below.h"
#include "data/readers/image_folder.h"

namespace openset {
namespace {

bool IsFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

// Whether all images of a class's folder are to be skipped.
bool IsSkipped(const FolderListing& listing, size_t folder, const std::set<std::string>& skip) {
  if (skip.empty()) return false;
  const std::string path = JoinPath(listing.root, listing.folder[folder]);
  return absl::c_all_of(listing.images[folder].Split(),
                        [&](absl::string_view name) { return skip.count(JoinPath(path, name)) > 0; });
}

// Returns the folders in `root` that have images, sorted, with their images. Adds links to nothing to `request->skip`,
// if they are skipped.
absl::StatusOr<FolderListing> ClassesIn(const std::string& root, FolderRequest* request) {
  OPENSET_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(root));
  std::vector<std::string> folders;
  for (const std::string& name : names) {
    if (name[0] != '.' && IsFolder(JoinPath(root, name))) folders.push_back(name);
  }
  OPENSET_ASSIGN_OR_RETURN(FolderListing all, ListingMemory::OfUser().List(root, folders, request->sub_folders));
  FolderListing classes{root, {}, {}};
  for (size_t i = 0; i < folders.size(); ++i) {
    if (all.images[i].count == 0) continue;
    classes.folder.push_back(folders[i]);
    classes.images.push_back(std::move(all.images[i]));
  }
  if (request->skip_links_to_nothing) {
    for (const std::string& link : LinksToNothing(classes)) request->skip.insert(JoinPath(root, link));
  }
  return classes;
}

// Returns the sorted names of the folders in which not all images are skipped.
std::vector<std::string> KeptClasses(const FolderListing& listing, const std::set<std::string>& skip) {
  std::vector<std::string> classes;
  for (size_t i = 0; i < listing.folder.size(); ++i) {
    if (!IsSkipped(listing, i, skip)) classes.push_back(listing.folder[i]);
  }
  return classes;
}

// Removes all other folders. `classes` is sorted.
void KeepOnly(const std::vector<std::string>& classes, FolderListing* listing) {
  FolderListing kept{listing->root, {}, {}};
  for (size_t i = 0; i < listing->folder.size(); ++i) {
    if (!absl::c_binary_search(classes, listing->folder[i])) continue;
    kept.folder.push_back(listing->folder[i]);
    kept.images.push_back(std::move(listing->images[i]));
  }
  *listing = std::move(kept);
}

// Returns the images of a class's folder to skip, as "CLASS/FILE".
std::set<std::string> SkippedOf(const FolderListing& listing, const std::string& folder, const FolderRequest& request) {
  std::set<std::string> skipped;
  const std::string prefix = absl::StrCat(listing.root, "/");
  for (const std::string& image : request.skip) {
    if (absl::StartsWith(image, absl::StrCat(prefix, folder, "/"))) skipped.insert(image.substr(prefix.size()));
  }
  return skipped;
}

// What the parts in one folder need of it, each of which is looked at once.
struct PartsFolder {
  FolderListing listing;
  std::string digest;  // of the listing
  // Of FolderRequest.clusters, if there is such a table.
  ImageClusters clusters;
  std::string clusters_sha256;
};

absl::StatusOr<PartsFolder> LookAt(FolderListing listing, const FolderRequest& request) {
  PartsFolder folder;
  std::set<std::string> skip;
  const std::string prefix = absl::StrCat(listing.root, "/");
  for (const std::string& image : request.skip) {
    if (absl::StartsWith(image, prefix)) skip.insert(image.substr(prefix.size()));
  }
  OPENSET_ASSIGN_OR_RETURN(folder.digest, ListingDigest(listing, skip));
  if (!request.clusters.empty()) {
    OPENSET_ASSIGN_OR_RETURN(folder.clusters, ReadImageClusters(request.clusters, listing.root));
    OPENSET_ASSIGN_OR_RETURN(folder.clusters_sha256, Sha256HexOfFile(request.clusters));
  }
  folder.listing = std::move(listing);
  return folder;
}

// Adds a part with all the images of a folder or a share of them.
absl::Status AddPart(const std::string& name, const PartsFolder& folder, const FolderRequest& request,
                     const FolderShare* share, DataSetInfo* info) {
  const FolderListing& listing = folder.listing;
  DataSetPart* part = info->mutable_layout(0)->add_part();
  part->set_name(name);
  ImageFolderFiles* files = part->mutable_image_folder();
  files->set_path(listing.root);
  files->set_exif_orientation(true);
  if (request.sub_folders) files->set_sub_folders(true);
  files->set_listing_sha256(folder.digest);
  if (share != nullptr) *files->mutable_share() = *share;
  if (!request.clusters.empty()) {
    files->mutable_clusters()->set_path(request.clusters);
    files->mutable_clusters()->add_sha256(folder.clusters_sha256);
  }
  ImageFolderOptions::Share drawn;
  if (share != nullptr) drawn = {share->seed(), share->test_share(), share->test()};
  ClusterShare whole(drawn);
  int64_t samples = 0;
  for (const std::string& class_name : info->class_name()) {
    const auto found = std::lower_bound(listing.folder.begin(), listing.folder.end(), class_name);
    int64_t count = 0;
    if (found != listing.folder.end() && *found == class_name) {
      const std::set<std::string> skipped = SkippedOf(listing, class_name, request);
      for (const std::string& image : skipped) files->add_skip(image);
      const ImageNames& images = listing.images[found - listing.folder.begin()];
      count = images.count - static_cast<int64_t>(skipped.size());
      if (!request.clusters.empty()) {
        OPENSET_ASSIGN_OR_RETURN(
            const std::vector<int64_t> cluster,
            ClustersOf(listing.root, class_name, NamesWithout(skipped, class_name, images), folder.clusters));
        if (share != nullptr) count = absl::c_count(whole.AddClass(class_name, cluster), share->test());
      }
    }
    if (share != nullptr && request.clusters.empty()) count = SizeOfShare(drawn, count);
    part->add_samples_per_class(count);
    samples += count;
  }
  part->set_samples(samples);
  return absl::OkStatus();
}

// The folders of the parts; `train` is empty if the folder has none.
struct PartFolders {
  std::string train, test, val;
};

PartFolders PartFoldersIn(const std::string& path) {
  const auto find = [&](const char* name) { return IsFolder(JoinPath(path, name)) ? JoinPath(path, name) : ""; };
  PartFolders parts{find("train"), find("test"), find("val")};
  if (parts.test.empty()) std::swap(parts.test, parts.val);
  if (parts.train.empty() || parts.test.empty()) return {};
  return parts;
}

absl::Status NoImages(const std::string& folder) {
  const std::vector<std::string> lines = LeftOutLines(folder, {});
  return absl::InvalidArgumentError(absl::StrCat(
      OneLine(folder),
      ": no folder in it has images (.png, .jpg, .webp, .tif, .gif, .bmp ...); make one "
      "folder for each class",
      absl::c_any_of(lines, [](const std::string& line) { return absl::StrContains(line, "in sub-folders"); })
          ? ", or read the sub-folders of the classes' folders by openset data describe --sub_folders"
          : "",
      lines.empty() ? "" : " (folders of parts are called train, test and val); ", absl::StrJoin(lines, "; ")));
}

// Checks that classes can have the names of their folders.
absl::Status CheckNames(const FolderListing& listing) {
  for (const std::string& name : listing.folder) {
    const std::string why = IsUtf8(name) ? WhyNotBelow(name) : "is not UTF-8";
    if (why.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat(OneLine(listing.root), ": the name of the folder '", OneLine(name),
                                                   "' ", why, "; classes have the names of their folders: rename it"));
  }
  return absl::OkStatus();
}

// Returns the folder as the only class in the folder above it, if it directly contains images.
absl::StatusOr<FolderListing> AsOneClass(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string root = slash == 0 ? "/" : path.substr(0, slash);
  OPENSET_ASSIGN_OR_RETURN(FolderListing listing, ListingMemory::OfUser().List(root, {path.substr(slash + 1)}));
  if (listing.images[0].count == 0) return NoImages(path);
  return listing;
}

}  // namespace

absl::StatusOr<DataSetInfo> DescribeFolder(const FolderRequest& given) {
  FolderRequest request = given;
  if (request.path.empty() || request.path[0] != '/') {
    return absl::InvalidArgumentError(absl::StrCat("'", request.path, "' is not an absolute path"));
  }
  if (!IsFolder(request.path)) return absl::NotFoundError(absl::StrCat("no such folder: ", request.path));
  const PartFolders parts = PartFoldersIn(request.path);
  const bool has_parts = !parts.train.empty();
  OPENSET_ASSIGN_OR_RETURN(FolderListing listing, ClassesIn(has_parts ? parts.train : request.path, &request));
  if (listing.folder.empty() && has_parts) return NoImages(parts.train);
  if (listing.folder.empty()) {
    OPENSET_ASSIGN_OR_RETURN(listing, AsOneClass(request.path));
  }
  OPENSET_RETURN_IF_ERROR(CheckNames(listing));
  FolderListing tested;
  std::vector<std::string> classes = KeptClasses(listing, request.skip);
  if (has_parts) {
    OPENSET_ASSIGN_OR_RETURN(tested, ClassesIn(parts.test, &request));
    if (tested.folder.empty()) return NoImages(parts.test);
    OPENSET_RETURN_IF_ERROR(CheckNames(tested));
    std::vector<std::string> all;
    absl::c_set_union(classes, KeptClasses(tested, request.skip), std::back_inserter(all));
    classes = std::move(all);
    KeepOnly(classes, &tested);
  }
  KeepOnly(classes, &listing);
  if (classes.empty()) return absl::DataLossError(absl::StrCat(request.path, ": no image is left"));
  DataSetInfo info;
  info.set_name(request.name);
  info.set_title(absl::StrCat("images of ", classes.size(), " classes in ", request.path));
  for (const std::string& name : classes) info.add_class_name(name);
  info.set_channels(3);
  info.set_height(0);
  info.set_width(0);
  info.add_layout();
  OPENSET_ASSIGN_OR_RETURN(const PartsFolder folder, LookAt(std::move(listing), request));
  if (has_parts) {
    OPENSET_ASSIGN_OR_RETURN(const PartsFolder tested_folder, LookAt(std::move(tested), request));
    OPENSET_RETURN_IF_ERROR(AddPart("train", folder, request, nullptr, &info));
    OPENSET_RETURN_IF_ERROR(AddPart("test", tested_folder, request, nullptr, &info));
    if (!parts.val.empty()) {
      OPENSET_ASSIGN_OR_RETURN(FolderListing validation, ClassesIn(parts.val, &request));
      KeepOnly(classes, &validation);
      if (!validation.folder.empty()) {
        OPENSET_ASSIGN_OR_RETURN(const PartsFolder validation_folder, LookAt(std::move(validation), request));
        OPENSET_RETURN_IF_ERROR(AddPart("val", validation_folder, request, nullptr, &info));
      }
    }
  } else {
    FolderShare share;
    share.set_seed(request.seed);
    share.set_test_share(request.test_share);
    share.set_test(false);
    OPENSET_RETURN_IF_ERROR(AddPart("train", folder, request, &share, &info));
    share.set_test(true);
    OPENSET_RETURN_IF_ERROR(AddPart("test", folder, request, &share, &info));
    OPENSET_RETURN_IF_ERROR(AddPart("all", folder, request, nullptr, &info));
  }
  // No class has an image for one of the shares, if each has only one.
  google::protobuf::RepeatedPtrField<DataSetPart>* added = info.mutable_layout(0)->mutable_part();
  for (int p = added->size() - 1; p >= 0; --p) {
    if (added->Get(p).samples() == 0 && !has_parts) added->DeleteSubrange(p, 1);
  }
  for (const DataSetPart& part : *added) {
    if (part.samples() > 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(OneLine(part.image_folder().path()), ": no image is left for part '", part.name(), "'"));
  }
  FillDefaults(&info);
  return info;
}

namespace {

constexpr size_t kMostNamed = 10;

// "a, b and 3 others".
std::string Named(const std::vector<std::string>& names) {
  const size_t shown = names.size() <= kMostNamed + 1 ? names.size() : kMostNamed;
  const std::string text = absl::StrJoin(names.begin(), names.begin() + static_cast<int64_t>(shown), ", ");
  return names.size() == shown ? text : absl::StrCat(text, " and ", names.size() - shown, " others");
}

std::string ImagesText(int64_t n) { return absl::StrCat(n, n == 1 ? " image" : " images"); }

// What is in a folder, apart from names that begin with a dot.
struct FolderContent {
  int64_t images = 0;
  std::map<std::string, int64_t> others;  // files of other formats, by extension
  int64_t below = 0;                      // images in sub-folders; links to folders are not followed
  bool is_empty = true;
};

// Extensions of image files that are not read.
bool IsOtherImage(const std::string& extension) {
  static const auto* const kOthers = new std::set<std::string>{
      ".heic", ".heif", ".avif", ".jxl", ".jp2", ".j2k", ".jpx", ".jxr", ".psd", ".tga",  ".exr", ".hdr", ".pfm",
      ".pam",  ".pcx",  ".ico",  ".svg", ".eps", ".pdf", ".dng", ".cr2", ".cr3", ".nef",  ".arw", ".orf", ".rw2",
      ".raf",  ".dcm",  ".nii",  ".npy", ".npz", ".mat", ".mp4", ".avi", ".mov", ".webm", ".mkv", ".dib", ".apng"};
  return kOthers->count(extension) > 0;
}

FolderContent ContentOf(const std::string& folder, int depth = 0) {
  constexpr int kMostDepth = 8;
  FolderContent content;
  const absl::StatusOr<std::vector<std::string>> names = ListFolder(folder);
  if (!names.ok()) return content;
  for (const std::string& name : *names) {
    if (name[0] == '.') continue;
    content.is_empty = false;
    const std::string path = JoinPath(folder, name);
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::symlink_status(path, error);
    if (std::filesystem::is_directory(status)) {
      if (depth == kMostDepth) continue;
      const FolderContent inner = ContentOf(path, depth + 1);
      content.below += inner.images + inner.below;
    } else if (IsImageName(name)) {
      ++content.images;
    } else if (name != "Thumbs.db" && name != "desktop.ini") {
      const size_t dot = name.rfind('.');
      ++content.others[dot == std::string::npos ? "" : absl::AsciiStrToLower(name.substr(dot))];
    }
  }
  return content;
}

// "5 .heic, 2 without extension".
std::string OthersText(const std::map<std::string, int64_t>& others) {
  std::vector<std::string> kinds;
  for (const auto& [extension, count] : others) {
    kinds.push_back(absl::StrCat(count, " ", extension.empty() ? "without extension" : OneLine(extension)));
  }
  return Named(kinds);
}

// Finds what is left out of the folders of classes.
class LeftOut {
 public:
  // `is_read_below`: whether images in sub-folders of classes are read.
  explicit LeftOut(bool is_read_below) : is_read_below_(is_read_below) {}

  // `prefix`: of names, "train/".
  void Look(const std::string& root, const std::string& prefix, const DataSetInfo& info, bool is_class) {
    const absl::StatusOr<std::vector<std::string>> names = ListFolder(root);
    if (!names.ok()) return;
    int64_t loose = 0;
    for (const std::string& name : *names) {
      if (name[0] == '.') continue;
      const std::string path = JoinPath(root, name), shown = OneLine(absl::StrCat(prefix, name));
      std::error_code error;
      if (std::filesystem::is_symlink(path, error) && !std::filesystem::exists(path, error)) {
        dangling_.push_back(shown);
      } else if (IsFolder(path)) {
        FolderContent content = ContentOf(path);
        if (is_read_below_) content.images += std::exchange(content.below, 0);
        if (content.images > 0 && absl::c_linear_search(info.class_name(), name)) {
          LookAtClass(shown, content);
        } else {
          AddFolder(shown, content);
        }
      } else if (IsImageName(name)) {
        ++loose;
      }
    }
    if (loose > 0 && !is_class) {
      loose_.push_back(absl::StrCat(ImagesText(loose), prefix.empty() ? "" : absl::StrCat(" in ", prefix)));
    }
  }

  // A folder beside "train" and "test".
  void AddBeside(const std::string& name, const FolderContent& content) {
    beside_.push_back(absl::StrCat(OneLine(name), " (", ImagesText(content.images + content.below), ")"));
  }

  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    const auto add = [&](const std::vector<std::string>& items, absl::string_view before, absl::string_view after) {
      if (!items.empty()) lines.push_back(absl::StrCat("left out: ", before, Named(items), after));
    };
    add(folders_, "", "");
    add(files_, "", ": these formats are not read; convert them to PNG or JPEG");
    add(nested_, "images in sub-folders: ",
        "; only the images directly in a class's folder are read (openset data "
        "describe --sub_folders reads these, too)");
    add(loose_, "", " in no class's folder");
    add(dangling_, "links to nothing: ", "");
    add(beside_, "folders beside those of the parts: ", "");
    return lines;
  }

 private:
  void LookAtClass(const std::string& shown, const FolderContent& content) {
    std::map<std::string, int64_t> others;
    for (const auto& [extension, count] : content.others) {
      if (IsOtherImage(extension)) others[extension] = count;
    }
    if (!others.empty()) files_.push_back(absl::StrCat(OthersText(others), " in ", shown));
    if (content.below > 0) nested_.push_back(absl::StrCat(content.below, " of ", shown));
  }

  void AddFolder(const std::string& shown, const FolderContent& content) {
    std::vector<std::string> found;
    if (content.images > 0) found.push_back(absl::StrCat(ImagesText(content.images), ", but no class has this name"));
    if (!content.others.empty()) found.push_back(OthersText(content.others));
    if (content.below > 0) found.push_back(absl::StrCat(ImagesText(content.below), " in sub-folders"));
    if (found.empty()) found.emplace_back(content.is_empty ? "empty" : "no image");
    folders_.push_back(absl::StrCat(shown, " (", absl::StrJoin(found, ", "), ")"));
  }

  const bool is_read_below_;
  std::vector<std::string> folders_, files_, nested_, loose_, dangling_, beside_;
};

}  // namespace

std::vector<std::string> LeftOutLines(const std::string& folder, const DataSetInfo& info) {
  LeftOut left_out(info.layout_size() > 0 && info.layout(0).part(0).image_folder().sub_folders());
  const PartFolders parts = PartFoldersIn(folder);
  if (parts.train.empty()) {
    const bool is_class = info.layout_size() > 0 && info.layout(0).part(0).image_folder().path() != folder;
    left_out.Look(folder, "", info, is_class);
    return left_out.Lines();
  }
  for (const std::string& part : {parts.train, parts.test, parts.val}) {
    if (!part.empty()) left_out.Look(part, absl::StrCat(part.substr(part.rfind('/') + 1), "/"), info, false);
  }
  for (const std::string& name : ListFolder(folder).value_or(std::vector<std::string>())) {
    const std::string path = JoinPath(folder, name);
    if (name[0] == '.' || path == parts.train || path == parts.test || path == parts.val || !IsFolder(path)) continue;
    left_out.AddBeside(name, ContentOf(path));
  }
  return left_out.Lines();
}

std::vector<std::string> FewImagesLines(const DataSetInfo& info) {
  std::vector<std::string> lines;
  for (const DataSetPart& part : info.layout(0).part()) {
    const bool is_train = part.name() == "train";
    if (!is_train && part.name() != "test") continue;
    std::vector<std::string> without;
    for (int id = 0; id < info.class_name_size(); ++id) {
      if (SamplesOfClass(part, id) == 0) without.push_back(OneLine(info.class_name(id)));
    }
    if (without.empty()) continue;
    lines.push_back(absl::StrCat(
        "no image to ", is_train ? "train on: " : "test on: ", Named(without),
        is_train ? "; a task can only have such a class as an unknown one" : "; a task has to leave such a class out"));
  }
  return lines;
}

}  // namespace openset
