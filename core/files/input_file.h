// Opens files for reading. All code that opens files which others may have written does it here.
#ifndef OPENSET_CORE_FILES_INPUT_FILE_H_
#define OPENSET_CORE_FILES_INPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace openset {

// An open file, which the destructor closes.
class InputFile {
 public:
  InputFile(int descriptor, int64_t bytes, std::string path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  const std::string& path() const { return path_; }
  // The length that the system reports; 0 for files of /proc and for pipes.
  int64_t bytes() const { return bytes_; }

  // Reads `size` bytes, or fewer if the file ends. Errors: a read error (core/files/system_calls.h).
  absl::StatusOr<size_t> Read(char* to, size_t size);

  // The next read begins at this byte, counted from 0. Errors: a read error; kDataLoss if it is not a regular file.
  absl::Status MoveTo(int64_t byte);

  // Returns the descriptor, which the caller must close.
  int Release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
  int64_t bytes_;
  std::string path_;
};

// Opens a regular file and follows links. Never blocks, as opening a pipe without a writer would. Errors: a read error
// (core/files/system_calls.h), of which only kNotFound says that there is no file; kInvalidArgument also for an empty
// path, or one with a NUL byte, where the system would cut it off.
absl::StatusOr<InputFile> OpenRegularFile(const std::string& path);

// The end of a regular file, after byte `start` and of at most `max_bytes`, such as the last lines of a log; "" if it
// can't be read.
std::string ReadEnd(const std::string& path, int64_t max_bytes, int64_t start = 0);

// The same as OpenRegularFile() for a path on the command line: /dev/stdin, and the /dev/fd/63 into which a shell turns
// <(PROGRAM), may be pipes and terminals.
absl::StatusOr<InputFile> OpenGivenFile(const std::string& path);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_INPUT_FILE_H_
