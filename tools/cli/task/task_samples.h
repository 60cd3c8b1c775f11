// Writes the samples of a task's split for networks that run elsewhere.
#ifndef OPENSET_TOOLS_CLI_TASK_TASK_SAMPLES_H_
#define OPENSET_TOOLS_CLI_TASK_TASK_SAMPLES_H_

#include <string>

#include "absl/status/status.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// `openset task samples NAME --split=N --out=FOLDER`: writes test.npz (the known test samples, then each group of
// unknown ones, as stored outputs have them); fit.npz (the training samples), unless the task has no training part;
// and, with --validation_per_class=N, validation.npz (the samples that a study sets aside for searches).
// Arrays, one value or row for each sample: `label` (-1 for unknown), `class_id`, `group`, `group_names`, `sample` (a
// name by which users find it), and `images` (u8 [N, H, W, C]), or `path` if each image is a file, or `features`. The
// flags --train_limit and --test_limit mean the same as for `openset score`. Without --out, prints the test samples as
// a table in --format, text or csv (tools/cli/task/sample_table.h). kNotFound if the data is not on this machine;
// kInvalidArgument for a split that the task lacks, or a --fit_part that it can't use.
absl::Status WriteTaskSamples(const std::string& name, const RunConfig& config);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_TASK_TASK_SAMPLES_H_
