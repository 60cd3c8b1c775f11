#include "core/testing/proto_mutation.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <set>

#include "absl/strings/str_join.h"
#include "core/testing/mutation.h"
#include "core/testing/schema_test.pb.h"
#include "core/testing/status_matchers.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/text_format.h"

namespace openset {
namespace {

using ::testing::Le;

testing::Root Valid() {
  testing::Root root;
  root.set_name("valid");
  root.mutable_leaf()->set_rate(0.5);
  root.mutable_leaf()->add_weight(1);
  root.add_leaves()->set_count(2);
  root.mutable_first()->set_count(3);
  root.add_tag("tag");
  root.set_big(7);
  root.add_part()->mutable_soft();
  return root;
}

TEST(MutateMessage, IsTheSameForTheSameStream) {
  RandomStream random(1, "x"), same(1, "x");
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(MutatedWire(Valid(), {}, &random), MutatedWire(Valid(), {}, &same));
    EXPECT_EQ(MutatedText(Valid(), {}, &random), MutatedText(Valid(), {}, &same));
  }
}

// Each kind of change has a chance of about 1/100 in a round at least (a field of 14 here, or of 7 that are there, and
// one of 12 values of it): none missing in 20,000 rounds.
TEST(MutateMessage, ReachesTheExtremesOfEachField) {
  std::set<std::string> seen;
  RandomStream random(0, "kinds");
  const std::string valid = Valid().SerializeAsString();
  for (int i = 0; i < 20000; ++i) {
    testing::Root root = Valid();
    MutateMessage({}, &random, &root);
    const auto see = [&](const char* what, bool is_so) {
      if (is_so) seen.insert(what);
    };
    see("a text is gone", !root.has_name());
    see("an empty text", root.has_name() && root.name().empty());
    see("a long text", root.name().size() == Extremes().most_text);
    see("no UTF-8", root.name() == "\xff\xfe");
    see("the least number", root.big() == std::numeric_limits<int64_t>::min());
    see("the largest number", root.big() == std::numeric_limits<int64_t>::max());
    see("not a number", std::isnan(root.leaf().rate()));
    see("an infinite number", std::isinf(root.leaf().rate()));
    see("another number type", std::isinf(root.small()));
    see("a message is gone", !root.has_leaf());
    see("an empty message", root.has_leaf() && root.leaf().ByteSizeLong() == 0);
    see("no elements", root.leaves_size() == 0);
    see("two elements", root.leaves_size() == 2);
    see("a thousand elements", root.leaves_size() >= 1000);
    see("a thousand texts", root.tag_size() >= 1000);
    see("another member", root.has_second());
    see("another member within a list", root.part_size() == 1 && root.part(0).has_hard());
    see("another value of an enum", root.colour() == testing::BLUE);
    see("a value that the enum lacks", root.unknown_fields().field_count() > 0);
    see("a list of enums", root.colours_size() > 0);
    see("a switch", root.flag());
    int depth = 0;
    for (const testing::Root* inner = &root; inner->has_patch() && depth < 1000; inner = &inner->patch()) ++depth;
    see("deeper than is read", depth > 100);
    see("nothing", root.SerializeAsString() == valid);
    EXPECT_THAT(root.ByteSizeLong(), Le(2 * Extremes().most_bytes));
  }
  EXPECT_EQ(seen.size(), 23) << absl::StrJoin(seen, ", ");
}

TEST(MutatedWire, IsMostlyReadAgain) {
  RandomStream random(0, "wire");
  int read = 0, refused = 0;
  for (int i = 0; i < 1000; ++i) {
    testing::Root root;
    ++(root.ParseFromString(MutatedWire(Valid(), {}, &random)) ? read : refused);
  }
  EXPECT_THAT(read, Gt(700));
  EXPECT_THAT(refused, Gt(20));
}

TEST(MutatedText, IsMostlyReadAgain) {
  RandomStream random(0, "text");
  int read = 0, refused = 0;
  for (int i = 0; i < 1000; ++i) {
    testing::Root root;
    google::protobuf::TextFormat::Parser parser;
    class : public google::protobuf::io::ErrorCollector {
      void AddError(int, int, const std::string&) override {}
    } silent;
    parser.RecordErrorsTo(&silent);
    ++(parser.ParseFromString(MutatedText(Valid(), {}, &random), &root) ? read : refused);
  }
  EXPECT_THAT(read, Gt(600));
  EXPECT_THAT(refused, Gt(20));
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) { return openset::RunMutationTests(argc, argv); }
