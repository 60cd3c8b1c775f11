// Searches of a study whose results are made again (StudyOptions.redo).
#include <memory>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "experiments/study/study.h"
#include "experiments/testing/study_scene.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Three candidates, after 1 and 3 epochs: all three, two of them.
constexpr char kHalved[] = R"(
validation_per_class: 5
override { training { epochs: 3 } }
search {
  method: "plain"
  axis { path: "training.optimizer.learning_rate" value: ["0.1", "0.2", "0.3"] }
  criterion { aurc {} }
  halving { rungs: [1, 3] keep: 0.5 }
}
)";

class RedoSearchTest : public StudyScene {
 protected:
  // Runs a new study of kHalved up to the tuned trial, without its record.
  std::unique_ptr<Study> Halved() {
    std::unique_ptr<Study> study = *Load(kHalved);
    Record(*study, 0, 0.5);
    for (int t = 1; t < 4; ++t) Record(*study, t, 0.1 * t);
    EXPECT_THAT(study->Choose(ChoiceOf(*study)), IsOk());  // trials 4 and 5: the first two candidates, to the end
    for (int t = 4; t < 6; ++t) Record(*study, t, 0.1 * t);
    EXPECT_THAT(study->Choose(study->plan().actions.back().id), IsOk());
    EXPECT_EQ(study->waiting(), 0);
    return study;
  }
};

// The candidates of a search are made again, and so are the choice and the trial that it adds.
TEST_F(RedoSearchTest, MakesCandidatesAndChoicesAgain) {
  const std::unique_ptr<Study> first = *Load(kSearched);
  for (int t = 2; t < 6; ++t) Record(*first, t, 0.1 * t);
  ASSERT_TRUE(first->Choose(ChoiceOf(*first)).ok());
  Record(*first, 6, 0.5);  // the tuned trial

  const std::unique_ptr<Study> all = *Load(kSearched, "all");
  EXPECT_EQ(all->waiting(), 1);
  EXPECT_EQ(all->plan().CountNeeded(ActionKind::kEvaluate), 6);
  ASSERT_TRUE(all->RemoveRedone().ok());
  EXPECT_FALSE(*store_.HasRecord(first->plan().trial_id(2)));
  EXPECT_TRUE(*store_.HasRecord(first->plan().trial_id(6)));  // the tuned trial is not in the plan yet
  for (int t = 2; t < 6; ++t) Record(*all, t, 0.1 * t);
  const absl::StatusOr<std::vector<ActionId>> added = all->Choose(ChoiceOf(*all));
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_EQ(all->plan()[added->back()].key, first->plan().trial_id(6));
  EXPECT_FALSE(*store_.HasRecord(first->plan().trial_id(6)));
}

// Nothing has changed: each rung's choice is made at once, and the tuned trial is part of the study.
TEST_F(RedoSearchTest, KeepsAllRungsIfNothingChanged) {
  const std::unique_ptr<Study> first = Halved();
  const int tuned = first->ReportedTrials().back();
  const std::string id = first->plan().trial_id(tuned);
  Record(*first, tuned, 0.4);
  for (const char* redo : {"changed", "failed"}) {
    const std::unique_ptr<Study> again = *Load(kHalved, redo);
    EXPECT_EQ(again->waiting(), 0) << redo;
    EXPECT_EQ(again->ReportedTrials().size(), 2) << redo;
    EXPECT_EQ(again->plan().trial_id(again->ReportedTrials().back()), id) << redo;
    EXPECT_EQ(again->plan().CountNeeded(ActionKind::kEvaluate), 0) << redo;
  }
}

// A corrupt record leaves its choice open, as it does without redo.
TEST_F(RedoSearchTest, MakesACorruptCandidateAgain) {
  const std::unique_ptr<Study> first = Halved();
  for (const int t : {2, 4}) {  // of the first rung, and of the last
    const std::string path = first->store().RecordPath(first->plan().trial_id(t));
    const std::string whole = *ReadFile(path);
    ASSERT_THAT(WriteFileAtomically(path, "cut short"), IsOk());
    const absl::StatusOr<std::unique_ptr<Study>> again = Load(kHalved, "failed");
    ASSERT_THAT(again, IsOk());
    EXPECT_EQ((*again)->waiting(), 1);
    EXPECT_THAT((*again)->Damaged(), ElementsAre(HasSubstr("not a record file")));
    EXPECT_EQ((*again)->plan().CountNeeded(ActionKind::kEvaluate), 1);
    ASSERT_THAT(WriteFileAtomically(path, whole), IsOk());
  }
}

}  // namespace
}  // namespace openset
