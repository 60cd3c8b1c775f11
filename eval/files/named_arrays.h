// Looks up the arrays of a file by name. Their values are owned or borrowed.
#ifndef OPENSET_EVAL_FILES_NAMED_ARRAYS_H_
#define OPENSET_EVAL_FILES_NAMED_ARRAYS_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
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

namespace openset {

// ---- Values that an object either owns or borrows.

// Read it like a std::vector. A copy of borrowed values borrows the same values, which must outlive both.
template <typename T>
class MaybeBorrowed {
 public:
  using value_type = T;
  using const_iterator = const T*;
  using iterator = const T*;
  using size_type = size_t;

  MaybeBorrowed() = default;
  MaybeBorrowed(std::vector<T> values) : owned_(std::move(values)) {}  // NOLINT(google-explicit-constructor)
  MaybeBorrowed(std::initializer_list<T> values) : owned_(values) {}   // NOLINT(google-explicit-constructor)
  static MaybeBorrowed Borrow(absl::Span<const T> values) {
    MaybeBorrowed borrowed;
    borrowed.borrowed_ = values;
    return borrowed;
  }

  const T* data() const { return borrowed_.empty() ? owned_.data() : borrowed_.data(); }
  size_t size() const { return borrowed_.empty() ? owned_.size() : borrowed_.size(); }
  bool empty() const { return size() == 0; }
  const T& operator[](size_t i) const { return data()[i]; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }

  // The values for modification. Copies borrowed values first.
  std::vector<T>& Own() {
    if (!borrowed_.empty()) owned_.assign(borrowed_.begin(), borrowed_.end());
    borrowed_ = {};
    return owned_;
  }

  friend bool operator==(const MaybeBorrowed& a, const MaybeBorrowed& b) {
    return absl::MakeConstSpan(a) == absl::MakeConstSpan(b);
  }
  friend bool operator!=(const MaybeBorrowed& a, const MaybeBorrowed& b) { return !(a == b); }

 private:
  std::vector<T> owned_;
  absl::Span<const T> borrowed_;  // used if it is not empty
};

// Looks up the arrays of a file by name. Errors name the file and the array.

// The elements, row-major in memory, of arrays whose `data` is empty, by name.
using ArraysInPlace = std::map<std::string, const void*>;

// Refers to a file's path and its arrays. `columns` are all columns of a table, also those that are not arrays. All
// errors are kInvalidArgument.
class NamedArrays {
 public:
  // Precondition: each of `in_place` is one of `arrays`, is only read by Read() into a MaybeBorrowed, and has its
  // element type.
  NamedArrays(const std::string& path, const NpzArrays& arrays, const ArraysInPlace& in_place)
      : path_(path), arrays_(arrays), columns_(NoColumns()), in_place_(&in_place) {}

  NamedArrays(const std::string& path, const NpzArrays& arrays, const std::vector<std::string>& columns = NoColumns())
      : path_(path), arrays_(arrays), columns_(columns) {}

  bool Has(const std::string& name) const { return arrays_.count(name) > 0; }

  // Returns the array; -1 in `shape` means any extent. Errors: there is no such array, or its shape differs.
  absl::StatusOr<const NpyArray*> Get(const std::string& name, const std::vector<int64_t>& shape) const;

  // Returns its elements, by a conversion of core/files/formats/npy.h. Errors: there is no such array, its shape
  // differs, or its elements can't be converted.
  template <typename T>
  absl::Status Read(const std::string& name, const std::vector<int64_t>& shape,
                    absl::StatusOr<std::vector<T>> (*convert)(const NpyArray&), std::vector<T>* values) const {
    OPENSET_ASSIGN_OR_RETURN(const NpyArray* array, Get(name, shape));
    absl::StatusOr<std::vector<T>> converted = convert(*array);
    if (!converted.ok()) return Problem(name, converted.status().message());
    *values = *std::move(converted);
    return absl::OkStatus();
  }

  // The same, but does not copy arrays that are in place.
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

  // Returns an integer: an array of one element and any rank.
  absl::StatusOr<int64_t> ReadOne(const std::string& name) const;

  // Errors about these arrays name these files.
  void SetPaths(const std::map<std::string, std::string>& path_of) { path_of_ = &path_of; }

  // "FILE: array 'NAME' PROBLEM".
  absl::Status Problem(absl::string_view name, absl::string_view problem) const;
  // The error that there is no array (or column of a table) 'NAME', with the existing ones.
  absl::Status Missing(absl::string_view name) const;
  bool IsTable() const { return !columns_.empty(); }

 private:
  static const std::vector<std::string>& NoColumns();
  const void* InPlace(const std::string& name) const;

  const std::string& path_;
  const NpzArrays& arrays_;
  const std::vector<std::string>& columns_;
  const ArraysInPlace* in_place_ = nullptr;
  const std::map<std::string, std::string>* path_of_ = nullptr;
};

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_NAMED_ARRAYS_H_
