#include "data/splits/wordnet.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "data/catalog.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using Ids = std::vector<std::string>;

// thing > animal > {dog > poodle, cat}, thing > tool > {bread knife, saw}; Rex is an instance of poodle; a sound.
constexpr char kSmall[] =
    "  1 A licence, which begins with blanks.\n"
    "00000001 03 n 01 thing 0 000 | what there is\n"
    "00000002 03 n 02 animal 0 beast 1 002 @ 00000001 n 0000 ~ 00000003 n 0000 | it moves; \"| yes\"\n"
    "00000003 05 n 03 dog 0 domestic_dog 0 hound 3 001 @ 00000002 n 0000 | barks\n"
    "00000004 05 n 01 poodle 0 001 @ 00000003 n 0000 | curls\n"
    "00000005 05 n 01 cat 0 001 @ 00000002 n 0000 | no\n"
    "00000006 06 n 01 tool 0 001 @ 00000001 n 0000 | \n"
    "00000007 06 n 02 bread_knife 0 knife 0 001 @ 00000006 n 0000 | \n"
    "00000008 06 n 01 saw 0 002 @ 00000006 n 0000 + 00000009 v 0101 | \n"
    "00000009 05 n 01 Rex 0 001 @i 00000004 n 0000 | \n"
    "0000000a 05 n 01 never 0 000 | \n";

std::string Small() { return std::string(kSmall).substr(0, std::string(kSmall).find("0000000a")); }

TEST(WordNet, ReadsItsNouns) {
  const WordNet wordnet = *WordNet::Parse(Small(), "data.noun");
  EXPECT_THAT(wordnet.Hypernyms("n00000004"), ElementsAre("n00000003"));
  EXPECT_THAT(wordnet.Hyponyms("n00000002"), ElementsAre("n00000003", "n00000005"));
  EXPECT_THAT(wordnet.Ancestors("n00000009"), ElementsAre("n00000001", "n00000002", "n00000003", "n00000004"));
  EXPECT_THAT(wordnet.Ancestors("n00000001"), ElementsAre());
  EXPECT_EQ(wordnet.Name("n00000007"), "bread knife");
  EXPECT_THAT(wordnet.WithWords("Domestic dog"), ElementsAre("n00000003"));
  EXPECT_THAT(wordnet.WithWords("dog"), ElementsAre("n00000003"));  // two of its names have it
  EXPECT_THAT(wordnet.WithWords("bread-knife"), ElementsAre("n00000007"));
  EXPECT_THAT(wordnet.WithWords("bread"), ElementsAre("n00000007"));
  EXPECT_THAT(wordnet.WithWords("read"), ElementsAre());
  EXPECT_THAT(wordnet.WithWords("rex"), ElementsAre("n00000009"));
  EXPECT_THAT(wordnet.WithWords("mouse"), ElementsAre());
  EXPECT_TRUE(wordnet.Check("n00000009").ok());
  EXPECT_EQ(wordnet.Check("dog").message(), "'dog' is not a noun of this WordNet; ids look like n02084071");
}

TEST(WordNet, NamesTheInvalidLine) {
  const auto error = [](const std::string& text) {
    return std::string(WordNet::Parse(text, "data.noun").status().message());
  };
  EXPECT_EQ(error(kSmall), "data.noun:11: is not a line of WordNet's data.noun: 0000000a 05 n 01 never 0 000 | ");
  for (const char* line :
       {"00000001 03 v 01 go 0 000 | a verb", "00000001 03 n 00 000 | no word",
        "00000001 03 n 01 thing 0 | no pointers", "00000001 03 n 01 thing 0 001 @ 00000001 n | half a pointer",
        "0000001 03 n 01 thing 0 000 |", "00000001 03 n zz thing 0 000 |", "thing"}) {
    EXPECT_EQ(error(line), absl::StrCat("data.noun:1: is not a line of WordNet's data.noun: ", line));
  }
  EXPECT_EQ(error(Small() + "00000001 03 n 01 again 0 000 | \n"), "data.noun:11: n00000001 is listed twice");
  EXPECT_EQ(error("\n00000001 03 n 01 thing 0 001 @ 00000009 n 0000 | "),
            "data.noun:2: n00000001 has the hypernym n00000009, which does not exist");
  EXPECT_EQ(error("  a licence\n"), "data.noun: has no synset");
}

TEST(NearCandidates, ShareADirectHypernym) {
  const WordNet wordnet = *WordNet::Parse(Small(), "data.noun");
  const Ids classes = {"n00000004", "n00000005", "n00000007", "n00000008", "n00000002"};
  // Known: cat, whose direct hypernym is animal. The poodle is below it; animal itself is not.
  EXPECT_THAT(NearCandidates(wordnet, {"n00000005"}, classes), ElementsAre("n00000004"));
  // Known: poodle. The dogs have no other class below them.
  EXPECT_THAT(NearCandidates(wordnet, {"n00000004"}, classes), ElementsAre());
  EXPECT_THAT(NearCandidates(wordnet, {"n00000008"}, classes), ElementsAre("n00000007"));
}

