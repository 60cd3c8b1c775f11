// What is wrong with where a data set's files are, and are to be had from: addresses, sums, packages and paths, which
// other people's catalogs may state.
#ifndef OPENSET_DATA_SETS_FETCH_PROBLEMS_H_
#define OPENSET_DATA_SETS_FETCH_PROBLEMS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "core/proto/proto_rules.h"
#include "data/catalog.pb.h"

namespace openset {

// Whether it is that many lower-case hexadecimal digits.
bool IsHex(absl::string_view text, size_t digits);

// Adds the problems of `fetch`, and of every field of a path ("path", "folder", "class_folder"), with its
// place: a path that leaves its folder (data/path_below.h; that of an image folder may be absolute), an address that is
// not https, a download without a SHA-256 that does not say why, a package that is none of its registry's.
void FindFetchProblems(const DataSetInfo& info, std::vector<FieldProblem>* problems);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_FETCH_PROBLEMS_H_
