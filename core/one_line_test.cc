#include "core/one_line.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(OneLine, HasNoControlCharacters) { EXPECT_EQ(OneLine("a\nb\r\tc\x7f ü"), "a b  c  ü"); }

}  // namespace
}  // namespace openset
