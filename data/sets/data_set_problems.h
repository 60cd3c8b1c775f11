// Checks a catalog entry beyond the schema's rules.
#ifndef OPENSET_DATA_SETS_DATA_SET_PROBLEMS_H_
#define OPENSET_DATA_SETS_DATA_SET_PROBLEMS_H_

#include <vector>

#include "core/proto/proto_rules.h"
#include "data/catalog.pb.h"

namespace openset {

// Returns the contradictions in `info`: class counts that do not sum to a part's samples, layouts with different parts,
// malformed checksums, a size that its format does not allow. Precondition: the schema's rules are obeyed.
std::vector<FieldProblem> FindDataSetProblems(const DataSetInfo& info);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_DATA_SET_PROBLEMS_H_
