// Archives.
#ifndef OPENSET_DATA_FETCH_UNPACK_H_
#define OPENSET_DATA_FETCH_UNPACK_H_

#include <string>

#include "absl/status/status.h"
#include "data/catalog.pb.h"

namespace openset {

// Unpacks an archive (tar, or unzip for ZIP) into a folder of its own beside `folder`, and moves what is in it below
// `folder` when all of it is there; files of the same names are replaced. Errors: kDataLoss for a damaged archive, and
// kNotFound without the program; `folder` is then as it was. kUnavailable if moving fails.
absl::Status Unpack(const std::string& archive, Download::Unpack format, const std::string& folder);

// Moves all that is in `from` below `to`; folders that are there already are filled. Errors: kUnavailable.
absl::Status MoveInto(const std::string& from, const std::string& to);

}  // namespace openset

#endif  // OPENSET_DATA_FETCH_UNPACK_H_
