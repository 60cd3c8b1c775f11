// Checks quickly whether a file can be what its name says, by its first bytes, and a large one by its length and its
// header or list of members. A checksum is more thorough but takes half a minute for 10 GB.
#ifndef OPENSET_CORE_FILES_FORMATS_HEADER_CHECK_H_
#define OPENSET_CORE_FILES_FORMATS_HEADER_CHECK_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

// Smaller files are not checked here: their checksum takes milliseconds.
inline constexpr int64_t kHeaderCheckBytes = 1 << 20;

// A safetensors file: its length must be what its header says (core/files/formats/safetensors.h); if the header has a
// megabyte or more, only that the file is at least as long as the header. Errors: kDataLoss, with the path, if the
// lengths differ or the header is not one; a read error (core/files/system_calls.h).
absl::Status CheckSafetensorsHeader(const std::string& path);

// A zip archive, such as a .npz file or a file saved by PyTorch: the sizes of the packed members in its list must add
// up to the file's size, minus at most a megabyte and 1,024 bytes for each member. Errors: kDataLoss, with the path, if
// they don't, if the list is corrupt, or if it is not an archive; a read error.
absl::Status CheckZipMembers(const std::string& path);

// The formats of weights. PyTorch writes archives (torch.save() and TorchScript), and wrote pickles before version 1.6.
enum class WeightsFormat { kSafetensors, kArchive, kPickle };

// The format of a file of weights, by its first bytes (all, or at least 1,000). Errors, with what to do:
// kInvalidArgument for another format, naming it if it is one that people get instead of a download (a web page, a Git
// LFS pointer) or mix up (HDF5, gzip), and for a name with another format's ending: ".safetensors" for a file of
// PyTorch, or ".pth", ".pt", ".bin", ".ckpt" and the like for safetensors; kDataLoss for an empty file.
absl::StatusOr<WeightsFormat> WeightsFormatOf(const std::string& path, absl::string_view begin);

// A file of weights or a network: a large one must be of one of these formats, and pass the check above if it is
// safetensors or an archive. Errors: kDataLoss, with the path, if it fails; a read error.
absl::Status CheckWeightsHeader(const std::string& path);

// The same for a file of weights of any size, whose name must fit its format. Errors: also kInvalidArgument, with the
// path and what to do, for another format or a name that doesn't fit; kDataLoss also for an empty file.
absl::Status CheckWeightsFile(const std::string& path);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_HEADER_CHECK_H_
