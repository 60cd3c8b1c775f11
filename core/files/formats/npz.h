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

// Writes a new file without compression, as np.savez does, with the arrays in order of name. The same arrays give the
// same bytes. Not atomic: write to a temporary name. Errors: kUnavailable with the path.
absl::Status WriteNpz(const std::string& path, const NpzArrays& arrays);

// The same, atomic and durable; replaces a file that is there. Errors: a write error (core/files/files.h).
absl::Status WriteNpzAtomically(const std::string& path, const NpzArrays& arrays);

// Writes the same bytes as WriteNpz() if some arrays arrive row by row. Until Finish(), the rows are kept in files next
// to `path` whose names begin with its name. Call AppendRows() any number of times, then Finish() once.
class NpzWriter {
 public:
  explicit NpzWriter(std::string path);
  ~NpzWriter();
  NpzWriter(const NpzWriter&) = delete;
  NpzWriter& operator=(const NpzWriter&) = delete;

  // Appends the rows of `some` [n, ...] to the array `name` [N, ...]. Errors: kUnavailable, with the path and the
  // system's reason (as Finish()). Precondition:
  // all rows of an array have the same type and, apart from n, the same shape.
  absl::Status AppendRows(const std::string& name, const NpyArray& some);

  // Writes the file with these arrays and those appended by rows. No array may be both. Errors: kUnavailable.
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

// The names of an archive's arrays, in order. Inflates nothing. Errors: a read error (core/files/system_calls.h);
// kDataLoss, with the path, if the file is corrupt or not an archive.
absl::StatusOr<std::vector<std::string>> NpzNames(const std::string& path);

// Reads all arrays, or only those in `names` if it is not empty; skips names that are absent and doesn't inflate other
// arrays. Together they may inflate to 1 GiB or 64 times the archive's size, whichever is more (ZipReader). Never
// allocates the size that an array's header declares before the bytes are there. Errors: a read error; with the path,
// kDataLoss for a file that is corrupt, inflates to more, or is not an archive; with the array's name, kInvalidArgument
// for an array of a type that is not read (objects, complex numbers, big-endian, structures).
absl::StatusOr<NpzArrays> ReadNpz(const std::string& path, const std::vector<std::string>& names = {});

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_NPZ_H_
