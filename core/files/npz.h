// NumPy's archives of named arrays (.npz).
#ifndef OPENSET_CORE_FILES_NPZ_H_
#define OPENSET_CORE_FILES_NPZ_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/files/npy.h"

namespace openset {

using NpzArrays = std::map<std::string, NpyArray>;

// Writes a new file, stored without compression as np.savez does, arrays in order of name, the same bytes for the same
// arrays. Errors: kUnavailable with the path. Not atomic: write to a temporary name.
absl::Status WriteNpz(const std::string& path, const NpzArrays& arrays);

// Reads all arrays, or only those in `names` if it is not empty; names that are not there are left out.
// Errors: kNotFound; kDataLoss for a file that is damaged or no archive; kInvalidArgument for arrays that can't be read
// (core/files/npy.h); with the path and the array's name. What the header of an array declares is never allocated
// before it is there.
absl::StatusOr<NpzArrays> ReadNpz(const std::string& path, const std::vector<std::string>& names = {});

}  // namespace openset

#endif  // OPENSET_CORE_FILES_NPZ_H_
