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

// A record file (core/proto/record_file.h) with a correct checksum of these bytes, which need not be a message.
std::string FramedRecord(const std::string& payload);

}  // namespace openset

#endif  // OPENSET_CORE_TESTING_ARCHIVE_BYTES_H_