TEST(Overlapping, AreThoseAtOrBelow) {
  const WordNet wordnet = *WordNet::Parse(Small(), "data.noun");
  const std::vector<Overlap> found =
      Overlapping(wordnet, {"n00000006", "n00000003"}, {"n00000004", "n00000005", "n00000006", "n00000008"});
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(found[0].id, "n00000004");
  EXPECT_EQ(found[0].above, "n00000003");
  EXPECT_EQ(found[1].id, "n00000006");
  EXPECT_EQ(found[2].above, "n00000006");
}

TEST(FarRule, NamesTheSynset) {
  const WordNet wordnet = *WordNet::Parse(Small(), "data.noun");
  const FarRule rule(wordnet, {"n00000004", "n00000008"});
  const auto why = [&](const std::string& name, const std::vector<std::string>& extra = {}) {
    return rule.WhyNotFar(name, extra);
  };
  EXPECT_EQ(why("poodles"), "poodle (n00000004) is one of them");
  EXPECT_EQ(why("hot_dog"), "dog (n00000003) is above one of them");
  EXPECT_EQ(why("Bread-Knives"), "bread (bread knife, n00000007) has a sibling among them");
  EXPECT_EQ(why("pocket knives"), "");
  EXPECT_EQ(why("pocket knives", {"knife"}), "knife (bread knife, n00000007) has a sibling among them");
  EXPECT_EQ(why("beast"), "beast (animal, n00000002) is above one of them");
  EXPECT_EQ(why("rex"), "rex (n00000009) is below one of them");
  EXPECT_EQ(why("cat"), "");
  EXPECT_EQ(FarRule(wordnet, {"n00000003"}).WhyNotFar("cat", {}), "cat (n00000005) has a sibling among them");
  EXPECT_EQ(why("the car of pizza"), "");
}

// Compares with the splits that an independent program computed by the same rules from all of WordNet 3.0. The test's
// file has only the synsets that matter: the 1,000 classes of ImageNet and those assigned to CIFAR-100's, all synsets
// that a keyword of a far class names, one synset that is too near for each other class, and all synsets above these.
class ImageNetTest : public ::testing::Test {
 protected:
  ImageNetTest() {
    const std::string path = "data/tasks/testdata/imagenet.noun";
    wordnet_ = *WordNet::Parse(*ReadFile(path), path);
    std::ifstream stream("data/tasks/testdata/imagenet_splits.json");
    published_ = nlohmann::json::parse(stream);
  }
  Ids List(const char* name) { return published_[name].get<Ids>(); }

  WordNet wordnet_;
  nlohmann::json published_;
};

TEST_F(ImageNetTest, NearCandidatesAndExternalClasses) {
  Ids classes = List("wnid_all");
  ASSERT_EQ(classes.size(), 1000);
  ASSERT_TRUE(std::is_sorted(classes.begin(), classes.end()));
  const auto of = [&](const char* name) {
    Ids ids;
    for (const int index : published_[name].get<std::vector<int>>()) ids.push_back(classes[index]);
    std::sort(ids.begin(), ids.end());
    return ids;
  };
  const Ids known = of("imagenet_200");
  EXPECT_EQ(known, List("wnid"));
  const Ids near = NearCandidates(wordnet_, known, classes);
  EXPECT_THAT(near, ElementsAreArray(of("near_candidates")));
  EXPECT_EQ(near.size(), 405);
  Ids external;
  for (const std::string& id : classes) {
    const bool taken = std::count(known.begin(), known.end(), id) + std::count(near.begin(), near.end(), id) > 0;
    if (!taken) external.push_back(id);
  }
  EXPECT_THAT(external, ElementsAreArray(of("external")));
  EXPECT_EQ(external.size(), 395);  // the paper counts 394
}

TEST_F(ImageNetTest, TinyImageNet158) {
  std::set<std::string> synsets;
  std::vector<std::string> removed;
  for (const nlohmann::json& one : published_["tinyimagenet_158_removed"]) {
    synsets.insert(one["via_synset"].get<std::string>());
    removed.push_back(one["wnid"]);
  }
  const std::vector<Overlap> found = Overlapping(wordnet_, {synsets.begin(), synsets.end()}, List("wnid"));
  std::vector<std::string> ids;
  for (const Overlap& overlap : found) ids.push_back(overlap.id);
  EXPECT_THAT(ids, ElementsAreArray(removed));
  EXPECT_EQ(ids.size(), 42);
}

// Positions, in a data set's list of classes, of the far classes that an independent program found in all of WordNet
// 3.0.
TEST_F(ImageNetTest, ClassesOfOtherDataSetsThatAreFar) {
  const Catalog catalog = *Catalog::Open("data/catalog");
  const FarRule rule(wordnet_, List("wnid_all"));
  for (const auto& [data_set, count] :
       {std::pair{"food101", 31}, std::pair{"caltech256", 41}, std::pair{"places365", 77}}) {
    std::vector<int> far;
    const DataSetInfo& info = **catalog.Find(data_set);
    for (int id = 0; id < info.class_name_size(); ++id) {
      if (rule.WhyNotFar(info.class_name(id), {}).empty()) far.push_back(id);
    }
    EXPECT_EQ(far.size(), count) << data_set;
    EXPECT_THAT(far, ElementsAreArray(published_["far"][data_set].get<std::vector<int>>())) << data_set;
  }
}

}  // namespace
}  // namespace openset
