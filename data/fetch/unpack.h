// Archives.
#ifndef OPENSET_DATA_FETCH_UNPACK_H_
#define OPENSET_DATA_FETCH_UNPACK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "data/catalog.pb.h"

namespace openset {

// What an archive's files may have together: this, or this often the archive's own size.
inline constexpr int64_t kMaxUnpackedBytes = int64_t{1} << 30;
inline constexpr int64_t kMaxUnpacking = 64;

// Unpacks an archive into a folder of its own, and moves what is in it into the folder `path` below `root`, which is
// made, when all of it is there; files of the same names are replaced. Files and folders only: links, devices, pipes,
// absolute names and names with '..' in them are refused, rights and owners are left out, and no link below `root` is
// followed. Errors: kDataLoss, with the archive and
// the member, for one that is damaged, refused or too large, and kNotFound without the program xz or bzip2, where it
// needs it: nothing below `root` has changed then; kFailedPrecondition if a link or a file is in the way; kUnavailable
// if the disk fails.
absl::Status Unpack(const std::string& archive, Download::Unpack format, const std::string& root,
                    const std::string& path = "");

}  // namespace openset

#endif  // OPENSET_DATA_FETCH_UNPACK_H_
