#include "core/text/synonyms.h"

#include <optional>
#include <string>

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(FoldedName, IgnoresSpellingVariants) {
  EXPECT_EQ(FoldedName("FPR@95-TPR"), "fpr95tpr");
  EXPECT_EQ(FoldedName("max_logit"), FoldedName("Max Logit"));
  EXPECT_EQ(FoldedName("mahalanobis++"), "mahalanobis++");
  EXPECT_EQ(FoldedName("-"), "");
}

TEST(MeantName, OursWin) {
  // "mcp" is a synonym of max_softmax, unless "mcp" itself is known.
  EXPECT_EQ(MeantName("mcp", {"max_softmax", "mcp"}), "mcp");
  EXPECT_EQ(MeantName("mcp", {"max_softmax"}), "max_softmax");
  EXPECT_EQ(MeantName("MCP", {"max_softmax", "mcp"}), "mcp");
  // A known name that is equal after folding precedes the table.
  EXPECT_EQ(MeantName("M_D", {"mahalanobis", "md"}), "md");
}

TEST(MeantName, TheFirstOfTheTablesThatIsKnown) {
  EXPECT_EQ(MeantName("MSP", {"mcp", "max_softmax"}), "mcp");
  EXPECT_EQ(MeantName("MSP", {"energy", "max_softmax"}), "max_softmax");
  EXPECT_EQ(MeantName("MSP", {"energy"}), std::nullopt);
  EXPECT_EQ(MeantName("fpr@95", {"auroc", "fpr_at_tpr"}), "fpr_at_tpr");
}

TEST(MeantName, IsEmptyIfTwoNamesFit) {
  EXPECT_EQ(MeantName("A-B", {"a_b", "ab"}), std::nullopt);
  EXPECT_EQ(MeantName("", {"a"}), std::nullopt);
  EXPECT_EQ(MeantName("-", {"a"}), std::nullopt);
}

// Keys that are not folded would never be found.
TEST(Synonyms, AreWellFormed) {
  for (const auto& [name, ours] : Synonyms()) {
    EXPECT_EQ(FoldedName(name), name);
    EXPECT_FALSE(ours.empty()) << name;
    for (const std::string& one : ours) EXPECT_NE(one, name);
  }
}

}  // namespace
}  // namespace openset
