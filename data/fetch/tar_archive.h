// Reads tar archives, plain or gzipped, without the program tar: POSIX.1-1988 (ustar), POSIX.1-2001 (pax) and GNU's
// long names.
#ifndef OPENSET_DATA_FETCH_TAR_ARCHIVE_H_
#define OPENSET_DATA_FETCH_TAR_ARCHIVE_H_

#include <string>

#include "absl/status/status.h"
#include "data/fetch/member_writer.h"

namespace openset {

// Writes the files and folders of an archive to `members`. Owners, permissions and times are ignored. Errors: those of
// OpenRegularFile(); kDataLoss, with the member, for a corrupt or truncated archive, for members that MemberWriter
// refuses, and for links, devices, pipes and sparse files.
absl::Status UnpackTar(const std::string& archive, MemberWriter* members);

}  // namespace openset

#endif  // OPENSET_DATA_FETCH_TAR_ARCHIVE_H_
