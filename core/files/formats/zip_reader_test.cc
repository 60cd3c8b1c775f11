#include "core/files/formats/zip_reader.h"

#include <minizip/zip.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/archive_bytes.h"
#include "core/testing/mutation.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

constexpr char kScores[] = "core/files/formats/testdata/scores.npz";  // np.savez_compressed of NumPy 2.4

TEST(ZipReader, ReadsMembersInAnyOrderAndMoreThanOnce) {
  ASSERT_OK_AND_ASSIGN(ZipReader zip, ZipReader::Open(kScores));
  EXPECT_THAT(zip.Names(), ElementsAre("label.npy", "prediction.npy", "unknown_score.npy"));
  EXPECT_TRUE(zip.Has("label.npy"));
  EXPECT_FALSE(zip.Has("label"));
  ASSERT_OK_AND_ASSIGN(const std::string last, zip.Read("unknown_score.npy"));
  ASSERT_OK_AND_ASSIGN(const std::string first, zip.Read("label.npy"));
  EXPECT_THAT(last, StartsWith("\x93NUMPY"));
  EXPECT_EQ(last.size(), 128 + 5 * 8);  // a header, five doubles
  EXPECT_NE(first, last);
  EXPECT_EQ(*zip.Read("unknown_score.npy"), last);
}

TEST(ZipReader, Errors) {
  EXPECT_THAT(ZipReader::Open("/nowhere.zip"), StatusIs(absl::StatusCode::kNotFound));
  const std::string path = testing::TempDir() + "/changed.zip";
  ASSERT_THAT(WriteFileAtomically(path, "this is no archive"), IsOk());
  EXPECT_THAT(ZipReader::Open(path), StatusIs(absl::StatusCode::kInvalidArgument, "not a zip archive"));
  ASSERT_OK_AND_ASSIGN(ZipReader zip, ZipReader::Open(kScores));
  EXPECT_THAT(zip.Read("nobody"), StatusIs(absl::StatusCode::kDataLoss, "has no member 'nobody'"));

  // A byte of the stored data, after the first member's header of 30 bytes, its name and its extra field of 20.
  std::string bytes = *ReadFile(kScores);
  bytes[30 + 17 + 20 + 10] ^= 0x55;
  ASSERT_THAT(WriteFileAtomically(path, bytes), IsOk());
  ASSERT_OK_AND_ASSIGN(ZipReader changed, ZipReader::Open(path));
  int damaged = 0;
  for (const std::string& name : changed.Names()) {
    const absl::StatusOr<std::string> content = changed.Read(name);
    if (content.ok()) continue;
    EXPECT_THAT(content.status(), IsDataLoss("' is corrupt"));
    ++damaged;
  }
  EXPECT_EQ(damaged, 1);
}

// An uncompressed member of more than one piece.
TEST(ZipReader, ReadsPlainMembersAndComparesTheirCrc) {
  std::string content(200000, '\0');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * i % 251);
  const std::string path = testing::TempDir() + "/plain.zip";
  zipFile file = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  const zip_fileinfo info = {};
  for (const char* name : {"a", "b"}) {
    zipOpenNewFileInZip64(file, name, &info, nullptr, 0, nullptr, 0, nullptr, /*method=*/0, /*level=*/0, /*zip64=*/0);
    zipWriteInFileInZip(file, content.data(), static_cast<unsigned>(content.size()));
    zipCloseFileInZip(file);
  }
  zipClose(file, nullptr);
  ASSERT_OK_AND_ASSIGN(ZipReader zip, ZipReader::Open(path));
  for (const char* name : {"b", "a", "b"}) {
    ASSERT_OK_AND_ASSIGN(const std::string read, zip.Read(name));
    EXPECT_TRUE(read == content);
  }

  std::string bytes = *ReadFile(path);
  bytes[150000] ^= 1;  // of the first one
  ASSERT_THAT(WriteFileAtomically(path, bytes), IsOk());
  ASSERT_OK_AND_ASSIGN(ZipReader changed, ZipReader::Open(path));
  EXPECT_THAT(changed.Read("a"), IsDataLoss("member 'a' is corrupt"));
  EXPECT_THAT(changed.Read("b"), IsOk());
}

