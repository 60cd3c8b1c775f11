// Compares the losses of short trainings with PyTorch's (tools/peers/loss_curve_peer.py), step by step.
#include "tools/peers/loss_curves.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "nlohmann/json.hpp"

namespace openset {
namespace {

using ::testing::Key;

constexpr int64_t kSteps = 24;  // 3 epochs

nlohmann::json Golden() {
  const absl::StatusOr<std::string> text = ReadFile("tools/peers/testdata/loss_curves.json");
  return text.ok() ? nlohmann::json::parse(*text) : nlohmann::json();
}

// The network and the largest difference, as a share of losses above 1.
class LossCurves : public ::testing::TestWithParam<std::pair<std::string, double>> {};

TEST_P(LossCurves, AreThoseOfPyTorch) {
  const auto& [model, tolerance] = GetParam();
  const nlohmann::json golden = Golden();
  for (const std::string& name : LossCurveNames()) {
    SCOPED_TRACE(name);
    const double own_tolerance = name == "vos" ? std::max(tolerance, 1e-6) : tolerance;  // its queues are in f32
    const std::string key = absl::StrCat(model, "/", name);
    ASSERT_TRUE(golden.contains(key));
    const auto expected = golden.at(key).get<std::vector<double>>();
    ASSERT_THAT(expected, SizeIs(kSteps));
    const LossCurve curve = RunLossCurve(name, model, kSteps);
    ASSERT_THAT(curve.loss, SizeIs(kSteps));
    for (int64_t step = 0; step < kSteps; ++step) {
      ASSERT_NEAR(curve.loss[step], expected[step], own_tolerance * std::max(1.0, std::abs(expected[step])))
          << "step " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, LossCurves,
                         ::testing::Values(std::make_pair("osrci_cnn", 1e-5), std::make_pair("vgg32", 1e-9)),
                         [](const auto& info) { return info.param.first; });

// Otherwise two forms of a method could be identical. The squared hinge is the square until two samples are apart by
// more than 1, which happens later; after 100 steps the two losses differ by 8e-3.
TEST(LossCurves, DifferFromEachOther) {
  const nlohmann::json golden = Golden();
  std::set<std::vector<double>> curves;
  for (const auto& [name, curve] : golden.items()) {
    if (curve.is_array() && !absl::EndsWith(name, "/open_auc_squared_hinge")) {
      EXPECT_TRUE(curves.insert(curve.get<std::vector<double>>()).second) << name;
    }
  }
  EXPECT_THAT(curves, SizeIs((LossCurveNames().size() - 1) * LossCurveModels().size()));
}

TEST(WriteLossCurve, WritesEverythingThatThePeerNeeds) {
  const std::string folder = ::testing::TempDir();
  const LossCurve curve = RunLossCurve("open_auc", "osrci_cnn", 2);
  ASSERT_THAT(WriteLossCurve(curve, folder, "open_auc"), IsOk());

  ASSERT_OK_AND_ASSIGN(const NpzArrays data, ReadNpz(JoinPath(folder, "open_auc.npz")));
  EXPECT_EQ(data.at("image").shape, std::vector<int64_t>({512, 3, 24, 24}));
  EXPECT_EQ(data.at("label").shape, std::vector<int64_t>({512}));
  EXPECT_EQ(data.at("batch").shape, std::vector<int64_t>({2, 64}));
  EXPECT_EQ(data.at("order").shape, std::vector<int64_t>({2, 32}));
  EXPECT_EQ(data.at("coefficient").shape, std::vector<int64_t>({2}));
  EXPECT_EQ(*ToDouble(data.at("loss")), curve.loss);
  EXPECT_THAT(data, Not(Contains(Key("extra"))));

  ASSERT_OK_AND_ASSIGN(const TensorMap weights, LoadTensors(JoinPath(folder, "open_auc.safetensors")));
  EXPECT_TRUE(weights.at("head.weight").equal(curve.weights.at("head.weight")));
}

TEST(WriteLossCurve, SaysWhichFileItCantWrite) {
  const LossCurve curve = RunLossCurve("outlier_exposure", "osrci_cnn", 1);
  EXPECT_EQ(curve.data.at("extra").shape, std::vector<int64_t>({1, 32, 3, 24, 24}));
  EXPECT_THAT(WriteLossCurve(curve, "/nowhere", "curve"),
              StatusIs(absl::StatusCode::kUnavailable, ::testing::HasSubstr("/nowhere/curve.safetensors")));
}

}  // namespace
}  // namespace openset
