// The record files of a bundle in one compressed stream, records.tar.xz. The files of a run are similar, so that
// together they take half as much space as one by one.
//
// The tar archive always has the same form (POSIX ustar): regular files in the order of their names, all with the same
// mode, without owner and time, then two blocks of zeros. `tar -xJf` unpacks it.
#ifndef OPENSET_EXPERIMENTS_STORE_BUNDLES_PACKED_RECORDS_H_
#define OPENSET_EXPERIMENTS_STORE_BUNDLES_PACKED_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/files/formats/xz.h"

namespace openset {

// Call Add() for each file, in the order of names, then Finish().
class RecordPacker {
 public:
  // `use` receives the stream.
  explicit RecordPacker(UseBytes use) : xz_(std::move(use)) {}

  // Errors: kInvalidArgument for a name that does not fit into the header; those of XzWriter.
  absl::Status Add(const std::string& name, absl::string_view content);
  absl::Status Finish();

  // The size of the archive so far, before compression.
  int64_t bytes() const { return bytes_; }

 private:
  XzWriter xz_;
  int64_t bytes_ = 0;
};

// Unpacks an untrusted stream. Call Add() for its parts, then Finish().
class RecordUnpacker {
 public:
  struct Limits {
    int64_t bytes;        // of the archive
    size_t members;       // files in it
    size_t member_bytes;  // of each
  };
  using UseFile = std::function<absl::Status(const std::string& name, const std::string& content)>;

  // `use` receives each complete file; only one is in memory at a time. Its name is that of a record file
  // (TrialOfBundleMember()).
  RecordUnpacker(const Limits& limits, UseFile use);

  // Each header must be exactly the one that RecordPacker writes for its name and size. This refuses links, devices,
  // folders, long names, owners and all other features of tar. Errors: kDataLoss for any other archive, or beyond a
  // limit; those of `use` and XzReader. Don't call Add() again after an error.
  absl::Status Add(absl::string_view packed) { return xz_.Add(packed); }
  absl::Status Finish();

 private:
  absl::Status Take(absl::string_view part);
  absl::Status TakeHeader(absl::string_view header);

  const Limits limits_;
  const UseFile use_;
  XzReader xz_;
  std::string held_;  // not yet processed
  std::string name_;  // of the last header
  size_t size_ = 0;
  bool in_file_ = false, has_ended_ = false;
  int64_t bytes_ = 0;
  size_t members_ = 0;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_BUNDLES_PACKED_RECORDS_H_
