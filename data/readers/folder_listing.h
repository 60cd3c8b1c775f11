// Which images lie in folders, remembered from one run to the next.
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

// The images directly in one folder: entries whose names end in .png, .jpg, .jpeg or .webp (in any case) and do not
// start with a dot.
struct ImageNames {
  bool is_there = false;  // the folder
  int64_t count = 0;
  absl::string_view text;                    // the names in the order of their bytes, each followed by '\0'
  std::shared_ptr<const std::string> holds;  // what `text` is part of; copies share it

  // Views into `text`; a '\0' follows each.
  std::vector<absl::string_view> Split() const;
};

struct FolderListing {
  std::string root;
  std::vector<std::string> folder;  // below `root`
  std::vector<ImageNames> images;   // of each of them
};

// Remembers listings in a folder, one file for each root. What is remembered of a folder holds as long as its FileState
// (core/files/file_state.h) is the same; a folder that had not settled when it was listed is not remembered. Processes
// may share a memory; one that can't be written to costs only time, and a damaged file in it is none.
class ListingMemory {
 public:
  // Fewer than `min_images` images in all are always listed: that is about as fast.
  explicit ListingMemory(std::string folder, int64_t min_images = 10000)
      : folder_(std::move(folder)), min_images_(min_images) {}

  // In ~/.cache/openset/listings; remembers nothing where HOME is not set.
  static ListingMemory OfUser();

  // A folder that is not there has no images. Errors: kNotFound, with the folder, for one that can't be read.
  absl::StatusOr<FolderListing> List(const std::string& root, const std::vector<std::string>& folder) const;

 private:
  std::string folder_;  // "": none
  int64_t min_images_;
};

}  // namespace openset

#endif  // OPENSET_DATA_READERS_FOLDER_LISTING_H_
