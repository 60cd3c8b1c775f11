// Checks quickly whether a large file can be valid, by its length and its header or list of members. A checksum is more
// thorough but takes half a minute for 10 GB.
#ifndef OPENSET_CORE_FILES_FORMATS_HEADER_CHECK_H_
#define OPENSET_CORE_FILES_FORMATS_HEADER_CHECK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace openset {

// Smaller files are not checked here: their checksum takes milliseconds.
inline constexpr int64_t kHeaderCheckBytes = 1 << 20;

// A safetensors file: its length must be what its header says (core/files/formats/safetensors.h); if the header has a
// megabyte or more, only that the file is at least as long as the header. Errors, with the path: kDataLoss; those of
// OpenRegularFile() (core/files/input_file.h).
absl::Status CheckSafetensorsHeader(const std::string& path);

// A zip archive, such as a .npz file or a file saved by PyTorch: the sizes of the packed members in its list must add
// up to the file's size, minus at most a megabyte and 1,024 bytes for each member. Errors: the same.
absl::Status CheckZipMembers(const std::string& path);

// A file of weights or a network: one of these two formats, chosen by its first bytes. Errors: the same.
absl::Status CheckWeightsHeader(const std::string& path);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_HEADER_CHECK_H_
