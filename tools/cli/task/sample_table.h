// The test samples of a split as a list, with the path or the place of each.
#ifndef OPENSET_TOOLS_CLI_TASK_SAMPLE_TABLE_H_
#define OPENSET_TOOLS_CLI_TASK_SAMPLE_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/text/table.h"
#include "data/catalog.h"
#include "data/task.pb.h"
#include "experiments/store/record.proto.h"

namespace openset {

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

#endif  // OPENSET_TOOLS_CLI_TASK_SAMPLE_TABLE_H_
