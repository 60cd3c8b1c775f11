// Downloads a file.
#ifndef OPENSET_DATA_FETCH_DOWNLOAD_H_
#define OPENSET_DATA_FETCH_DOWNLOAD_H_

#include <string>

#include "absl/status/status.h"
#include "core/text/terminal.h"
#include "data/catalog.pb.h"

namespace openset {

// Checks a file against the length, SHA-256 and MD5 that `file` states; if it states none, any file passes. Errors: a
// read error (core/files/system_calls.h); kDataLoss also if they differ, with both lengths or both sums.
absl::Status CheckDownload(const std::string& path, const Download& file);

struct DownloadOptions {
  // Called several times a second with the number of bytes downloaded so far; may be null.
  ProgressReport progress;
  // The protocols of addresses and redirections, in the format of curl's --proto. Tests use their own servers.
  std::string protocols = "=https";
};

// Downloads a file with the program curl, from the first of its addresses that works: writes it to DESTINATION.part,
// checks it, and only then renames it to `destination`, whose folder must exist. An existing part is resumed, also
// whenever the connection breaks after some bytes (up to 20 times); a part is deleted only if it turns out to be of
// another file or the server can't resume it. Never downloads more bytes than `file` states, or file.max_bytes if it
// states none. If `destination` is already the right file, it stays; any other file there is replaced. curl ends when
// this process does. Errors: kUnavailable if no address works, with the last one's reason ("the server answered 404");
// kDataLoss if the download is another file, also when it is repeated from the beginning, or is too large;
// kFailedPrecondition if the part is a link; kNotFound if curl is not installed.
absl::Status DownloadFile(const Download& file, const std::string& destination, const DownloadOptions& options = {});

}  // namespace openset

#endif  // OPENSET_DATA_FETCH_DOWNLOAD_H_
