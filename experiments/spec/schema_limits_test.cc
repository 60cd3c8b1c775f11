// The limits that the schemas of methods, tasks and studies state next to their numbers: each limit itself is allowed
// or not, as its kind says, and the next number beyond it is refused. Also finds limits that no value of the field's
// type can violate, and defaults that violate their own limits.
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <type_traits>

#include "absl/strings/match.h"
#include "core/proto/proto_rules.h"
#include "core/proto/schema.pb.h"
#include "data/task.pb.h"
#include "experiments/spec/experiment.pb.h"
#include "experiments/spec/method.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::google::protobuf::Descriptor;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;
using ::google::protobuf::MessageFactory;

// `type` and all types of messages below it.
void AddTypes(const Descriptor* type, std::set<const Descriptor*>* types) {
  if (!types->insert(type).second) return;
  for (int i = 0; i < type->field_count(); ++i) {
    if (type->field(i)->message_type() != nullptr) AddTypes(type->field(i)->message_type(), types);
  }
}

// Sets the field, or its only element. Returns false if its type can't hold the number.
template <typename T, typename Set, typename Add>
bool SetTo(double value, const FieldDescriptor* field, const Set& set, const Add& add) {
  if (std::is_integral_v<T> && (value < static_cast<double>(std::numeric_limits<T>::lowest()) ||
                                value > static_cast<double>(std::numeric_limits<T>::max()))) {
    return false;
  }
  field->is_repeated() ? add(static_cast<T>(value)) : set(static_cast<T>(value));
  return true;
}

bool SetTo(double value, const FieldDescriptor* f, Message* m) {
  const auto* r = m->GetReflection();
#define OPENSET_SET_TO(type, Name) \
  SetTo<type>(                     \
      value, f, [&](type v) { r->Set##Name(m, f, v); }, [&](type v) { r->Add##Name(m, f, v); })
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return OPENSET_SET_TO(int32_t, Int32);
    case FieldDescriptor::CPPTYPE_INT64:
      return OPENSET_SET_TO(int64_t, Int64);
    case FieldDescriptor::CPPTYPE_UINT32:
      return OPENSET_SET_TO(uint32_t, UInt32);
    case FieldDescriptor::CPPTYPE_UINT64:
      return OPENSET_SET_TO(uint64_t, UInt64);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return OPENSET_SET_TO(double, Double);
    default:
      return false;
  }
#undef OPENSET_SET_TO
}

// What FindProblems() says about the field of a message with its defaults, if it has this value; "" for nothing.
std::string ProblemOf(const FieldDescriptor* field, double value) {
  const std::unique_ptr<Message> message(
      MessageFactory::generated_factory()->GetPrototype(field->containing_type())->New());
  FillDefaults(message.get());
  if (!SetTo(value, field, message.get())) return "no such value";
  const std::string path = field->is_repeated() ? field->name() + "[0]" : field->name();
  for (const FieldProblem& problem : FindProblems(*message)) {
    if (problem.path == path) return problem.message;
  }
  return "";
}

TEST(SchemaLimits, EachLimitHoldsForTheNumbersNextToIt) {
  std::set<const Descriptor*> types;
  AddTypes(ExperimentSpec::descriptor(), &types);
  AddTypes(MethodSpec::descriptor(), &types);
  AddTypes(TaskSpec::descriptor(), &types);
  int limits = 0;
  const auto check = [&limits](const FieldDescriptor* field, double limit, bool is_allowed, double beyond) {
    ++limits;
    const bool is_double = field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE;
    const auto next = [&](double to) { return is_double ? std::nextafter(limit, to) : limit + (to > limit ? 1 : -1); };
    EXPECT_EQ(ProblemOf(field, is_allowed ? limit : next(-beyond)), "") << field->full_name();
    const std::string problem = ProblemOf(field, is_allowed ? next(beyond) : limit);
    EXPECT_TRUE(absl::StartsWith(problem, "must be ")) << field->full_name() << ": " << problem;
  };
  constexpr double kUp = std::numeric_limits<double>::infinity();
  for (const Descriptor* type : types) {
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor* field = type->field(i);
      const FieldRule& of = field->options().GetExtension(rule);
      if (of.has_min()) check(field, of.min(), true, -kUp);
      if (of.has_max()) check(field, of.max(), true, kUp);
      if (of.has_above()) check(field, of.above(), false, -kUp);
      if (of.has_below()) check(field, of.below(), false, kUp);
    }
  }
  EXPECT_GT(limits, 200);
}

}  // namespace
}  // namespace openset
