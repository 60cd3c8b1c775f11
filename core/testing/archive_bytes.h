// Builds malformed archives and record files.
#ifndef OPENSET_CORE_TESTING_ARCHIVE_BYTES_H_
#define OPENSET_CORE_TESTING_ARCHIVE_BYTES_H_

#include <cstdint>
#include <string>
#include <vector>

namespace openset {

struct ZipMember {
  std::string name, content;
  bool deflated = false;
  uint32_t mode = 0100644;  // of a Unix file: 0120777 is a link to `content`
  int64_t declared = -1;    // the declared size; below 0: the actual one
  int times = 1;            // number of copies of `content`
};

// A zip archive with these members in this order, followed by `comment`.
std::string ZipBytes(const std::vector<ZipMember>& members, const std::string& comment = "");

struct TarMember {
  std::string name, content;
  char type = '0';  // '1' and '2': a hard and a symbolic link to `target`; '3', '4', '6': devices, a pipe; '5' a folder
  std::string target = "";
  uint32_t mode = 0644;
  int64_t declared = -1;
};

std::string TarBytes(const std::vector<TarMember>& members);

std::string GzipBytes(const std::string& content);
std::string ZlibBytes(const std::string& content);

// The checksum of zip archives and PNG's chunks.
uint32_t Crc32(const std::string& bytes);

// A record file (core/proto/record_file.h) with a correct checksum of these bytes, which need not be a message.
std::string FramedRecord(const std::string& payload);

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_ARCHIVE_BYTES_H_
