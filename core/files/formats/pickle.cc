#include "core/files/formats/pickle.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/status_macros.h"

namespace openset {
namespace {

constexpr absl::string_view kOrderedDict = "collections OrderedDict";
constexpr size_t kMostNameBytes = 1000;  // of a module and what it imports: a pickle may repeat a text at no cost

class Reader {
 public:
  explicit Reader(absl::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<Pickle> Read(size_t* size) {
    for (int operations = 0;; ++operations) {
      start_ = at_;
      if (operations == kMostPickleOperations) {
        return absl::OutOfRangeError(absl::StrCat("a pickle of more than ", kMostPickleOperations, " operations"));
      }
      if (at_ > kMostPickleBytes) return TooLong();
      if (at_ >= bytes_.size()) return Damaged("it ends too early");
      const uint8_t op = static_cast<uint8_t>(bytes_[at_++]);
      if (op == '.') break;
      OPENSET_RETURN_IF_ERROR(Do(op));
    }
    if (stack_.size() != 1 || !marks_.empty()) return Damaged("it ends with values left over");
    pickle_.root = stack_.back();
    if (size != nullptr) *size = at_;
    return std::move(pickle_);
  }

 private:
  absl::Status Damaged(absl::string_view what) const {
    return absl::DataLossError(absl::StrCat("not a valid pickle, at byte ", start_, ": ", what));
  }

  static absl::Status TooLong() {
    return absl::OutOfRangeError(absl::StrCat("a pickle of more than ", kMostPickleBytes, " bytes"));
  }

  // The next `size` bytes.
  absl::StatusOr<absl::string_view> Take(uint64_t size) {
    if (size > bytes_.size() - at_) return Damaged("it is cut short");
    if (size > kMostPickleBytes - std::min(at_, kMostPickleBytes)) return TooLong();
    const absl::string_view taken = bytes_.substr(at_, size);
    at_ += size;
    return taken;
  }

  // A little-endian number of `size` bytes, at most 8, in two's complement if `is_signed`.
  absl::StatusOr<int64_t> Number(int size, bool is_signed) {
    OPENSET_ASSIGN_OR_RETURN(const absl::string_view taken, Take(size));
    uint64_t value = 0;
    for (int i = 0; i < size; ++i) value |= static_cast<uint64_t>(static_cast<uint8_t>(taken[i])) << (8 * i);
    if (is_signed && size > 0 && size < 8 && (value >> (8 * size - 1)) != 0) value |= ~uint64_t{0} << (8 * size);
    return static_cast<int64_t>(value);
  }

  // Up to the end of the line.
  absl::StatusOr<std::string> Line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == absl::string_view::npos) return Damaged("a name has no end");
    const std::string line(bytes_.substr(at_, end - at_));
    at_ = end + 1;
    return line;
  }

  int Add(PickleValue value) {
    pickle_.values.push_back(std::move(value));
    return static_cast<int>(pickle_.values.size()) - 1;
  }
  absl::Status Push(PickleValue value) {
    stack_.push_back(Add(std::move(value)));
    return absl::OkStatus();
  }
  absl::Status PushNumber(PickleValue::Kind kind, int64_t number) {
    PickleValue value;
    value.kind = kind;
    value.number = number;
    return Push(std::move(value));
  }
  absl::Status PushText(PickleValue::Kind kind, uint64_t size) {
    OPENSET_ASSIGN_OR_RETURN(const absl::string_view text, Take(size));
    PickleValue value;
    value.kind = kind;
    value.text = std::string(text);
    return Push(std::move(value));
  }
  absl::Status PushName(absl::string_view module, absl::string_view name) {
    if (module.size() + name.size() > kMostNameBytes) return Damaged("a name is too long");
    PickleValue value;
    value.kind = PickleValue::kGlobal;
    value.text = absl::StrCat(module, " ", name);
    return Push(std::move(value));
  }
  absl::Status PushItems(PickleValue::Kind kind, std::vector<int> items) {
    PickleValue value;
    value.kind = kind;
    value.items = std::move(items);
    return Push(std::move(value));
  }

