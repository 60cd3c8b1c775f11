// How long a plan takes, from what earlier trainings took.
#ifndef OPENSET_EXPERIMENTS_PLAN_COST_H_
#define OPENSET_EXPERIMENTS_PLAN_COST_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/types/span.h"
#include "experiments/plan/plan.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Where actions run: the CPU with so many threads an action, or a GPU of a kind.
struct CostDevice {
  bool is_gpu = false;
  std::string kind;  // "NVIDIA H200", or the processor's name
  int threads = 1;   // of an action on the CPU

  bool operator<(const CostDevice& other) const {
    return std::tie(is_gpu, kind, threads) < std::tie(other.is_gpu, other.kind, other.threads);
  }
};

// Image passes that a training takes of an image: forward, and twice as much backward.
inline constexpr double kTrainPasses = 3;

// What decides how long a pass takes, as text: the network and the images it is given.
std::string NetworkOf(const MethodSpec& method);

// Image passes a second of one action, as trainings of earlier records have them (StageProvenance.images_per_second,
// which is of trainings), or as a probe has found them.
class Throughputs {
 public:
  // Looks at up to so many records of a store, in the order of their ids; those that can't be read are left out.
  static Throughputs OfStore(const Store& store, int most_records = 2000);

  void Add(const TrialRecord& record);

  // What a probe of the trial's training has found on the device.
  void AddProbe(const Trial& trial, const CostDevice& device, double images_per_second);

  struct Rate {
    double passes_per_second = 0;
    enum class Basis {
      kMeasured,  // the same network, image size and device: the median of the records
      kProbed,    // the same, the median of the probes
      kScaled,  // other networks on the device: the median of their multiply-adds a second, of records if there are any
      kAssumed,  // no record of the device: kAssumedCpuRate a thread, kAssumedGpuRate
      kUnknown,  // a network whose multiply-adds are not known, and none like it was measured
    } basis = Basis::kUnknown;
  };
  Rate Of(const Trial& trial, const CostDevice& device) const;

  // The kinds of GPUs that records are from, sorted.
  std::vector<std::string> GpuKinds() const;

 private:
  // Of network, image size and device, and of the device: passes and multiply-adds a second.
  struct Rates {
    void Add(const MethodSpec& method, int classes, const CostDevice& device, double images_per_second);

    std::map<std::tuple<std::string, CostDevice>, std::vector<double>> passes;
    std::map<CostDevice, std::vector<double>> multiply_adds;
  };

  Rates measured_, probed_;
};

// Multiply-adds a second where nothing was measured: of a CPU thread, and of a GPU: a share of the fp32 peak of an H100
// (33.5e12 multiply-adds, 67 TFLOP/s), of which networks for 32x32 images leave most idle. Orders of magnitude.
inline constexpr double kAssumedCpuRate = 3e10;
inline constexpr double kGpuPeak = 33.5e12;
inline constexpr double kAssumedGpuShare = 0.09;
inline constexpr double kAssumedGpuRate = kAssumedGpuShare * kGpuPeak;

struct PlanCost {
  int64_t passes = 0;
  double multiply_adds = 0;  // of all passes of networks whose number is known
  double hours = 0;          // of one action after the other
  // Shares of `hours` by what they are from.
  double measured = 0, probed = 0, scaled = 0, assumed = 0;
  int64_t unknown_passes = 0;  // of networks that nothing is known of; not in `hours`
};

// Of all trainings and inferences of the plan, or of those that are needed, and of the trainings of the rungs that open
// searches will add (halving.h): each from the rung before on. Evaluations, which take seconds, and reading images are
// not counted.
PlanCost CostOf(const Plan& plan, const Throughputs& throughputs, const CostDevice& device, bool needed_only);

// "12 h", "3 days", "40 min": two digits at most.
std::string HoursText(double hours);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_COST_H_
