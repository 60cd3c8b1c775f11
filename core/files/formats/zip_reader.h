// Reading zip archives: those that NumPy (.npz) and PyTorch (.pth) write.
#ifndef OPENSET_CORE_FILES_FORMATS_ZIP_READER_H_
#define OPENSET_CORE_FILES_FORMATS_ZIP_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/files/input_file.h"

namespace openset {

class ZipReader {
 public:
  // What all that is read from an archive may inflate to together: this, or this often its own size.
  static constexpr int64_t kMaxInflatedBytes = int64_t{1} << 30;
  static constexpr int64_t kMaxInflation = 64;

  // `max_bytes`: in place of these two, unless it is 0. Errors, without the path: kInvalidArgument if the file is not
  // there, none that OpenRegularFile() opens, or no archive; kDataLoss if its list of members is damaged.
  static absl::StatusOr<ZipReader> Open(const std::string& path, int64_t max_bytes = 0);
  // The same of a file that is open; what was read of it makes no difference.
  static absl::StatusOr<ZipReader> Open(InputFile file, int64_t max_bytes = 0);

  // The members' names in order. Of several of one name the last is taken.
  std::vector<std::string> Names() const;
  bool Has(absl::string_view name) const;
  // Kind and rights of a member, as in stat(2), where its archive says them; 0 where not.
  uint32_t UnixMode(absl::string_view name) const;
  // What all members together take in the file, as its list says; at most 2^63 - 1.
  int64_t PackedBytes() const { return packed_bytes_; }

  // The content of a member. What its header declares is never allocated before it is there. Errors: kDataLoss if there
  // is none of the name, it is damaged (its length and CRC are compared), or all that was read is more than an archive
  // of this size may inflate to; kOutOfRange if it has more than `max_bytes`.
  absl::StatusOr<std::string> Read(absl::string_view name, size_t max_bytes = std::numeric_limits<size_t>::max());

  // The same, part by part: the length and the CRC are compared behind the last one. Errors: also those of `use`.
  using UsePart = std::function<absl::Status(absl::string_view part)>;
  absl::Status ReadParts(absl::string_view name, size_t max_bytes, const UsePart& use);

 private:
  struct Place {  // minizip's unz64_file_pos
    uint64_t in_list;
    uint64_t number;
    uint32_t unix_mode;
    uint64_t bytes;  // as the list says
    uint32_t crc;
    bool is_plain;  // neither compressed nor encrypted
  };

  ZipReader(void* zip, int64_t archive_bytes, int64_t max_bytes);

  std::unique_ptr<void, int (*)(void*)> zip_;
  int descriptor_ = -1;  // that of the file, which zip_ owns
  std::map<std::string, Place, std::less<>> members_;
  int64_t archive_bytes_;
  int64_t max_bytes_;  // of all that is read together
  int64_t read_bytes_ = 0;
  int64_t packed_bytes_ = 0;
};

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_ZIP_READER_H_
