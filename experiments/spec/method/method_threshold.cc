#include "experiments/spec/method/method_threshold.h"

#include "absl/strings/str_cat.h"

namespace openset {
namespace {

// The metric's settings, if it is a balanced score.
BalancedScoreSpec* BalancedScoreOf(MetricSpec* metric) {
  const auto* reflection = metric->GetReflection();
  const auto* kind = reflection->GetOneofFieldDescriptor(*metric, metric->GetDescriptor()->FindOneofByName("kind"));
  if (kind == nullptr || kind->message_type() != BalancedScoreSpec::descriptor()) return nullptr;
  return static_cast<BalancedScoreSpec*>(reflection->MutableMessage(metric, kind));
}

}  // namespace

absl::StatusOr<bool> SetMethodThreshold(const MethodSpec& method, int known_classes, MetricSpec* metric) {
  BalancedScoreSpec* spec = BalancedScoreOf(metric);
  if (spec == nullptr || !spec->has_of_method()) return false;
  for (const KnownClassesThreshold& entry : method.decision().by_known_classes()) {
    if (entry.known_classes() != known_classes) continue;
    spec->set_threshold(entry.threshold());
    return true;
  }
  if (!method.decision().has_threshold()) {
    return absl::InvalidArgumentError(absl::StrCat("method ", method.name(), " has no threshold for ", known_classes,
                                                   " known classes: set `decision`, or known_accepted here"));
  }
  spec->set_threshold(method.decision().threshold());
  return true;
}

std::optional<double> TakeThreshold(MetricSpec* metric) {
  BalancedScoreSpec* spec = BalancedScoreOf(metric);
  if (spec == nullptr || !spec->has_threshold()) return std::nullopt;
  const double threshold = spec->threshold();
  spec->mutable_of_method();
  return threshold;
}

}  // namespace openset
