#include "experiments/spec/resolve_method.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/proto/text_proto.h"
#include "core/testing/status_matchers.h"
#include "eval/scores/score.pb.h"
#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

// The method NAME of the sandbox, whose file says `text`.
absl::StatusOr<LoadedMethod> Load(const SpecSandbox& sandbox, const std::string& name, const std::string& text) {
  sandbox.Write(absl::StrCat("experiments/methods/", name, ".textproto"), text);
  return LoadMethod(name, sandbox.folders(), sandbox.folder());
}

TEST(ResolveMethod, SaysOnlyWhatDiffersFromItsBase) {
  const SpecSandbox sandbox;
  const LoadedMethod plain = *LoadMethod("plain", sandbox.folders(), "");
  const absl::StatusOr<LoadedMethod> based =
      Load(sandbox, "based", "title: 'Based'\nbase: 'plain'\nscore { energy { temperature: 2 } }\n");
  ASSERT_THAT(based, IsOk());
  MethodSpec expected = plain.spec;
  expected.set_name("based");
  expected.set_title("Based");
  expected.clear_reference();
  expected.clear_note();
  expected.mutable_score()->mutable_energy()->set_temperature(2);
  EXPECT_EQ(ToText(based->spec), ToText(expected));
  EXPECT_EQ(based->layers.size(), 2);
}

TEST(ResolveMethod, BasesHaveBases) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/methods/middle.textproto", "base: 'plain'\ntraining { epochs: 7 }\nnote: 'middle'\n");
  const absl::StatusOr<LoadedMethod> top =
      Load(sandbox, "top", "base: 'middle'\ntraining { optimizer { learning_rate: 0.5 } }\n");
  ASSERT_THAT(top, IsOk());
  EXPECT_EQ(top->spec.name(), "top");
  EXPECT_EQ(top->spec.training().epochs(), 7);
  EXPECT_EQ(top->spec.training().optimizer().learning_rate(), 0.5);
  EXPECT_TRUE(top->spec.has_model());
  EXPECT_FALSE(top->spec.has_note());
  EXPECT_FALSE(top->spec.has_base());
}

TEST(ResolveMethod, ABaseCanBeAPathBesideTheFile) {
  const SpecSandbox sandbox;
  sandbox.Write("mine/middle.textproto", "base: 'plain'\ntraining { epochs: 7 }\n");
  sandbox.Write("mine/top.textproto", "base: 'middle.textproto'\n");
  const absl::StatusOr<LoadedMethod> top = LoadMethod("mine/top.textproto", sandbox.folders(), sandbox.folder());
  ASSERT_THAT(top, IsOk());
  EXPECT_EQ(top->spec.name(), "top");
  EXPECT_EQ(top->spec.training().epochs(), 7);
}

TEST(ResolveMethod, NamesTheLayerThatSetsAField) {
  const SpecSandbox sandbox;
  const absl::StatusOr<LoadedMethod> based = Load(sandbox, "based", "base: 'plain'\ntraining { epochs: 7 }\n");
  ASSERT_THAT(based, IsOk());
  EXPECT_THAT(WhereInLayers(*based, "training.epochs"), HasSubstr("based.textproto:2: training.epochs"));
  EXPECT_THAT(WhereInLayers(*based, "training.batch_size"), HasSubstr("plain.textproto:"));
  // What no layer sets is missed in the method's own file.
  EXPECT_THAT(WhereInLayers(*based, "open_set"), HasSubstr("based.textproto"));
}

TEST(ResolveMethod, ScoreSettingsOfAPresetAreForScoresOfTheirKind) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/methods/near.textproto", "base: 'plain'\nscore { knn { k: 50 } }\n");
  sandbox.Write("experiments/methods/cold.textproto", "base: 'plain'\nscore { energy { temperature: 2 } }\n");
  sandbox.Write("experiments/presets/net.textproto",
                "score_settings { knn { k: 7 } }\nscore_settings { ash { variant: B } }\n");
  MethodSpec near = LoadMethod("near+net", sandbox.folders(), "")->spec;
  EXPECT_EQ(near.score().knn().k(), 7);
  EXPECT_EQ(near.score_settings_size(), 0);
  near.set_name("near");
  near.mutable_score()->mutable_knn()->set_k(50);
  EXPECT_EQ(ToText(near), ToText(LoadMethod("near", sandbox.folders(), "")->spec));
  const MethodSpec cold = LoadMethod("cold+net", sandbox.folders(), "")->spec;
  EXPECT_EQ(cold.score().energy().temperature(), 2);
  EXPECT_EQ(cold.score_settings_size(), 0);
  // An experiment's override goes over the preset.
  MethodSpec override;
  override.mutable_score()->mutable_knn()->set_k(9);
  EXPECT_EQ(LoadMethod("near+net", sandbox.folders(), "", override)->spec.score().knn().k(), 9);
}

TEST(ResolveMethod, PresetsGoOverTheMethodAndItsBases) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/methods/based.textproto", "base: 'plain'\ntraining { epochs: 7 }\n");
  sandbox.Write("experiments/presets/long.textproto", "note: 'longer'\ntraining { epochs: 70 }\n");
  const absl::StatusOr<LoadedMethod> method = LoadMethod("based+long", sandbox.folders(), "");
  ASSERT_THAT(method, IsOk());
  EXPECT_EQ(method->spec.name(), "based+long");
  EXPECT_EQ(method->spec.training().epochs(), 70);
  EXPECT_THAT(WhereInLayers(*method, "training.epochs"), HasSubstr("long.textproto:2"));
  EXPECT_FALSE(method->spec.has_note());
}

TEST(ResolveMethod, Errors) {
  const SpecSandbox sandbox;
  EXPECT_THAT(std::string(Load(sandbox, "a", "\nbase: 'plein'\n").status().message()),
              testing::AllOf(HasSubstr("a.textproto:2: base: unknown method 'plein'"), HasSubstr("plain")));
  EXPECT_THAT(std::string(Load(sandbox, "a", "base: 'a'\n").status().message()),
              HasSubstr("a.textproto:1: base: a is based on itself: "));
  sandbox.Write("experiments/methods/b.textproto", "base: 'a'\n");
  EXPECT_THAT(std::string(Load(sandbox, "a", "base: 'b'\n").status().message()), HasSubstr("is based on itself: "));
  EXPECT_THAT(std::string(Load(sandbox, "a", "base: 'gone.textproto'\n").status().message()),
              HasSubstr("a.textproto:1: base: no such file: "));
  sandbox.Write("experiments/presets/bad.textproto", "base: 'plain'\n");
  EXPECT_THAT(std::string(LoadMethod("plain+bad", sandbox.folders(), "").status().message()),
              HasSubstr("bad.textproto:1: base: "));
}

}  // namespace
}  // namespace openset
