// Writes the samples of a task's split for networks that run elsewhere.
#ifndef OPENSET_TOOLS_CLI_TASK_TASK_SAMPLES_H_
#define OPENSET_TOOLS_CLI_TASK_TASK_SAMPLES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/text/table.h"
#include "data/catalog.h"
#include "data/task.pb.h"
#include "experiments/store/record.proto.h"
#include "tools/cli/flags/run_config.h"

namespace openset {

// `openset task samples NAME --split=N --out=FOLDER`: writes test.npz (the known test samples, then each group of
// unknown ones, as stored outputs have them); fit.npz (the training samples), unless the task has no training part;
// and, with --validation_per_class=N, validation.npz (the samples that a study sets aside for searches).
// Arrays, one value or row for each sample: `label` (-1 for unknown), `class_id`, `group`, `group_names`, `sample` (a
// name by which users find it), and `images` (u8 [N, H, W, C]), or `path` if each image is a file, or `features`. The
// flags --train_limit and --test_limit mean the same as for `openset score`. Without --out, prints the test samples as
// a table in --format, text or csv (SampleTable()). kNotFound if the data is not on this machine; kInvalidArgument for
// a split that the task lacks, or a --fit_part that it can't use.
absl::Status WriteTaskSamples(const std::string& name, const RunConfig& config);

// ---- The test samples of a split as a list, with the path or the place of each.

// A row for each test sample, in the order of the rows of outputs: row, label (the index of the known class; -1:
// unknown), class (its name), group (of an unknown sample) and sample (TestSamples::NameOf(),
// experiments/report/examples.h). Errors: an error of the data (data/sets/data_set.h), such as kNotFound if it is not
// on this machine; kInvalidArgument also if the task names samples that the parts lack.
absl::StatusOr<Table> SampleTable(const TaskData& data, const Catalog& catalog,
                                  const std::vector<std::string>& data_folders);

// A row for each mistake of the record (details.mistake): kind, row, class, group, predicted class, unknown score, and
// sample. If the samples can't be named, the column is empty and `why_unnamed` says why; otherwise it is "".
Table MistakeTable(const TrialRecord& record, const Catalog& catalog, const std::vector<std::string>& data_folders,
                   std::string* why_unnamed);

}  // namespace openset

#endif  // OPENSET_TOOLS_CLI_TASK_TASK_SAMPLES_H_
