#include "data/selection.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/proto/proto_digest.h"
#include "core/random.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

// Samples 0 to 7 of classes 2 0 2 1 0 2 1 7.
SampleIndex TestIndex() {
  SampleIndex index;
  index.label = {2, 0, 2, 1, 0, 2, 1, 7};
  return index;
}

absl::StatusOr<SelectedSamples> Select(const std::string& text) {
  return SelectSamples(TestIndex(), Parsed<Selection>("data_set: 'toy' part: 'train' " + text));
}

TEST(SelectSamples, KeepsTheStoredOrderAndLabelsByPosition) {
  ASSERT_OK_AND_ASSIGN(const SelectedSamples samples, Select("class_id: [2, 7, 0]"));
  EXPECT_THAT(samples.index, ElementsAre(0, 1, 2, 4, 5, 7));
  EXPECT_THAT(samples.label, ElementsAre(0, 2, 0, 2, 0, 1));
  EXPECT_EQ(samples.size(), 6);
}

TEST(SelectSamples, TakesTheFirstOfEachClass) {
  EXPECT_THAT(Select("class_id: [0, 2] limit_per_class: 1")->index, ElementsAre(0, 1));
  EXPECT_THAT(Select("class_id: [0, 2] limit_per_class: 2")->index, ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(Select("class_id: [0, 2] limit_per_class: 9")->index, ElementsAre(0, 1, 2, 4, 5));
}

// Class 2 is at 0, 2, 5; class 0 at 1, 4.
TEST(SelectSamples, SeparatesTheLastOfEachClass) {
  EXPECT_THAT(Select("class_id: [0, 2] without_last_per_class: 1")->index, ElementsAre(0, 1, 2));
  EXPECT_THAT(Select("class_id: [0, 2] only_last_per_class: 1")->index, ElementsAre(4, 5));
  EXPECT_THAT(Select("class_id: [0, 2] without_last_per_class: 1 limit_per_class: 1")->index, ElementsAre(0, 1));
  EXPECT_THAT(Select("class_id: [0, 2] only_last_per_class: 2 limit_per_class: 1")->index, ElementsAre(1, 2));
  EXPECT_THAT(Select("class_id: [0, 2] only_last_per_class: 9")->index, ElementsAre(0, 1, 2, 4, 5));
  EXPECT_EQ(Select("class_id: [2, 0] without_last_per_class: 2").status(),
            absl::InvalidArgumentError("class_id[1]: part 'train' of data set 'toy' has only the 2 samples that are "
                                       "kept for validation of class 0"));
}

TEST(SelectSamples, ListedOnesKeepTheirOrder) {
  ASSERT_OK_AND_ASSIGN(const SelectedSamples samples, Select("class_id: [2, 0] index: [5, 1, 0, 4]"));
  EXPECT_THAT(samples.index, ElementsAre(5, 1, 0, 4));
  EXPECT_THAT(samples.label, ElementsAre(0, 1, 0, 1));
  // Limits per class apply in this order.
  EXPECT_THAT(Select("class_id: [2, 0] index: [5, 1, 0, 4] limit_per_class: 1")->index, ElementsAre(5, 1));
  EXPECT_THAT(Select("class_id: [2, 0] index: [5, 1, 0, 4] only_last_per_class: 1")->index, ElementsAre(0, 4));
}

TEST(SelectSamples, ListedOnesMustExist) {
  EXPECT_EQ(Select("class_id: [2, 0] index: [1, 8]").status(),
            absl::InvalidArgumentError("index[1]: part 'train' of data set 'toy' has no sample 8 (0 to 7)"));
  EXPECT_EQ(Select("class_id: [2, 0] index: [1, 0, 1]").status(),
            absl::InvalidArgumentError("index[2]: sample 1 is listed twice"));
  EXPECT_EQ(Select("class_id: [2, 0] index: [1, 3]").status(),
            absl::InvalidArgumentError("index[1]: sample 3 is of class 1, which is not listed"));
}

// 30 samples of class 0 and 11 of class 1.
SampleIndex LargeIndex() {
  SampleIndex index;
  for (int i = 0; i < 41; ++i) index.label.push_back(i % 4 == 1 || i == 40 ? 1 : 0);
  return index;
}

std::vector<int64_t> SelectFold(int fold, bool others, const std::string& more = "class_id: [0, 1]") {
  const Selection selection =
      Parsed<Selection>(absl::StrCat("data_set: 'toy' part: 'train' fold { seed: 3 name: 'cv' folds: 4 fold: ", fold,
                                     " others: ", others, " } ", more));
  const absl::StatusOr<SelectedSamples> samples = SelectSamples(LargeIndex(), selection);
  EXPECT_TRUE(samples.ok()) << samples.status();
  int64_t count = 0;
  for (const int64_t of_class :
       selection.class_id_size() == 2 ? std::vector<int64_t>{30, 11} : std::vector<int64_t>{11}) {
    const SampleRange range = RangeOfClass(selection, FoldSamples(selection, of_class));
    count += range.end - range.begin;
  }
  EXPECT_EQ(samples->size(), count) << "the catalog counts others";
  return samples->index;
}

TEST(SelectSamples, FoldsShareAllSamples) {
  std::vector<int64_t> all;
  for (int fold = 0; fold < 4; ++fold) {
    const std::vector<int64_t> inside = SelectFold(fold, false), outside = SelectFold(fold, true);
    EXPECT_TRUE(std::is_sorted(inside.begin(), inside.end()));
    std::vector<int64_t> both = inside;
    both.insert(both.end(), outside.begin(), outside.end());
    std::sort(both.begin(), both.end());
    ASSERT_EQ(both.size(), 41);
    EXPECT_TRUE(std::adjacent_find(both.begin(), both.end()) == both.end());
    // 30 in 8 8 7 7, 11 in 3 3 3 2.
    EXPECT_EQ(inside.size(), fold < 2 ? 11 : fold == 2 ? 10 : 9);
    all.insert(all.end(), inside.begin(), inside.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_TRUE(std::adjacent_find(all.begin(), all.end()) == all.end());
  EXPECT_EQ(all.size(), 41);
}

// The rule of task.proto, computed by hand.
TEST(SelectSamples, AFoldIsDrawnByClassAndName) {
  const std::vector<int64_t> order = RandomStream(3, "cv/class 1").Permutation(11);
  std::vector<int64_t> of_class;
  for (int64_t i = 0; i < 41; ++i) {
    if (LargeIndex().label[i] == 1) of_class.push_back(i);
  }
  std::vector<int64_t> expected = {of_class[order[2]], of_class[order[6]], of_class[order[10]]};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(SelectFold(2, false, "class_id: 1"), expected);
  expected.resize(2);
  EXPECT_EQ(SelectFold(2, false, "class_id: 1 limit_per_class: 2"), expected);
}

TEST(SelectSamples, RefusesImpossibleFolds) {
  EXPECT_EQ(Select("class_id: 0 fold { name: 'cv' folds: 2 fold: 2 }").status(),
            absl::InvalidArgumentError("fold.fold: there is no fold 2 (0 to 1)"));
  EXPECT_EQ(
      Select("class_id: 7 fold { name: 'cv' folds: 3 fold: 1 }").status(),
      absl::InvalidArgumentError("class_id[0]: part 'train' of data set 'toy' has only 1 samples, none of them in "
                                 "the fold, of class 7"));
}

// A fold of a fold: the 30 samples of class 0 are 5 shares of 6; the other 24 are two folds of 12.
TEST(SelectSamples, DividesAFoldAgain) {
  const std::string set_apart = "name: 'tuning' folds: 5";
  const auto select = [&](const std::string& text) {
    const Selection selection = Parsed<Selection>("data_set: 'toy' part: 'train' class_id: 0 fold { " + text + " }");
    const absl::StatusOr<SelectedSamples> samples = SelectSamples(LargeIndex(), selection);
    EXPECT_TRUE(samples.ok()) << samples.status();
    EXPECT_EQ(samples->size(), FoldSamples(selection, 30));
    return samples->index;
  };
  std::vector<int64_t> all = select(set_apart);
  EXPECT_EQ(all.size(), 6);
  for (int fold = 0; fold < 2; ++fold) {
    const std::vector<int64_t> inside =
        select(absl::StrCat("name: 'cv' folds: 2 fold: ", fold, " of { ", set_apart, " others: true }"));
    EXPECT_EQ(inside.size(), 12);
    all.insert(all.end(), inside.begin(), inside.end());
    const std::vector<int64_t> tuning =
        select(absl::StrCat("name: 'cv' folds: 2 fold: ", fold, " of { ", set_apart, " }"));
    EXPECT_EQ(tuning.size(), 3);
    for (const int64_t sample : tuning) EXPECT_TRUE(std::count(all.begin(), all.begin() + 6, sample) == 1);
  }
  std::sort(all.begin(), all.end());
  EXPECT_TRUE(std::adjacent_find(all.begin(), all.end()) == all.end());
  EXPECT_EQ(all.size(), 30);
  EXPECT_EQ(Select("class_id: 0 fold { name: 'cv' folds: 2 of { name: 'tuning' folds: 2 fold: 3 } }").status(),
            absl::InvalidArgumentError("fold.of.fold: there is no fold 3 (0 to 1)"));
}

// Samples 0, 1, 2, 4, 5 are of classes 2 0 2 0 2, and 7 of class 7. Their order is 5 0 3 2 4 1, according to a Python
// program that follows core/random.h.
TEST(SelectSamples, ADrawTakesSamplesOfAllClassesTogether) {
  const std::string draw = "class_id: [7, 2, 0] draw { seed: 3 name: 'd' samples: ";
  // With replacement: RandomStream's draws from the six, in stored order. Some occur twice, and there are more than
  // six.
  std::vector<int64_t> again;
  RandomStream random(3, "d");
  const std::vector<int64_t> all = {0, 1, 2, 4, 5, 7};
  for (int i = 0; i < 20; ++i) again.push_back(all[random.Below(6)]);
  std::sort(again.begin(), again.end());
  ASSERT_OK_AND_ASSIGN(const SelectedSamples drawn, Select(draw + "20 with_replacement: true }"));
  EXPECT_EQ(drawn.index, again);
  EXPECT_EQ(drawn.label.size(), 20);
  ASSERT_OK_AND_ASSIGN(const SelectedSamples samples, Select(draw + "3 }"));
  EXPECT_THAT(samples.index, ElementsAre(0, 4, 7));
  EXPECT_THAT(samples.label, ElementsAre(1, 2, 0));
  // None of class 0 is left: no error.
  EXPECT_THAT(Select(draw + "2 }")->index, ElementsAre(0, 7));
  EXPECT_THAT(Select(draw + "2 }")->label, ElementsAre(1, 0));
  EXPECT_THAT(Select(draw + "6 }")->index, ElementsAre(0, 1, 2, 4, 5, 7));
  EXPECT_THAT(Select(draw + "600 }")->index, ElementsAre(0, 1, 2, 4, 5, 7));
}

TEST(SelectSamples, LabelsMayBeGiven) {
  EXPECT_THAT(Select("class_id: [2, 0] label: [5, 3]")->label, ElementsAre(5, 3, 5, 3, 5));
  EXPECT_EQ(Select("class_id: [2, 0] label: 5").status(),
            absl::InvalidArgumentError("label: has 1 labels of 2 classes"));
}

// An index of (class, cluster) for each sample.
SampleIndex Clustered(const std::vector<std::pair<int, int64_t>>& samples) {
  SampleIndex index;
  for (const auto& [label, cluster] : samples) {
    index.label.push_back(label);
    index.cluster.push_back(cluster);
  }
  return index;
}

absl::StatusOr<SelectedSamples> SelectOf(const SampleIndex& index, const std::string& text) {
  return SelectSamples(index, Parsed<Selection>("data_set: 'toy' part: 'all' " + text));
}

// Clusters in the order of their sizes: 50 (3 samples of class 0, 3 of class 1) goes to fold 0; 40 (4 of class 0) to
// fold 1, which has none of it; 30 (3 of class 0) to fold 0, with 3 of it, not 4; 20 (2 of class 1) to fold 1, which
// has none of it; 10 (1 of class 0) to fold 1, with 4 of it, not 6.
TEST(SelectSamples, FoldsHaveWholeClusters) {
  const SampleIndex index = Clustered({{0, 10},
                                       {0, 50},
                                       {0, 50},
                                       {0, 50},
                                       {1, 50},
                                       {1, 50},
                                       {1, 50},
                                       {0, 40},
                                       {0, 40},
                                       {0, 40},
                                       {0, 40},
                                       {1, 20},
                                       {1, 20},
                                       {0, 30},
                                       {0, 30},
                                       {0, 30}});
  const std::string fold = "fold { seed: 3 name: 'cv' folds: 2 ";
  ASSERT_OK_AND_ASSIGN(const auto first, SelectOf(index, "class_id: [1, 0] " + fold + "fold: 0 }"));
  EXPECT_THAT(first.index, ElementsAre(1, 2, 3, 4, 5, 6, 13, 14, 15));
  EXPECT_THAT(first.cluster, ElementsAre(50, 50, 50, 50, 50, 50, 30, 30, 30));
  EXPECT_THAT(SelectOf(index, "class_id: [0, 1] " + fold + "fold: 1 }")->index, ElementsAre(0, 7, 8, 9, 10, 11, 12));
  EXPECT_THAT(SelectOf(index, "class_id: [0, 1] " + fold + "fold: 0 others: true }")->index,
              ElementsAre(0, 7, 8, 9, 10, 11, 12));
  // Whatever the classes, so that those of one selection don't meet their clusters in another one.
  EXPECT_THAT(SelectOf(index, "class_id: 1 " + fold + "fold: 0 }")->index, ElementsAre(4, 5, 6));
  // A limit counts samples.
  EXPECT_THAT(SelectOf(index, "class_id: [0, 1] limit_per_class: 1 " + fold + "fold: 1 }")->index, ElementsAre(0, 11));
}

// From the end: sample 8 (class 1) takes cluster 3, with 7 and with sample 1 of class 0; class 0 has one of two, and 6
// takes cluster 2. Class 2, which is not selected, takes 5 and with it cluster 4, sample 2 of class 0.
TEST(SelectSamples, ValidationTakesWholeClusters) {
  const SampleIndex index = Clustered({{0, 1}, {0, 3}, {0, 4}, {1, 5}, {1, 5}, {2, 4}, {0, 2}, {1, 3}, {1, 3}, {2, 6}});
  EXPECT_THAT(SelectOf(index, "class_id: [0, 1] only_last_per_class: 2")->index, ElementsAre(1, 2, 6, 7, 8));
  EXPECT_THAT(SelectOf(index, "class_id: [0, 1] without_last_per_class: 2")->index, ElementsAre(0, 3, 4));
  EXPECT_THAT(SelectOf(index, "class_id: [0, 1] without_last_per_class: 2 limit_per_class: 1")->index,
              ElementsAre(0, 3));
  EXPECT_THAT(SelectOf(index, "class_id: 0 only_last_per_class: 2")->index, ElementsAre(1, 2, 6));
}

TEST(SelectSamples, ClassesNeedEnoughClusters) {
  const SampleIndex index = Clustered({{0, 1}, {0, 2}, {0, 2}, {0, 2}, {1, 3}, {1, 3}});
  const DataSetInfo info = Parsed<DataSetInfo>("name: 'toy' class_name: ['cat', 'dog']");
  const auto problem = [&](const std::string& text) {
    return SelectSamples(index, Parsed<Selection>("data_set: 'toy' part: 'all' " + text), &info).status();
  };
  for (const char* fold : {"fold: 0", "fold: 1", "fold: 1 others: true"}) {
    EXPECT_EQ(problem(absl::StrCat("class_id: [0, 1] fold { name: 'cv' folds: 2 ", fold, " }")),
              absl::InvalidArgumentError(
                  "class_id[1]: part 'all' of data set 'toy' has samples of class 1 (dog) in 1 cluster, which are not "
                  "divided, and fold 0 of 2 gets none: use fewer folds, leave the class out, or divide its clusters"))
        << fold;
  }
  EXPECT_TRUE(problem("class_id: 0 fold { name: 'cv' folds: 2 }").ok());
  EXPECT_EQ(problem("class_id: [0, 1] without_last_per_class: 1"),
            absl::InvalidArgumentError("class_id[1]: part 'all' of data set 'toy' has only clusters of class 1 (dog) "
                                       "that validation_per_class takes, which doesn't divide them: keep fewer samples "
                                       "for validation, or leave the class out"));
  EXPECT_TRUE(problem("class_id: 0 without_last_per_class: 3").ok());
  EXPECT_FALSE(problem("class_id: 0 without_last_per_class: 4").ok());
}

// On random draws, no cluster is in two of training, validation, known and unknown test, and the folds are all samples.
TEST(SelectSamples, NoClusterIsInTwoSets) {
  int divided = 0;
  for (int seed = 0; seed < 300; ++seed) {
    RandomStream random(seed, "clusters");
    SampleIndex index;
    const auto n = static_cast<int64_t>(40 + random.Below(200)), clusters = static_cast<int64_t>(8 + random.Below(40));
    const bool one_class = seed % 2 == 0;
    for (int64_t i = 0; i < n; ++i) {
      index.cluster.push_back(static_cast<int64_t>(random.Below(clusters)));
      index.label.push_back(static_cast<int32_t>(one_class ? index.cluster.back() % 3 : random.Below(3)));
    }
    std::map<int64_t, int64_t> size;
    for (const int64_t cluster : index.cluster) ++size[cluster];
    const int folds = 2 + seed % 4, last = 1 + seed % 3;
    const std::string tuning = seed % 5 == 0 ? "of { name: 'tuning' folds: 2 }" : "";
    std::map<int64_t, int> tested;  // the fold of each cluster
    std::vector<int64_t> all;
    std::vector<std::vector<int64_t>> count(3, std::vector<int64_t>(folds));
    bool has_all = true;  // each class has enough clusters
    int failed = 0;
    for (int fold = 0; fold < folds; ++fold) {
      const auto select = [&](const char* classes, bool others, const std::string& more) {
        return SelectOf(index,
                        absl::StrCat("class_id: [", classes, "] fold { seed: ", seed, " name: 'cv' folds: ", folds,
                                     " fold: ", fold, others ? " others: true " : " ", tuning, " } ", more));
      };
      const std::string kept = absl::StrCat("_last_per_class: ", last);
      const auto train = select("0, 1", true, "without" + kept), validation = select("0, 1", true, "only" + kept),
                 whole = select("0, 1", true, ""), known = select("1, 0", false, ""), unknown = select("2", false, "");
      if (!whole.ok()) ++failed;
      has_all &= whole.ok() && train.ok() && unknown.ok();
      if (!has_all) continue;
      std::map<int64_t, std::set<int>> sets;
      int set = 0;
      for (const auto* samples : {&train, &validation, &known, &unknown}) {
        ASSERT_TRUE(samples->ok()) << samples->status();
        for (const int64_t cluster : (*samples)->cluster) sets[cluster].insert(std::min(set, 2));
        ++set;
      }
      for (const auto& [cluster, of] : sets) EXPECT_EQ(of.size(), 1) << seed << ", cluster " << cluster;
      EXPECT_EQ(train->size() + validation->size(), whole->size());
      for (const int label : {0, 1})
        EXPECT_GE(std::count(validation->label.begin(), validation->label.end(), label), 1);
      for (const auto* samples : {&known, &unknown}) {
        all.insert(all.end(), (*samples)->index.begin(), (*samples)->index.end());
        for (const int64_t i : (*samples)->index) ++count[index.label[i]][fold];
        for (const int64_t cluster : (*samples)->cluster) {
          EXPECT_EQ(tested.try_emplace(cluster, fold).first->second, fold) << seed << ", cluster " << cluster;
        }
      }
    }
    EXPECT_TRUE(failed == 0 || failed == folds) << seed;
    if (!has_all) continue;
    ++divided;
    std::sort(all.begin(), all.end());
    EXPECT_TRUE(std::adjacent_find(all.begin(), all.end()) == all.end());
    if (tuning.empty()) {
      EXPECT_EQ(all.size(), n);
    }
    if (!one_class) continue;
    for (int label = 0; label < 3; ++label) {
      int64_t largest = 0;
      for (const auto& [cluster, samples] : size) largest = cluster % 3 == label ? std::max(largest, samples) : largest;
      const auto [least, most] = std::minmax_element(count[label].begin(), count[label].end());
      EXPECT_LE(*most - *least, largest) << seed;
    }
  }
  EXPECT_GT(divided, 200);
}

// Clusters of one sample each: the samples for validation are those without clusters, and folds differ by at most one.
TEST(SelectSamples, ClustersOfOneSample) {
  SampleIndex alone = LargeIndex();
  for (int64_t i = 0; i < alone.size(); ++i) alone.cluster.push_back(100 - i);
  for (const char* text : {"only_last_per_class: 3", "without_last_per_class: 3"}) {
    EXPECT_EQ(SelectOf(alone, absl::StrCat("class_id: [0, 1] ", text))->index,
              SelectOf(LargeIndex(), absl::StrCat("class_id: [0, 1] ", text))->index);
  }
  for (int fold = 0; fold < 4; ++fold) {
    ASSERT_OK_AND_ASSIGN(const auto samples,
                         SelectOf(alone, absl::StrCat("class_id: [1] fold { name: 'cv' folds: 4 fold: ", fold, " }")));
    EXPECT_THAT(samples.size(), testing::AnyOf(2, 3));  // 11 in four folds
  }
}

TEST(PartsOf, ReturnsPartAndMore) {
  const std::vector<PartOfDataSet> parts =
      PartsOf(Parsed<Selection>("part: 'train' part_digest: 'x' more { part: 'extra' }"));
  ASSERT_EQ(parts.size(), 2);
  EXPECT_EQ(parts[0].part_digest(), "x");
  EXPECT_EQ(parts[1].part(), "extra");
  EXPECT_EQ(
      Select("more { part: 'extra' } class_id: 3").status(),
      absl::InvalidArgumentError("class_id[0]: parts 'train', 'extra' of data set 'toy' have no sample of class 3"));
}

TEST(SelectSamples, NamesTheClass) {
  EXPECT_EQ(Select("class_id: [0, 2, 0]").status(), absl::InvalidArgumentError("class_id[2]: class 0 is listed twice"));
  EXPECT_EQ(Select("class_id: [0, 3]").status(),
            absl::InvalidArgumentError("class_id[1]: part 'train' of data set 'toy' has no sample of class 3"));
  // An output of a network of which a file of outputs has no sample.
  ASSERT_OK_AND_ASSIGN(
      const SelectedSamples outputs,
      SelectSamples(TestIndex(), Parsed<Selection>("data_set: 'features:net.npz' part: 'all' class_id: [3, 2]")));
  EXPECT_THAT(outputs.label, ElementsAre(1, 1, 1));
}

TEST(KeepFileNames, LeavesTheNamesOfFilesOfFeatures) {
  TaskData data = Parsed<TaskData>(R"(
    train { data_set: 'features:/lab/a/train.npz' part: 'all' part_digest: 'd1' }
    test_known { data_set: 'features:b/test.npz' part: 'all' }
    test_unknown { name: 'far' selection { data_set: 'features:/far.npz' part: 'all' } }
    test_unknown { name: 'photos' selection { data_set: 'folder:/lab/photos' part: 'all' } }
    external { data_set: 'features:plain.npz' part: 'all' }
    validation_known { data_set: 'features:/v/k.npz' part: 'all' }
    validation_unknown { name: 'far' selection { data_set: 'features:/v/u.npz' part: 'all' } }
    test_shifted { name: 's' selection { data_set: 'digits' part: 'test' } }
    test_shifted { name: 't' selection { data_set: 'features:/s/t.npz' part: 'all' } }
  )");
  const std::string digest = MessageDigest(data);
  KeepFileNames(&data);
  EXPECT_EQ(data.train().data_set(), "features:train.npz");
  EXPECT_EQ(data.train().part_digest(), "d1");
  EXPECT_EQ(data.test_known().data_set(), "features:test.npz");
  EXPECT_EQ(data.test_unknown(0).selection().data_set(), "features:far.npz");
  EXPECT_EQ(data.test_unknown(1).selection().data_set(), "folder:/lab/photos");
  EXPECT_EQ(data.external().data_set(), "features:plain.npz");
  EXPECT_EQ(data.validation_known().data_set(), "features:k.npz");
  EXPECT_EQ(data.validation_unknown(0).selection().data_set(), "features:u.npz");
  EXPECT_EQ(data.test_shifted(0).selection().data_set(), "digits");
  EXPECT_EQ(data.test_shifted(1).selection().data_set(), "features:t.npz");
  EXPECT_EQ(MessageDigest(data), digest);
}

}  // namespace
}  // namespace openset
