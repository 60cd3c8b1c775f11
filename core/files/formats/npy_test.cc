#include "core/files/formats/npy.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// core/testdata was written with NumPy 2.4.
std::string TestData(const std::string& name) {
  absl::StatusOr<std::string> bytes = ReadFile("core/files/formats/testdata/" + name);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.value_or("");
}

TEST(ParseNpy, ReadsWhatNumPyWrote) {
  ASSERT_OK_AND_ASSIGN(const NpyArray array, ParseNpy(TestData("f4_2x3.npy")));
  EXPECT_THAT(array.shape, ElementsAre(2, 3));
  EXPECT_THAT(*ToFloat(array), ElementsAre(1, 2, 3, 4, 5, 6.5));
  EXPECT_THAT(*ToDouble(array), ElementsAre(1, 2, 3, 4, 5, 6.5));
  EXPECT_EQ(ToInt64(array).status(), absl::InvalidArgumentError("holds 6.5 in row 5, not a whole number"));
  EXPECT_EQ(ToTexts(array).status(), absl::InvalidArgumentError("holds '<f4', not texts"));
}

TEST(ToInt64, TakesWholeFloats) {
  const auto values = [](std::vector<double> reals) {
    const auto count = static_cast<int64_t>(reals.size());
    return ToInt64(MakeNpy(reals, {count}));
  };
  EXPECT_THAT(*values({0, -1, 3, 9007199254740992}), ElementsAre(0, -1, 3, int64_t{1} << 53));
  EXPECT_THAT(*ToInt64(MakeNpy(std::vector<float>{-1, 7}, {2})), ElementsAre(-1, 7));
  EXPECT_THAT(std::string(values({0, 0.5}).status().message()), HasSubstr("holds 0.5 in row 1"));
  EXPECT_THAT(std::string(values({std::nan("")}).status().message()), HasSubstr("holds nan in row 0"));
  EXPECT_THAT(std::string(values({1, 2, -INFINITY}).status().message()), HasSubstr("holds -inf in row 2"));
  EXPECT_THAT(std::string(values({1e17}).status().message()), HasSubstr("holds 1e+17 in row 0"));
}

