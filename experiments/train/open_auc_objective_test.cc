// Cross entropy, the OpenAUC term and feature mixup together, against tools/peers/make_open_auc_golden.py.
#include <string>
#include <vector>

#include "core/tensor/open_set.h"
#include "core/tensor/testing/draw_open_set.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "core/testing/tensor_matchers.h"
#include "data/open_set/feature_mixup.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "losses/testing/golden.h"
#include "losses/testing/loss_scene.h"

namespace openset {
namespace {

TEST(OpenAucObjective, AgreesWithAnIndependentImplementationInItsThreeForms) {
  const nlohmann::json golden = ReadGolden("open_auc.json");
  for (const nlohmann::json& form : golden["cases"]) {
    SCOPED_TRACE(form["name"].get<std::string>());
    const at::Tensor feature = TensorOf(golden["feature"]).set_requires_grad(true);
    const at::Tensor weight = TensorOf(golden["weight"]).set_requires_grad(true);
    const auto head = [&](const at::Tensor& x) { return ModelOutput{x, x.matmul(weight.t()), {}, {}}; };
    Batch batch{{}, at::tensor(golden["label"].get<std::vector<int64_t>>(), at::kLong), {}};
    const ModelOutput known = head(feature);

    RandomStream random(1, "golden");
    const auto source =
        MakeFeatureMixup(ParsedWithDefaults<FeatureMixupSpec>(form["feature_mixup"].get<std::string>()));
    ASSERT_THAT(DrawOpenSet(source.get(), &random, &batch), IsOk());
    const OpenSet open = source->Make({batch, known, {}, nullptr, head, nullptr});

    const LossInput input{batch, known, &open};
    const at::Tensor cross_entropy =
        MakeTerm("cross_entropy {" + form["cross_entropy"].get<std::string>() + "}")->Compute(input);
    const at::Tensor open_auc = MakeTerm(form["open_auc"].get<std::string>())->Compute(input);
    (cross_entropy + open_auc).backward();
    const nlohmann::json& expected = form["expected"];
    EXPECT_THAT(cross_entropy, TensorNear(TensorOf(expected["cross_entropy"]), 1e-14));
    EXPECT_THAT(open_auc, TensorNear(TensorOf(expected["open_auc"]), 1e-14));
    EXPECT_THAT(feature.grad(), TensorNear(TensorOf(expected["grad_feature"]), 1e-14));
    EXPECT_THAT(weight.grad(), TensorNear(TensorOf(expected["grad_weight"]), 1e-14));
  }
}

}  // namespace
}  // namespace openset
