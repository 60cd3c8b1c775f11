#include "experiments/train/schedule.h"

#include <cmath>

#include "core/logging.h"

namespace openset {
namespace {

constexpr double kPi = 3.14159265358979323846;

double Cosine(const CosineRestartsSpec& spec, int epoch) {
  const double phase = static_cast<double>(epoch % spec.cycle_epochs()) / spec.cycle_epochs();
  return spec.floor() + (1 - spec.floor()) * 0.5 * (1 + std::cos(kPi * phase));
}

double CosineRestarts(const CosineRestartsSpec& spec, int epoch) {
  const int warmup = spec.warmup_epochs();
  const bool released = spec.stepping() == CosineRestartsSpec::AFTER_EPOCH;
  if (epoch < warmup || (released && epoch == warmup)) {
    const double share = warmup == 0 ? 0 : static_cast<double>(epoch) / warmup;
    return spec.floor() + (Cosine(spec, warmup) - spec.floor()) * share;
  }
  return Cosine(spec, released ? epoch - 1 : epoch);
}

}  // namespace

double LearningRateFactor(const ScheduleSpec& spec, int epoch) {
  switch (spec.kind_case()) {
    case ScheduleSpec::kConstant:
      return 1;
    case ScheduleSpec::kStep: {
      double factor = 1;
      for (int milestone : spec.step().milestone()) factor *= epoch >= milestone ? spec.step().factor() : 1;
      return factor;
    }
    case ScheduleSpec::kCosineRestarts:
      return CosineRestarts(spec.cosine_restarts(), epoch);
    case ScheduleSpec::KIND_NOT_SET:
      break;
  }
  LOG(FATAL) << "a schedule without a kind";
  return 0;
}

}  // namespace openset
