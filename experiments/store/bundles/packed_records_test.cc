#include "experiments/store/bundles/packed_records.h"

#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/files/digest.h"
#include "core/testing/mutation.h"
#include "core/testing/status_matchers.h"
#include "experiments/store/testing/bundle_bytes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

using Files = std::vector<std::pair<std::string, std::string>>;

const std::string kFirst = "records/aa/" + std::string(64, 'a') + ".rec";
const std::string kSecond = "records/bb/" + std::string(64, 'b') + ".rec";
const std::string kReplica = "replicas/aa/" + std::string(64, 'a') + "/" + std::string(64, 'c') + ".rec";

std::string Packed(const Files& files) {
  std::string stream;
  RecordPacker packer([&](absl::string_view part) {
    stream.append(part.data(), part.size());
    return absl::OkStatus();
  });
  for (const auto& [name, content] : files) EXPECT_THAT(packer.Add(name, content), IsOk());
  EXPECT_THAT(packer.Finish(), IsOk());
  EXPECT_EQ(packer.bytes(), FromXz(stream).size());
  return stream;
}

struct Unpacked {
  absl::Status status;
  Files files;
};

Unpacked Unpack(const std::string& stream, const RecordUnpacker::Limits& limits = {1 << 30, 10, 1 << 20}) {
  Unpacked unpacked;
  RecordUnpacker unpacker(limits, [&](const std::string& name, const std::string& content) {
    unpacked.files.emplace_back(name, content);
    return absl::OkStatus();
  });
  for (size_t at = 0; at < stream.size() && unpacked.status.ok(); at += 50) {
    unpacked.status = unpacker.Add(absl::string_view(stream).substr(at, 50));
  }
  if (unpacked.status.ok()) unpacked.status = unpacker.Finish();
  return unpacked;
}

// Returns the header of an archive's first file with other bytes at `at`, and with a correct checksum.
std::string Header(const std::string& name, size_t at = 0, const std::string& bytes = "") {
  std::string header = FromXz(Packed({{name, "x"}})).substr(0, 512);
  header.replace(at, bytes.size(), bytes);
  header.replace(148, 8, "        ");
  uint64_t sum = 0;
  for (const char byte : header) sum += static_cast<uint8_t>(byte);
  return header.replace(148, 7, absl::StrFormat("%06o", sum) + std::string(1, '\0'));
}

std::string Block(const std::string& text) { return text + std::string(512 - text.size(), '\0'); }

const std::string kEnd(1024, '\0');

void Refuses(const std::string& archive, const std::string& message) {
  EXPECT_THAT(Unpack(XzBytes(archive)).status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr(message)));
}

