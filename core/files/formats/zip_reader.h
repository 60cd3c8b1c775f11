// Reads zip archives, such as those that NumPy (.npz) and PyTorch (.pth) write.
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
  // All members together may inflate to kMaxInflatedBytes, or kMaxInflation times the size of the archive if that is
  // more.
  static constexpr int64_t kMaxInflatedBytes = int64_t{1} << 30;
  static constexpr int64_t kMaxInflation = 64;

  // `max_bytes` replaces these limits unless it is 0. Errors: a read error (core/files/system_calls.h); without the
  // path, kInvalidArgument if it is not an archive, kDataLoss if its list of members is corrupt, and a read error if it
  // was opened but can't be read.
  static absl::StatusOr<ZipReader> Open(const std::string& path, int64_t max_bytes = 0);
  // The same for an open file, whatever was read from it before.
  static absl::StatusOr<ZipReader> Open(InputFile file, int64_t max_bytes = 0);
  // The same for an archive in memory, which must outlive the reader.
  static absl::StatusOr<ZipReader> OfBytes(absl::string_view archive, int64_t max_bytes = 0);

  // The members' names, in order. Of several members with one name, the last is used.
  std::vector<std::string> Names() const;
  bool Has(absl::string_view name) const;
  // The first name that several members have; "" if there is none.
  const std::string& Duplicate() const { return duplicate_; }
  // The type and permissions of a member, as in stat(2); 0 if the archive doesn't say.
  uint32_t UnixMode(absl::string_view name) const;
  // The size of all members together in the file, according to its list; at most 2^63 - 1.
  int64_t PackedBytes() const { return packed_bytes_; }

  // The content of a member. Never allocates the size that a header declares before the bytes are there. Errors:
  // kDataLoss if there is no such member, if it is corrupt (its length and CRC are compared), or if everything read so
  // far is more than an archive of this size may inflate to; kOutOfRange if it has more than `max_bytes`; a read error
  // without the path.
  absl::StatusOr<std::string> Read(absl::string_view name, size_t max_bytes = std::numeric_limits<size_t>::max());

  // The same in parts. The length and the CRC are compared after the last one. Errors: also any that `use` returns.
  using UsePart = std::function<absl::Status(absl::string_view part)>;
  absl::Status ReadParts(absl::string_view name, size_t max_bytes, const UsePart& use);

 private:
  struct Place {  // minizip's unz64_file_pos
    uint64_t in_list;
    uint64_t number;
    uint32_t unix_mode;
    uint64_t bytes;  // according to the list
    uint32_t crc;
    bool is_plain;  // neither compressed nor encrypted
  };

  struct GivenFile;  // the open file, which zip_ owns

  ZipReader(void* zip, int64_t archive_bytes, int64_t max_bytes);

  // Reads the list of members.
  absl::Status ReadList();
  // `status`, unless the file can't be read, which is then the error.
  absl::Status ReadErrorOr(const absl::Status& status) const;
  // Copies bytes of the archive from `place` on. Returns their number, fewer at its end, or -1 on failure.
  int64_t ReadAt(uint64_t place, size_t size, char* to) const;

  std::shared_ptr<GivenFile> file_;  // null for an archive in memory
  std::unique_ptr<void, int (*)(void*)> zip_;
  absl::string_view archive_;  // an archive in memory
  std::map<std::string, Place, std::less<>> members_;
  std::string duplicate_;
  int64_t archive_bytes_;
  int64_t max_bytes_;  // limit of read_bytes_
  int64_t read_bytes_ = 0;
  int64_t packed_bytes_ = 0;
};

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_ZIP_READER_H_
