// Files of scores, logits and labels that people gave to openset eval.
#include <vector>

#include "tools/testing/people/situation.h"

namespace openset {
namespace {

// In 5 of the 6 pairs of a known and an unknown sample, the unknown one has the larger score.
const std::vector<Situation> kArrays = {
    {"LargeScores", "Lightning-AI/torchmetrics#2819",
     [](const OpensetProgram& program) {
       program.Write("scores.csv", "label,unknown_score\n0,100.1\n1,100.2\n1,100.6\n-1,100.5\n-1,100.9\n");
     },
     {"eval", "scores.csv", "--metrics=auroc"},
     0,
     {"83.33"}},
};

INSTANTIATE_TEST_SUITE_P(Arrays, PeopleTest, ::testing::ValuesIn(kArrays), NameOfSituation);

}  // namespace
}  // namespace openset
