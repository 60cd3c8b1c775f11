#include "data/inspect/clusters.h"

#include "core/random.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

const auto kQuiet = [](int64_t) {};

TEST(ClusterUnion, NumbersClustersByTheirFirstSamples) {
  ClusterUnion clusters(6);
  EXPECT_THAT(clusters.Numbers(), ElementsAre(0, 1, 2, 3, 4, 5));
  clusters.Join(5, 2);
  clusters.Join(4, 1);
  clusters.Join(2, 4);
  EXPECT_THAT(clusters.Numbers(), ElementsAre(0, 1, 1, 2, 1, 1));
  clusters.Join(1, 1);
  EXPECT_THAT(clusters.Numbers(), ElementsAre(0, 1, 1, 2, 1, 1));
}

// Cosines: rows 0 and 1 0.96, 1 and 2 0.936; 0 and 2 0.8; row 3 is row 0 three times as long; row 4 is 0.
TEST(JoinSimilar, JoinsRowsThatPointTheSameWay) {
  const std::vector<float> features = {1, 0, 0.96F, 0.28F, 0.8F, 0.6F, 3, 0, 0, 0};
  const auto numbers = [&](double similarity) {
    ClusterUnion clusters(5);
    JoinSimilar(features, 2, similarity, kQuiet, &clusters);
    return clusters.Numbers();
  };
  EXPECT_THAT(numbers(1), ElementsAre(0, 1, 2, 0, 3));
  EXPECT_THAT(numbers(0.95), ElementsAre(0, 0, 1, 0, 2));
  EXPECT_THAT(numbers(0.93), ElementsAre(0, 0, 0, 0, 1)) << "0 and 2 by way of 1";
}

// Each of 700 rows, which are more than a block, has a copy at another place with noise of a hundredth.
TEST(JoinSimilar, FindsCopiesInAllBlocks) {
  constexpr int64_t kRows = 700, kDim = 16;
  RandomStream random(3, "copies");
  std::vector<float> features;
  for (int64_t i = 0; i < kRows * kDim; ++i) features.push_back(static_cast<float>(random.Normal()));
  for (int64_t i = 0; i < kRows * kDim; ++i)
    features.push_back(features[i] + 0.01F * static_cast<float>(random.Normal()));
  ClusterUnion clusters(2 * kRows);
  int64_t done = 0;
  JoinSimilar(
      features, kDim, 0.99, [&](int64_t rows) { done = rows; }, &clusters);
  EXPECT_EQ(done, 2 * kRows);
  const std::vector<int64_t> numbers = clusters.Numbers();
  for (int64_t i = 0; i < kRows; ++i) {
    EXPECT_EQ(numbers[i], i);
    EXPECT_EQ(numbers[kRows + i], i);
  }
}

TEST(GroupNames, AreFoldersBelowAClass) {
  const std::vector<std::string> paths = {"/x/cat/p1/1.png",     "/x/cat/p2/day/1.png", "/x/dog/p1/7.png",
                                          "/x/dog/p13/1.png",    "/x/cow/images/1.png", "/x/cow/images/2.png",
                                          "/x/emu/p9/nap/1.png", "/x/emu/1.png"};
  EXPECT_THAT(GroupNames(paths, {"cat", "cat", "dog", "dog", "cow", "cow", "emu", "emu"}),
              ElementsAre("p1", "p2/day", "p1", "p13", "", "", "p9/nap", ""));
}

// Files that lie next to a folder are no group of their own, whatever their names.
TEST(GroupNames, OfAClassWithOneFolder) {
  EXPECT_THAT(GroupNames({"c/img_1.png", "c/img_2.png", "c/more/img_3.png", "c/more/img_4.png"}, {"c", "c", "c", "c"}),
              ElementsAre("", "", "more", "more"));
}

TEST(GroupNames, AreWhatPrecedesNumbers) {
  const std::vector<std::string> paths = {"a/video1_001.png", "a/video1_002.png", "a/video12-7.png", "a/left.png",
                                          "b/cat_1.png",      "b/cat_2.png",      "c/17.png",        "c/18.jpg",
                                          "c/scan9.png",      "sample 3",         "sample 4"};
  EXPECT_THAT(GroupNames(paths, {"a", "a", "a", "a", "b", "b", "c", "c", "c", "d", "d"}),
              ElementsAre("video1", "video1", "video12", "", "", "", "", "", "", "", ""));
}

}  // namespace
}  // namespace openset
