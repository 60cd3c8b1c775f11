#include "data/sets/data_set_parts.h"

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/proto/proto_digest.h"
#include "core/status_macros.h"
#include "core/text/suggest.h"
#include "data/formats/part_format.h"

namespace openset {
namespace {

constexpr absl::string_view kToldPrefix = "part:";

}  // namespace

std::vector<std::string> PartNames(const DataSetInfo& info) {
  std::vector<std::string> names;
  for (const DataSetPart& part : info.layout(0).part()) names.push_back(part.name());
  return names;
}

absl::StatusOr<const DataSetPart*> FindPart(const DataSetInfo& info, absl::string_view part) {
  for (const DataSetPart& candidate : info.layout(0).part()) {
    if (candidate.name() == part) return &candidate;
  }
  return absl::NotFoundError(
      absl::StrCat("data set '", info.name(), "': ", UnknownName("part", part, PartNames(info))));
}

std::vector<const DataFile*> FilesOf(const DataSetPart& part) { return FormatOf(part).Files(part); }

bool HasChecksums(const DataSetPart& part) {
  return FormatOf(part).Folder(part) == nullptr &&
         absl::c_all_of(FilesOf(part), [](const DataFile* file) { return file->sha256_size() > 0; });
}

void TellPartDigest(absl::string_view digest, DataSetPart* part) {
  part->set_content_sha256(absl::StrCat(kToldPrefix, digest));
}

bool HasClusters(const DataSetPart& part) {
  return part.image_folder().has_clusters() || part.image_list().has_clusters() ||
         part.image_list().has_cluster_column() || part.features().clustered();
}

bool IsToldByDigest(const DataSetPart& part) { return absl::StartsWith(part.content_sha256(), kToldPrefix); }

absl::StatusOr<std::string> PartDigest(const DataSetInfo& info, absl::string_view part_name) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetPart* part, FindPart(info, part_name));
  if (IsToldByDigest(*part)) return part->content_sha256().substr(kToldPrefix.size());
  PartIdentity identity;
  identity.set_data_set(info.name());
  identity.set_part(part->name());
  identity.set_channels(info.channels());
  identity.set_height(info.height());
  identity.set_width(info.width());
  for (int id = 0; id < info.class_name_size() && !CountsFiles(*part); ++id) {
    identity.add_samples_per_class(SamplesOfClass(*part, id));
  }
  const std::vector<const DataFile*> files = FilesOf(*part);
  if (absl::c_all_of(files, [](const DataFile* file) { return file->sha256_size() > 0; })) {
    for (const DataFile* file : files) identity.add_sha256(file->sha256(0));
  }
  const ImageFolderFiles& folder = part->image_folder();
  if (folder.has_listing_sha256()) identity.add_sha256(folder.listing_sha256());
  if (folder.has_share()) *identity.mutable_share() = folder.share();
  if (part->features().has_share()) *identity.mutable_share() = part->features().share();
  *identity.mutable_skip() = folder.skip();
  if (part->image_list().has_cluster_column()) identity.set_cluster_column(part->image_list().cluster_column());
  if (part->has_noise()) *identity.mutable_noise() = part->noise();
  if (part->has_content_sha256()) identity.set_content_sha256(part->content_sha256());
  return MessageDigest(identity);
}

}  // namespace openset
