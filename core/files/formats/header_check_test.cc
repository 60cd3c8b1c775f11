#include "core/files/formats/header_check.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/archive_bytes.h"
#include "core/testing/byte_order.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

constexpr int64_t kLarge = 10'000'000'000;

// These bytes, followed by zeros: a file with a hole, which needs no disk space.
std::string FileOf(const std::string& begin, int64_t bytes, const std::string& end = "") {
  const std::string path = JoinPath(::testing::TempDir(), "large");
  std::ofstream(path, std::ios::binary | std::ios::trunc) << begin;
  std::filesystem::resize_file(path, bytes - end.size());
  std::ofstream(path, std::ios::binary | std::ios::app) << end;
  return path;
}

std::string Safetensors(const std::string& header) { return LittleEndian(header.size(), 8) + header; }

// The file of one array with this number of bytes.
std::string Header(int64_t bytes) {
  return absl::StrCat(R"({"a":{"dtype":"U8","shape":[)", bytes, R"(],"data_offsets":[0,)", bytes, "]}}");
}

TEST(HeaderCheck, RefusesZeros) {
  const std::string path = FileOf("", kLarge);
  EXPECT_THAT(CheckSafetensorsHeader(path),
              StatusIs(absl::StatusCode::kDataLoss, path + ": the header is not a JSON object"));
  EXPECT_THAT(CheckZipMembers(path), StatusIs(absl::StatusCode::kDataLoss, path + ": not a zip archive"));
  EXPECT_THAT(CheckWeightsHeader(path), IsDataLoss("is neither a safetensors"));
}

TEST(HeaderCheck, SafetensorsHaveTheLengthOfTheirHeader) {
  const std::string begin = Safetensors(Header(2'000'000));
  const auto whole = static_cast<int64_t>(begin.size()) + 2'000'000;
  for (const auto check : {&CheckSafetensorsHeader, &CheckWeightsHeader}) {
    EXPECT_THAT(check(FileOf(begin, whole)), IsOk());
    EXPECT_THAT(check(FileOf(begin, whole - 1)), StatusIs(absl::StatusCode::kDataLoss));
    EXPECT_THAT(check(FileOf(begin, kLarge)), StatusIs(absl::StatusCode::kDataLoss));
  }
  EXPECT_THAT(CheckSafetensorsHeader(FileOf(begin, kLarge)),
              IsDataLoss(absl::StrCat("the arrays take 2000000 bytes, but ", kLarge - begin.size())));
  // A header that is longer than what is read of it: its length alone.
  const std::string spaces = Safetensors(Header(2'000'000) + std::string(1 << 20, ' '));
  EXPECT_THAT(CheckSafetensorsHeader(FileOf(spaces, kLarge)), IsOk());
  const std::string beyond("\xff\xff\xff\x03\0\0\0\0{", 9);  // 64 MB
  EXPECT_THAT(CheckSafetensorsHeader(FileOf(beyond, 2'000'000)), IsDataLoss("cut short"));
  EXPECT_THAT(CheckSafetensorsHeader(FileOf(beyond.substr(0, 8) + "x", kLarge)),
              IsDataLoss("the header is not a JSON object"));
}

TEST(HeaderCheck, ArchivesConsistOfTheirMembers) {
  const std::string zip = ZipBytes({{"label.npy", std::string(3'000'000, 'x')}});
  for (const auto check : {&CheckZipMembers, &CheckWeightsHeader}) {
    EXPECT_THAT(check(FileOf(zip, static_cast<int64_t>(zip.size()))), IsOk());
    // Behind a hole, which readers of archives skip.
    EXPECT_THAT(check(FileOf("PK\x03\x04", kLarge, zip)), IsDataLoss("of which the members in its list take 3000000"));
    EXPECT_THAT(check(FileOf(zip.substr(0, 2'000'000), kLarge)), IsDataLoss("not a zip archive"));
  }
}

