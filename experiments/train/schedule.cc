#include "experiments/train/schedule.h"

#include <cmath>

#include "core/logging.h"

namespace openset {
namespace {

constexpr double kPi = 3.14159265358979323846;

// The cosine at `part` of a cycle, 0 to 1.
double Cosine(const CosineRestartsSpec& spec, double part) {
  return spec.floor() + (1 - spec.floor()) * 0.5 * (1 + std::cos(kPi * part));
}

double CosineAtEpoch(const CosineRestartsSpec& spec, int epoch) {
  return Cosine(spec, static_cast<double>(epoch % spec.cycle_epochs()) / spec.cycle_epochs());
}

// On the line from the floor to the cosine at the warm-up's end.
double WarmUp(const CosineRestartsSpec& spec, double epochs) {
  const int warmup = spec.warmup_epochs();
  const double share = warmup == 0 ? 0 : epochs / warmup;
  return spec.floor() + (CosineAtEpoch(spec, warmup) - spec.floor()) * share;
}

double CosineRestarts(const CosineRestartsSpec& spec, const TrainingTime& time) {
  const int epoch = time.epoch, warmup = spec.warmup_epochs();
  const auto steps = static_cast<double>(time.steps_per_epoch);
  switch (spec.stepping()) {
    case CosineRestartsSpec::EPOCH:
      return epoch < warmup ? WarmUp(spec, epoch) : CosineAtEpoch(spec, epoch);
    case CosineRestartsSpec::AFTER_EPOCH:
      return epoch <= warmup ? WarmUp(spec, epoch) : CosineAtEpoch(spec, epoch - 1);
    case CosineRestartsSpec::ITERATION:
    case CosineRestartsSpec::BEFORE_ITERATION: {
      const bool before = spec.stepping() == CosineRestartsSpec::BEFORE_ITERATION;
      const double part_of_epoch = static_cast<double>(time.step + (before ? 1 : 0)) / steps;
      if (epoch < warmup) return WarmUp(spec, epoch + part_of_epoch);
      return Cosine(spec, (epoch % spec.cycle_epochs() + part_of_epoch) / spec.cycle_epochs());
    }
    case CosineRestartsSpec::STEPPING_UNSPECIFIED:
      break;
  }
  LOG(FATAL) << "a schedule without a stepping";
  return 0;
}

}  // namespace

double LearningRateFactor(const ScheduleSpec& spec, const TrainingTime& time) {
  switch (spec.kind_case()) {
    case ScheduleSpec::kConstant:
      return 1;
    case ScheduleSpec::kStep: {
      double factor = 1;
      for (int milestone : spec.step().milestone()) factor *= time.epoch >= milestone ? spec.step().factor() : 1;
      return factor;
    }
    case ScheduleSpec::kCosineRestarts:
      return CosineRestarts(spec.cosine_restarts(), time);
    case ScheduleSpec::KIND_NOT_SET:
      break;
  }
  LOG(FATAL) << "a schedule without a kind";
  return 0;
}

}  // namespace openset
