#include "core/files/formats/npz.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/system_calls.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

constexpr char kScores[] = "core/files/formats/testdata/scores.npz";  // np.savez_compressed of NumPy 2.4

TEST(ReadNpz, ReadsWhatNumPyWrote) {
  ASSERT_OK_AND_ASSIGN(const NpzArrays arrays, ReadNpz(kScores));
  EXPECT_EQ(arrays.size(), 3);
  EXPECT_THAT(*ToDouble(arrays.at("unknown_score")), ElementsAre(0, 0.25, 0.5, 0.75, 1));
  EXPECT_THAT(*ToInt64(arrays.at("label")), ElementsAre(0, 1, -1, -1, 2));
  EXPECT_THAT(*ToInt64(arrays.at("prediction")), ElementsAre(0, 1, 1, 0, 2));
}

TEST(ReadNpz, ReadsTheNamedArraysOnly) {
  ASSERT_OK_AND_ASSIGN(const NpzArrays arrays, ReadNpz(kScores, {"label", "logits"}));
  EXPECT_EQ(arrays.size(), 1);
  EXPECT_EQ(arrays.count("label"), 1);
}

TEST(NpzWriter, WritesTheSameBytesRowByRow) {
  const std::string at_once = testing::TempDir() + "/at_once.npz", by_rows = testing::TempDir() + "/by_rows.npz";
  const NpyArray names = MakeNpy({"x", "y"}), weight = MakeNpy(std::vector<float>(4, 2), {2, 2});
  ASSERT_TRUE(WriteNpz(at_once, {{"features", MakeNpy(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2})},
                                 {"group_names", names},
                                 {"head_weight", weight},
                                 {"label", MakeNpy(std::vector<int64_t>{7, 8, 9}, {3})},
                                 {"none", MakeNpy(std::vector<float>{}, {0, 5})}})
                  .ok());
  {
    NpzWriter writer(by_rows);
    ASSERT_TRUE(writer.AppendRows("label", MakeNpy(std::vector<int64_t>{7, 8}, {2})).ok());
    ASSERT_TRUE(writer.AppendRows("features", MakeNpy(std::vector<float>{1, 2}, {1, 2})).ok());
    ASSERT_TRUE(writer.AppendRows("none", MakeNpy(std::vector<float>{}, {0, 5})).ok());
    ASSERT_TRUE(writer.AppendRows("features", MakeNpy(std::vector<float>{3, 4, 5, 6}, {2, 2})).ok());
    ASSERT_TRUE(writer.AppendRows("label", MakeNpy(std::vector<int64_t>{9}, {1})).ok());
    EXPECT_TRUE(FileExists(by_rows + ".label.rows"));
    ASSERT_TRUE(writer.Finish({{"group_names", names}, {"head_weight", weight}}).ok());
    EXPECT_FALSE(FileExists(by_rows + ".label.rows"));
  }
  EXPECT_EQ(*Sha256HexOfFile(by_rows), *Sha256HexOfFile(at_once));
}

TEST(NpzWriter, NamesArraysThatItCannotWrite) {
  NpzWriter writer("/no such folder/x.npz");
  EXPECT_EQ(writer.AppendRows("a", MakeNpy(std::vector<float>{1}, {1})),
            absl::UnavailableError("cannot write /no such folder/x.npz.a.rows: No such file or directory"));
  EXPECT_EQ(writer.Finish({}), absl::UnavailableError("cannot write /no such folder/x.npz: No such file or directory"));
}

// The engine knows a full disk by this reason, and starts nothing more.
TEST(NpzWriter, SaysThatTheDiskIsFull) {
  const NpyArray large = MakeNpy(std::vector<float>(1 << 20), {1 << 20});
  const absl::Status whole = WriteNpz("/dev/full", {{"a", large}});
  EXPECT_EQ(whole, absl::UnavailableError("cannot write /dev/full: No space left on device"));
  EXPECT_TRUE(IsDiskError(whole));
  const std::string folder = testing::TempDir() + "/full";
  ASSERT_TRUE(MakeFolders(folder).ok());
  ASSERT_EQ(symlink("/dev/full", (folder + "/x.npz.a.rows").c_str()), 0);
  NpzWriter writer(folder + "/x.npz");
  EXPECT_EQ(writer.AppendRows("a", large),
            absl::UnavailableError(absl::StrCat("cannot write ", folder, "/x.npz.a.rows: No space left on device")));
}

