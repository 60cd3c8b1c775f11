// Unpacks archives.
#ifndef OPENSET_DATA_FETCH_UNPACK_H_
#define OPENSET_DATA_FETCH_UNPACK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "data/catalog.pb.h"

namespace openset {

// The limit on the total size of an archive's files: kMaxUnpackedBytes, or kMaxUnpacking times the archive's own size
// if that is more.
inline constexpr int64_t kMaxUnpackedBytes = int64_t{1} << 30;
inline constexpr int64_t kMaxUnpacking = 64;

// Unpacks an archive into a temporary folder and, once it is complete, moves the content into the folder `path` below
// `root`, which is created if necessary; existing files of the same names are replaced. An archive may only contain
// files and folders: links, devices, pipes, absolute names and names with '..' in them are refused. Permissions and
// owners are ignored, and no link below `root` is followed. Errors: kDataLoss, with the archive and the member, if it
// is corrupt, refused or too large; kNotFound if the program xz or bzip2 is needed and missing (in both cases nothing
// below `root` has changed); kFailedPrecondition if a link or a file is in the way; kUnavailable if the disk fails.
absl::Status Unpack(const std::string& archive, Download::Unpack format, const std::string& root,
                    const std::string& path = "");

}  // namespace openset

#endif  // OPENSET_DATA_FETCH_UNPACK_H_
