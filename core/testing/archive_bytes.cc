#include "core/testing/archive_bytes.h"

#include <zlib.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/files/digest.h"
#include "core/testing/byte_order.h"

namespace openset {
namespace {

// `window` as deflateInit2() takes it: below 0 bare, above 15 with gzip's header.
std::string Deflated(const std::string& content, int window) {
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
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

// A field of a tar header: octal digits and a terminator.
std::string Octal(uint64_t value, int width) {
  return absl::StrFormat("%0*o", width - 1, value) + std::string(1, '\0');
}

std::string Padded(const std::string& text, size_t width) {
  return text.substr(0, width) + std::string(width - std::min(width, text.size()), '\0');
}

}  // namespace

std::string ZipBytes(const std::vector<ZipMember>& members, const std::string& comment) {
  std::string bytes, list;
  for (const ZipMember& member : members) {
    std::string content;
    for (int i = 0; i < member.times; ++i) content += member.content;
    const std::string stored = member.deflated ? Deflated(content, -15) : content;
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

std::string TarBytes(const std::vector<TarMember>& members) {
  std::string bytes;
  for (const TarMember& member : members) {
    const uint64_t size = member.declared < 0 ? member.content.size() : static_cast<uint64_t>(member.declared);
    std::string header =
        absl::StrCat(Padded(member.name, 100), Octal(member.mode, 8), Octal(0, 8), Octal(0, 8),
                     size >> 33 == 0 ? Octal(size, 12) : "\x80" + Padded("", 3) + std::string(8, '\x7f'), Octal(0, 12),
                     std::string(8, ' '), std::string(1, member.type), Padded(member.target, 100),
                     std::string("ustar\0"
                                 "00",
                                 8),
                     Padded("root", 32), Padded("root", 32), Octal(0, 8), Octal(0, 8));
    header.resize(512, '\0');
    uint32_t sum = 0;
    for (const char c : header) sum += static_cast<uint8_t>(c);
    header.replace(148, 8, absl::StrFormat("%06o", sum) + std::string("\0 ", 2));
    absl::StrAppend(&bytes, header, member.content, std::string((512 - member.content.size() % 512) % 512, '\0'));
  }
  return bytes + std::string(1024, '\0');
}

std::string GzipBytes(const std::string& content) { return Deflated(content, 15 + 16); }

std::string ZlibBytes(const std::string& content) { return Deflated(content, 15); }

uint32_t Crc32(const std::string& bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string FramedRecord(const std::string& payload) {
  const std::string length = LittleEndian(payload.size(), 8);
  const Sha256::Digest digest = Sha256Of(length + payload);
  return absl::StrCat("openset record 1\n", length, std::string(digest.begin(), digest.end()), payload);
}

}  // namespace openset
