// Reads the binary version of CIFAR-10 and CIFAR-100.
#ifndef OPENSET_DATA_READERS_CIFAR_BINARY_H_
#define OPENSET_DATA_READERS_CIFAR_BINARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/image_source.h"

namespace openset {

// A record: the label bytes, then the channels one after another, each row by row.
struct CifarRecord {
  int64_t label_bytes = 1;  // CIFAR-100 has 2: coarse, fine
  int64_t label_at = 0;     // which of them to read
  int64_t channels = 3;
  int64_t height = 32;
  int64_t width = 32;
};

// Returns the records of all files in order. Precondition: sizes above 0, 0 <= label_at < label_bytes. Errors, with the
// file: a read error (core/files/system_calls.h); kDataLoss also if it is empty or its length is not a multiple of a
// record's.
absl::StatusOr<ImageSet> ReadCifarBinary(const std::vector<std::string>& paths, const CifarRecord& record);

}  // namespace openset

#endif  // OPENSET_DATA_READERS_CIFAR_BINARY_H_
