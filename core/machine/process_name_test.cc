#include "core/machine/process_name.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "core/machine/machine.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(ProcessName, HasFourParts) {
  const std::optional<ProcessName> name =
      ParseProcessName("node7.cluster.example.org.0123abcd.17.18446744073709551615");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->host, "node7.cluster.example.org");
  EXPECT_EQ(name->space, "0123abcd");
  EXPECT_EQ(name->pid, 17);
  EXPECT_EQ(name->number, 18446744073709551615u);
  EXPECT_FALSE(name->IsHere());
}

TEST(ProcessName, IsHereInThisSpaceOfThisHost) {
  EXPECT_TRUE(ParseProcessName(absl::StrCat(HostName(), ".", ProcessSpace(), ".1.0"))->IsHere());
  EXPECT_FALSE(ParseProcessName(absl::StrCat(HostName(), ".00000000.1.0"))->IsHere());
  EXPECT_FALSE(ParseProcessName(absl::StrCat("x", HostName(), ".", ProcessSpace(), ".1.0"))->IsHere());
}

TEST(ProcessName, RefusesOtherNames) {
  for (const std::string& text : {std::string(),
                                  std::string("."),
                                  std::string("...."),
                                  std::string("0123abcd.1.0"),
                                  std::string(".0123abcd.1.0"),
                                  std::string("a.0123ABCD.1.0"),
                                  std::string("a.123abcd.1.0"),
                                  std::string("a.00123abcd.1.0"),
                                  std::string("a.0123abcd.0.0"),
                                  std::string("a.0123abcd.-1.0"),
                                  std::string("a.0123abcd.01.0"),
                                  std::string("a.0123abcd.1."),
                                  std::string("a.0123abcd.1.00"),
                                  std::string("a.0123abcd.1.+1"),
                                  std::string("a.0123abcd. 1.0"),
                                  std::string("a.0123abcd.2147483648.0"),
                                  std::string("a.0123abcd.1.18446744073709551616"),
                                  std::string("a b.0123abcd.1.0"),
                                  std::string("a/b.0123abcd.1.0"),
                                  std::string("\xff.0123abcd.1.0"),
                                  std::string("a.0123abcd.1.0\n"),
                                  std::string(256, 'a') + ".0123abcd.1.0"}) {
    EXPECT_FALSE(ParseProcessName(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace openset
