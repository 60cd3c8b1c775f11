#include "experiments/store/bundles/packed_records.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/status_macros.h"
#include "core/text/one_line.h"
#include "experiments/store/bundles/members.h"

namespace openset {
namespace {

constexpr size_t kBlock = 512;

// The offsets and sizes of a header's fields.
constexpr size_t kName = 0, kNameBytes = 100, kMode = 100, kSize = 124, kSizeBytes = 12, kTime = 136, kSum = 148;
constexpr size_t kType = 156, kMagic = 257, kPrefix = 345, kPrefixBytes = 155;

// Returns nothing if the name does not fit.
std::optional<std::string> HeaderOf(absl::string_view name, uint64_t size) {
  absl::string_view prefix;
  if (name.size() > kNameBytes) {
    const size_t slash = name.rfind('/');
    if (slash == absl::string_view::npos) return std::nullopt;
    prefix = name.substr(0, slash);
    name = name.substr(slash + 1);
  }
  if (name.empty() || name.size() > kNameBytes || prefix.size() > kPrefixBytes || size >> 33 != 0) return std::nullopt;
  std::string header(kBlock, '\0');
  const auto put = [&](size_t at, absl::string_view text) {
    header.replace(at, text.size(), text.data(), text.size());
  };
  put(kName, name);
  put(kMode, absl::string_view("0000644\0"
                               "0000000\0"
                               "0000000\0",
                               24));  // also owner and group
  put(kSize, absl::StrFormat("%011o", size));
  put(kTime, "00000000000");
  put(kSum, "        ");
  put(kType, "0");
  put(kMagic, absl::string_view("ustar\0"
                                "00",
                                8));
  put(kPrefix, prefix);
  uint64_t sum = 0;
  for (const char byte : header) sum += static_cast<uint8_t>(byte);
  put(kSum, absl::StrFormat("%06o", sum));
  header[kSum + 6] = '\0';
  return header;
}

absl::string_view Text(absl::string_view field) { return field.substr(0, field.find('\0')); }

bool IsZeros(absl::string_view bytes) { return bytes.find_first_not_of('\0') == absl::string_view::npos; }

size_t Filled(size_t size) { return (size + kBlock - 1) / kBlock * kBlock; }

}  // namespace

absl::Status RecordPacker::Add(const std::string& name, absl::string_view content) {
  const std::optional<std::string> header = HeaderOf(name, content.size());
  if (!header.has_value())
    return absl::InvalidArgumentError(absl::StrCat(OneLine(name), ": this name does not fit in a bundle"));
  bytes_ += static_cast<int64_t>(kBlock + Filled(content.size()));
  OPENSET_RETURN_IF_ERROR(xz_.Write(*header));
  OPENSET_RETURN_IF_ERROR(xz_.Write(content));
  return xz_.Write(std::string(Filled(content.size()) - content.size(), '\0'));
}

absl::Status RecordPacker::Finish() {
  bytes_ += 2 * kBlock;
  OPENSET_RETURN_IF_ERROR(xz_.Write(std::string(2 * kBlock, '\0')));
  return xz_.Finish();
}

RecordUnpacker::RecordUnpacker(const Limits& limits, UseFile use)
    : limits_(limits), use_(std::move(use)), xz_([this](absl::string_view part) { return Take(part); }) {}

absl::Status RecordUnpacker::Finish() {
  OPENSET_RETURN_IF_ERROR(xz_.Finish());
  return has_ended_ ? absl::OkStatus() : absl::DataLossError("is cut short: its archive has no end");
}

absl::Status RecordUnpacker::Take(absl::string_view part) {
  bytes_ += static_cast<int64_t>(part.size());
  if (bytes_ > limits_.bytes) {
    return absl::DataLossError(absl::StrCat("unpacks to more than ", limits_.bytes, " bytes, which is refused"));
  }
  held_.append(part.data(), part.size());
  size_t used = 0;
  for (;;) {
    const absl::string_view rest = absl::string_view(held_).substr(used);
    if (has_ended_) {
      if (!rest.empty()) return absl::DataLossError("has bytes after the end of its archive");
      break;
    }
    if (in_file_) {
      const size_t filled = Filled(size_);
      if (rest.size() < filled) break;
      if (!IsZeros(rest.substr(size_, filled - size_))) {
        return absl::DataLossError(absl::StrCat("has bytes after the end of '", name_, "'"));
      }
      OPENSET_RETURN_IF_ERROR(use_(name_, std::string(rest.substr(0, size_))));
      used += filled;
      in_file_ = false;
      continue;
    }
    if (rest.size() < kBlock) break;
    if (!IsZeros(rest.substr(0, kBlock))) {
      OPENSET_RETURN_IF_ERROR(TakeHeader(rest.substr(0, kBlock)));
      used += kBlock;
      in_file_ = true;
      continue;
    }
    if (rest.size() < 2 * kBlock) break;
    if (!IsZeros(rest.substr(kBlock, kBlock))) return absl::DataLossError("has a block of zeros between its files");
    used += 2 * kBlock;
    has_ended_ = true;
  }
  held_.erase(0, used);
  return absl::OkStatus();
}

absl::Status RecordUnpacker::TakeHeader(absl::string_view header) {
  const absl::string_view prefix = Text(header.substr(kPrefix, kPrefixBytes));
  std::string name = absl::StrCat(prefix, prefix.empty() ? "" : "/", Text(header.substr(kName, kNameBytes)));
  if (++members_ > limits_.members) {
    return absl::DataLossError(absl::StrCat("has more than ", limits_.members, " members"));
  }
  const char type = header[kType];
  if (type != '0') return absl::DataLossError(absl::StrCat("'", OneLine(name), "' is not a regular file"));
  uint64_t size = 0;
  for (const char digit : Text(header.substr(kSize, kSizeBytes))) size = size << 3 | static_cast<uint64_t>(digit & 7);
  const std::optional<std::string> made = HeaderOf(name, size);
  if (!made.has_value() || *made != header) {
    return absl::DataLossError(absl::StrCat("has a header that no bundle has, of '", OneLine(name), "'"));
  }
  if (TrialOfBundleMember(name).empty()) return absl::DataLossError(StrangeMember(name));
  if (name <= name_) {
    return absl::DataLossError(absl::StrCat("has '", OneLine(name), "' twice, or out of order"));
  }
  if (size > limits_.member_bytes) {
    return absl::DataLossError(
        absl::StrCat("member '", name, "' has more than ", limits_.member_bytes, " bytes, which is refused"));
  }
  name_ = std::move(name);
  size_ = size;
  return absl::OkStatus();
}

}  // namespace openset
