// MD5 of files, for data sets that publish no better checksum. It detects corruption, not malice.
#ifndef OPENSET_CORE_FILES_MD5_H_
#define OPENSET_CORE_FILES_MD5_H_

#include <string>

#include "absl/status/statusor.h"

namespace openset {

// As 32 lower-case hexadecimal digits. Errors: those of OpenRegularFile() and InputFile::Read()
// (core/files/input_file.h).
absl::StatusOr<std::string> Md5HexOfFile(const std::string& path);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_MD5_H_
