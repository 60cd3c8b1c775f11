// Files with random changes are read or give an error. They never cause a crash (with --config=asan, no undefined
// behaviour either) or allocations of declared sizes. Tests --rounds files of each format, one for each seed; prints a
// failing seed, which can be given as --first_seed.
#include "core/testing/mutation.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/random.h"
#include "eval/files/sample_set.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

std::string Path(const std::string& name) { return testing::TempDir() + "/" + name; }

const std::vector<std::string>& Tokens() {
  static const auto* const tokens = new std::vector<std::string>{"(1000000000,)",
                                                                 "-1",
                                                                 "'descr': '|O'",
                                                                 "True",
                                                                 "9999999999",
                                                                 "nan",
                                                                 "inf",
                                                                 "\"",
                                                                 ",,",
                                                                 "\r\n",
                                                                 "PK\5\6",
                                                                 "\x93NUMPY",
                                                                 "<U0",
                                                                 "<f8",
                                                                 "1e999",
                                                                 "0x1",
                                                                 "logit_7",
                                                                 "(-1,)",
                                                                 ";",
                                                                 "\t",
                                                                 "unknown",
                                                                 "cat",
                                                                 "3.0"};
  return *tokens;
}

void Check(const std::vector<std::string>& files) {
  SetRoles roles;
  const absl::StatusOr<SampleSet> samples = ReadSampleSet(files, roles);
  if (!samples.ok()) {
    EXPECT_NE(samples.status().message(), "");
    EXPECT_EQ(samples.status().message().find('\n'), absl::string_view::npos) << samples.status();
    return;
  }
  if (samples->unknown_score.empty()) return;
  EXPECT_TRUE(samples->Input().ok());
}

class MutationTest : public testing::Test {
 protected:
  // Reads `rounds` changed versions of `bytes` as a file of this name.
  void Run(const std::string& name, const std::string& bytes) {
    ForEachMutation(name, bytes, Tokens(), [&](const std::string& changed) {
      ASSERT_TRUE(WriteBytes(Path(name), changed));
      Check({Path(name)});
    });
  }

  static bool WriteBytes(const std::string& path, const std::string& bytes) {
    remove(path.c_str());  // ext4 flushes a file that is truncated and rewritten
    FILE* file = fopen(path.c_str(), "wb");
    if (file == nullptr) return false;
    const bool ok = fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return fclose(file) == 0 && ok;
  }

  const NpzArrays arrays_ = {
      {"label", MakeNpy(std::vector<int64_t>{0, 1, -1}, {3})},
      {"logits", MakeNpy(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2})},
      {"unknown_score", MakeNpy(std::vector<double>{0.5, 1, 2}, {3})},
      {"group", MakeNpy(std::vector<int64_t>{-1, -1, 0}, {3})},
      {"group_names", MakeNpy({"near"})},
      {"num_classes", MakeNpy(std::vector<int64_t>{2}, {})},
  };
};

TEST_F(MutationTest, Archives) {
  ASSERT_TRUE(WriteNpz(Path("valid.npz"), arrays_).ok());
  Run("changed.npz", *ReadFile(Path("valid.npz")));
}

// An archive's checksums would hide most changes of its arrays from the reader, so they are corrected.
TEST_F(MutationTest, ArraysInArchives) {
  ForEachRound("arrays", [&](RandomStream* random) {
    NpzArrays arrays = arrays_;
    auto entry = arrays.begin();
    std::advance(entry, random->Below(arrays.size()));
    const absl::StatusOr<NpyArray> changed = ParseNpy(Mutated(FormatNpy(entry->second), Tokens(), random));
    if (!changed.ok()) return;
    entry->second = *changed;
    ASSERT_TRUE(WriteNpz(Path("arrays.npz"), arrays).ok());
    Check({Path("arrays.npz")});
  });
}

TEST_F(MutationTest, SingleArrays) {
  ASSERT_TRUE(WriteBytes(Path("logits.npy"), FormatNpy(arrays_.at("logits"))));
  const std::string label = FormatNpy(arrays_.at("label"));
  ForEachMutation("label.npy", label, Tokens(), [&](const std::string& changed) {
    ASSERT_TRUE(WriteBytes(Path("label.npy"), changed));
    Check({Path("label.npy"), Path("logits.npy")});
  });
}

TEST_F(MutationTest, Tables) {
  Run("changed.csv",
      "label,logit_0,logit_1,unknown_score,group,num_classes\n"
      "0,1.5,2,0.5,,2\r\n"
      "1,-inf,1e-3,1,,2\n"
      "-1,\"5\",6,2,\"near, \"\"by\"\"\",2\n");
  Run("named.csv",
      ";Label;prediction;logit_dog;logit_cat;unknown_score\n"
      "0;dog;cat;1;2;0.5\n"
      "1;;dog;3;4;1.5\n"
      "2;unknown;dog;5;-6;2.5\n");
}

TEST_F(MutationTest, FilesOfOtherTools) {
  const NpzArrays open_ood = {
      {"pred", arrays_.at("label")}, {"conf", arrays_.at("unknown_score")}, {"label", arrays_.at("label")}};
  ASSERT_TRUE(WriteNpz(Path("valid.npz"), open_ood).ok());
  Run("cifar10.npz", *ReadFile(Path("valid.npz")));
  const NpzArrays fd_shifts = {{"arr_0", MakeNpy(std::vector<float>{1, 2, 0, 0, 3, 4, 1, 1}, {2, 4})}};
  ASSERT_TRUE(WriteNpz(Path("valid.npz"), fd_shifts).ok());
  Run("raw_logits.npz", *ReadFile(Path("valid.npz")));
}

// Many columns, many rows each with its own class, and an archive of many arrays.
TEST_F(MutationTest, LargeTables) {
  std::string wide = "label,unknown_score", row = "0,1", tall = "label,prediction,unknown_score\n";
  for (int i = 0; i < 200'000; ++i) {
    absl::StrAppend(&wide, ",logit_", i);
    absl::StrAppend(&row, ",0");
    absl::StrAppend(&tall, "class ", i, ",class ", i, ",0.5\n");
  }
  NpzArrays arrays = arrays_;
  for (int i = 0; i < 20'000; ++i) arrays[absl::StrCat("x", i)] = arrays_.at("num_classes");
  ASSERT_TRUE(WriteNpz(Path("many.npz"), arrays).ok());
  ASSERT_TRUE(WriteBytes(Path("wide.csv"), absl::StrCat(wide, "\n", row, "\n")));
  ASSERT_TRUE(WriteBytes(Path("tall.csv"), tall));
  for (const char* name : {"wide.csv", "tall.csv", "many.npz"}) ReadLarge(name, [&] { Check({Path(name)}); });
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) { return openset::RunMutationTests(argc, argv); }
