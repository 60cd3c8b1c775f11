// Taking arrays out of a file, with errors that name the file and the array.
#ifndef OPENSET_EVAL_FILES_NAMED_ARRAYS_H_
#define OPENSET_EVAL_FILES_NAMED_ARRAYS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/files/formats/npz.h"
#include "core/status_macros.h"
#include "eval/files/maybe_borrowed.h"

namespace openset {

// Elements that are in memory already, row-major: of the array of this name, whose `data` is empty.
using ArraysInPlace = std::map<std::string, const void*>;

// Refers to a file's path and its arrays; `columns` are those that a table has, also those that became no array. All
// errors are kInvalidArgument.
class NamedArrays {
 public:
  // Precondition: each of `in_place` is one of `arrays`, is read by Read() into a MaybeBorrowed only, and has the type
  // of its elements.
  NamedArrays(const std::string& path, const NpzArrays& arrays, const ArraysInPlace& in_place)
      : path_(path), arrays_(arrays), columns_(NoColumns()), in_place_(&in_place) {}

  NamedArrays(const std::string& path, const NpzArrays& arrays, const std::vector<std::string>& columns = NoColumns())
      : path_(path), arrays_(arrays), columns_(columns) {}

  bool Has(const std::string& name) const { return arrays_.count(name) > 0; }

  // The array; -1 in `shape` stands for any extent. Errors: there is none, its shape is another.
  absl::StatusOr<const NpyArray*> Get(const std::string& name, const std::vector<int64_t>& shape) const;

  // Its elements, by one of the conversions of core/files/formats/npy.h. Errors: those of Get and of the conversion.
  template <typename T>
  absl::Status Read(const std::string& name, const std::vector<int64_t>& shape,
                    absl::StatusOr<std::vector<T>> (*convert)(const NpyArray&), std::vector<T>* values) const {
    OPENSET_ASSIGN_OR_RETURN(const NpyArray* array, Get(name, shape));
    absl::StatusOr<std::vector<T>> converted = convert(*array);
    if (!converted.ok()) return Problem(name, converted.status().message());
    *values = *std::move(converted);
    return absl::OkStatus();
  }

  // The same; an array that is in place is not copied.
  template <typename T>
  absl::Status Read(const std::string& name, const std::vector<int64_t>& shape,
                    absl::StatusOr<std::vector<T>> (*convert)(const NpyArray&), MaybeBorrowed<T>* values) const {
    if (const void* const elements = InPlace(name); elements != nullptr) {
      OPENSET_ASSIGN_OR_RETURN(const NpyArray* array, Get(name, shape));
      const absl::Span<const T> span(static_cast<const T*>(elements), static_cast<size_t>(array->size()));
      *values = MaybeBorrowed<T>::Borrow(span);
      return absl::OkStatus();
    }
    std::vector<T> converted;
    OPENSET_RETURN_IF_ERROR(Read(name, shape, convert, &converted));
    *values = std::move(converted);
    return absl::OkStatus();
  }

  // A whole number: an array of one element, whatever its rank.
  absl::StatusOr<int64_t> ReadOne(const std::string& name) const;

  // "FILE: array 'NAME' PROBLEM".
  absl::Status Problem(absl::string_view name, absl::string_view problem) const;
  // That there is no array 'NAME', or no column of a table, with those there are.
  absl::Status Missing(absl::string_view name) const;
  bool IsTable() const { return !columns_.empty(); }

 private:
  static const std::vector<std::string>& NoColumns();
  const void* InPlace(const std::string& name) const;

  const std::string& path_;
  const NpzArrays& arrays_;
  const std::vector<std::string>& columns_;
  const ArraysInPlace* in_place_ = nullptr;
};

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_NAMED_ARRAYS_H_
