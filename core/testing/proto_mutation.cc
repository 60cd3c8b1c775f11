#include "core/testing/proto_mutation.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/text_format.h"

namespace openset {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::OneofDescriptor;
using google::protobuf::Reflection;

template <typename T, size_t n>
const T& OneOf(const T (&values)[n], RandomStream* random) {
  return values[random->Below(n)];
}

template <typename T>
T ExtremeWhole(RandomStream* random) {
  using Limits = std::numeric_limits<T>;
  const T values[] = {Limits::min(),
                      Limits::max(),
                      static_cast<T>(Limits::max() - 1),
                      static_cast<T>(Limits::max() / 2),
                      T{0},
                      T{1},
                      T{2},
                      static_cast<T>(-1),
                      static_cast<T>(-2),
                      T{65536},
                      T{1000000000},
                      static_cast<T>(-1000000000)};
  return OneOf(values, random);
}

template <typename T>
T ExtremeReal(RandomStream* random) {
  using Limits = std::numeric_limits<T>;
  const T values[] = {Limits::quiet_NaN(),
                      Limits::infinity(),
                      -Limits::infinity(),
                      Limits::max(),
                      Limits::lowest(),
                      Limits::min(),
                      Limits::denorm_min(),
                      T{0},
                      -T{0},
                      T{1},
                      T{-1},
                      T{1e30}};
  return OneOf(values, random);
}

std::string ExtremeText(const Extremes& extremes, RandomStream* random) {
  static const std::string* const texts = new std::string[24]{"",
                                                              " ",
                                                              "x",
                                                              "\xff\xfe",
                                                              "a\xc3",
                                                              "\xed\xa0\x80",
                                                              std::string("a\0b", 3),
                                                              "a\nb\r\tc",
                                                              "\x1b[2J\x1b]0;owned\a",
                                                              "\xc2\x9b"
                                                              "31m",
                                                              "\xe2\x80\xae"
                                                              "gnp.exe",
                                                              "../../outside/file",
                                                              "/dev/zero",
                                                              "/proc/self/mem",
                                                              ".",
                                                              "..",
                                                              "x';touch pwn;'",
                                                              "y$(touch pwn)`touch pwn`",
                                                              "-Kevil",
                                                              "%s%n%x",
                                                              "<script>alert(1)</script>",
                                                              "=cmd|'/c calc'!A1",
                                                              "{split}{split}",
                                                              "nan"};
  const uint64_t which = random->Below(26);
  if (which == 24) return std::string(extremes.most_text, 'x');
  if (which == 25) return std::string(extremes.most_text / 2, '\xff');
  return texts[which];
}

// Whether a message of type `from` may contain one of type `to`, directly or deeper.
bool Reaches(const Descriptor* from, const Descriptor* to, std::set<const Descriptor*>* seen) {
  if (!seen->insert(from).second) return false;
  for (int f = 0; f < from->field_count(); ++f) {
    const Descriptor* type = from->field(f)->message_type();
    if (type != nullptr && (type == to || Reaches(type, to, seen))) return true;
  }
  return false;
}

// The field of `from` that leads to a message of type `to`; null if there is none.
const FieldDescriptor* FieldTowards(const Descriptor* from, const Descriptor* to) {
  for (int f = 0; f < from->field_count(); ++f) {
    if (from->field(f)->message_type() == to) return from->field(f);
  }
  for (int f = 0; f < from->field_count(); ++f) {
    const Descriptor* type = from->field(f)->message_type();
    std::set<const Descriptor*> seen = {from};
    if (type != nullptr && Reaches(type, to, &seen)) return from->field(f);
  }
  return nullptr;
}

// Nests messages of a type in messages of the same type, if the schema allows it.
void Nest(int depth, Message* message) {
  const Descriptor* type = message->GetDescriptor();
  for (Message* inner = message; depth > 0; --depth) {
    const FieldDescriptor* field = FieldTowards(inner->GetDescriptor(), type);
    if (field == nullptr) return;
    const Reflection* reflection = inner->GetReflection();
    inner = field->is_repeated() ? reflection->AddMessage(inner, field) : reflection->MutableMessage(inner, field);
  }
}

class Mutator {
 public:
  Mutator(const Extremes& extremes, RandomStream* random, Message* root)
      : extremes_(extremes), random_(random), root_(root) {}

