#include "experiments/plan/cost.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "data/task.pb.h"
#include "experiments/spec/method.pb.h"
#include "gtest/gtest.h"
#include "models/model.pb.h"
#include "models/multiply_adds.h"

namespace openset {
namespace {

using Basis = Throughputs::Rate::Basis;

TrialSpec TrialOf(const std::string& model, int size = 32) {
  return Parsed<TrialSpec>(absl::StrCat("method { model { ", model, " } input { size: ", size,
                                        " } } data { test_known { class_id: [0, 1] } }"));
}

// A training of `model` with this many images per second.
TrialRecord Record(const std::string& model, double images_per_second,
                   const std::string& more = "cpu: 'a CPU' threads: 2") {
  TrialRecord record =
      Parsed<TrialRecord>(absl::StrCat("provenance { stage { stage: TRAIN images_per_second: ", images_per_second, " ",
                                       more, " } stage { stage: INFER ", more, " } }"));
  *record.mutable_trial() = TrialOf(model);
  return record;
}

const CostDevice kCpu = {false, "a CPU", 2};

TEST(Throughputs, OfTheSameNetworkAreMeasured) {
  Throughputs throughputs;
  for (const double images : {10, 30, 20}) throughputs.Add(Record("vgg32 {}", images));
  const Throughputs::Rate rate = throughputs.Of(TrialOf("vgg32 {}"), kCpu);
  EXPECT_EQ(rate.basis, Basis::kMeasured);
  EXPECT_DOUBLE_EQ(rate.passes_per_second, 3 * 20);  // the median; an image in training is three passes
}

// A network with a quarter of the multiply-adds makes four times as many passes.
TEST(Throughputs, OfOtherNetworksAreScaledByMultiplyAdds) {
  Throughputs throughputs;
  throughputs.Add(Record("vgg32 {}", 10));
  const TrialSpec small = TrialOf("vgg32 { width: 32 feature_dim: 64 }");
  const double ratio =
      static_cast<double>(*MultiplyAdds(TrialOf("vgg32 {}").method().model(), small.method().input(), 2)) /
      static_cast<double>(*MultiplyAdds(small.method().model(), small.method().input(), 2));
  const Throughputs::Rate rate = throughputs.Of(small, kCpu);
  EXPECT_EQ(rate.basis, Basis::kScaled);
  EXPECT_NEAR(rate.passes_per_second, 3 * 10 * ratio, 1e-9);
  EXPECT_GT(ratio, 3.5);
  EXPECT_LT(ratio, 4.1);
}

// A record is preferred to a probe, a probe of the same network to multiply-adds of others, and records' multiply-adds
// to probes'.
TEST(Throughputs, OfProbesAreSecond) {
  const TrialSpec large = TrialOf("vgg32 {}"), small = TrialOf("vgg32 { width: 32 feature_dim: 64 }");
  const auto work = [](const TrialSpec& trial) {
    return static_cast<double>(*MultiplyAdds(trial.method().model(), trial.method().input(), 2));
  };
  Throughputs throughputs;
  throughputs.AddProbe(large, kCpu, 40);
  EXPECT_EQ(throughputs.Of(large, kCpu).basis, Basis::kProbed);
  EXPECT_DOUBLE_EQ(throughputs.Of(large, kCpu).passes_per_second, 3 * 40);
  EXPECT_EQ(throughputs.Of(small, kCpu).basis, Basis::kScaled);
  EXPECT_NEAR(throughputs.Of(small, kCpu).passes_per_second, 3 * 40 * work(large) / work(small), 1e-9);
  EXPECT_EQ(throughputs.Of(large, {false, "another CPU", 2}).basis, Basis::kAssumed);
  throughputs.Add(Record("vgg32 { width: 32 feature_dim: 64 }", 10));
  EXPECT_EQ(throughputs.Of(small, kCpu).basis, Basis::kMeasured);
  EXPECT_EQ(throughputs.Of(large, kCpu).basis, Basis::kProbed);
  const TrialSpec other = TrialOf("vgg32 { width: 16 feature_dim: 64 }");
  EXPECT_NEAR(throughputs.Of(other, kCpu).passes_per_second, 3 * 10 * work(small) / work(other), 1e-9);
  throughputs.Add(Record("vgg32 {}", 10));
  EXPECT_EQ(throughputs.Of(large, kCpu).basis, Basis::kMeasured);
}

TEST(Throughputs, OfAnotherDeviceSayNothing) {
  Throughputs throughputs;
  throughputs.Add(Record("vgg32 {}", 10));
  throughputs.Add(Record("vgg32 {}", 1000, "gpu: 'a GPU' cpu: 'a CPU' threads: 2"));
  const TrialSpec trial = TrialOf("vgg32 {}");
  const double work = static_cast<double>(*MultiplyAdds(trial.method().model(), trial.method().input(), 2));
  for (const CostDevice& device : {CostDevice{false, "another CPU", 2}, CostDevice{false, "a CPU", 1}}) {
    const Throughputs::Rate rate = throughputs.Of(trial, device);
    EXPECT_EQ(rate.basis, Basis::kAssumed);
    EXPECT_NEAR(rate.passes_per_second, kAssumedCpuRate * device.threads / work, 1e-9);
  }
  EXPECT_EQ(throughputs.Of(trial, {true, "a GPU", 1}).basis, Basis::kMeasured);
  EXPECT_EQ(throughputs.GpuKinds(), std::vector<std::string>{"a GPU"});
  EXPECT_EQ(throughputs.Of(trial, {true, "another GPU", 1}).basis, Basis::kAssumed);
  EXPECT_EQ(throughputs.Of(TrialOf("torch_script { file: 'a.pt' }"), kCpu).basis, Basis::kUnknown);
}

TEST(Throughputs, AreReadFromTheStoresRecords) {
  const std::string folder = absl::StrCat(::testing::TempDir(), "/cost-store");
  std::filesystem::remove_all(folder);
  const Store store(folder);
  EXPECT_EQ(Throughputs::OfStore(store).Of(TrialOf("vgg32 {}"), kCpu).basis, Basis::kAssumed);
  TrialRecord record = Record("vgg32 {}", 10);
  record.set_schema_version(kSchemaVersion);
  record.set_trial_id(std::string(64, 'a'));
  record.add_metric()->set_name("accuracy");
  ASSERT_TRUE(store.CommitRecord(record).ok());
  EXPECT_EQ(Throughputs::OfStore(store).Of(TrialOf("vgg32 {}"), kCpu).basis, Basis::kMeasured);
  EXPECT_EQ(Throughputs::OfStore(store, 0).Of(TrialOf("vgg32 {}"), kCpu).basis, Basis::kAssumed);
}

// 2 x 10800 passes at 30 a second are 0.2 h.
TEST(CostOf, IsPassesByRate) {
  Throughputs throughputs;
  throughputs.Add(Record("vgg32 {}", 10));
  Plan plan;
  plan.trials.emplace_back(TrialOf("vgg32 {}"));
  for (const ActionKind kind : {ActionKind::kTrain, ActionKind::kInfer, ActionKind::kEvaluate}) {
    Action action;
    action.kind = kind;
    action.trials = {0};
    if (kind != ActionKind::kEvaluate) action.work = 10800;
    if (kind == ActionKind::kTrain) action.state = ActionState::kNeeded;
    plan.Add(action);
  }
  const PlanCost all = CostOf(plan, throughputs, kCpu, false);
  EXPECT_EQ(all.passes, 21600);
  const TrialSpec trial = TrialOf("vgg32 {}");
  EXPECT_EQ(all.multiply_adds,
            21600.0 * static_cast<double>(*MultiplyAdds(trial.method().model(), trial.method().input(), 2)));
  EXPECT_NEAR(all.hours, 0.2, 1e-9);
  EXPECT_EQ(all.measured, 1);
  EXPECT_EQ(all.assumed, 0);
  EXPECT_NEAR(CostOf(plan, throughputs, kCpu, true).hours, 0.1, 1e-9);
  EXPECT_EQ(CostOf(plan, throughputs, {true, "a GPU", 1}, true).assumed, 1);
  Throughputs probes;
  probes.AddProbe(TrialOf("vgg32 {}"), kCpu, 20);
  const PlanCost probed = CostOf(plan, probes, kCpu, false);
  EXPECT_NEAR(probed.hours, 0.1, 1e-9);
  EXPECT_EQ(probed.probed, 1);
}

TEST(HoursText, HasTwoDigits) {
  EXPECT_EQ(HoursText(0.001), "4 s");
  EXPECT_EQ(HoursText(0.25), "15 min");
  EXPECT_EQ(HoursText(1.234), "1.2 h");
  EXPECT_EQ(HoursText(36), "36 h");
  EXPECT_EQ(HoursText(60), "2.5 days");
  EXPECT_EQ(HoursText(24 * 365 * 3), "3.0 years");
}

}  // namespace
}  // namespace openset
