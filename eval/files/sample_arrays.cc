#include "eval/files/sample_arrays.h"

#include <limits>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/formats/npz.h"
#include "eval/files/named_arrays.h"

namespace openset {
namespace {

// The types that ScoreFileOf() reads without conversion.
const std::map<std::string, std::string>& TypesInPlace() {
  static const auto* const types =
      new std::map<std::string, std::string>{{"logits", "<f4"}, {"features", "<f4"},   {"unknown_score", "<f8"},
                                             {"label", "<i8"},  {"prediction", "<i8"}, {"group", "<i8"}};
  return *types;
}

constexpr int64_t kMostItemBytes = int64_t{1} << 26;

// Returns the number of elements. Checks that their bytes fit into an int64.
absl::StatusOr<int64_t> Elements(const ArrayView& array) {
  if (array.item_bytes < 0 || array.item_bytes > kMostItemBytes) {
    return absl::InvalidArgumentError(absl::StrCat("has elements of ", array.item_bytes, " bytes"));
  }
  if (!array.strides.empty() && array.strides.size() != array.shape.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", array.strides.size(), " strides for ", array.shape.size(), " extents"));
  }
  if (absl::c_any_of(array.shape, [](int64_t extent) { return extent < 0; })) {
    return absl::InvalidArgumentError("has a negative extent");
  }
  if (absl::c_linear_search(array.shape, 0)) return 0;
  int64_t elements = 1;
  for (const int64_t extent : array.shape) {
    if (elements > std::numeric_limits<int64_t>::max() / kMostItemBytes / extent) {
      return absl::InvalidArgumentError(absl::StrCat("has the shape [", absl::StrJoin(array.shape, ", "), "]"));
    }
    elements *= extent;
  }
  if (array.data == nullptr) return absl::InvalidArgumentError("has no data");
  return elements;
}

bool IsRowMajor(const ArrayView& array) {
  int64_t expected = array.item_bytes;
  for (size_t d = array.strides.size(); d-- > 0;) {
    if (array.shape[d] != 1 && array.strides[d] != expected) return false;
    expected *= array.shape[d];
  }
  return true;
}

// Appends the elements below `at`, from extent `d` on, row-major.
void AppendElements(const ArrayView& array, size_t d, const char* at, std::string* bytes) {
  if (d == array.shape.size()) {
    bytes->append(at, array.item_bytes);
    return;
  }
  for (int64_t i = 0; i < array.shape[d]; ++i) AppendElements(array, d + 1, at + i * array.strides[d], bytes);
}

// Like an array from a file.
absl::StatusOr<NpyArray> Copy(const ArrayView& array, int64_t elements) {
  std::string bytes = FormatNpyHeader(array.type, array.shape);
  if (elements > 0) {
    bytes.reserve(bytes.size() + elements * array.item_bytes);
    const char* const begin = static_cast<const char*>(array.data);
    if (array.strides.empty() || IsRowMajor(array)) {
      bytes.append(begin, elements * array.item_bytes);
    } else {
      AppendElements(array, 0, begin, &bytes);
    }
  }
  return ParseNpy(bytes);
}

}  // namespace

absl::StatusOr<ScoreFile> ScoreFileOfArrays(const std::string& name, absl::Span<const ArrayView> arrays,
                                            ScoreDirection direction) {
  NpzArrays all;
  ArraysInPlace in_place;
  const std::vector<std::string>& names = ScoreFileArrays();
  for (const ArrayView& array : arrays) {
    const auto problem = [&](absl::string_view what) {
      return absl::InvalidArgumentError(absl::StrCat(name, ": array '", array.name, "' ", what));
    };
    if (!absl::c_linear_search(names, array.name)) {
      return problem(absl::StrCat("is not one of ", absl::StrJoin(names, ", ")));
    }
    if (all.count(array.name) > 0) return problem("is given twice");
    const absl::StatusOr<int64_t> elements = Elements(array);
    if (!elements.ok()) return problem(elements.status().message());
    const auto type = TypesInPlace().find(array.name);
    const bool is_aligned = array.item_bytes > 0 && reinterpret_cast<uintptr_t>(array.data) % array.item_bytes == 0;
    if (*elements > 0 && type != TypesInPlace().end() && type->second == array.type &&
        array.item_bytes == array.type[2] - '0' && is_aligned && (array.strides.empty() || IsRowMajor(array))) {
      all[array.name] = {array.type, array.shape, ""};
      in_place[array.name] = array.data;
      continue;
    }
    absl::StatusOr<NpyArray> copy = Copy(array, *elements);
    if (!copy.ok()) return problem(absl::StrCat("can't be read: ", copy.status().message()));
    all[array.name] = *std::move(copy);
  }
  return ScoreFileOf(name, NamedArrays(name, all, in_place), direction);
}

}  // namespace openset
