// Reading zip archives: those that NumPy (.npz) and PyTorch (.pth) write.
#ifndef OPENSET_CORE_FILES_ZIP_READER_H_
#define OPENSET_CORE_FILES_ZIP_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

class ZipReader {
 public:
  // Errors, without the path: kInvalidArgument if the file is not there or no archive; kDataLoss if its list of members
  // is damaged.
  static absl::StatusOr<ZipReader> Open(const std::string& path);

  // The members' names in order. Of several of one name the last is taken.
  std::vector<std::string> Names() const;
  bool Has(absl::string_view name) const;

  // The content of a member. What its header declares is never allocated before it is there. Errors: kDataLoss if there
  // is none of the name, or it is damaged (its CRC is compared); kOutOfRange if it has more than `max_bytes`.
  absl::StatusOr<std::string> Read(absl::string_view name, size_t max_bytes = std::numeric_limits<size_t>::max());

 private:
  struct Place {  // minizip's unz64_file_pos
    uint64_t in_list;
    uint64_t number;
  };

  explicit ZipReader(void* zip);

  std::unique_ptr<void, int (*)(void*)> zip_;
  std::map<std::string, Place, std::less<>> members_;
};

}  // namespace openset

#endif  // OPENSET_CORE_FILES_ZIP_READER_H_
