#include "core/files/formats/pickle.h"

#include "absl/strings/str_cat.h"
#include "core/testing/byte_order.h"
#include "core/testing/mutation.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

absl::StatusOr<Pickle> Read(absl::string_view body) { return ReadPickle(absl::StrCat("\x80\x02", body, ".")); }

// The root of `body`, which must be a pickle.
PickleValue Root(absl::string_view body) {
  const absl::StatusOr<Pickle> read = Read(body);
  EXPECT_THAT(read, IsOk());
  return read.ok() ? (*read)[read->root] : PickleValue();
}

// Values that Python 3's pickle.dumps(value, 2) writes.
TEST(ReadPickle, ReadsNumbersAsPythonWritesThem) {
  EXPECT_EQ(Root("K\xff").number, 255);
  EXPECT_EQ(Root("M\xff\xff").number, 65535);
  EXPECT_EQ(Root("J\xff\xff\xff\xff").number, -1);
  EXPECT_EQ(Root("\x8a\x01\xff").number, -1);
  EXPECT_EQ(Root(absl::string_view("\x8a\x05\x00\x00\x00\x00\x01", 7)).number, int64_t{1} << 32);
  EXPECT_EQ(Root("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f").number, INT64_MAX);
  EXPECT_EQ(Root(absl::string_view("\x8a\x08\0\0\0\0\0\0\0\x80", 10)).number, INT64_MIN);
  EXPECT_EQ(Root(absl::string_view("G\xbf\xe0\0\0\0\0\0\0", 9)).real, -0.5);
  EXPECT_EQ(Root("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x01").text, "\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}

TEST(ReadPickle, CallsAreValues) {
  ASSERT_OK_AND_ASSIGN(const Pickle read, Read("ctorch.nn\nMake\nK\x07\x85R"));
  const PickleValue& call = read[read.root];
  EXPECT_EQ(call.kind, PickleValue::kCall);
  ASSERT_THAT(call.items, SizeIs(2));
  EXPECT_EQ(read[call.items[0]].text, "torch.nn Make");
  ASSERT_THAT(read[call.items[1]].items, SizeIs(1));
  EXPECT_EQ(read[read[call.items[1]].items[0]].number, 7);
}

TEST(ReadPickle, AnOrderedDictIsADict) {
  EXPECT_EQ(Root("ccollections\nOrderedDict\n)R").kind, PickleValue::kDict);
  // OrderedDict([['a', 7]]), as Python 2 wrote it.
  ASSERT_OK_AND_ASSIGN(const Pickle read, Read("ccollections\nOrderedDict\n](](U\x01"
                                               "aK\x07"
                                               "ee\x85R"));
  EXPECT_EQ(read[read.Find(read[read.root], "a")].number, 7);
  EXPECT_THAT(Read("ccollections\nOrderedDict\n](]K\x01"
                   "ae\x85R")
                  .status(),
              IsInvalidArgument("something other than pairs"));
}

// OBJECT = copyreg.__newobj__(CLASS), then its __dict__.
TEST(ReadPickle, AnObjectIsACallWithItsState) {
  ASSERT_OK_AND_ASSIGN(const Pickle read, Read("cnet\nNet\n)\x81}U\x01"
                                               "aK\x07sb"));
  const PickleValue& object = read[read.root];
  EXPECT_EQ(object.kind, PickleValue::kCall);
  ASSERT_THAT(object.items, SizeIs(3));
  EXPECT_EQ(read[object.items[0]].text, "net Net");
  const PickleValue& state = read[object.items[2]];
  EXPECT_EQ(read[read.Find(state, "a")].number, 7);
}

TEST(ReadPickle, OthersMayFollow) {
  size_t size = 0;
  ASSERT_OK_AND_ASSIGN(const Pickle read, ReadPickle("\x80\x02K\x07.\x80\x02K\x08.", &size));
  EXPECT_EQ(read[read.root].number, 7);
  EXPECT_EQ(size, 5);
}

// Each operation finds its values missing.
TEST(ReadPickle, RefusesOperationsWithoutTheirValues) {
  for (const char* body :
       {"",  "NN", "(",  "t", "l",     "u",     "e",    "(u",   "]N(u",          "}K\x01a", "}(Nu", "N(\x85", "\x86",
        "R", "b",  "Nb", "Q", "q\x01", "h\x01", "\x94", "\x93", "cmodule\nname", "NNs",     "a",    "("}) {
    EXPECT_THAT(Read(body), IsDataLoss("not a valid pickle, at byte")) << body;
  }
  for (const char* body : {"NNR", "NN\x81", "N)b", "]}b", "i"}) {
    EXPECT_EQ(Read(body).status().code(), absl::StatusCode::kInvalidArgument) << body << Read(body).status();
  }
}

// Each truncation of a pickle, and each byte with any other value, gives a value or an error.
TEST(ReadPickle, AcceptsArbitraryBytes) {
  // {'a': [1, 2.5, None], 'a': (True, -3, 'text')}, protocol 2
  static constexpr char kBytes[] =
      "\x80\x02}q\x00(X\x01\x00\x00\x00"
      "aq\x01]q\x02(K\x01G@\x04\x00\x00\x00\x00\x00\x00Neh\x01\x88J\xfd\xff\xff\xffX\x04\x00\x00\x00text\x87q\x04u.";
  const std::string pickle(kBytes, sizeof(kBytes) - 1);
  ASSERT_OK_AND_ASSIGN(const Pickle read, ReadPickle(pickle));
  const PickleValue& dict = read[read.root];
  ASSERT_EQ(dict.kind, PickleValue::kDict);
  const PickleValue& tuple = read[read.Find(dict, "a")];  // the key was set twice: the last value wins
  ASSERT_THAT(tuple.items, SizeIs(3));
  EXPECT_EQ(read[tuple.items[1]].number, -3);
  EXPECT_EQ(read[tuple.items[2]].text, "text");
  EXPECT_EQ(read.Find(dict, "b"), -1);
  for (size_t size = 0; size < pickle.size(); ++size) EXPECT_FALSE(ReadPickle(pickle.substr(0, size)).ok());
  for (size_t at = 0; at < pickle.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string other = pickle;
      other[at] = static_cast<char>(value);
      ReadPickle(other).IgnoreError();
    }
  }
}

// Names of modules may be long texts that the pickle repeats at no cost.
TEST(ReadPickle, RefusesLongNames) {
  const std::string text = absl::StrCat("X", absl::string_view("\x00\x10\x00\x00", 4), std::string(4096, 'a'));
  EXPECT_THAT(Read(absl::StrCat(text, text, "\x93")), IsDataLoss("a name is too long"));
}

// 64 MiB of one repeated byte are 64 kB in an archive. Each ']' is a list of 100 bytes in memory.
TEST(ReadPickle, HasALimit) {
  const std::string lists(kMostPickleOperations, ']');
  EXPECT_THAT(ReadPickle(lists).status(),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("more than 4000000 operations")));
  EXPECT_THAT(ReadPickle(lists.substr(1)), IsDataLoss("it ends too early"));
  EXPECT_THAT(ReadPickle(absl::StrCat("X", LittleEndian(kMostPickleBytes, 4), std::string(kMostPickleBytes, 'a'), "."))
                  .status(),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("more than 67108864 bytes")));
}

TEST(ReadPickle, ReadsManyValues) {
  std::string pickle = "\x80\x02}(";
  for (int i = 0; i < 1'000'000; ++i) absl::StrAppend(&pickle, "K", std::string(1, '\1'), "]");
  pickle += "u.";
  ReadLarge("pickle", [&] { EXPECT_THAT(ReadPickle(pickle), IsOk()); });
}

}  // namespace
}  // namespace openset
