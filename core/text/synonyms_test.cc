#include "core/text/synonyms.h"

#include "gtest/gtest.h"

namespace openset {
namespace {

TEST(FoldedName, IgnoresSpellingVariants) {
  EXPECT_EQ(FoldedName("FPR@95-TPR"), "fpr95tpr");
  EXPECT_EQ(FoldedName("max_logit"), FoldedName("Max Logit"));
  EXPECT_EQ(FoldedName("mahalanobis++"), "mahalanobis++");
  EXPECT_EQ(FoldedName("-"), "");
}

TEST(ResolveSynonym, OursWin) {
  // "mcp" is a synonym of max_softmax, unless "mcp" itself is known.
  EXPECT_EQ(ResolveSynonym("mcp", {"max_softmax", "mcp"}), "mcp");
  EXPECT_EQ(ResolveSynonym("mcp", {"max_softmax"}), "max_softmax");
  EXPECT_EQ(ResolveSynonym("MCP", {"max_softmax", "mcp"}), "mcp");
  // A known name that is equal after folding precedes the table.
  EXPECT_EQ(ResolveSynonym("M_D", {"mahalanobis", "md"}), "md");
}

TEST(ResolveSynonym, TheFirstOfTheTablesThatIsKnown) {
  EXPECT_EQ(ResolveSynonym("MSP", {"mcp", "max_softmax"}), "mcp");
  EXPECT_EQ(ResolveSynonym("MSP", {"energy", "max_softmax"}), "max_softmax");
  EXPECT_EQ(ResolveSynonym("MSP", {"energy"}), std::nullopt);
  EXPECT_EQ(ResolveSynonym("fpr@95", {"auroc", "fpr_at_tpr"}), "fpr_at_tpr");
}

TEST(UsualPath, IsOfTheLastName) {
  EXPECT_EQ(UsualPath("lr"), "training.optimizer.learning_rate");
  EXPECT_EQ(UsualPath("training.lr"), "training.optimizer.learning_rate");
  EXPECT_EQ(UsualPath("training.temperature"), "training.temperature");
}

TEST(ResolveSynonym, IsEmptyIfTwoNamesFit) {
  EXPECT_EQ(ResolveSynonym("A-B", {"a_b", "ab"}), std::nullopt);
  EXPECT_EQ(ResolveSynonym("", {"a"}), std::nullopt);
  EXPECT_EQ(ResolveSynonym("-", {"a"}), std::nullopt);
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