  // One change.
  void Change() {
    std::vector<Message*> messages;
    Collect(root_, &messages);
    ChangeIn(messages[random_->Below(messages.size())]);
  }

 private:
  bool Chance(int of) { return random_->Below(of) == 0; }

  // All present messages, in their order.
  static void Collect(Message* message, std::vector<Message*>* messages) {
    messages->push_back(message);
    const Reflection* reflection = message->GetReflection();
    std::vector<const FieldDescriptor*> fields;
    reflection->ListFields(*message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      if (!field->is_repeated()) {
        Collect(reflection->MutableMessage(message, field), messages);
        continue;
      }
      for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
        Collect(reflection->MutableRepeatedMessage(message, field, i), messages);
      }
    }
  }

  void ChangeIn(Message* message) {
    const Descriptor* type = message->GetDescriptor();
    if (type->field_count() == 0) return;
    const Reflection* reflection = message->GetReflection();
    std::vector<const FieldDescriptor*> present;
    reflection->ListFields(*message, &present);
    // Prefers present fields, because those are read.
    const FieldDescriptor* field = !present.empty() && !Chance(3)
                                       ? present[random_->Below(present.size())]
                                       : type->field(static_cast<int>(random_->Below(type->field_count())));
    if (Chance(8)) return reflection->ClearField(message, field);
    if (const OneofDescriptor* oneof = field->containing_oneof(); oneof != nullptr && Chance(2)) {
      field = oneof->field(static_cast<int>(random_->Below(oneof->field_count())));
    }
    if (field->is_repeated()) return ChangeList(message, field);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return SetValue(message, field);
    Message* inner = reflection->MutableMessage(message, field);
    if (Chance(4)) return inner->Clear();
    if (Chance(16)) return Nest(extremes_.most_depth, inner);
    ChangeIn(inner);
  }

