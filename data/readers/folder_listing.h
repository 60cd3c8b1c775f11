// Lists the images in folders, and remembers the lists from one run to the next.
#ifndef OPENSET_DATA_READERS_FOLDER_LISTING_H_
#define OPENSET_DATA_READERS_FOLDER_LISTING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

// Whether a file with this name counts as an image: it ends, in any case, in .png, .jpg, .jpeg, .jpe, .jfif, .webp,
// .tif, .tiff, .gif, .bmp, .ppm, .pgm, .pbm or .pnm, and does not start with a dot.
bool IsImageName(absl::string_view name);

// The images directly in one folder: entries for which IsImageName() is true.
struct ImageNames {
  bool is_there = false;  // whether the folder exists
  int64_t count = 0;
  absl::string_view text;                    // the names in byte order, each followed by '\0'
  std::shared_ptr<const std::string> holds;  // the memory that contains `text`; copies share it

  // Returns views into `text`; a '\0' follows each.
  std::vector<absl::string_view> Split() const;
};

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

  // Lists folders below `root`. A folder that does not exist has no images. Errors, with the folder, for one that can't
  // be read: those of ReadError() (core/files/disk_error.h).
  absl::StatusOr<FolderListing> List(const std::string& root, const std::vector<std::string>& folder) const;

 private:
  std::string folder_;  // "": none
  int64_t min_images_;
};

}  // namespace openset

#endif  // OPENSET_DATA_READERS_FOLDER_LISTING_H_
