// NumPy's archives of named arrays (.npz).
#ifndef OPENSET_CORE_FILES_FORMATS_NPZ_H_
#define OPENSET_CORE_FILES_FORMATS_NPZ_H_

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/files/formats/npy.h"

namespace openset {

using NpzArrays = std::map<std::string, NpyArray>;

// Writes a new file, stored without compression as np.savez does, arrays in order of name, the same bytes for the same
// arrays. Errors: kUnavailable with the path. Not atomic: write to a temporary name.
absl::Status WriteNpz(const std::string& path, const NpzArrays& arrays);

// Writes what WriteNpz would, to the byte, from arrays of which some come row by row: these wait in files beside
// `path`, which have its name and more, until Finish. Its life: AppendRows any number of times, then Finish once.
class NpzWriter {
 public:
  explicit NpzWriter(std::string path);
  ~NpzWriter();
  NpzWriter(const NpzWriter&) = delete;
  NpzWriter& operator=(const NpzWriter&) = delete;

  // Appends the rows of `some` [n, ...] to the array `name` [N, ...]. Errors: kUnavailable with the path. Precondition:
  // but for n, type and shape are those of the array's other rows.
  absl::Status AppendRows(const std::string& name, const NpyArray& some);

  // Writes the file, with these arrays beside those that came by rows; none is in both. Errors: kUnavailable.
  absl::Status Finish(const NpzArrays& whole);

 private:
  struct Rows {
    std::string path;
    std::ofstream file;
    std::string descr;
    std::vector<int64_t> row_shape;
    int64_t bytes = 0;
    int64_t count = 0;
  };

  void RemoveRows();

  const std::string path_;
  std::map<std::string, Rows> rows_;
};

// The names of an archive's arrays, in order; nothing is inflated. Errors: those of ReadNpz() for the archive.
absl::StatusOr<std::vector<std::string>> NpzNames(const std::string& path);

// Reads all arrays, or only those in `names` if it is not empty; names that are not there are left out. Others are not
// inflated. Together they may inflate to 1 GiB or 64 times the archive's size, whichever is more (ZipReader).
// Errors: kNotFound; kDataLoss for a file that is damaged or no archive; kInvalidArgument for arrays that can't be read
// (core/files/formats/npy.h); with the path and the array's name. What the header of an array declares is never
// allocated before it is there.
absl::StatusOr<NpzArrays> ReadNpz(const std::string& path, const std::vector<std::string>& names = {});

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_NPZ_H_
