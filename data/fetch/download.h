// One file out of the net.
#ifndef OPENSET_DATA_FETCH_DOWNLOAD_H_
#define OPENSET_DATA_FETCH_DOWNLOAD_H_

#include <string>

#include "absl/status/status.h"
#include "core/progress_line.h"
#include "data/catalog.pb.h"

namespace openset {

// Whether a file is the one that `file` says: by its length, where that is said, and its SHA-256, else its MD5, else
// anything. Errors: kDataLoss, with both lengths or sums; kNotFound.
absl::Status CheckDownload(const std::string& path, const Download& file);

// Brings a file by the program curl, of its addresses the first that works: to DESTINATION.part, which is gone on with
// where it is there already and as often as the connection breaks after some bytes (20 times), checks its sum, and only
// then gives it its name. A part is thrown away only where it is of another file or the server can't go on with it. A
// file with its name that is the right one stays; another is replaced. Folders are made. Errors: kUnavailable if no
// address works, with the last one's reason ("the server answered 404"); kDataLoss if what came, anew from its
// beginning too, is another file; kNotFound if there is no curl. `progress`, unless it is null, is told several times a
// second how many bytes are there.
absl::Status DownloadFile(const Download& file, const std::string& destination,
                          const ProgressReport& progress = nullptr);

}  // namespace openset

#endif  // OPENSET_DATA_FETCH_DOWNLOAD_H_