TEST(ParseNpy, BringsColumnMajorToRowMajor) {
  ASSERT_OK_AND_ASSIGN(const NpyArray array, ParseNpy(TestData("f8_column_major.npy")));
  EXPECT_THAT(array.shape, ElementsAre(2, 3));
  EXPECT_THAT(*ToDouble(array), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(ParseNpy, ReadsTexts) {
  ASSERT_OK_AND_ASSIGN(const NpyArray array, ParseNpy(TestData("texts.npy")));
  EXPECT_THAT(*ToTexts(array), ElementsAre("near", "far-svhn", "Größe ∀"));
  EXPECT_FALSE(ToDouble(array).ok());
}

TEST(ParseNpy, ReadsHalves) {
  // 1, -2, 1/3 rounded (0x3555), the least value above 0, the largest, inf.
  const std::vector<uint16_t> bits = {0x3c00, 0xc000, 0x3555, 0x0001, 0x7bff, 0x7c00};
  NpyArray array{"<f2", {6}, std::string(reinterpret_cast<const char*>(bits.data()), 12)};
  EXPECT_THAT(*ToDouble(*ParseNpy(FormatNpy(array))),
              ElementsAre(1, -2, 1365.0 / 4096, 1.0 / (1 << 24), 65504, std::numeric_limits<double>::infinity()));
}

// A trillion elements that need no bytes.
TEST(ParseNpy, RefusesTextsWithoutCharacters) {
  EXPECT_EQ(ParseNpy(FormatNpy({"<U0", {int64_t{1} << 40}, ""})).status(),
            absl::InvalidArgumentError("array of texts without characters"));
}

TEST(ParseNpy, RefusesUnsupportedArrays) {
  EXPECT_THAT(ParseNpy(TestData("objects.npy")), IsInvalidArgument("Python objects"));
  EXPECT_THAT(std::string(ParseNpy(TestData("big_endian.npy")).status().message()), HasSubstr("big-endian"));
  // A text of one character has four bytes.
  const NpyArray text = {">U1", {2}, std::string("\0\0\0A\0\0\0B", 8)};
  EXPECT_THAT(std::string(ParseNpy(FormatNpy(text)).status().message()), HasSubstr("big-endian"));
}

TEST(ParseNpy, EveryTruncationIsAnError) {
  const std::string bytes = TestData("f4_2x3.npy");
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(ParseNpy(bytes.substr(0, size)).ok()) << size;
  EXPECT_EQ(ParseNpy(bytes + "x").status().code(), absl::StatusCode::kDataLoss);
}

// Any change of a byte gives an array of the declared size or an error, never a crash.
TEST(ParseNpy, SurvivesEveryChangedByte) {
  for (const std::string name : {"f4_2x3.npy", "f8_column_major.npy", "texts.npy"}) {
    const std::string bytes = TestData(name);
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (const char value : {'\0', '9', '\'', '(', ',', '\xff'}) {
        std::string changed = bytes;
        changed[at] = value;
        const absl::StatusOr<NpyArray> array = ParseNpy(changed);
        if (!array.ok()) continue;
        EXPECT_EQ(array->data.size() % std::max<int64_t>(array->size(), 1), 0);
        (void)ToDouble(*array);
        (void)ToTexts(*array);
      }
    }
  }
}

TEST(ParseNpy, RefusesAHugeDeclaredSizeBeforeAllocating) {
  NpyArray array{"<f8", {1000000000}, "12345678"};
  EXPECT_THAT(std::string(ParseNpy(FormatNpy(array)).status().message()),
              HasSubstr("shape 1000000000) asks for 8000000000 bytes and it has 8"));
  array.shape = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_EQ(ParseNpy(FormatNpy(array)).status().code(), absl::StatusCode::kDataLoss);
}

// A header of version 1, and no data.
std::string Head(const std::string& dict) {
  return absl::StrCat(std::string("\x93NUMPY\1\0", 8), std::string(1, static_cast<char>(dict.size())),
                      std::string(1, '\0'), dict);
}

TEST(ParseNpy, AcceptsTheShapesThatNumPyAccepts) {
  const auto parse = [](const std::string& shape) {
    return ParseNpy(Head("{'descr': '|u1', 'fortran_order': False, 'shape': " + shape + "}") + "abcdef");
  };
  for (const char* shape : {"(6,)", "(2, 3)", "(2,3,)", "( 6 , 1 )"}) EXPECT_THAT(parse(shape), IsOk()) << shape;
  for (const char* shape : {"6", "(6)", "(6,,)", "(,6)", "(,)", "(2 3)", "(True,)", "(6.0,)", "(-6,)", "(6", "[6,]"}) {
    EXPECT_THAT(parse(shape), StatusIs(absl::StatusCode::kDataLoss)) << shape;
  }
  EXPECT_THAT(ParseNpy(Head("{'descr': '|u1', 'fortran_order': 0, 'shape': (6,)}") + "abcdef").status(),
              IsDataLoss("neither True nor False"));
}

TEST(ReadNpy, ReadsTheSizeOfTheHeader) {
  const std::string path = testing::TempDir() + "/array.npy";
  ASSERT_THAT(WriteFileAtomically(path, FormatNpy(MakeNpy(std::vector<int64_t>{7, 8}, {2}))), IsOk());
  ASSERT_OK_AND_ASSIGN(const NpyArray array, ReadNpy(path));
  EXPECT_THAT(*ToInt64(array), ElementsAre(7, 8));
  EXPECT_THAT(ReadNpy("/nowhere.npy"), IsNotFound("/nowhere.npy"));
  // A sparse file of four terabytes.
  ASSERT_EQ(truncate(path.c_str(), off_t{1} << 42), 0);
  EXPECT_THAT(ReadNpy(path).status(),
              StatusIs(absl::StatusCode::kDataLoss, AllOf(HasSubstr(path), HasSubstr("asks for 16 bytes"))));
  ASSERT_THAT(WriteFileAtomically(path, ""), IsOk());
  ASSERT_EQ(truncate(path.c_str(), off_t{1} << 42), 0);
  EXPECT_THAT(ReadNpy(path), IsDataLoss("magic bytes"));
}

TEST(FormatNpy, ReadsBackBitForBit) {
  const std::vector<float> f = {1.5f, -0.0f};
  const std::vector<double> d = {0.1, 1e300};
  const std::vector<int64_t> i = {-1, int64_t{1} << 60};
  EXPECT_THAT(*ToFloat(*ParseNpy(FormatNpy(MakeNpy(f, {2, 1})))), ElementsAre(1.5f, -0.0f));
  EXPECT_THAT(*ToDouble(*ParseNpy(FormatNpy(MakeNpy(d, {2})))), ElementsAre(0.1, 1e300));
  EXPECT_THAT(*ToInt64(*ParseNpy(FormatNpy(MakeNpy(i, {2})))), ElementsAre(-1, int64_t{1} << 60));
  EXPECT_THAT(*ToTexts(*ParseNpy(FormatNpy(MakeNpy({"a", "", "Größe"})))), ElementsAre("a", "", "Größe"));
  EXPECT_EQ(FormatNpy(*ParseNpy(TestData("f4_2x3.npy"))), TestData("f4_2x3.npy"));
}

// Each extent of 1 makes every element more expensive.
TEST(ParseNpy, HasAtMost64Extents) {
  const auto array = [](int extents) { return FormatNpy({"|u1", std::vector<int64_t>(extents, 1), "x"}); };
  EXPECT_TRUE(ParseNpy(array(64)).ok());
  EXPECT_EQ(ParseNpy(array(65)).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace openset
