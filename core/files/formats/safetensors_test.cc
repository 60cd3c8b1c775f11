#include "core/files/formats/safetensors.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/random.h"
#include "core/testing/byte_order.h"
#include "core/testing/mutation.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// Written by Python safetensors 0.8.0 (safetensors.torch.save): one array of every type, a scalar, an empty array, a
// name with characters that JSON escapes, and one metadata text; the other file has no array at all.
std::string PythonFile() { return *ReadFile("core/files/formats/testdata/python.safetensors"); }

template <typename T>
std::vector<T> Elements(const ArrayView& array) {
  std::vector<T> elements(array.data.size() / sizeof(T));
  if (!elements.empty()) std::memcpy(elements.data(), array.data.data(), array.data.size());
  return elements;
}

// A file with this header, unpadded.
std::string FileOf(const std::string& header, const std::string& data) {
  return LittleEndian(header.size(), 8) + header + data;
}

TEST(SafetensorsTest, ReadsWhatPythonWrote) {
  const std::string bytes = PythonFile();
  ASSERT_OK_AND_ASSIGN(const Safetensors content, DecodeSafetensors(bytes));
  EXPECT_THAT(content.metadata, ElementsAre(Pair("made by", "Python safetensors 0.8.0")));
  EXPECT_EQ(content.arrays.size(), 13);
  const auto& arrays = content.arrays;
  EXPECT_EQ(arrays.at("i64").type, ArrayType::kI64);
  EXPECT_THAT(arrays.at("i64").shape, ElementsAre(2, 2));
  EXPECT_THAT(Elements<int64_t>(arrays.at("i64")), ElementsAre(1, -(int64_t{1} << 40), 3, 4));
  EXPECT_EQ(arrays.at("f64").type, ArrayType::kF64);
  EXPECT_THAT(Elements<double>(arrays.at("f64")), ElementsAre(0.1, -2.5));
  EXPECT_EQ(arrays.at("f32").type, ArrayType::kF32);
  EXPECT_THAT(arrays.at("f32").shape, ElementsAre(1, 3));
  EXPECT_THAT(Elements<float>(arrays.at("f32")), ElementsAre(1.5f, -0.25f, 3.0f));
  EXPECT_EQ(arrays.at("i32").type, ArrayType::kI32);
  EXPECT_THAT(Elements<int32_t>(arrays.at("i32")), ElementsAre(-7));
  EXPECT_EQ(arrays.at("bf16").type, ArrayType::kBf16);
  EXPECT_THAT(Elements<uint16_t>(arrays.at("bf16")), ElementsAre(0x3f80, 0xc000));  // the upper half of 1.f, -2.f
  EXPECT_EQ(arrays.at("f16").type, ArrayType::kF16);
  EXPECT_THAT(Elements<uint16_t>(arrays.at("f16")), ElementsAre(0x3800));  // 2^(14 - 15)
  EXPECT_EQ(arrays.at("i16").type, ArrayType::kI16);
  EXPECT_THAT(Elements<int16_t>(arrays.at("i16")), ElementsAre(300, -300));
  EXPECT_EQ(arrays.at("i8").type, ArrayType::kI8);
  EXPECT_THAT(Elements<int8_t>(arrays.at("i8")), ElementsAre(-1));
  EXPECT_EQ(arrays.at("u8").type, ArrayType::kU8);
  EXPECT_THAT(Elements<uint8_t>(arrays.at("u8")), ElementsAre(255, 1));
  EXPECT_EQ(arrays.at("bool").type, ArrayType::kBool);
  EXPECT_THAT(Elements<uint8_t>(arrays.at("bool")), ElementsAre(1, 0, 1));
  EXPECT_THAT(arrays.at("scalar").shape, IsEmpty());
  EXPECT_THAT(Elements<float>(arrays.at("scalar")), ElementsAre(4.0f));
  EXPECT_THAT(arrays.at("empty").shape, ElementsAre(0, 3));
  EXPECT_THAT(Elements<float>(arrays.at("empty")), IsEmpty());
  EXPECT_THAT(Elements<float>(arrays.at("a \"quoted\" \\ name, ü\n")), ElementsAre(9.0f));
}

TEST(SafetensorsTest, WritesThePythonBytes) {
  for (const char* name : {"python", "python_empty"}) {
    const std::string bytes = *ReadFile(absl::StrCat("core/files/formats/testdata/", name, ".safetensors"));
    ASSERT_OK_AND_ASSIGN(const Safetensors content, DecodeSafetensors(bytes));
    ASSERT_OK_AND_ASSIGN(const std::string again, EncodeSafetensors(content));
    EXPECT_EQ(again, bytes) << name;
  }
}

TEST(SafetensorsTest, EveryTruncationIsDataLoss) {
  const std::string bytes = PythonFile();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodeSafetensors(absl::string_view(bytes).substr(0, size)).status().code(), absl::StatusCode::kDataLoss)
        << size;
  }
  EXPECT_EQ(DecodeSafetensors(bytes + "x").status().code(), absl::StatusCode::kDataLoss);
}

// Only a crash, a hang or (with sanitizers) a read outside the file fails this test.
TEST(SafetensorsTest, SurvivesFilesWithChangedBytes) {
  const std::string original = PythonFile();
  RandomStream random(1, "safetensors_test");
  int rejected = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = original;
    const uint64_t changes = 1 + random.Below(3);
    for (uint64_t i = 0; i < changes; ++i) bytes[random.Below(bytes.size())] = static_cast<char>(random.Bits());
    const absl::StatusOr<Safetensors> content = DecodeSafetensors(bytes);
    if (!content.ok()) {
      ++rejected;
      continue;
    }
    int64_t size = 0;
    for (const auto& [name, array] : content->arrays) size += array.data.size();
    EXPECT_LE(size, bytes.size());
  }
  EXPECT_GT(rejected, 0);
}

