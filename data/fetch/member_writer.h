// Writes an archive's members into an empty folder.
#ifndef OPENSET_DATA_FETCH_MEMBER_WRITER_H_
#define OPENSET_DATA_FETCH_MEMBER_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "data/fetch/folder_below.h"

namespace openset {

// Limits on an archive's content.
struct ArchiveLimits {
  int64_t bytes = 0;             // of all files together
  int64_t members = 10'000'000;  // ImageNet has 1.3 million files
};

// For each member, call AddFolder(), or BeginFile(), Write() any number of times and EndFile(). If several members have
// the same name, the last one stays. All errors are kDataLoss with the member's name, except those of the disk, which
// are kUnavailable.
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

}  // namespace openset

#endif  // OPENSET_DATA_FETCH_MEMBER_WRITER_H_
