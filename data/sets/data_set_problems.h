// Checks a catalog entry, perhaps from an untrusted catalog, beyond the schema's rules.
#ifndef OPENSET_DATA_SETS_DATA_SET_PROBLEMS_H_
#define OPENSET_DATA_SETS_DATA_SET_PROBLEMS_H_

#include <vector>

#include "core/proto/proto_rules.h"
#include "data/catalog.pb.h"

namespace openset {

// Checks the paths and sources of a data set's files: addresses, checksums, packages and paths, perhaps from an
// untrusted catalog.

// Adds the problems of `fetch` and of every field that is a path ("path", "folder", "class_folder"), each with its
// field: a path that leaves its folder (data/path_below.h; an image folder's may be absolute), an address that is
// not https, a download without a SHA-256 that does not say why, a package name that is not of its registry's form.
void FindFetchProblems(const DataSetInfo& info, std::vector<FieldProblem>* problems);

// ---- Checks a catalog entry beyond the schema's rules.

// Returns the contradictions in `info`: class counts that do not sum to a part's samples, layouts with different parts,
// malformed checksums, a size that its format does not allow. Precondition: the schema's rules are obeyed.
std::vector<FieldProblem> FindDataSetProblems(const DataSetInfo& info);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_DATA_SET_PROBLEMS_H_
