#include "experiments/report/charts/softmax_map.h"

#include <cmath>

#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/catalog.pb.h"

namespace openset {
namespace {

// Six classes; with groups, {0, 2, 4} and {1, 3, 5}.
Catalog TheCatalog(bool with_groups) {
  DataSetInfo info;
  info.set_name("six");
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) info.add_class_name(name);
  if (with_groups) {
    for (const int first : {0, 1}) {
      ClassGroup* group = info.add_class_group();
      for (const int id : {first, first + 2, first + 4}) group->add_class_id(id);
    }
  }
  DataSetInfo noise;
  noise.set_name("noise");
  noise.add_class_name("noise");
  return Catalog({info, noise});
}

TaskData Data() {
  return Parsed<TaskData>(
      "test_known { data_set: 'six' class_id: [3, 0] } "
      "test_unknown { name: 'near' selection { data_set: 'six' class_id: [1, 2, 4, 5] } } "
      "test_unknown { name: 'far' selection { data_set: 'noise' class_id: 0 } }");
}

// The softmax of the samples: (1/2, 1/2) and (3/4, 1/4) for class 1; (1/4, 3/4) for class 2; (1/2, 1/2) for classes 4
// and 5; (3/4, 1/4) for the noise. Label 0 is class 3.
Outputs TheOutputs() {
  const float three = std::log(3.0F);
  Outputs outputs;
  outputs.logits = {9, 0, 0, 0, three, 0, 0, three, 1, 1, 2, 2, three, 0};
  outputs.label = {0, -1, -1, -1, -1, -1, -1};
  outputs.class_id = {3, 1, 1, 2, 4, 5, 0};
  outputs.group = {-1, 0, 0, 0, 0, 0, 1};
  outputs.group_names = {"near", "far"};
  outputs.num_outputs = 2;
  return outputs;
}

TEST(MeanSoftmax, IsTheMeanOverEachClass) {
  ASSERT_OK_AND_ASSIGN(const HeatMap map, MeanSoftmax(TheOutputs(), Data(), "near", TheCatalog(false), 20));
  EXPECT_THAT(map.rows, ElementsAre("b", "c", "e", "f"));
  EXPECT_THAT(map.columns, ElementsAre("a", "d"));  // class 0 is label 1, class 3 label 0
  const auto near = [](double value) { return DoubleNear(value, 1e-6); };
  EXPECT_THAT(map.values, ElementsAre(near(0.375), near(0.625), near(0.75), near(0.25), near(0.5), near(0.5), near(0.5),
                                      near(0.5)));
  const absl::StatusOr<HeatMap> far = MeanSoftmax(TheOutputs(), Data(), "far", TheCatalog(false), 20);
  EXPECT_THAT(far->rows, ElementsAre("noise"));
  EXPECT_THAT(far->values, ElementsAre(near(0.25), near(0.75)));
}

TEST(MeanSoftmax, TakesOneClassOfEachGroupFirst) {
  // Groups: 2 and 4 are in the first one, 1 and 5 in the second.
  EXPECT_THAT(MeanSoftmax(TheOutputs(), Data(), "near", TheCatalog(true), 2)->rows, ElementsAre("c", "b"));
  EXPECT_THAT(MeanSoftmax(TheOutputs(), Data(), "near", TheCatalog(true), 3)->rows, ElementsAre("c", "e", "b"));
  EXPECT_THAT(MeanSoftmax(TheOutputs(), Data(), "near", TheCatalog(true), 9)->rows, ElementsAre("c", "e", "b", "f"));
  EXPECT_THAT(MeanSoftmax(TheOutputs(), Data(), "near", TheCatalog(true), 2)->columns, ElementsAre("a", "d"));
  // Evenly spaced classes if there are no groups.
  EXPECT_THAT(MeanSoftmax(TheOutputs(), Data(), "near", TheCatalog(false), 2)->rows, ElementsAre("b", "e"));
}

TEST(MeanSoftmax, NamesTheSets) {
  EXPECT_THAT(std::string(MeanSoftmax(TheOutputs(), Data(), "nera", TheCatalog(false), 2).status().message()),
              HasSubstr("unknown set of unknown samples 'nera'; did you mean 'near'? (known: near, far)"));
  EXPECT_FALSE(MeanSoftmax(TheOutputs(), Data(), "", TheCatalog(false), 2).ok());  // there are two
  Outputs other = TheOutputs();
  other.group_names = {"near"};
  EXPECT_THAT(std::string(MeanSoftmax(other, Data(), "far", TheCatalog(false), 2).status().message()),
              HasSubstr("the stored outputs have no set 'far'"));
  other = TheOutputs();
  other.class_id[1] = 6;
  EXPECT_THAT(std::string(MeanSoftmax(other, Data(), "near", TheCatalog(false), 2).status().message()),
              HasSubstr("class 6, which data set 'six' has not"));
}

}  // namespace
}  // namespace openset