// As from a file, for a compressed member and an uncompressed one of more than one piece.
TEST(ZipReader, ReadsAnArchiveInMemory) {
  const std::string content(200000, 'a');
  std::string archive = ZipBytes({{"a", content, true}, {"b", content + "b"}});
  ASSERT_OK_AND_ASSIGN(ZipReader zip, ZipReader::OfBytes(archive));
  EXPECT_THAT(zip.Names(), ElementsAre("a", "b"));
  for (const std::string name : {"b", "a", "b"}) {
    ASSERT_OK_AND_ASSIGN(const std::string read, zip.Read(name));
    EXPECT_TRUE(read == (name == "a" ? content : content + "b")) << name;
  }
  EXPECT_THAT(ZipReader::OfBytes(archive, 1000)->Read("a"), StatusIs(absl::StatusCode::kDataLoss));

  for (const size_t size : {size_t{0}, size_t{4}, archive.size() / 2}) {
    EXPECT_THAT(ZipReader::OfBytes(absl::string_view(archive).substr(0, size)).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, "not a zip archive"));
  }
  archive[archive.size() - 1000] ^= 1;  // in the second member
  ASSERT_OK_AND_ASSIGN(ZipReader changed, ZipReader::OfBytes(archive));
  EXPECT_THAT(changed.Read("a"), IsOkAndHolds(content));
  EXPECT_THAT(changed.Read("b"), IsDataLoss("member 'b' is corrupt"));
}

TEST(ZipReader, LimitsTheTotalSize) {
  ASSERT_OK_AND_ASSIGN(ZipReader zip, ZipReader::Open(kScores, 400));
  EXPECT_THAT(zip.Read("label.npy"), IsOk());  // 168 bytes
  EXPECT_THAT(zip.Read("label.npy"), IsOk());
  EXPECT_THAT(zip.Read("label.npy").status(),
              StatusIs(absl::StatusCode::kDataLoss,
                       "inflates to more than 400 bytes, at member 'label.npy': if this is intended, save it without "
                       "compression"));
}

// minizip does not compare the CRC of a member that ends too early.
TEST(ZipReader, MembersHaveTheSizeOfTheList) {
  const std::string path = testing::TempDir() + "/declared.zip";
  const auto read = [&](int64_t declared) {
    EXPECT_THAT(WriteFileAtomically(path, ZipBytes({{"a", "content", false, 0100644, declared}})), IsOk());
    absl::StatusOr<ZipReader> zip = ZipReader::Open(path);
    return zip.ok() ? zip->Read("a") : zip.status();
  };
  EXPECT_THAT(read(7), IsOkAndHolds("content"));
  EXPECT_THAT(read(8), IsDataLoss("says that it has 8 bytes, and has 7"));
  EXPECT_THAT(read(6), StatusIs(absl::StatusCode::kDataLoss));
  EXPECT_THAT(read(0xfffffffe), IsDataLoss("inflates to more than 1073741824 bytes"));
}

TEST(ZipReader, PartsEqualTheMemberAndStopOnRequest) {
  const std::string path = testing::TempDir() + "/parts.zip", content = std::string(100000, 'a') + "b";
  ASSERT_THAT(WriteFileAtomically(path, ZipBytes({{"a", content, true}, {"b", "else"}})), IsOk());
  ASSERT_OK_AND_ASSIGN(ZipReader zip, ZipReader::Open(path));
  std::string all;
  int parts = 0;
  const auto take = [&](absl::string_view part) {
    ++parts;
    all.append(part.data(), part.size());
    return absl::OkStatus();
  };
  EXPECT_THAT(zip.ReadParts("a", content.size(), take), IsOk());
  EXPECT_EQ(all, content);
  EXPECT_GT(parts, 1);
  parts = 0;
  const auto stop = [&](absl::string_view) { return ++parts, absl::AbortedError("enough"); };
  EXPECT_EQ(zip.ReadParts("a", content.size(), stop), absl::AbortedError("enough"));
  EXPECT_EQ(parts, 1);
  EXPECT_EQ(zip.Read("b").value(), "else");
  EXPECT_THAT(zip.ReadParts("a", content.size() - 1, take), StatusIs(absl::StatusCode::kOutOfRange));
}

TEST(ZipReader, WaitsForNoPipe) {
  const std::string path = testing::TempDir() + "/pipe.zip";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(ZipReader::Open(path), StatusIs(absl::StatusCode::kDataLoss, path + ": is a pipe or a device"));
}

TEST(ZipReader, ReadsManyMembers) {
  const std::string path = testing::TempDir() + "/many.zip";
  zipFile zip = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  for (int i = 0; i < 50'000; ++i) {
    const zip_fileinfo info = {};
    ASSERT_EQ(zipOpenNewFileInZip(zip, absl::StrCat(i).c_str(), &info, nullptr, 0, nullptr, 0, nullptr, 0, 0), ZIP_OK);
    ASSERT_EQ(zipCloseFileInZip(zip), ZIP_OK);
  }
  ASSERT_EQ(zipClose(zip, nullptr), ZIP_OK);
  ReadLarge("zip", [&] {
    ASSERT_OK_AND_ASSIGN(ZipReader reader, ZipReader::Open(path));
    for (const std::string& name : reader.Names()) ASSERT_THAT(reader.Read(name), IsOk());
  });
}

}  // namespace
}  // namespace openset
