#include "core/files/temporary_name.h"

#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/machine/machine.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(TemporaryName, OfThisProcess) {
  for (const char* name : {"a", "a.rec", "a.tmp.b", "a b", ".a", "claim"}) {
    const std::optional<ProcessName> owner = OwnerOfTemporary(TemporaryName(name));
    ASSERT_TRUE(owner.has_value()) << name;
    EXPECT_TRUE(owner->IsHere()) << name;
    EXPECT_EQ(owner->pid, getpid()) << name;
  }
}

TEST(TemporaryName, OfOthers) {
  for (const char* name : {"a.tmp.node.0123abcd.17.0", "a.tmp.node7.cluster.example.org.0123abcd.17.0",
                           "a.tmp.a.tmp.b.0123abcd.17.18446744073709551615", "a.tmp.1.2.0123abcd.17.3"}) {
    const std::optional<ProcessName> owner = OwnerOfTemporary(name);
    ASSERT_TRUE(owner.has_value()) << name;
    EXPECT_FALSE(owner->IsHere()) << name;
    EXPECT_EQ(owner->pid, 17) << name;
  }
  // Another process space of this host, and the same process space of another host, are not ours.
  const std::string here = absl::StrCat(HostName(), ".", ProcessSpace());
  for (const std::string& place : {absl::StrCat(HostName(), ".00000000"), absl::StrCat("x", here)}) {
    const std::optional<ProcessName> owner = OwnerOfTemporary(absl::StrCat("a.tmp.", place, ".1.2"));
    ASSERT_TRUE(owner.has_value()) << place;
    EXPECT_FALSE(owner->IsHere()) << place;
  }
}

TEST(TemporaryName, NamesOfUsersFilesAreNotTemporary) {
  for (const char* name : {"",
                           ".",
                           "my.tmp.notes",
                           "thesis.tmp.2024",
                           "thesis.tmp.2024.11.22.1",
                           "a.tmp.node.1.0",
                           "a.tmp.0123abcd.1.0",
                           ".tmp.node.0123abcd.1.0",
                           "a.tmp..0123abcd.1.0",
                           "a.tmp.node.0123ABCD.1.0",
                           "a.tmp.node.123abcd.1.0",
                           "a.tmp.node.00123abcd.1.0",
                           "a.tmp.node.0123abcd.0.0",
                           "a.tmp.node.0123abcd.-1.0",
                           "a.tmp.node.0123abcd.01.0",
                           "a.tmp.node.0123abcd.1.",
                           "a.tmp.node.0123abcd.1.00",
                           "a.tmp.node.0123abcd.1.+1",
                           "a.tmp.node.0123abcd. 1.0",
                           "a.tmp.node.0123abcd.2147483648.0",
                           "a.tmp.node.0123abcd.1.18446744073709551616",
                           "a.tmp.node.0123abcd.1.0.log",
                           "a.tmp.no de.0123abcd.1.0",
                           "a.tmp.n\xff"
                           "de.0123abcd.1.0",
                           "a.temp.node.0123abcd.1.0",
                           "a.node.0123abcd.1.0"}) {
    EXPECT_FALSE(OwnerOfTemporary(name).has_value()) << name;
  }
}

}  // namespace
}  // namespace openset
