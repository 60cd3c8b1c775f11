// The record files of a bundle in one compressed stream, records.tar.xz: files of a run have most in common with each
// other, and take half of what they take one by one.
//
// The tar archive has one form only, POSIX's ustar: regular files in the order of their names, each with the same mode
// and without owner and time, behind them two blocks of zeros. `tar -xJf` unpacks it.
#ifndef OPENSET_EXPERIMENTS_STORE_BUNDLES_PACKED_RECORDS_H_
#define OPENSET_EXPERIMENTS_STORE_BUNDLES_PACKED_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/files/formats/xz.h"

namespace openset {

// Add() for each file, in the order of their names, then Finish().
class RecordPacker {
 public:
  // `use` gets the stream.
  explicit RecordPacker(UseBytes use) : xz_(std::move(use)) {}

  // Errors: kInvalidArgument for a name that its header has no place for; those of XzWriter.
  absl::Status Add(const std::string& name, absl::string_view content);
  absl::Status Finish();

  // Of the archive so far, before it is compressed.
  int64_t bytes() const { return bytes_; }

 private:
  XzWriter xz_;
  int64_t bytes_ = 0;
};

// Add() with the parts of a stream that nobody vouches for, then Finish().
class RecordUnpacker {
 public:
  struct Limits {
    int64_t bytes;        // of the archive
    size_t members;       // files in it
    size_t member_bytes;  // of each
  };
  using UseFile = std::function<absl::Status(const std::string& name, const std::string& content)>;

  // `use` gets each file when it is whole: one is held at a time. Its name is that of a record file
  // (TrialOfBundleMember()).
  RecordUnpacker(const Limits& limits, UseFile use);

  // A header is compared with the one that RecordPacker writes for its name and size, so that links, devices, folders,
  // long names, owners and whatever else tar knows are refused by one rule. Errors: kDataLoss where the archive is not
  // such a one or goes beyond a limit; those of `use` and XzReader. Nothing may be added behind an error.
  absl::Status Add(absl::string_view packed) { return xz_.Add(packed); }
  absl::Status Finish();

 private:
  absl::Status Take(absl::string_view part);
  absl::Status TakeHeader(absl::string_view header);

  const Limits limits_;
  const UseFile use_;
  XzReader xz_;
  std::string held_;  // what is not used yet
  std::string name_;  // of the last header
  size_t size_ = 0;
  bool in_file_ = false, has_ended_ = false;
  int64_t bytes_ = 0;
  size_t members_ = 0;
};

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_STORE_BUNDLES_PACKED_RECORDS_H_
