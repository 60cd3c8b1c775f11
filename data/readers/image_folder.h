// Images in separate files: lists folders, remembers the lists, and decodes images when they are read.
#ifndef OPENSET_DATA_READERS_IMAGE_FOLDER_H_
#define OPENSET_DATA_READERS_IMAGE_FOLDER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "data/image_source.h"

namespace openset {

// ---- Images in separate files, decoded when they are read.

// Files are added one by one, in the order of the samples. Then the object is used like any ImageSource; it reads in as
// many threads as there are processors. Errors of Read(), with the file: a read error (core/files/system_calls.h);
// kDataLoss also if it is not an image that DecodeImage() accepts, or has another size than shape() says.
class ImageFiles final : public ImageSource {
 public:
  // `folder`: each class's folder, in the order of the class ids, or one folder for all. `shape`: 1 or 3 channels, to
  // which every image is converted; if it has a height and width, Read() fails for an image of another size. `part`:
  // the name of the only group. `exif_orientation`: rotate images as the EXIF data of a JPEG file says.
  ImageFiles(std::vector<std::string> folder, const ImageShape& shape, const std::string& part, bool exif_orientation);

  // Allocates memory for `files` files, whose names have `name_bytes` bytes in all, including a '\0' after each.
  void Reserve(int64_t files, int64_t name_bytes);

  // Adds a file. `name`: its path below the folder.
  void Add(int32_t label, absl::string_view name);
  // Adds several files of one class. Each name in `names` is followed by '\0'.
  void AddAll(int32_t label, absl::string_view names);
  // After all files: the cluster of each (SampleIndex.cluster).
  void SetClusters(std::vector<int64_t> cluster) { index_.cluster = std::move(cluster); }

  const SampleIndex& index() const override { return index_; }
  ImageShape shape() const override { return shape_; }
  absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const override;
  absl::Status ReadEach(absl::Span<const int64_t> samples,
                        const std::function<void(int64_t, Image)>& use) const override;
  // The file's path.
  std::string Describe(int64_t sample) const override;

 private:
  absl::StatusOr<Image> ReadOne(int64_t sample) const;

  const std::vector<std::string> folder_;
  const ImageShape shape_;
  const bool exif_orientation_;
  SampleIndex index_;
  std::string names_;                // of all files, each followed by '\0'
  std::vector<int64_t> name_begin_;  // [N]
};

// ---- Lists the images in folders, and remembers the lists from one run to the next.

// Whether a file with this name counts as an image: it ends, in any case, in .png, .jpg, .jpeg, .jpe, .jfif, .webp,
// .tif, .tiff, .gif, .bmp, .ppm, .pgm, .pbm or .pnm, and does not start with a dot.
bool IsImageName(absl::string_view name);

// The images in one folder: entries for which IsImageName() is true; with sub-folders, their paths below it.
struct ImageNames {
  bool is_there = false;  // whether the folder exists
  int64_t count = 0;
  absl::string_view text;                    // the names in byte order, each followed by '\0'
  std::shared_ptr<const std::string> holds;  // the memory that contains `text`; copies share it

  // Returns views into `text`; a '\0' follows each.
  std::vector<absl::string_view> Split() const;
};

// Returns a class's images without those in `skip`, which names them as "CLASS_FOLDER/FILE".
std::vector<absl::string_view> NamesWithout(const std::set<std::string>& skip, const std::string& class_folder,
                                            const ImageNames& images);

struct FolderListing {
  std::string root;
  std::vector<std::string> folder;  // below `root`
  std::vector<ImageNames> images;   // of each folder
};

// Remembers listings in a folder, one file for each root. The listing of a folder is reused as long as the folder's
// FileState (core/files/file_state.h) is unchanged; it is not remembered if the folder had not settled when it was
// listed. Processes may share a memory. A memory that can't be written to only costs time, and a corrupt file in it is
// ignored.
class ListingMemory {
 public:
  // If there are fewer than `min_images` images in all, they are always listed again, which is about as fast.
  explicit ListingMemory(std::string folder, int64_t min_images = 10000)
      : folder_(std::move(folder)), min_images_(min_images) {}

  // The memory in ~/.cache/openset/listings. Remembers nothing if HOME is not set.
  static ListingMemory OfUser();

  // Lists folders below `root`. A folder that does not exist has no images. With `sub_folders`, also images below them
  // (ImageFolderFiles.sub_folders in data/catalog.proto), and remembers nothing. Errors: a read error other than
  // kNotFound for a folder that can't be read.
  absl::StatusOr<FolderListing> List(const std::string& root, const std::vector<std::string>& folder,
                                     bool sub_folders = false) const;

