#include "core/machine/machine.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <set>

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

TEST(Machine, HasNames) {
  EXPECT_THAT(HostName(), Not(IsEmpty()));
  EXPECT_THAT(CpuName(), Not(IsEmpty()));
}

TEST(Machine, ItsNameIsAPartOfFileNames) {
  EXPECT_EQ(HostNameOf("node7.cluster.example.org"), "node7.cluster.example.org");
  EXPECT_EQ(HostNameOf("a/../b c\xff\n_"), "a_.._b_c___");
  EXPECT_EQ(HostNameOf(""), "host");
}

TEST(Machine, KnowsItsUser) {
  EXPECT_EQ(UserId(), geteuid());
  EXPECT_THAT(UserName(), MatchesRegex("[A-Za-z0-9._-]*"));
  if (geteuid() == 0) {
    EXPECT_EQ(UserName(), "root");
  }
}

TEST(Machine, ItsProcessesHaveOneSpace) {
  EXPECT_THAT(ProcessSpace(), MatchesRegex("[0-9a-f]{8}"));
  EXPECT_EQ(ProcessSpace(), ProcessSpace());
}

TEST(Machine, FeaturesAreListedOnceAndTheirPartsWithThem) {
  const std::vector<std::string> list = CpuFeatures();
  const std::set<std::string> features(list.begin(), list.end());
  EXPECT_EQ(features.size(), list.size());
  if (features.count("avx512bw") > 0) {
    EXPECT_EQ(features.count("avx512f"), 1);
  }
  if (features.count("avx2") > 0) {
    EXPECT_EQ(features.count("avx"), 1);
  }
}

TEST(Machine, CpuSecondsGrowWithWork) {
  const double before = CpuSeconds();
  volatile double sum = 0;
  for (int64_t i = 0; i < (int64_t{1} << 40) && CpuSeconds() < before + 0.01; ++i) sum = sum + 1.0 / (1 + i);
  EXPECT_GE(CpuSeconds(), before + 0.01);
}

TEST(Machine, PeakMemoryCountsFreedMemory) {
  constexpr int64_t kBytes = 64 << 20;
  const int64_t before = PeakMemoryBytes();
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  const int64_t with = PeakMemoryBytes();
  EXPECT_GE(with, kBytes);
  munmap(memory, kBytes);
  EXPECT_GE(PeakMemoryBytes(), before);
  EXPECT_GE(PeakMemoryBytes(), with / 2);  // kernels count in batches
  ForgetPeakMemory();                      // may do nothing
  EXPECT_LE(PeakMemoryBytes(), with);
}

TEST(Machine, HasSomeMemory) {
  EXPECT_GT(MachineMemoryMb(), 100);
  EXPECT_LT(MachineMemoryMb(), 1 << 30);
}

TEST(Machine, FreeMemoryIsLessThanAllMemory) {
  EXPECT_GT(FreeMemoryBytes(), 0);
  EXPECT_LE(FreeMemoryBytes(), MachineMemoryMb() << 20);
}

TEST(Machine, UsedMemoryGrowsAndShrinks) {
  constexpr int64_t kBytes = 64 << 20, kSlack = 8 << 20;  // kernels count in batches
  const int64_t before = UsedMemoryBytes();
  EXPECT_GT(before, 0);
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, kBytes);
  EXPECT_NEAR(static_cast<double>(UsedMemoryBytes() - before), kBytes, kSlack);
  munmap(memory, kBytes);
  EXPECT_NEAR(static_cast<double>(UsedMemoryBytes() - before), 0, kSlack);
}

TEST(Machine, PidsAreItsOwnInItsFirstNamespaceOnly) {
  const auto link = [](const std::string& name, const std::string& target) {
    const std::string path = testing::TempDir() + "/" + name;
    EXPECT_EQ(symlink(target.c_str(), path.c_str()), 0);
    return path;
  };
  EXPECT_TRUE(HasMachinePids(link("machine", "pid:[4026531836]")));
  EXPECT_FALSE(HasMachinePids(link("container", "pid:[4026532587]")));
  EXPECT_FALSE(HasMachinePids("/nowhere/pid"));
}

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
