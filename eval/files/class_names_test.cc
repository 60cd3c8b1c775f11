#include "eval/files/class_names.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ScoreFile File(const std::string& path, std::vector<std::string> names, std::vector<int64_t> label,
               std::vector<int64_t> prediction = {}) {
  ScoreFile file;
  file.path = path;
  file.num_samples = static_cast<int64_t>(label.size());
  file.class_names = std::move(names);
  file.label = std::move(label);
  file.prediction = std::move(prediction);
  return file;
}

TEST(NumberClasses, SortsThoseOfLabelsAndThenThoseOfPredictions) {
  // a: labels ox, unknown, cat; b: cow.
  std::vector<ScoreFile> files = {File("a.csv", {"ox", "ant", "cat"}, {0, -1, 2}, {1, 1, 0}),
                                  File("b.csv", {"cow", "bee"}, {0}, {1})};
  EXPECT_THAT(*NumberClasses({{true, true, true}, {true}}, &files), ElementsAre("cat", "cow", "ox", "ant", "bee"));
  EXPECT_THAT(files[0].label, ElementsAre(2, -1, 0));
  EXPECT_THAT(files[0].prediction, ElementsAre(3, 3, 2));
  EXPECT_THAT(files[1].label, ElementsAre(1));
  EXPECT_THAT(files[1].prediction, ElementsAre(4));
}

TEST(NumberClasses, IgnoresNamesInRowsThatAreLeftOut) {
  std::vector<ScoreFile> files = {File("a.csv", {"ox", "cat"}, {0, 1})};
  EXPECT_THAT(*NumberClasses({{false, true}}, &files), ElementsAre("cat"));
  EXPECT_THAT(files[0].label, ElementsAre(0, 0));
}

TEST(NumberClasses, NumbersStay) {
  std::vector<ScoreFile> files = {File("a.csv", {}, {7, -1})};
  EXPECT_THAT(*NumberClasses({{true, true}}, &files), IsEmpty());
  EXPECT_THAT(files[0].label, ElementsAre(7, -1));
}

TEST(NumberClasses, AcceptsNumbersAmongNames) {
  std::vector<ScoreFile> files = {File("a.csv", {"ox"}, {0}), File("b.csv", {}, {-1})};
  EXPECT_THAT(*NumberClasses({{true}, {true}}, &files), ElementsAre("ox"));  // unknown samples have no class
  files.push_back(File("c.csv", {}, {0}));
  EXPECT_EQ(NumberClasses({{true}, {true}, {true}}, &files).status(),
            absl::InvalidArgumentError("c.csv: numbers the classes, and a.csv names them"));
  files = {File("a.csv", {"ox", "cat"}, {2})};
  EXPECT_EQ(NumberClasses({{true}}, &files).status(),
            absl::InvalidArgumentError("a.csv: class 2 is not one of the 2 that are named"));
}

TEST(NumberClasses, LogitsGiveTheOrder) {
  std::vector<ScoreFile> files = {File("a.csv", {"ox", "cat"}, {1}), File("b.csv", {"ox", "cat"}, {-1})};
  for (ScoreFile& file : files) file.num_outputs = 2;
  EXPECT_THAT(*NumberClasses({{true}, {true}}, &files), ElementsAre("ox", "cat"));
  EXPECT_THAT(files[0].label, ElementsAre(1));
  files[1].class_names = {"cat", "ox"};
  EXPECT_EQ(NumberClasses({{true}, {true}}, &files).status(),
            absl::InvalidArgumentError("b.csv: its logits are of cat, ox, those of a.csv of ox, cat"));
}

}  // namespace
}  // namespace openset
