#include "experiments/spec/resolve/preset_warnings.h"

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "eval/scores/score.pb.h"
#include "google/protobuf/message.h"
#include "models/model.pb.h"

namespace openset {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The member of its oneof `kind` that is set; "" without one.
std::string KindOf(const Message& part) {
  const FieldDescriptor* set =
      part.GetReflection()->GetOneofFieldDescriptor(part, part.GetDescriptor()->FindOneofByName("kind"));
  return set == nullptr ? "" : set->name();
}

struct Part {
  const char* path;
  std::string kind;
};

// The fields that define a method.
std::vector<Part> PartsOf(const MethodSpec& spec) {
  return {{"model.head", KindOf(spec.model().head())},
          {"open_set", KindOf(spec.open_set())},
          {"inference", KindOf(spec.inference())},
          {"score", KindOf(spec.score())}};
}

}  // namespace

std::vector<std::string> PresetWarnings(const LoadedMethod& method) {
  std::vector<Part> own = PartsOf({});
  std::vector<std::string> lines;
  for (size_t layer = 0; layer < method.layers.size(); ++layer) {
    const MethodLayer& laid = method.layers[layer];
    const std::vector<Part> parts = PartsOf(laid.spec);
    const bool is_preset = static_cast<int>(layer) > method.own;
    const bool is_own_form = absl::StrContains(std::filesystem::path(laid.source.file()).stem().string(), '+');
    for (size_t p = 0; p < parts.size(); ++p) {
      if (parts[p].kind.empty()) continue;
      if (!is_preset) own[p].kind = parts[p].kind;
      if (!is_preset || is_own_form || own[p].kind.empty() || own[p].kind == parts[p].kind) continue;
      lines.push_back(absl::StrCat("warning: ", method.spec.name(), ": the preset replaces the method's ",
                                   parts[p].path, " ", own[p].kind, " by ", parts[p].kind, " (",
                                   laid.source.Where(parts[p].path), ")"));
    }
  }
  return lines;
}

}  // namespace openset