TEST(HeaderCheck, SmallFilesAreLeftToTheirChecksum) {
  const std::string path = FileOf("", kHeaderCheckBytes - 1);
  EXPECT_THAT(CheckSafetensorsHeader(path), IsOk());
  EXPECT_THAT(CheckZipMembers(path), IsOk());
  EXPECT_THAT(CheckWeightsHeader(path), IsOk());
}

// With any name that is not of the other format.
TEST(HeaderCheck, TellsTheFormatsOfWeights) {
  const std::string archive = ZipBytes({{"archive/data.pkl", "\x80\x02}."}}),
                    pickle = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46";
  for (const char* name : {"w.pth", "w.pt", "w.bin", "w.ckpt", "w.pth.tar", "w", "data:w.weights"}) {
    EXPECT_EQ(*WeightsFormatOf(name, archive), WeightsFormat::kArchive) << name;
    EXPECT_EQ(*WeightsFormatOf(name, pickle), WeightsFormat::kPickle) << name;
  }
  for (const char* name : {"w.safetensors", "W.SafeTensors", "w", "w.sft"}) {
    EXPECT_EQ(*WeightsFormatOf(name, Safetensors("{}")), WeightsFormat::kSafetensors) << name;
  }
  // A header of 640 bytes, whose length begins like a pickle; and of 8,827 bytes, like a JSON text.
  for (const size_t length : {640, 8827}) {
    const std::string header = "{" + std::string(length - 2, ' ') + "}";
    EXPECT_EQ(*WeightsFormatOf("w.safetensors", Safetensors(header)), WeightsFormat::kSafetensors) << length;
  }
  for (const std::string& torch : {archive, pickle}) {
    for (const char* name : {"w.safetensors", "W.SAFETENSORS"}) {
      EXPECT_THAT(WeightsFormatOf(name, torch), IsInvalidArgument("not a safetensors file as its name says"));
    }
  }
  for (const char* name : {"w.pth", "w.PT", "w.bin", "w.ckpt", "w.tar"}) {
    EXPECT_THAT(WeightsFormatOf(name, Safetensors("{}")).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("is a safetensors file"), HasSubstr("rename it to .safetensors"))));
  }
}

TEST(HeaderCheck, NamesWhatCameInsteadOfWeights) {
  const std::pair<std::string, std::string> cases[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 7\n", "is a Git LFS pointer"},
      {"<!DOCTYPE html><title>Google Drive</title>", "is a web page"},
      {"\xef\xbb\xbf \n<HTML>", "is a web page"},
      {"<?xml version='1.0'?><Error>AccessDenied</Error>", "is an XML text"},
      {"{\"error\": 404}", "is a JSON text"},
      {"\x89HDF\r\n", "is an HDF5 file"},
      {"\x1f\x8b\x08", "is compressed with gzip"},
      {"something else", "is neither a safetensors file nor a file of torch.save() or TorchScript"},
  };
  for (const auto& [bytes, what] : cases) {
    for (const char* name : {"w.pth", "w"}) {
      EXPECT_THAT(WeightsFormatOf(name, bytes), IsInvalidArgument(what));
    }
    const std::string path = FileOf(bytes, static_cast<int64_t>(bytes.size()));
    EXPECT_THAT(CheckWeightsFile(path),
                StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr(path), HasSubstr(what))));
  }
  EXPECT_THAT(WeightsFormatOf("w.pth", ""), StatusIs(absl::StatusCode::kDataLoss, "is empty"));
}

TEST(HeaderCheck, NamesFilesThatCannotBeOpened) {
  for (const auto check : {&CheckSafetensorsHeader, &CheckZipMembers, &CheckWeightsHeader, &CheckWeightsFile}) {
    EXPECT_THAT(check("/nowhere"), IsNotFound("/nowhere"));
    EXPECT_THAT(check("/dev/zero"), IsDataLoss("/dev/zero"));
  }
}

}  // namespace
}  // namespace openset
