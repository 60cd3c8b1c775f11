#include "core/proto/proto_digest.h"

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "core/testing/parsed.h"
#include "core/testing/schema_test.pb.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::openset::testing::Grown;
using ::openset::testing::Leaf;
using ::openset::testing::Other;
using ::openset::testing::Root;
using ::openset::testing::Whole;

template <typename Message>
std::string DigestOf(const std::string& text) {
  return MessageDigest(Parsed<Message>(text));
}

std::string Digest(const std::string& text) { return DigestOf<Root>(text); }
std::string GrownDigest(const std::string& text) { return DigestOf<Grown>(text); }

TEST(MessageDigest, DoesNotDependOnTheOrderInAFile) {
  EXPECT_EQ(Digest("leaf { rate: 0.5 count: 2 } flag: true"), Digest("flag: true leaf { count: 2 rate: 0.5 }"));
}

// Parts that several messages share are hashed once, by address.
TEST(MessageDigester, GivesTheDigestsOfMessages) {
  MessageDigester digester;
  Leaf shared;
  shared.set_count(3);
  std::vector<std::unique_ptr<Whole>> wholes;
  for (const int count : {1, 2, 2, 900, 3}) {
    wholes.push_back(std::make_unique<Whole>());
    Whole* whole = wholes.back().get();
    whole->mutable_leaf()->set_count(count);
    for (int i = 0; i < count % 7; ++i) *whole->add_leaves() = shared;
    whole->set_number(count);
    EXPECT_EQ(ToHex(digester.Of(*whole)), MessageDigest(*whole)) << count;
    EXPECT_EQ(ToHex(digester.Of(*whole)), MessageDigest(*whole)) << count;
  }
}

// 21 "openset.testing.Whole" is hashed as for other messages, and a leaf by its digest (see IsFixedForEver):
// revision 0 | 1 field | number 1, 1 value, the 32 bytes of MessageDigest(leaf).
TEST(MessageDigest, CoversTheDigestsOfParts) {
  Whole whole;
  whole.mutable_leaf()->set_rate(0.5);
  whole.mutable_leaf()->set_count(7);
  const auto number = [](uint64_t value) {
    std::string bytes(8, '\0');
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (8 * i));
    return bytes;
  };
  std::string digest;
  for (size_t i = 0; i < 64; i += 2) {
    digest += static_cast<char>(std::stoi(MessageDigest(whole.leaf()).substr(i, 2), nullptr, 16));
  }
  EXPECT_EQ(MessageDigest(whole),
            Sha256Hex(number(21) + "openset.testing.Whole" + number(0) + number(1) + number(1) + number(1) + digest));
}

TEST(MessageDigest, LeavesLabelsOut) { EXPECT_EQ(Digest("name: 'a' flag: true"), Digest("name: 'b' flag: true")); }

TEST(MessageDigest, LeavesAddedFieldsOutWhileTheyHoldTheirDefault) {
  const std::string before = GrownDigest("flag: true");
  EXPECT_EQ(GrownDigest("flag: true new_rate: 0.25"), before);
  EXPECT_EQ(GrownDigest("flag: true new_name: ''"), before);
  EXPECT_EQ(GrownDigest("flag: true new_colour: BLUE"), before);
  EXPECT_EQ(GrownDigest("flag: true new_rate: 0.25 new_name: '' new_colour: BLUE"), before);
  const std::set<std::string> others = {before,
                                        GrownDigest("flag: true new_rate: 0.5"),
                                        GrownDigest("flag: true new_rate: 0"),
                                        GrownDigest("flag: true new_name: 'a'"),
                                        GrownDigest("flag: true new_colour: RED"),
                                        GrownDigest("flag: true new_list: 0"),
                                        GrownDigest("flag: true new_part {}"),
                                        GrownDigest("flag: true new_part { on: true }")};
  EXPECT_EQ(others.size(), 8);
}

// Files may be moved.
TEST(MessageDigest, LeavesPathsOut) {
  const std::string moved = GrownDigest("place: 'file:/a/b.npz'");
  EXPECT_EQ(GrownDigest("place: 'file:c.npz'"), moved);
  EXPECT_EQ(GrownDigest("place: 'file:'"), moved);
  const std::set<std::string> others = {moved,
                                        GrownDigest("place: 'folder:/a/b.npz'"),
                                        GrownDigest("place: 'file'"),
                                        GrownDigest("place: '/file:'"),
                                        GrownDigest("place: ''"),
                                        GrownDigest("")};
  EXPECT_EQ(others.size(), 6);
}

TEST(MessageDigest, NegativeZeroIsZero) { EXPECT_EQ(Digest("leaf { rate: -0.0 }"), Digest("leaf { rate: 0.0 }")); }

TEST(MessageDigest, DiffersBetweenMessages) {
  const std::set<std::string> digests = {
      Digest(""),
      Digest("leaf {}"),
      Digest("leaf { rate: 0.5 }"),
      Digest("leaf { rate: 0.25 }"),
      Digest("leaves { rate: 0.5 }"),
      Digest("leaves { rate: 0.5 } leaves {}"),
      Digest("leaves {} leaves { rate: 0.5 }"),
      Digest("first {}"),
      Digest("second {}"),
      Digest("number: 0"),
      Digest("number: -1"),
      Digest("colour: BLUE"),
      Digest("colours: BLUE"),
      Digest("colours: BLUE colours: RED"),
      Digest("tag: 'ab' tag: 'c'"),
      Digest("tag: 'a' tag: 'bc'"),
      Digest("tag: 'abc'"),
      Digest("tag: ''"),
      Digest("big: 5"),
      Digest("flag: false"),
      Digest("flag: true"),
      Digest("small: 1.5"),
      Digest("leaf { weight: 1 weight: 2 }"),
      Digest("leaf { weight: 2 weight: 1 }"),
  };
  EXPECT_EQ(digests.size(), 24);
  EXPECT_NE(MessageDigest(Leaf()), MessageDigest(Other()));
}

// Stored results are found by this digest, so it must not change between releases. It is the SHA-256 of these tokens,
// each number in 8 bytes, low byte first: 20 "openset.testing.Leaf" | revision 3 | 2 fields | number 1, 1 value, the
// bits of 0.5 | number 2, 1 value, 7.
TEST(MessageDigest, IsFixedForEver) {
  Leaf leaf;
  leaf.set_rate(0.5);
  leaf.set_count(7);
  EXPECT_EQ(MessageDigest(leaf), "59daf18c6b7ebbaac0dbf9488f46f6f566726f586996a42ecc480422f9821478");
}

}  // namespace
}  // namespace openset