  // Removes the topmost `count` values from the stack and returns them.
  absl::StatusOr<std::vector<int>> Pop(size_t count) {
    const size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() < floor + count) return Damaged("a value is missing");
    std::vector<int> items(stack_.end() - count, stack_.end());
    stack_.resize(stack_.size() - count);
    return items;
  }
  // The same for the values above the last mark.
  absl::StatusOr<std::vector<int>> PopToMark() {
    if (marks_.empty()) return Damaged("a mark is missing");
    std::vector<int> items(stack_.begin() + marks_.back(), stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }
  // Appends to the list or dict on top of the stack.
  absl::Status Extend(PickleValue::Kind kind, const absl::StatusOr<std::vector<int>>& items) {
    if (!items.ok()) return items.status();
    if (!stack_.empty() && pickle_[stack_.back()].kind == PickleValue::kCall) return absl::OkStatus();
    if (stack_.empty() || pickle_[stack_.back()].kind != kind) return Damaged("no list or dict to add to");
    if (kind == PickleValue::kDict && items->size() % 2 != 0) return Damaged("a key without a value");
    std::vector<int>& into = pickle_.values[stack_.back()].items;
    into.insert(into.end(), items->begin(), items->end());
    return absl::OkStatus();
  }

  absl::Status Memoize(int64_t slot) {
    if (stack_.empty()) return Damaged("nothing to remember");
    memo_[slot] = stack_.back();
    return absl::OkStatus();
  }
  absl::Status Recall(int64_t slot) {
    const auto found = memo_.find(slot);
    if (found == memo_.end()) return Damaged("it refers to a value that it has not stored");
    stack_.push_back(found->second);
    return absl::OkStatus();
  }

  // A call or an object, which is not made. OrderedDict() gives a dict, also of a list of pairs, as Python 2 wrote it.
  absl::Status Call() {
    OPENSET_ASSIGN_OR_RETURN(std::vector<int> call, Pop(2));
    const PickleValue &callee = pickle_[call[0]], &arguments = pickle_[call[1]];
    // A class whose source code is stored with it is a persistent value.
    if ((callee.kind != PickleValue::kGlobal && callee.kind != PickleValue::kPersistent) ||
        arguments.kind != PickleValue::kTuple) {
      return absl::InvalidArgumentError("it calls something that is not a name");
    }
    if (callee.text != kOrderedDict) return PushItems(PickleValue::kCall, std::move(call));
    std::vector<int> items;
    if (!arguments.items.empty()) {
      pairs_ += static_cast<int64_t>(pickle_[arguments.items[0]].items.size());
      if (pairs_ > kMostPickleOperations) return Damaged("its dicts are too large");
      for (const int place : pickle_[arguments.items[0]].items) {
        const std::vector<int>& pair = pickle_[place].items;
        if (pair.size() != 2)
          return absl::InvalidArgumentError("it makes an OrderedDict of something other than pairs");
        items.insert(items.end(), pair.begin(), pair.end());
      }
    }
    return PushItems(PickleValue::kDict, std::move(items));
  }

  // Sets the state of an object; a dict's state (an OrderedDict's `_metadata`) is dropped.
  absl::Status Build() {
    OPENSET_ASSIGN_OR_RETURN(const std::vector<int> state, Pop(1));
    if (stack_.empty()) return Damaged("nothing to build");
    PickleValue& object = pickle_.values[stack_.back()];
    if (object.kind == PickleValue::kDict) return absl::OkStatus();
    if (object.kind != PickleValue::kCall)
      return absl::InvalidArgumentError("it sets the state of an object that has none");
    object.items.resize(2);
    object.items.push_back(state[0]);
    return absl::OkStatus();
  }

  absl::Status Do(uint8_t op) {
    switch (op) {
      case 0x80:  // PROTO
        return Take(1).status();
      case 0x95:  // FRAME
        return Take(8).status();
      case '(':
        marks_.push_back(stack_.size());
        return absl::OkStatus();
      case 'N':
        return PushNumber(PickleValue::kNone, 0);
      case 0x88:
      case 0x89:
        return PushNumber(PickleValue::kBool, op == 0x88);
      case 'J':
      case 'K':
      case 'M': {
        OPENSET_ASSIGN_OR_RETURN(const int64_t number, Number(op == 'J' ? 4 : op == 'K' ? 1 : 2, op == 'J'));
        return PushNumber(PickleValue::kInt, number);
      }
      case 0x8a: {  // LONG1
        OPENSET_ASSIGN_OR_RETURN(const int64_t size, Number(1, false));
        if (size > 8) return PushText(PickleValue::kLong, size);
        OPENSET_ASSIGN_OR_RETURN(const int64_t number, Number(static_cast<int>(size), true));
        return PushNumber(PickleValue::kInt, number);
      }
      case 'G': {  // a double, big-endian
        OPENSET_ASSIGN_OR_RETURN(const absl::string_view taken, Take(8));
        std::string reversed(taken.rbegin(), taken.rend());
        PickleValue value;
        value.kind = PickleValue::kFloat;
        std::memcpy(&value.real, reversed.data(), 8);
        return Push(std::move(value));
      }
      case 'X':
      case 'T':
      case 'B': {
        OPENSET_ASSIGN_OR_RETURN(const int64_t size, Number(4, false));
        return PushText(op == 'B' ? PickleValue::kBytes : PickleValue::kText, size);
      }
      case 0x8c:
      case 'U':
      case 'C': {
        OPENSET_ASSIGN_OR_RETURN(const int64_t size, Number(1, false));
        return PushText(op == 'C' ? PickleValue::kBytes : PickleValue::kText, size);
      }
      case 0x8d:
      case 0x8e:
      case 0x96: {  // texts and bytes of 4 GB and more, and bytearrays
        OPENSET_ASSIGN_OR_RETURN(const int64_t size, Number(8, false));
        return PushText(op == 0x8d ? PickleValue::kText : PickleValue::kBytes, static_cast<uint64_t>(size));
      }
      case 'c': {
        OPENSET_ASSIGN_OR_RETURN(const std::string module, Line());
        OPENSET_ASSIGN_OR_RETURN(const std::string name, Line());
        return PushName(module, name);
      }
      case 0x93: {  // STACK_GLOBAL
        OPENSET_ASSIGN_OR_RETURN(const std::vector<int> names, Pop(2));
        return PushName(pickle_[names[0]].text, pickle_[names[1]].text);
      }
      case ')':
        return PushItems(PickleValue::kTuple, {});
      case ']':
      case 0x8f:  // a set
        return PushItems(PickleValue::kList, {});
      case '}':
        return PushItems(PickleValue::kDict, {});
      case 0x85:
      case 0x86:
      case 0x87: {
        OPENSET_ASSIGN_OR_RETURN(std::vector<int> items, Pop(op - 0x84));
        return PushItems(PickleValue::kTuple, std::move(items));
      }
      case 't':
      case 0x91: {  // a frozenset
        OPENSET_ASSIGN_OR_RETURN(std::vector<int> items, PopToMark());
        return PushItems(PickleValue::kTuple, std::move(items));
      }
      case 'l': {
        OPENSET_ASSIGN_OR_RETURN(std::vector<int> items, PopToMark());
        return PushItems(PickleValue::kList, std::move(items));
      }
      case 'a':
        return Extend(PickleValue::kList, Pop(1));
      case 'e':
      case 0x90:  // of a set
        return Extend(PickleValue::kList, PopToMark());
      case 's':
        return Extend(PickleValue::kDict, Pop(2));
      case 'u':
        return Extend(PickleValue::kDict, PopToMark());
      case 'q':
      case 'r': {
        OPENSET_ASSIGN_OR_RETURN(const int64_t slot, Number(op == 'q' ? 1 : 4, false));
        return Memoize(slot);
      }
      case 0x94:
        return Memoize(static_cast<int64_t>(memo_.size()));
      case 'h':
      case 'j': {
        OPENSET_ASSIGN_OR_RETURN(const int64_t slot, Number(op == 'h' ? 1 : 4, false));
        return Recall(slot);
      }
      case 'Q': {
        OPENSET_ASSIGN_OR_RETURN(std::vector<int> id, Pop(1));
        return PushItems(PickleValue::kPersistent, std::move(id));
      }
      case 'R':
      case 0x81:  // an object of a class
        return Call();
      case 0x92:  // the same with arguments that have names
        OPENSET_RETURN_IF_ERROR(Pop(1).status());
        return Call();
      case 'b':
        return Build();
      default:
        return absl::InvalidArgumentError(absl::StrFormat("it holds a Python object (operation 0x%02x)", op));
    }
  }

  const absl::string_view bytes_;
  size_t at_ = 0;
  size_t start_ = 0;  // of the current operation
  Pickle pickle_;
  std::vector<int> stack_;
  std::vector<size_t> marks_;  // heights of the stack
  std::map<int64_t, int> memo_;
  int64_t pairs_ = 0;  // of all lists that dicts were made of
};

}  // namespace

int Pickle::Find(const PickleValue& dict, absl::string_view key) const {
  int found = -1;
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& name = values[dict.items[i]];
    if (name.kind == PickleValue::kText && name.text == key) found = dict.items[i + 1];
  }
  return found;
}

absl::StatusOr<Pickle> ReadPickle(absl::string_view bytes, size_t* size) { return Reader(bytes).Read(size); }

}  // namespace openset
