// Reads Python's pickles as data: imports nothing and calls nothing.
#ifndef OPENSET_CORE_FILES_FORMATS_PICKLE_H_
#define OPENSET_CORE_FILES_FORMATS_PICKLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace openset {

// A value of a pickle. It refers to other values by their index in Pickle::values.
struct PickleValue {
  enum Kind {
    kNone,
    kBool,    // number
    kInt,     // number
    kLong,    // text: an integer of more than 64 bits, little-endian, in two's complement
    kFloat,   // real
    kText,    // text
    kBytes,   // text
    kGlobal,  // text: "torch FloatStorage", a name that the pickle would import
    kTuple,   // items; also a frozenset
    kList,    // items; also a set
    kDict,    // items: key, value, key, value ...; also collections.OrderedDict
    // items: a global, the tuple of its arguments, and the state if the pickle sets one. A call, or an object of a
    // class; not executed, and what the pickle appends to it is left out.
    kCall,
    kPersistent,  // items: the id of something that is stored outside the pickle
  };
  Kind kind = kNone;
  int64_t number = 0;
  double real = 0;
  std::string text;
  std::vector<int> items;
};

struct Pickle {
  std::vector<PickleValue> values;
  int root = 0;

  const PickleValue& operator[](int place) const { return values[place]; }
  // The index of the value of a text key in a dict, the last one that was set; -1 if there is none.
  int Find(const PickleValue& dict, absl::string_view key) const;
};

// The most bytes and operations that a pickle may have. An operation takes at most about 100 bytes of memory. A state
// dict has about 250 bytes and 30 operations for each tensor.
inline constexpr size_t kMostPickleBytes = size_t{64} << 20;
inline constexpr int kMostPickleOperations = 4'000'000;

// Reads a pickle of protocol 2 to 5, and sets `size`, if given, to the number of its bytes; others may follow. The
// names that it would import are values too: the caller must refuse those that it doesn't know. Errors:
// kInvalidArgument for an operation that is not accepted; kDataLoss for bytes that are not a pickle, with the offset;
// kOutOfRange for more than kMostPickleBytes or kMostPickleOperations.
absl::StatusOr<Pickle> ReadPickle(absl::string_view bytes, size_t* size = nullptr);

}  // namespace openset

#endif  // OPENSET_CORE_FILES_FORMATS_PICKLE_H_
