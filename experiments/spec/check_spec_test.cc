#include "experiments/spec/check_spec.h"

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "experiments/testing/spec_sandbox.h"

namespace openset {
namespace {

absl::Status Check(const std::string& more) {
  const SpecSandbox sandbox;
  const absl::StatusOr<Experiment> experiment = sandbox.Load(absl::StrCat(kMinimalSpec, more));
  return experiment.ok() ? CheckSpec(*experiment) : experiment.status();
}

TEST(CheckSpec, AcceptsValidSpecs) {
  EXPECT_THAT(Check(""), IsOk());
  EXPECT_THAT(Check("metric { partial_openauc {} } metric { partial_openauc { max_ofpr: 0.1 } name: 'narrow' }"),
              IsOk());
  EXPECT_THAT(Check("metric { ccr_at_fpr { fpr: 0.01 } } metric { ccr_at_fpr { fpr: 0.001 } }"), IsOk());
  // One field, but of different methods; one value, but of different fields.
  EXPECT_THAT(Check("method: 'pairs' axis { path: 'training.epochs' value: ['1', '2'] method: 'plain' } "
                    "axis { path: 'training.epochs' value: ['1', '3'] method: 'pairs' } "
                    "axis { path: 'training.batch_size' value: ['1', '2'] }"),
              IsOk());
}

TEST(CheckSpec, NamesEachMistakeWithItsLine) {
  for (const auto& [more, message] : std::vector<std::pair<const char*, const char*>>{
           {"metric { auroc {} }\nmetric { auroc {} }", "spec.textproto:8: metric[2]: auroc is listed twice"},
           {"axis { path: 'training.epochs' value: ['1', '2'] }\naxis { path: 'training.epochs' value: '3' }",
            "spec.textproto:8: axis[1].path: training.epochs is swept by another axis already"},
           {"axis { path: 'loss.cross_entropy.lambda' value: ['1', '2'] }\naxis { path: 'loss.term[0].lambda' value: "
            "'3' }",
            "spec.textproto:8: axis[1].path: loss.term[0].lambda is swept by another axis already"},
           {"axis { path: 'training.epochs' also: 'training.epochs' value: ['1', '2'] }", "is named twice"},
           {"axis {\n path: 'training.optimizer.learning_rate'\n value: '0.10'\n value: '0.1'\n}",
            "spec.textproto:10: axis[0].value[1]: 0.1 is the same value as 0.10"},
           {"axis { path: 'score' value: ['max_softmax {}', '{ max_softmax { } }'] }", "is the same value as"},
           {"axis { path: 'training.epochs' value: ['1', '1'] }", "axis[0].value[1]: 1 is listed twice"},
           {"axis { path: 'training.epochs' value: '1' method: 'plian' }", "did you mean 'plain'?"},
           {"metric { fpr_at_95tpr { rule: GRID_MEAN grid_low: 0.1 } }",
            "spec.textproto:7: metric[1]: fpr_at_95tpr has only one of grid_low and grid_high"},
           {"seed: 0", "spec.textproto:7: seed[1]: 0 is listed twice"}}) {
    EXPECT_THAT(Check(more), IsInvalidArgument(message)) << more;
  }
}

TEST(CheckSpec, AFieldThatIsSweptIsNotSet) {
  const SpecSandbox sandbox;
  ASSERT_OK_AND_ASSIGN(
      Experiment experiment,
      sandbox.Load(absl::StrCat(kMinimalSpec, "axis { path: 'loss.cross_entropy.lambda' value: ['1', '2'] }")));
  experiment.overrides = {"--set=training.epochs=3", "--set=loss.term[0].lambda=3"};
  EXPECT_THAT(CheckSpec(experiment),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "--set=loss.term[0].lambda=3: the study sweeps this field (axis[0]): leave "
                       "the flag out, or set the values, --set='axis[0].value=[...]'"));
  experiment.overrides.pop_back();
  EXPECT_THAT(CheckSpec(experiment), IsOk());
}

TEST(CheckSpec, ANameIsNoPath) {
  const SpecSandbox sandbox;
  for (const char* name : {"", "..", "a/b", "../elsewhere", ".hidden", "a\\tb"}) {
    ASSERT_OK_AND_ASSIGN(Experiment experiment, sandbox.Load(kMinimalSpec));
    experiment.spec.set_name(name);
    EXPECT_THAT(CheckSpec(experiment),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(HasSubstr("spec.textproto:1: name: "), HasSubstr("is not a valid name"))))
        << name;
  }
}

TEST(CheckSpec, ExpectedTrialsAreCounted) {
  const SpecSandbox sandbox;
  ASSERT_OK_AND_ASSIGN(Experiment experiment, sandbox.Load(absl::StrCat(kMinimalSpec, "expected_trials: 3")));
  EXPECT_THAT(CheckExpectedTrials(experiment, 3), IsOk());
  EXPECT_THAT(CheckExpectedTrials(experiment, 4),
              IsInvalidArgument("spec.textproto:7: expected_trials: is 3, but the study has 4 trials"));
  experiment.overrides = {"--seeds=0..9"};
  EXPECT_THAT(CheckExpectedTrials(experiment, 4), IsOk());
}

}  // namespace
}  // namespace openset