TEST(SafetensorsTest, RefusesHugeHeadersWithoutAllocatingThem) {
  std::string bytes = FileOf("{}", "");
  bytes[7] = '\x7f';  // more than 2^62 bytes
  EXPECT_THAT(std::string(DecodeSafetensors(bytes).status().message()), HasSubstr("claims 9151314442816847874 bytes"));
  bytes = FileOf("{}", "");
  bytes[3] = '\x05';  // 5 * 2^24 + 2, below the limit
  EXPECT_THAT(std::string(DecodeSafetensors(bytes).status().message()), HasSubstr("cut short"));
}

struct BadFile {
  const char* header;
  int data_size;
  const char* message;
};

class SafetensorsBadFileTest : public ::testing::TestWithParam<BadFile> {};

TEST_P(SafetensorsBadFileTest, IsDataLoss) {
  const std::string bytes = FileOf(GetParam().header, std::string(GetParam().data_size, '\0'));
  EXPECT_THAT(DecodeSafetensors(bytes), IsDataLoss(GetParam().message));
}

constexpr BadFile kBadFiles[] = {
    {"", 0, "not a JSON object"},
    {"[]", 0, "not a JSON object"},
    {" {}", 0, "not a JSON object"},
    {"{", 0, "not a JSON object"},
    {"{} x", 0, "not a JSON object"},
    {"{\"a\":\"\xff\"}", 0, "not a JSON object"},
    {R"({"a":1})", 0, "array 'a': its entry is not"},
    {R"({"a":{"dtype":"U8","shape":[1]}})", 1, "array 'a': its entry is not"},
    {R"({"a":{"dtype":8,"shape":[1],"data_offsets":[0,1]}})", 1, "array 'a': its entry is not"},
    {R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1, "array 'a': its shape"},
    {R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1, "array 'a': its shape"},
    {R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})", 1, "array 'a': its shape"},
    {R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,1]}})", 1, "array 'a': its shape"},
    {R"({"a":{"dtype":"U8","shape":[99999999999999999999],"data_offsets":[0,1]}})", 1, "array 'a': its shape"},
    {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1, "array 'a': its data_offsets"},
    {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", 1, "array 'a': its data_offsets"},
    {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})", 1, "array 'a': its data_offsets"},
    {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 1, "array 'a': its data ends at byte 2 of 1"},
    {R"({"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,20]}})", 20, "'a': F32 [2, 3] takes 24 bytes, but its"},
    // 2^31 * 2^31 * 4 bytes = 2^64 = 0 modulo 2^64.
    {R"({"a":{"dtype":"F32","shape":[2147483648,2147483648],"data_offsets":[0,0]}})", 0, "too large"},
    {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2,
     "array 'a': its data begins at byte 1, after a gap"},
    {R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", 3,
     "array 'b': its data begins at byte 1, inside the array before it, which ends at 2"},
    {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 2, "the arrays take 1 bytes, but 2 follow"},
    {R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1,
     "array 'a' occurs twice"},
    {R"({"__metadata__":[]})", 0, "__metadata__ is not an object"},
    {R"({"__metadata__":{"k":1}})", 0, "__metadata__ 'k' is not a text"},
};

INSTANTIATE_TEST_SUITE_P(All, SafetensorsBadFileTest, ::testing::ValuesIn(kBadFiles));

TEST(SafetensorsTest, SurvivesDeepNesting) {
  const std::string deep(2'000'000, '[');
  EXPECT_EQ(DecodeSafetensors(FileOf("{\"a\":" + deep + "}", "")).status().code(), absl::StatusCode::kDataLoss);
  const std::string closed = "{\"a\":" + deep + std::string(deep.size(), ']') + "}";
  EXPECT_EQ(DecodeSafetensors(FileOf(closed, "")).status().code(), absl::StatusCode::kDataLoss);
}

TEST(SafetensorsTest, NamesTypesItLacks) {
  const std::string bytes = FileOf(R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", "x");
  const absl::Status status = DecodeSafetensors(bytes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("array 'a'"), HasSubstr("F8_E4M3")));
}

TEST(SafetensorsTest, RefusesToWriteUnreadableFiles) {
  const auto code_of = [](const std::string& name, const ArrayView& array) {
    Safetensors content;
    content.arrays[name] = array;
    return EncodeSafetensors(content).status().code();
  };
  EXPECT_EQ(code_of("a", {ArrayType::kU8, {2}, "xy"}), absl::StatusCode::kOk);
  EXPECT_EQ(code_of("a", {ArrayType::kU8, {3}, "xy"}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of("a", {ArrayType::kU8, {-1}, ""}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of("__metadata__", {ArrayType::kU8, {2}, "xy"}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of("\xff", {ArrayType::kU8, {2}, "xy"}), absl::StatusCode::kInvalidArgument);
}

// In quadratic time, reading 20,000 took 4 s.
TEST(SafetensorsTest, ReadsManyNames) {
  std::string header = "{";
  for (int i = 0; i < 200'000; ++i) {
    absl::StrAppend(&header, i == 0 ? "" : ",", "\"", i, R"(":{"dtype":"U8","shape":[1],"data_offsets":[)", i, ",",
                    i + 1, "]}");
  }
  const std::string bytes = FileOf(header + "}", std::string(200'000, 'x'));
  ReadLarge("safetensors", [&] {
    ASSERT_OK_AND_ASSIGN(const Safetensors content, DecodeSafetensors(bytes));
    EXPECT_EQ(content.arrays.size(), 200'000);
  });
}

}  // namespace
}  // namespace openset