TEST(PackedRecords, ReturnsTheFilesInOrder) {
  const std::string large(100000, 'x');
  const std::string stream = Packed({{kFirst, "one"}, {kSecond, large}, {kReplica, ""}});
  EXPECT_EQ(Packed({{kFirst, "one"}, {kSecond, large}, {kReplica, ""}}), stream);
  const Unpacked unpacked = Unpack(stream);
  EXPECT_THAT(unpacked.status, IsOk());
  EXPECT_THAT(unpacked.files, ElementsAre(Pair(kFirst, "one"), Pair(kSecond, large), Pair(kReplica, "")));
  EXPECT_THAT(Unpack(Packed({})).status, IsOk());
  // The bytes that Python's tarfile.USTAR_FORMAT writes, without the padding to 10 KiB.
  EXPECT_EQ(Sha256Hex(FromXz(Packed({{kFirst, "one"}, {kReplica, "two"}}))),
            "a16838d3a7f3dae51b6b99c4bf0400df3a5e3186543931fec1ede9459ee06207");
  RecordPacker packer([](absl::string_view) { return absl::OkStatus(); });
  EXPECT_THAT(packer.Add(std::string(101, 'x'), ""), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(packer.Add(std::string(156, 'x') + "/y", ""), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(PackedRecords, RefusesNamesThatNoBundleHas) {
  for (const std::string& name :
       {std::string("../../outside/file"), std::string("/var/lib/pwn"), std::string("records/x"),
        std::string("library/tasks/x.textproto"), std::string("manifest.textproto"), kFirst + "/x", "x" + kFirst}) {
    const Unpacked unpacked = Unpack(Packed({{name, "x"}}));
    EXPECT_THAT(unpacked.status,
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("has a member that no bundle has: '" + name + "'")));
    EXPECT_THAT(unpacked.files, IsEmpty());
  }
  Refuses(Header(kFirst, kFirst.size(), "\n\x1b") + Block("x") + kEnd, "no bundle has: '" + kFirst);
}

TEST(PackedRecords, RefusesEntriesThatAreNotRegularFiles) {
  for (const char type : std::string("123456789xgLKSVDMN\0 ", 20)) {
    Refuses(Header(kFirst, 156, std::string(1, type)) + Block("x") + kEnd, "' is not a regular file");
  }
  Refuses(Header(kFirst, 157, "/etc/passwd") + Block("x") + kEnd, "has a header that no bundle has");
}

TEST(PackedRecords, RefusesOtherHeaders) {
  const std::string what = "has a header that no bundle has, of '" + kFirst + "'";
  Refuses(Header(kFirst, 100, "0004755") + Block("x") + kEnd, what);      // mode
  Refuses(Header(kFirst, 108, "0000001") + Block("x") + kEnd, what);      // owner
  Refuses(Header(kFirst, 136, "00000000001") + Block("x") + kEnd, what);  // time
  Refuses(Header(kFirst, 124, "\x80") + Block("x") + kEnd, what);         // a size in binary
  Refuses(Header(kFirst, 124, "-0000000001") + Block("x") + kEnd, what);  // a size below 0
  Refuses(Header(kFirst, 124, "         1 ") + Block("x") + kEnd, what);
  Refuses(Header(kFirst, 257, "ustar  ") + Block("x") + kEnd, what);  // GNU's
  Refuses(Header(kFirst, 265, "root") + Block("x") + kEnd, what);
  Refuses(Header(kFirst, kFirst.size() + 1, "x") + Block("x") + kEnd, what);  // after the name's end
  std::string sum = Header(kFirst);
  sum[150] ^= 1;
  Refuses(sum + Block("x") + kEnd, what);
  Refuses(std::string(512, 'x') + kEnd, "not a regular file");
}

TEST(PackedRecords, RefusesDuplicateOrUnorderedFiles) {
  for (const std::string& second : {kSecond, kFirst}) {
    const Unpacked unpacked = Unpack(Packed({{kSecond, "x"}, {second, "y"}}));
    EXPECT_THAT(unpacked.status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("' twice, or out of order")));
    EXPECT_THAT(unpacked.files, ElementsAre(Pair(kSecond, "x")));
  }
}

TEST(PackedRecords, RefusesTruncatedOrExtendedArchives) {
  const std::string one = Header(kFirst) + Block("x");
  EXPECT_THAT(Unpack(XzBytes(one + kEnd)).status, IsOk());
  for (const std::string& cut :
       {std::string(), one.substr(0, 100), one.substr(0, 600), one, one + kEnd.substr(0, 512)}) {
    Refuses(cut, "is cut short: its archive has no end");
  }
  Refuses(one + kEnd + std::string(1, '\0'), "has bytes after the end of its archive");
  Refuses(one + kEnd + one + kEnd, "has bytes after the end of its archive");
  Refuses(one + kEnd.substr(0, 512) + one + kEnd, "has a block of zeros between its files");
  Refuses(Header(kFirst) + Block("xy") + kEnd, "has bytes after the end of '" + kFirst + "'");
  const std::string stream = Packed({{kFirst, "x"}});
  EXPECT_THAT(Unpack(stream + "x").status, StatusIs(absl::StatusCode::kDataLoss, HasSubstr("after the end")));
  EXPECT_THAT(Unpack(stream.substr(0, stream.size() - 1)).status,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("is cut short")));
}

TEST(PackedRecords, EnforcesLimits) {
  const std::string stream = Packed({{kFirst, std::string(1000, 'x')}, {kSecond, std::string(1001, 'x')}});
  const int64_t bytes = 512 + 1024 + 512 + 1024 + 1024;
  EXPECT_THAT(Unpack(stream, {bytes, 2, 1001}).status, IsOk());
  EXPECT_THAT(Unpack(stream, {bytes - 1, 2, 1001}).status,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("unpacks to more than 4095 bytes")));
  EXPECT_THAT(Unpack(stream, {bytes, 1, 1001}).status,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("more than 1 members")));
  EXPECT_THAT(Unpack(stream, {bytes, 2, 1000}).status,
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr(kSecond + "' has more than 1000 bytes")));
  // Before any of it is allocated.
  Refuses(Header(kFirst, 124, "77777777777"), "has more than 1048576 bytes");
}

TEST(PackedRecords, AMutatedArchiveIsRefusedOrHasOnlyRecordFiles) {
  const std::string archive = FromXz(Packed({{kFirst, "first"}, {kSecond, "second"}, {kReplica, "replica"}}));
  ForEachMutation("archive", archive, {"ustar", "0000644", kEnd, kSecond}, [](const std::string& bytes) {
    const Unpacked unpacked = Unpack(XzBytes(bytes));
    EXPECT_TRUE(unpacked.status.ok() || absl::IsDataLoss(unpacked.status)) << unpacked.status;
    for (size_t i = 0; i < unpacked.files.size(); ++i) {
      EXPECT_EQ(unpacked.files[i].first.substr(unpacked.files[i].first.size() - 4), ".rec");
      EXPECT_TRUE(i == 0 || unpacked.files[i - 1].first < unpacked.files[i].first);
    }
  });
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) { return openset::RunMutationTests(argc, argv); }
