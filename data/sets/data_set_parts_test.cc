#include "data/sets/data_set_parts.h"

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/testing/toy_data_set.h"

namespace openset {
namespace {

TEST(PartDigest, DependsOnContentWithoutChecksums) {
  DataSetInfo info = Parsed<DataSetInfo>(FolderToy("channels: 3 height: 0 width: 0", ""));
  EXPECT_FALSE(HasChecksums(info.layout(0).part(0)));
  const std::string untold = *PartDigest(info, "train");
  info.mutable_layout(0)->mutable_part(0)->set_content_sha256(kSum);
  EXPECT_NE(*PartDigest(info, "train"), untold);
}

TEST(PartDigest, IsTheGivenDigestOfARecord) {
  DataSetInfo info = Parsed<DataSetInfo>(FolderToy("channels: 3 height: 0 width: 0", ""));
  DataSetPart* part = info.mutable_layout(0)->mutable_part(0);
  EXPECT_FALSE(IsToldByDigest(*part));
  part->set_content_sha256(kSum);
  EXPECT_FALSE(IsToldByDigest(*part));
  TellPartDigest(kOtherSum, part);
  EXPECT_TRUE(IsToldByDigest(*part));
  EXPECT_EQ(*PartDigest(info, "train"), kOtherSum);
}

TEST(PartDigest, OfAFolderDependsOnItsListing) {
  const std::string any = "channels: 3 height: 0 width: 0";
  const auto digest = [&](const std::string& more) {
    return *PartDigest(Parsed<DataSetInfo>(FolderToy(any, more)), "train");
  };
  EXPECT_EQ(digest(""), digest("class_folder: ['x', 'y']"));
  EXPECT_NE(digest(""), digest(absl::StrCat("listing_sha256: '", kSum, "'")));
  EXPECT_NE(digest(absl::StrCat("listing_sha256: '", kOtherSum, "'")),
            digest(absl::StrCat("listing_sha256: '", kSum, "'")));
}

TEST(PartDigest, DependsOnContentNotOnStorage) {
  const DataSetInfo info = Parsed<DataSetInfo>(kToy);
  const std::string digest = *PartDigest(info, "train");
  EXPECT_EQ(digest.size(), 64);
  EXPECT_NE(*PartDigest(info, "test"), digest);
  EXPECT_TRUE(absl::IsNotFound(PartDigest(info, "validation").status()));

  DataSetInfo stored_otherwise = info;
  DataSetPart* part = stored_otherwise.mutable_layout(0)->mutable_part(0);
  part->mutable_cifar_binary()->mutable_file(0)->set_path("elsewhere");
  stored_otherwise.set_class_name(0, "renamed");
  stored_otherwise.set_title("text");
  *stored_otherwise.add_layout() = info.layout(0);
  stored_otherwise.mutable_layout(1)->mutable_part(0)->mutable_cifar_binary()->mutable_file(0)->add_sha256(kSum);
  EXPECT_EQ(*PartDigest(stored_otherwise, "train"), digest);

  DataSetInfo other = info;
  other.mutable_layout(0)->mutable_part(0)->mutable_cifar_binary()->mutable_file(0)->add_sha256(kSum);
  const std::string with_sum = *PartDigest(other, "train");
  EXPECT_NE(with_sum, digest);
  // Another accepted checksum of the file does not change the data.
  other.mutable_layout(0)->mutable_part(0)->mutable_cifar_binary()->mutable_file(0)->add_sha256(kOtherSum);
  EXPECT_EQ(*PartDigest(other, "train"), with_sum);
  other = info;
  other.set_name("other");
  EXPECT_NE(*PartDigest(other, "train"), digest);
}

}  // namespace
}  // namespace openset
