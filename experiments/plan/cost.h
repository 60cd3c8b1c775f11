// Estimates how long a plan takes, from the speed of earlier trainings.
#ifndef OPENSET_EXPERIMENTS_PLAN_COST_H_
#define OPENSET_EXPERIMENTS_PLAN_COST_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "experiments/plan/plan.h"
#include "experiments/spec/method.proto.h"
#include "experiments/store/record.proto.h"
#include "experiments/store/store.h"

namespace openset {

// Where actions run: on a kind of CPU with a number of threads, or on a kind of GPU.
struct CostDevice {
  bool is_gpu = false;
  std::string kind;  // "NVIDIA H200", or the processor's name
  int threads = 1;   // of each action, on the CPU

  bool operator<(const CostDevice& other) const {
    return std::tie(is_gpu, kind, threads) < std::tie(other.is_gpu, other.kind, other.threads);
  }
};

// The network and the size of its images, as text: they decide how long a pass takes.
std::string NetworkOf(const MethodSpec& method);

// Image passes per second of one action, from the trainings of earlier records (StageProvenance.images_per_second) or
// from a probe.
class Throughputs {
 public:
  // Reads at most `most_records` records of a store, in the order of their ids. Skips those that can't be read.
  static Throughputs OfStore(const Store& store, int most_records = 2000);

  void Add(const TrialRecord& record);

  // Adds what a probe of the trial's training measured on the device.
  void AddProbe(const Trial& trial, const CostDevice& device, double images_per_second);

  struct Rate {
    double passes_per_second = 0;
    enum class Basis {
      kMeasured,  // the same network, image size and device: the median of the records
      kProbed,    // the same as kMeasured, but the median of the probes
      kScaled,  // other networks on the device: the median of their multiply-adds per second, from records if any exist
      kAssumed,  // no record of the device: kAssumedCpuRate per thread, or kAssumedGpuRate
      kUnknown,  // the network was not measured, and its multiply-adds are unknown
    } basis = Basis::kUnknown;
  };
  Rate Of(const Trial& trial, const CostDevice& device) const;

  // The kinds of GPUs in the records, sorted.
  std::vector<std::string> GpuKinds() const;

 private:
  // Passes per second by network, image size and device; multiply-adds per second by device.
  struct Rates {
    void Add(const MethodSpec& method, int classes, const CostDevice& device, double images_per_second);

    std::map<std::tuple<std::string, CostDevice>, std::vector<double>> passes;
    std::map<CostDevice, std::vector<double>> multiply_adds;
  };

  Rates measured_, probed_;
};

// Multiply-adds per second if nothing was measured: of a CPU thread, and of a GPU as a share of an H100's fp32 peak
// (33.5e12 multiply-adds, 67 TFLOP/s), most of which networks for 32x32 images leave idle. Orders of magnitude only.
inline constexpr double kAssumedCpuRate = 3e10;
inline constexpr double kGpuPeak = 33.5e12;
inline constexpr double kAssumedGpuShare = 0.09;
inline constexpr double kAssumedGpuRate = kAssumedGpuShare * kGpuPeak;

struct PlanCost {
  int64_t passes = 0;
  double multiply_adds = 0;  // of all passes whose multiply-adds are known
  double hours = 0;          // if the actions run one after the other
  // The parts of `hours` by the basis of the estimate.
  double measured = 0, probed = 0, scaled = 0, assumed = 0;
  int64_t unknown_passes = 0;  // of networks without an estimate; not in `hours`
};

// The cost of all trainings and inferences of the plan, or only of the needed ones. Includes the trainings that
// unfinished searches will add with their next rungs (search.h), each from its previous rung on. Evaluations, which
// take seconds, and reading images are not counted.
PlanCost CostOf(const Plan& plan, const Throughputs& throughputs, const CostDevice& device, bool needed_only);

// "12 h", "3 days", "40 min": two digits at most.
std::string HoursText(double hours);

}  // namespace openset

#endif  // OPENSET_EXPERIMENTS_PLAN_COST_H_
