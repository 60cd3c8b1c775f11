// One file out of the net.
#ifndef OPENSET_DATA_FETCH_DOWNLOAD_H_
#define OPENSET_DATA_FETCH_DOWNLOAD_H_

#include <string>

#include "absl/status/status.h"
#include "core/text/progress_line.h"
#include "data/catalog.pb.h"

namespace openset {

// Whether a file is the one that `file` says: by its length, where that is said, its SHA-256 and its MD5, where they
// are; else anything. Errors: kDataLoss, with both lengths or sums; kNotFound.
absl::Status CheckDownload(const std::string& path, const Download& file);

struct DownloadOptions {
  // Told several times a second how many bytes are there; may be null.
  ProgressReport progress;
  // Of addresses and of what they redirect to, as curl's --proto takes them. Tests have servers of their own.
  std::string protocols = "=https";
};

// Brings a file by the program curl, of its addresses the first that works: to DESTINATION.part, which is gone on with
// where it is there already and as often as the connection breaks after some bytes (20 times), checks its sum, and only
// then gives it its name. Never takes more bytes than `file` says, or file.max_bytes where it does not. A part is
// thrown away only where it is of another file or the server can't go on with it. A file with its name that is the
// right one stays; another is replaced. The folder must be there. curl ends when this process does. Errors:
// kUnavailable if no address works, with the last one's reason ("the server answered 404"); kDataLoss if what came,
// anew from its beginning too, is another file, or larger; kFailedPrecondition if a link is in the place of the part;
// kNotFound if there is no curl.
absl::Status DownloadFile(const Download& file, const std::string& destination, const DownloadOptions& options = {});

}  // namespace openset

#endif  // OPENSET_DATA_FETCH_DOWNLOAD_H_
