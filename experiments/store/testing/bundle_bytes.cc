#include "experiments/store/testing/bundle_bytes.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/files/digest.h"
#include "core/files/formats/xz.h"
#include "core/files/formats/zip_reader.h"
#include "core/logging.h"
#include "experiments/store/bundle.h"

namespace openset {
namespace {

constexpr char kVersion[] = "bundle_version: 2\n";
constexpr size_t kDigits = 64;

UseBytes AppendTo(std::string* all) {
  return [all](absl::string_view part) {
    all->append(part.data(), part.size());
    return absl::OkStatus();
  };
}

}  // namespace

std::vector<ZipMember> UnpackedBundle(const std::string& path) {
  absl::StatusOr<ZipReader> bundle = ZipReader::Open(path);
  CHECK(bundle.ok()) << bundle.status();
  std::vector<ZipMember> members, records;
  for (const std::string& name : bundle->Names()) {
    if (name == kBundleSums) continue;
    const std::string content = bundle->Read(name).value();
    if (name == kBundleRecords) {
      RecordUnpacker unpacker({1 << 30, 100000, 64 << 20}, [&](const std::string& file, const std::string& bytes) {
        records.push_back({file, bytes});
        return absl::OkStatus();
      });
      CHECK(unpacker.Add(content).ok() && unpacker.Finish().ok());
      continue;
    }
    members.push_back({name, name == kBundleManifest ? absl::StrReplaceAll(content, {{kVersion, ""}}) : content});
  }
  members.insert(members.end(), records.begin(), records.end());
  return members;
}

std::vector<ZipMember> PackedBundle(const std::vector<ZipMember>& members) {
  std::vector<ZipMember> packed, records;
  std::string stream;
  RecordPacker packer(AppendTo(&stream));
  for (const ZipMember& member : members) {
    if (TrialOfBundleMember(member.name).empty()) {
      packed.push_back(member);
      if (member.name == kBundleManifest) absl::StrAppend(&packed.back().content, "\n", kVersion);
      continue;
    }
    CHECK(packer.Add(member.name, member.content).ok());
    records.push_back(member);
  }
  CHECK(packer.Finish().ok());
  packed.push_back({kBundleRecords, stream});
  packed.push_back({kBundleSums, SumsOf(packed) + SumsOf(records)});
  return packed;
}

std::string SignedBundle(std::vector<ZipMember> members) {
  const bool has_sums =
      std::any_of(members.begin(), members.end(), [](const ZipMember& member) { return member.name == kBundleSums; });
  if (!has_sums) members.push_back({kBundleSums, SumsOf(members)});
  const std::string bytes = ZipBytes(members, "openset bundle sha256:" + std::string(kDigits, '0'));
  const std::string before = bytes.substr(0, bytes.size() - kDigits);
  return before + Sha256Hex(before);
}

std::string SumsOf(const std::vector<ZipMember>& members) {
  std::string sums;
  for (const ZipMember& member : members) absl::StrAppend(&sums, Sha256Hex(member.content), "  ", member.name, "\n");
  return sums;
}

std::string XzBytes(const std::string& content) {
  std::string stream;
  XzWriter writer(AppendTo(&stream));
  CHECK(writer.Write(content).ok() && writer.Finish().ok());
  return stream;
}

std::string FromXz(const std::string& stream) {
  std::string content;
  XzReader reader(AppendTo(&content));
  CHECK(reader.Add(stream).ok() && reader.Finish().ok());
  return content;
}

}  // namespace openset
