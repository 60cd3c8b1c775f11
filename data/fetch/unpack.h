// Unpacks archives into an empty folder.
#ifndef OPENSET_DATA_FETCH_UNPACK_H_
#define OPENSET_DATA_FETCH_UNPACK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "data/catalog.pb.h"
#include "data/fetch/folder_below.h"

namespace openset {

// ---- Writes an archive's members into an empty folder.

// Limits on an archive's content.
struct ArchiveLimits {
  int64_t bytes = 0;             // of all files together
  int64_t members = 10'000'000;  // ImageNet has 1.3 million files
};

// For each member, call AddFolder(), or BeginFile(), Write() any number of times and EndFile(). If several members have
// the same name, the last one stays. All errors are kDataLoss with the member's name, but kUnavailable if the disk
// fails.
class MemberWriter {
 public:
  // `folder` must outlive it.
  MemberWriter(const OpenFolder& folder, const ArchiveLimits& limits) : folder_(folder), limits_(limits) {}
  ~MemberWriter();
  MemberWriter(const MemberWriter&) = delete;
  MemberWriter& operator=(const MemberWriter&) = delete;

  // Errors: a name that leaves the folder (data/path_below.h), a name below a file, more members than allowed.
  absl::Status AddFolder(const std::string& name);
  // `bytes`: the file's size according to the archive. Errors: as AddFolder(), and more bytes than all members may
  // have.
  absl::Status BeginFile(const std::string& name, int64_t bytes);
  // Errors: more bytes than all members may have.
  absl::Status Write(absl::string_view bytes);
  absl::Status EndFile();

  // Returns the error for a kind of member that no archive of images needs: "member 'NAME' WHAT".
  static absl::Status Refused(absl::string_view name, absl::string_view what);

 private:
  absl::Status CountMember(const std::string& name);
  absl::Status TooLarge(absl::string_view name) const;

  const OpenFolder& folder_;
  const ArchiveLimits limits_;
  std::string name_;  // of the file that is being written
  int file_ = -1;
  int64_t bytes_ = 0, members_ = 0;
};

// Reads tar archives, plain or gzipped, without the program tar: POSIX.1-1988 (ustar), POSIX.1-2001 (pax) and GNU's
// long names.

// Writes the files and folders of an archive to `members`. Owners, permissions and times are ignored. Errors: a read
// error (core/files/system_calls.h); kDataLoss, with the member, for a corrupt or truncated archive, for members that
// MemberWriter refuses, and for links, devices, pipes and sparse files; kUnavailable if the disk fails.
absl::Status UnpackTar(const std::string& archive, MemberWriter* members);

// ---- Unpacks archives.

// The limit on the total size of an archive's files: kMaxUnpackedBytes, or kMaxUnpacking times the archive's own size
// if that is more.
inline constexpr int64_t kMaxUnpackedBytes = int64_t{1} << 30;
inline constexpr int64_t kMaxUnpacking = 64;

// Unpacks an archive into a temporary folder and, once it is complete, moves the content into the folder `path` below
// `root`, which is created if necessary; existing files of the same names are replaced. An archive may only contain
// files and folders: links, devices, pipes, absolute names and names with '..' in them are refused. Permissions and
// owners are ignored, and no link below `root` is followed. Errors: kDataLoss, with the archive and the member, if it
// is corrupt, refused or too large; kNotFound if there is no archive, or the program xz or bzip2 is needed and missing;
// another read error (in all these cases nothing below `root` has changed); kFailedPrecondition if a link or a file is
// in the way; kUnavailable if the disk fails.
absl::Status Unpack(const std::string& archive, Download::Unpack format, const std::string& root,
                    const std::string& path = "");

}  // namespace openset

#endif  // OPENSET_DATA_FETCH_UNPACK_H_
