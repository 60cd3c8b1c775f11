#include "core/testing/archive_bytes.h"

#include <zlib.h>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/testing/byte_order.h"

namespace openset {
namespace {

uint32_t Crc32(const std::string& bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// Without a header.
std::string Deflated(const std::string& content) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  std::string result(deflateBound(&stream, content.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

}  // namespace

std::string ZipBytes(const std::vector<ZipMember>& members, const std::string& comment) {
  std::string bytes, list;
  for (const ZipMember& member : members) {
    std::string content;
    for (int i = 0; i < member.times; ++i) content += member.content;
    const std::string stored = member.deflated ? Deflated(content) : content;
    const uint32_t sum = Crc32(content);
    const auto size = static_cast<uint64_t>(member.declared < 0 ? content.size() : member.declared);
    const std::string common =
        absl::StrCat(LittleEndian(20, 2), LittleEndian(0, 2), LittleEndian(member.deflated ? 8 : 0, 2),
                     LittleEndian(0, 2), LittleEndian(0x21, 2), LittleEndian(sum, 4), LittleEndian(stored.size(), 4),
                     LittleEndian(size, 4), LittleEndian(member.name.size(), 2), LittleEndian(0, 2));
    absl::StrAppend(&list, "PK\1\2", LittleEndian(3 << 8 | 20, 2), common, LittleEndian(0, 2), LittleEndian(0, 2),
                    LittleEndian(0, 2), LittleEndian(uint64_t{member.mode} << 16, 4), LittleEndian(bytes.size(), 4),
                    member.name);
    absl::StrAppend(&bytes, "PK\3\4", common, member.name, stored);
  }
  return absl::StrCat(bytes, list, "PK\5\6", LittleEndian(0, 4), LittleEndian(members.size(), 2),
                      LittleEndian(members.size(), 2), LittleEndian(list.size(), 4), LittleEndian(bytes.size(), 4),
                      LittleEndian(comment.size(), 2), comment);
}

std::string FramedRecord(const std::string& payload) {
  const std::string length = LittleEndian(payload.size(), 8);
  const Sha256::Digest digest = Sha256Of(length + payload);
  return absl::StrCat("openset record 1\n", length, std::string(digest.begin(), digest.end()), payload);
}

}  // namespace openset
