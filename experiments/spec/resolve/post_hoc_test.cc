#include "experiments/spec/resolve/post_hoc.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

// The methods that come with the project, on a model: "" for those that can be used, and why for the others.
std::map<std::string, std::string> OutcomesOn(const std::string& model) {
  const SpecFolders folders = SpecFoldersBelow(JoinPath(*RunfilesFolder(), "openset"));
  std::vector<LoadedMethod> methods;
  for (const std::string& name : MethodNames(folders)) methods.push_back(*LoadMethod(name, folders, ""));
  const size_t count = methods.size();
  const auto made =
      MakePostHoc(std::move(methods), Parsed<ModelSpec>(model), Parsed<InputSpec>("size: 28 channels: 1"));
  EXPECT_THAT(made, IsOk());
  std::map<std::string, std::string> outcomes;
  for (const LoadedMethod& method : made->methods) {
    outcomes[method.spec.name()] = "";
    EXPECT_FALSE(method.spec.has_training() || method.spec.has_loss() || method.spec.augmentation_size() > 0);
    EXPECT_EQ(method.spec.input().size(), 28);
  }
  for (const PostHocMethods::Skipped& skipped : made->skipped) outcomes[skipped.name] = skipped.why;
  EXPECT_EQ(outcomes.size(), count);
  return outcomes;
}

std::string Script(const std::string& fields) {
  return absl::StrCat("torch_script { file: 'f' sha256: 'x' ", fields, " }");
}

TEST(PostHoc, TellsScoresFromTrainings) {
  const auto outcomes = OutcomesOn(Script("head: 'fc'"));
  for (const char* name :
       {"mcp", "max_logit", "energy_score", "entropy", "gen", "react", "ash", "dice", "openmax", "odin", "she", "knn",
        "vim", "mahalanobis", "temperature_scaling", "nci", "adascale_a", "klm"}) {
    EXPECT_THAT(outcomes, Contains(Pair(name, "")));
  }
  for (const char* name : {"arpl", "gcpl", "rpl", "edl", "crl"}) {
    EXPECT_THAT(outcomes, Contains(Pair(name, "is trained with its own loss")));
  }
  EXPECT_THAT(outcomes, Contains(Pair("openauc", HasSubstr("samples that stand for unknown classes"))));
  EXPECT_THAT(outcomes, Contains(Pair("deep_ensemble", "needs several trainings")));
  // Of methods with the same score, the one that shares its training with others is kept.
  EXPECT_THAT(outcomes, Contains(Pair("softmax", "has the same score as mcp")));
  EXPECT_THAT(outcomes, Contains(Pair("ce_plus", "has the same score as max_logit")));
}

TEST(PostHoc, ScoresNeedWhatTheModelHas) {
  const auto logits = OutcomesOn(Script("")), features = OutcomesOn(Script("features: true"));
  EXPECT_THAT(logits, AllOf(Contains(Pair("openmax", "")), Contains(Pair("knn", HasSubstr("--head"))),
                            Contains(Pair("react", HasSubstr("--head")))));
  EXPECT_THAT(features, AllOf(Contains(Pair("knn", "")), Contains(Pair("react", HasSubstr("--head")))));
  EXPECT_THAT(logits, Contains(Pair("mc_dropout", HasSubstr("can't be switched on"))));
  const std::string weights = " head { linear {} } weights { file: 'f' sha256: 'x' }";
  EXPECT_THAT(OutcomesOn("osrci_cnn { dropout: 0.5 }" + weights), Contains(Pair("mc_dropout", "")));
  EXPECT_THAT(OutcomesOn("osrci_cnn { dropout: 0 }" + weights),
              Contains(Pair("mc_dropout", "needs a model with dropout")));
  EXPECT_THAT(OutcomesOn("resnet_imagenet {}" + weights), Contains(Pair("mc_dropout", "needs a model with dropout")));
}

TEST(PostHoc, AModelThatNoMethodCanHaveIsRefused) {
  const SpecFolders folders = SpecFoldersBelow(JoinPath(*RunfilesFolder(), "openset"));
  for (const auto& [model, what] :
       {std::pair<std::string, std::string>{"vgg32 {}", "model.head: must be set"},
        {"vgg32 {} head { linear {} }", "loss: must be set, unless"},
        {"vgg32 { width: 0 } head { linear {} } weights { file: 'f' sha256: 'x' }", "model.vgg32.width: must be"}}) {
    std::vector<LoadedMethod> methods;
    methods.push_back(*LoadMethod("mcp", folders, ""));
    EXPECT_THAT(MakePostHoc(std::move(methods), Parsed<ModelSpec>(model), Parsed<InputSpec>("")),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(what)));
  }
}

}  // namespace
}  // namespace openset
