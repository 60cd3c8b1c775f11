#include "tools/cli/serve/routes.h"

#include "core/testing/mutation.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

const std::string kStudy(16, 'a'), kTrial(64, '0');

TEST(RouteOf, KnowsItsAddresses) {
  EXPECT_EQ(RouteOf("/").kind, Route::kOverview);
  EXPECT_EQ(RouteOf("/?token=x").kind, Route::kOverview);
  EXPECT_EQ(RouteOf("/failures").kind, Route::kFailures);
  EXPECT_EQ(RouteOf("/live.json").kind, Route::kLive);
  EXPECT_EQ(RouteOf("/status.json").kind, Route::kStatus);
  EXPECT_EQ(RouteOf("/metrics").kind, Route::kMetrics);
  EXPECT_EQ(RouteOf("/health").kind, Route::kHealth);
  EXPECT_EQ(RouteOf("/favicon.ico").kind, Route::kIcon);
  EXPECT_EQ(RouteOf("/study/" + kStudy).kind, Route::kStudy);
  EXPECT_EQ(RouteOf("/study/" + kStudy).id, kStudy);
  EXPECT_EQ(RouteOf("/study/" + kStudy + "/records").page, 1);
  EXPECT_EQ(RouteOf("/study/" + kStudy + "/records/12").page, 12);
  EXPECT_EQ(RouteOf("/record/" + kTrial).kind, Route::kRecord);
}

TEST(RouteOf, RefusesOtherTargets) {
  for (const std::string& target : {std::string(""),
                                    std::string("live.json"),
                                    std::string("//"),
                                    std::string("/."),
                                    std::string("/.."),
                                    std::string("/../etc/passwd"),
                                    std::string("/%2e%2e/etc/passwd"),
                                    std::string("/study"),
                                    std::string("/study/"),
                                    "/study/" + kStudy + "/",
                                    "/study/" + kStudy.substr(1),
                                    "/study/" + std::string(16, 'A'),
                                    "/study/../../" + kStudy,
                                    "/study/" + kStudy + "/..",
                                    "/study/" + kStudy + "/records/",
                                    "/study/" + kStudy + "/records/0",
                                    "/study/" + kStudy + "/records/-1",
                                    "/study/" + kStudy + "/records/1000000",
                                    "/study/" + kStudy + "/records/1/2",
                                    "/record/" + kTrial.substr(1),
                                    "/record/" + kTrial + "/",
                                    "/record/" + kTrial + "/..",
                                    "/record/" + std::string(63, '0') + "/",
                                    std::string("http://localhost/"),
                                    std::string("*"),
                                    "/" + std::string(100000, 'a'),
                                    "/study/" + std::string(16, '\0')}) {
    EXPECT_EQ(RouteOf(target).kind, Route::kNone) << target.substr(0, 200);
  }
}

// By `printf ../../etc | sha256sum`.
TEST(StudyId, IsADigestOfTheName) {
  EXPECT_EQ(RouteOf("/study/" + StudyId("quickstart")).kind, Route::kStudy);
  EXPECT_EQ(StudyId("../../etc"), "74ccf3c5b4c19a81");
}

// Each requested address is one of ours or invalid, and its id is a plain name without a path.
TEST(MutationTest, Targets) {
  const auto check = [](const std::string& target) {
    const Route route = RouteOf(target);
    if (route.kind == Route::kNone) return;
    EXPECT_EQ(route.id.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_TRUE(route.id.empty() || route.id.size() == 16 || route.id.size() == 64);
    EXPECT_GE(route.page, 1);
  };
  for (const std::string& valid : {"/study/" + kStudy + "/records/12", "/record/" + kTrial}) {
    ForEachMutation(valid, valid, {"..", "/", "%2f", "?", "record", "study", std::string(1, '\0')}, check);
  }
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) { return openset::RunMutationTests(argc, argv); }