 private:
  std::string folder_;  // "": none
  int64_t min_images_;
};

// ---- Images in separate files, in a folder for each class.

using ImageClusters = std::unordered_map<std::string, int64_t>;

// Reads the clusters of images from a table (.csv) with the columns `image` and `cluster`; others are ignored. An image
// is a path below `root`, or an absolute one; those outside of `root` are left out. A cluster is any text; its number
// is its place in the order of their bytes. Errors: a read error; kInvalidArgument, with file and line, if the table is
// malformed (ReadCsv() in core/files/formats/csv.h), or for a missing column, a cluster without a name and an image in
// two clusters.
absl::StatusOr<ImageClusters> ReadImageClusters(const std::string& file, const std::string& root);

struct ImageFolderOptions {
  // Files to leave out, as "CLASS_FOLDER/FILE", with the folders as in `class_folder`.
  std::set<std::string> skip;
  // Only a share of each class (FolderShare in data/catalog.proto).
  struct Share {
    uint64_t seed = 0;
    double test_share = 0.2;
    bool test = false;
  };
  std::optional<Share> share;
  // How many images of each class to use, the first ones, before a share is taken; 0: all.
  int64_t first_per_class = 0;
  // The cluster of each image, by its path below the root; if empty, there are none. A share keeps clusters whole.
  ImageClusters clusters;
  bool exif_orientation = false;
  bool sub_folders = false;  // ImageFolderFiles.sub_folders
};

// Returns the images of all classes, one class after another, each in the order of ListingMemory::OfUser().
// Nothing is decoded before Read().
//
// `class_folder`: the folders below `root`, in the order of the class ids. `is_empty`: whether each class has no folder
// and no images; an empty list means that all have one. `shape` and `part`: as in ImageFiles. Errors: kNotFound if a
// folder, or a file to skip, does not exist; another read error if a folder can't be read; kInvalidArgument for an
// image without a cluster, if others have one.
absl::StatusOr<std::shared_ptr<const ImageSource>> OpenImageFolder(const std::string& root,
                                                                   const std::vector<std::string>& class_folder,
                                                                   const ImageShape& shape, const std::string& part,
                                                                   const ImageFolderOptions& options = {},
                                                                   const std::vector<bool>& is_empty = {});

// Returns the SHA-256, in hexadecimal, over a line "CLASS_FOLDER/FILE SIZE" for each image below `root`, in the order
// of OpenImageFolder(), including images to skip and images of all shares. It shows whether a file is missing, new or
// truncated without reading any file. A folder that does not exist has no images. A link to nothing that `skip` names
// (ImageFolderOptions) has the SIZE "-". Errors: a read error other than kNotFound for a folder that can't be listed;
// kNotFound for another entry that is not a file, or whose size can't be read.
absl::StatusOr<std::string> ListingDigest(const std::string& root, const std::vector<std::string>& class_folder,
                                          bool sub_folders = false, const std::set<std::string>& skip = {});
absl::StatusOr<std::string> ListingDigest(const FolderListing& listing, const std::set<std::string>& skip = {});

// Returns the images that are links to nothing, as "CLASS_FOLDER/FILE".
std::set<std::string> LinksToNothing(const FolderListing& listing);

// Returns the path of the image that was the last to change, by the times of its content and of its inode; "" if there
// is none. Which images differ from those of an earlier time is not known, and this is the best guess.
std::string LastToChange(const ImageSource& images);

// Returns the cluster of each image of a class. Errors: kInvalidArgument, with the path, for one that has none.
absl::StatusOr<std::vector<int64_t>> ClustersOf(const std::string& root, const std::string& class_folder,
                                                const std::vector<absl::string_view>& names,
                                                const ImageClusters& clusters);

// Returns how many of a class's n images are in the share.
int64_t SizeOfShare(const ImageFolderOptions::Share& share, int64_t n);

// Returns which of a class's n images are in the share: their positions in the order of the names, ascending.
// `class_folder`: the text that names the random stream.
std::vector<int64_t> PlacesOfShare(const ImageFolderOptions::Share& share, const std::string& class_folder, int64_t n);

// Divides samples class by class, as PlacesOfShare() does, with whole clusters: those that no earlier class had, in the
// order of a shuffle, are test samples until there are SizeOfShare() of the class, or more.
class ClusterShare {
 public:
  explicit ClusterShare(const ImageFolderOptions::Share& share) : test_(share) { test_.test = true; }
  // Whether each sample of the next class, whose clusters are given, is in the test share.
  std::vector<bool> AddClass(const std::string& class_folder, const std::vector<int64_t>& cluster);

 private:
  ImageFolderOptions::Share test_;
  std::map<int64_t, bool> is_test_;  // of each cluster so far
};

}  // namespace openset

#endif  // OPENSET_DATA_READERS_IMAGE_FOLDER_H_
