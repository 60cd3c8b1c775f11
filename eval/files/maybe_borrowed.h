// Values that an object either owns or borrows.
#ifndef OPENSET_EVAL_FILES_MAYBE_BORROWED_H_
#define OPENSET_EVAL_FILES_MAYBE_BORROWED_H_

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/types/span.h"

namespace openset {

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

}  // namespace openset

#endif  // OPENSET_EVAL_FILES_MAYBE_BORROWED_H_