TEST(WriteNpz, ReadsBackAndIsReproducible) {
  const std::string path = testing::TempDir() + "/round.npz";
  const NpzArrays arrays = {{"logits", MakeNpy(std::vector<float>(1000, 0.5f), {10, 100})}, {"names", MakeNpy({"x"})}};
  ASSERT_TRUE(WriteNpz(path, arrays).ok());
  const std::string digest = *Sha256HexOfFile(path);
  ASSERT_OK_AND_ASSIGN(const NpzArrays read, ReadNpz(path));
  EXPECT_EQ(read.at("logits").data, arrays.at("logits").data);
  EXPECT_THAT(read.at("logits").shape, ElementsAre(10, 100));
  EXPECT_THAT(*ToTexts(read.at("names")), ElementsAre("x"));
  ASSERT_TRUE(WriteNpz(path, arrays).ok());
  EXPECT_EQ(*Sha256HexOfFile(path), digest);
}

TEST(WriteNpzAtomically, ReplacesAFileAndLeavesNothingElse) {
  const std::string folder = testing::TempDir() + "/atomic", path = folder + "/x.npz";
  std::filesystem::create_directory(folder);
  for (const float value : {1.0f, 2.0f}) {
    ASSERT_TRUE(WriteNpzAtomically(path, {{"a", MakeNpy(std::vector<float>{value}, {1})}}).ok());
    ASSERT_OK_AND_ASSIGN(const NpzArrays read, ReadNpz(path));
    EXPECT_THAT(*ToDouble(read.at("a")), ElementsAre(value));
  }
  const std::filesystem::directory_iterator files(folder);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
  const absl::Status missing = WriteNpzAtomically(folder + "/none/x.npz", {});
  EXPECT_FALSE(missing.ok());
  EXPECT_THAT(missing.message(), HasSubstr(folder + "/none/x.npz"));
}

TEST(WriteNpzAtomically, AWriteThatFailsHalfWayLeavesNothing) {
  const std::string folder = testing::TempDir() + "/half", path = folder + "/x.npz";
  std::filesystem::create_directory(folder);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {4096, before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const absl::Status written = WriteNpzAtomically(path, {{"a", MakeNpy(std::vector<float>(100000, 1), {100000})}});
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(written, absl::UnavailableError("cannot write " + path + ": File too large"));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST(ReadNpz, NamesFileAndArrayInErrors) {
  EXPECT_EQ(ReadNpz("/nowhere.npz").status().code(), absl::StatusCode::kNotFound);
  const std::string path = testing::TempDir() + "/bad.npz";
  std::ofstream(path) << "this is no archive";
  EXPECT_EQ(ReadNpz(path).status(), absl::DataLossError(path + ": not an .npz archive"));
  std::ofstream(path, std::ios::trunc).flush();
  EXPECT_EQ(ReadNpz(path).status(), absl::DataLossError(path + ": is empty"));
  std::ofstream(path) << "PK\x03\x04 and no list of members";
  EXPECT_EQ(ReadNpz(path).status(), absl::DataLossError(path + ": is cut short: copy or save it again"));
  ASSERT_TRUE(WriteNpz(path, {{"logits", {"<f8", {3}, "short"}}}).ok());
  EXPECT_THAT(std::string(ReadNpz(path).status().message()), HasSubstr(path + ": array 'logits': "));
  EXPECT_EQ(WriteNpz("/nowhere/x.npz", {}).code(), absl::StatusCode::kUnavailable);
}

TEST(ReadNpz, EveryTruncationIsAnErrorAndNoChangedByteACrash) {
  const std::string bytes = *ReadFile(kScores);
  const std::string path = testing::TempDir() + "/changed.npz";
  for (size_t size = 0; size < bytes.size(); size += 7) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes.substr(0, size);
    EXPECT_FALSE(ReadNpz(path).ok()) << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << changed;
    const absl::StatusOr<NpzArrays> arrays = ReadNpz(path);
    EXPECT_LE(arrays.ok() ? arrays->size() : 0, 3);
  }
}

// The second member's data is corrupt, which is only visible when it is inflated.
TEST(ReadNpz, InflatesOnlyRequestedMembers) {
  const std::string path = testing::TempDir() + "/some.npz";
  ASSERT_TRUE(WriteNpz(path, {{"a", MakeNpy(std::vector<float>{1}, {1})}, {"b", MakeNpy({"text"})}}).ok());
  std::string bytes = *ReadFile(path);
  bytes[bytes.find(std::string("t\0\0\0e", 5))] ^= 1;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  EXPECT_THAT(*NpzNames(path), ElementsAre("a", "b"));
  EXPECT_TRUE(ReadNpz(path, {"a"}).ok());
  EXPECT_EQ(ReadNpz(path, {"a", "b"}).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReadNpz(path).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace openset
