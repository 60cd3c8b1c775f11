#include <cmath>
#include <string>

#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

// Energies -log 2, -log 8 of the known and -log 4, -log 16 of the open samples.
LossScene TwoAndTwo() {
  LossScene scene = SceneOf(Matrix({{0, 0}, {std::log(4), std::log(4)}}), {0, 1});
  scene.open = OpenSetOf(Matrix({{std::log(2), std::log(2)}, {std::log(8), std::log(8)}}));
  return scene;
}

double Square(double x) { return x * x; }

TEST(EnergyMargin, IsTheMeanSquareBeyondEachMargin) {
  // In units of log 2 the energies are -1, -3 (known, to be below -2) and -2, -4 (open, to be above -3): by 1 each.
  const std::string margins =
      "known_margin: " + std::to_string(-2 * std::log(2)) + " open_margin: " + std::to_string(-3 * std::log(2));
  EXPECT_NEAR(Value("energy_margin { " + margins + "}", TwoAndTwo()), Square(std::log(2)) / 2 + Square(std::log(2)) / 2,
              1e-6);  // to_string has 6 decimals
}

TEST(EnergyMargin, EachSideAlone) {
  const double known = (Square(10 - std::log(2)) + Square(10 - std::log(8))) / 2;
  const double open = (Square(std::log(4) - 1) + Square(std::log(16) - 1)) / 2;
  EXPECT_NEAR(Value("energy_margin { known_margin: -10 open_margin: -20 }", TwoAndTwo()), known, 1e-12);
  EXPECT_NEAR(Value("energy_margin { known_margin: 0 open_margin: -1 }", TwoAndTwo()), open, 1e-12);
  EXPECT_NEAR(Value("lambda: 0.1 energy_margin { known_margin: -10 open_margin: -1 }", TwoAndTwo()),
              0.1 * (known + open), 1e-12);
}

TEST(EnergyMargin, IsZeroWithinTheMargins) {
  EXPECT_EQ(Value("energy_margin { known_margin: 0 open_margin: -3 }", TwoAndTwo()), 0);
}

TEST(EnergyMargin, WithoutOpenSamplesIsThatOfTheKnown) {
  LossScene scene = TwoAndTwo();
  const double known = Value("energy_margin { known_margin: -10 open_margin: -20 }", scene);
  scene.open.weight = at::zeros({2});
  EXPECT_EQ(Value("energy_margin { known_margin: -10 open_margin: -1 }", scene), known);
}

}  // namespace
}  // namespace openset
