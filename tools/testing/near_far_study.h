// A study that takes seconds, with two sets of unknown samples, one near and one far.
#ifndef OPENSET_TOOLS_TESTING_NEAR_FAR_STUDY_H_
#define OPENSET_TOOLS_TESTING_NEAR_FAR_STUDY_H_

#include "tools/testing/openset_program.h"

namespace openset {

inline constexpr char kNearFarTask[] = R"(
name: "near_far"
data_set: "fashion_mnist"
unknown { group: "near" data_set: "fashion_mnist" distance: NEAR class_id: [3, 4] }
unknown { group: "noise" data_set: "uniform_noise" distance: FAR draw_samples: 50 }
split { known: [0, 1, 2, 5] }
)";

// Two trainings of a second each, with two scores.
inline constexpr char kNearFarStudy[] = R"(
name: "study"
task: "near_far"
method: ["mcp", "max_logit"]
split: 0
seed: [0, 1]
override {
  model { osrci_cnn {} head { linear { bias: true } } }
  input { size: 28 channels: 1 mean: 0.286 std: 0.353 }
  training {
    epochs: 1
    batch_size: 50
    optimizer { learning_rate: 0.02 }
    schedule { constant {} }
  }
}
train_limit_per_class: 100
test_limit_per_class: 50
metric { accuracy {} }
metric { auroc {} }
metric { aurc {} }
)";

// Writes study.textproto and its task into the program's folder.
inline void WriteNearFarStudy(const OpensetProgram& program) {
  program.Write("tasks/near_far.textproto", kNearFarTask);
  program.Write("study.textproto", kNearFarStudy);
}

}  // namespace openset

#endif  // OPENSET_TOOLS_TESTING_NEAR_FAR_STUDY_H_
