// Opening files for reading: the one place where a file that somebody else may have put there is opened.
#ifndef OPENSET_CORE_FILES_INPUT_FILE_H_
#define OPENSET_CORE_FILES_INPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace openset {

// An open file; closed when it goes.
class InputFile {
 public:
  InputFile(int descriptor, int64_t bytes, std::string path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  const std::string& path() const { return path_; }
  // What it says of its length; 0 for files of /proc and for pipes.
  int64_t bytes() const { return bytes_; }

  // Reads `size` bytes, fewer only where the file ends. Errors: kDataLoss with the path.
  absl::StatusOr<size_t> Read(char* to, size_t size);

  // What is read next begins at this byte, from 0. Errors: kDataLoss with the path for what is no file.
  absl::Status MoveTo(int64_t byte);

  // The descriptor, which is then the caller's to close.
  int Release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
  int64_t bytes_;
  std::string path_;
};

// Opens a regular file, through links. Never waits, as opening a pipe does that nobody writes to. Errors, with the
// path: kNotFound if there is none; kPermissionDenied; kInvalidArgument for a folder, for an empty path, and for one
// with a NUL byte, which the system would cut off there; kDataLoss for a pipe, a socket or a device, for links that go
// in circles and for a disk that fails.
absl::StatusOr<InputFile> OpenRegularFile(const std::string& path);

// The same for what a user names on the command line: /dev/stdin, and the /dev/fd/63 that a shell makes of <(PROGRAM),
// may be pipes and terminals.
absl::StatusOr<InputFile> OpenGivenFile(const std::string& path);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_INPUT_FILE_H_
