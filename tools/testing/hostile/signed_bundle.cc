#include "tools/testing/hostile/signed_bundle.h"

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/formats/zip_reader.h"
#include "core/logging.h"

namespace openset {
namespace {

constexpr char kSums[] = "SHA256SUMS";
constexpr size_t kDigits = 64;

}  // namespace

std::vector<ZipMember> BundleMembers(const Ground& ground, const std::string& path) {
  absl::StatusOr<ZipReader> bundle = ZipReader::Open(ground.Path(path));
  CHECK(bundle.ok()) << bundle.status();
  std::vector<ZipMember> members;
  for (const std::string& name : bundle->Names()) {
    if (name != kSums) members.push_back({name, bundle->Read(name).value()});
  }
  return members;
}

void WriteSigned(const Ground& ground, const std::string& path, std::vector<ZipMember> members) {
  std::string sums;
  bool has_sums = false;
  for (const ZipMember& member : members) {
    absl::StrAppend(&sums, Sha256Hex(member.content), "  ", member.name, "\n");
    has_sums = has_sums || member.name == kSums;
  }
  if (!has_sums) members.push_back({kSums, sums});
  const std::string bytes = ZipBytes(members, "openset bundle sha256:" + std::string(kDigits, '0'));
  const std::string before = bytes.substr(0, bytes.size() - kDigits);
  ground.Write(path, before + Sha256Hex(before));
}

}  // namespace openset