  void ChangeList(Message* message, const FieldDescriptor* field) {
    const Reflection* reflection = message->GetReflection();
    const int size = reflection->FieldSize(*message, field);
    if (size == 0) return Add(message, field);
    switch (random_->Below(6)) {
      case 0:
        return reflection->RemoveLast(message, field);
      case 1:
        return Add(message, field);
      case 2:
        return Repeat(message, field);
      case 3:
        return reflection->SwapElements(message, field, 0, size - 1);
      default:
        if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
          reflection->RemoveLast(message, field);
          return Add(message, field);
        }
        ChangeIn(reflection->MutableRepeatedMessage(message, field, static_cast<int>(random_->Below(size))));
    }
  }

  void Repeat(Message* message, const FieldDescriptor* field) {
    const Reflection* reflection = message->GetReflection();
    const std::unique_ptr<Message> one(message->New());
    reflection->SwapFields(message, one.get(), {field});
    const auto size = static_cast<size_t>(std::max<size_t>(1, one->ByteSizeLong()));
    const size_t rest = root_->ByteSizeLong();
    const size_t room = rest > extremes_.most_bytes ? 0 : (extremes_.most_bytes - rest) / size;
    const size_t elements = reflection->FieldSize(*one, field);
    const size_t times = std::min(room, extremes_.most_repeats / elements);
    for (size_t i = 0; i < times + 1; ++i) message->MergeFrom(*one);
  }

  // Adds an element, or sets a singular field.
  void Add(Message* message, const FieldDescriptor* field) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return SetValue(message, field);
    Message* added = message->GetReflection()->AddMessage(message, field);
    if (Chance(2)) ChangeIn(added);
  }

  void SetValue(Message* message, const FieldDescriptor* field) {
    const Reflection* reflection = message->GetReflection();
    const auto put = [&](auto add, auto set, auto value) {
      field->is_repeated() ? (reflection->*add)(message, field, value) : (reflection->*set)(message, field, value);
    };
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return put(&Reflection::AddInt32, &Reflection::SetInt32, ExtremeWhole<int32_t>(random_));
      case FieldDescriptor::CPPTYPE_INT64:
        return put(&Reflection::AddInt64, &Reflection::SetInt64, ExtremeWhole<int64_t>(random_));
      case FieldDescriptor::CPPTYPE_UINT32:
        return put(&Reflection::AddUInt32, &Reflection::SetUInt32, ExtremeWhole<uint32_t>(random_));
      case FieldDescriptor::CPPTYPE_UINT64:
        return put(&Reflection::AddUInt64, &Reflection::SetUInt64, ExtremeWhole<uint64_t>(random_));
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return put(&Reflection::AddDouble, &Reflection::SetDouble, ExtremeReal<double>(random_));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return put(&Reflection::AddFloat, &Reflection::SetFloat, ExtremeReal<float>(random_));
      case FieldDescriptor::CPPTYPE_BOOL:
        return put(&Reflection::AddBool, &Reflection::SetBool, Chance(2));
      case FieldDescriptor::CPPTYPE_ENUM: {
        // A number that the enum lacks is kept among the unknown fields, as a reader of the bytes would.
        const int n = field->enum_type()->value_count();
        const auto which = static_cast<int>(random_->Below(n + 1));
        return put(&Reflection::AddEnumValue, &Reflection::SetEnumValue,
                   which < n ? field->enum_type()->value(which)->number() : 1000000);
      }
      case FieldDescriptor::CPPTYPE_STRING: {
        const std::string text = ExtremeText(extremes_, random_);
        field->is_repeated() ? reflection->AddString(message, field, text)
                             : reflection->SetString(message, field, text);
        return;
      }
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return;
    }
  }

  const Extremes& extremes_;
  RandomStream* const random_;
  Message* const root_;
};

std::unique_ptr<Message> Changed(const Message& message, const Extremes& extremes, RandomStream* random) {
  std::unique_ptr<Message> copy(message.New());
  copy->CopyFrom(message);
  MutateMessage(extremes, random, copy.get());
  return copy;
}

}  // namespace

void MutateMessage(const Extremes& extremes, RandomStream* random, Message* message) {
  Mutator mutator(extremes, random, message);
  for (uint64_t changes = 1 + random->Below(4); changes > 0; --changes) mutator.Change();
}

std::string MutatedWire(const Message& message, const Extremes& extremes, RandomStream* random) {
  std::string bytes = Changed(message, extremes, random)->SerializePartialAsString();
  if (random->Below(4) != 0) return bytes;
  const auto field = static_cast<char>(1 + random->Below(15));  // a number below 16: one byte with its wire type
  switch (random->Below(4)) {
    case 0:
      return bytes + Changed(message, extremes, random)->SerializePartialAsString();
    case 1:
      return bytes + "\xfa\xff\xff\xff\x0f\x01x";  // the largest number that a field may have
    case 2:
      return bytes + static_cast<char>(field << 3 | random->Below(6)) + std::string(10, '\x7f');
    default:
      return bytes + std::string(1000, static_cast<char>(field << 3 | 3));
  }
}

std::string MutatedText(const Message& message, const Extremes& extremes, RandomStream* random) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(*Changed(message, extremes, random), &text);
  if (random->Below(4) != 0 || text.empty()) return text;
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  const size_t at = random->Below(lines.size());
  switch (random->Below(3)) {
    case 0:
      lines.erase(lines.begin() + at);
      break;
    case 1:
      lines.insert(lines.begin() + at, std::string(lines[at]));
      break;
    default:
      std::swap(lines[at], lines[random->Below(lines.size())]);
  }
  return absl::StrJoin(lines, "\n");
}

}  // namespace openset
