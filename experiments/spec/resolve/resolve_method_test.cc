#include "experiments/spec/resolve/resolve_method.h"

#include "absl/strings/str_cat.h"
#include "core/testing/status_matchers.h"
#include "eval/scores/score.pb.h"
#include "experiments/spec/optimizer.pb.h"
#include "experiments/testing/spec_sandbox.h"
#include "losses/loss.pb.h"
#include "models/model.pb.h"

namespace openset {
namespace {

// The method NAME of the sandbox, whose file says `text`.
absl::StatusOr<LoadedMethod> Load(const SpecSandbox& sandbox, const std::string& name, const std::string& text) {
  sandbox.Write(absl::StrCat("experiments/methods/", name, ".textproto"), text);
  return LoadMethod(name, sandbox.folders(), sandbox.folder());
}

TEST(ResolveMethod, InheritsFromItsBase) {
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

// A base may have presets, as a method of a study: they lie below the method's own fields.
TEST(ResolveMethod, ABaseMayHavePresets) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/presets/short.textproto", "training { epochs: 3 batch_size: 7 }\nnote: 'a preset'\n");
  ASSERT_OK_AND_ASSIGN(const LoadedMethod top, Load(sandbox, "top", "base: 'plain+short'\ntraining { epochs: 4 }\n"));
  EXPECT_EQ(top.spec.name(), "top");
  EXPECT_EQ(top.spec.training().epochs(), 4);
  EXPECT_EQ(top.spec.training().batch_size(), 7);
  EXPECT_FALSE(top.spec.has_note());
  EXPECT_THAT(WhereInLayers(top, "training.batch_size"), HasSubstr("short.textproto:1"));
  EXPECT_THAT(WhereInLayers(top, "training.epochs"), HasSubstr("top.textproto:2"));
  // Presets of the study come last, as always.
  EXPECT_EQ(LoadMethod("top+short", sandbox.folders(), "")->spec.training().epochs(), 3);
  const absl::StatusOr<LoadedMethod> wrong = Load(sandbox, "wrong", "base: 'plain+shrt'\n");
  EXPECT_THAT(wrong.status(), IsInvalidArgument("unknown preset 'shrt'"));
}

// The settings of a record name the file of its split, and override a method with one file for each split.
TEST(ResolveMethod, AnotherFileOfWeightsHasItsOwnDigest) {
  const SpecSandbox sandbox;
  const std::string zero(64, '0'), one(64, '1');
  sandbox.Write("experiments/methods/splits.textproto",
                absl::StrCat("base: 'plain'\nmodel { weights { file: 'data:w{split}.pth' split_sha256: ['", zero,
                             "', '", one, "'] ignore: 'bn10.*' } }\n"));
  const absl::StatusOr<LoadedMethod> of_one = Load(
      sandbox, "of_one",
      absl::StrCat("base: 'splits'\nmodel { weights { file: 'data:w1.pth' sha256: '", one, "' ignore: 'bn10.*' } }\n"));
  ASSERT_THAT(of_one, IsOk());
  EXPECT_EQ(ToText(of_one->spec.model().weights()),
            absl::StrCat("file: \"data:w1.pth\"\nsha256: \"", one, "\"\nignore: \"bn10.*\"\n"));
  ASSERT_OK_AND_ASSIGN(const LoadedMethod again,
                       Load(sandbox, "again",
                            absl::StrCat("base: 'of_one'\nmodel { weights { file: 'data:w{split}.pth' split_sha256: '",
                                         zero, "' } }\n")));
  EXPECT_FALSE(again.spec.model().weights().has_sha256());
}

TEST(ResolveMethod, ABaseCanBeARelativePath) {
  const SpecSandbox sandbox;
  sandbox.Write("mine/middle.textproto", "base: 'plain'\ntraining { epochs: 7 }\n");
  sandbox.Write("mine/top.textproto", "base: 'middle.textproto'\n");
  ASSERT_OK_AND_ASSIGN(const LoadedMethod top, LoadMethod("mine/top.textproto", sandbox.folders(), sandbox.folder()));
  EXPECT_EQ(top.spec.name(), "top");
  EXPECT_EQ(top.spec.training().epochs(), 7);
}

TEST(ResolveMethod, NamesTheLayerThatSetsAField) {
  const SpecSandbox sandbox;
  ASSERT_OK_AND_ASSIGN(const LoadedMethod based, Load(sandbox, "based", "base: 'plain'\ntraining { epochs: 7 }\n"));
  EXPECT_THAT(WhereInLayers(based, "training.epochs"), HasSubstr("based.textproto:2: training.epochs"));
  EXPECT_THAT(WhereInLayers(based, "training.batch_size"), HasSubstr("plain.textproto:"));
  // A field that no layer sets is reported in the method's own file.
  EXPECT_THAT(WhereInLayers(based, "open_set"), HasSubstr("based.textproto"));
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
  // A study's override overrides the preset.
  MethodSpec override;
  override.mutable_score()->mutable_knn()->set_k(9);
  EXPECT_EQ(LoadMethod("near+net", sandbox.folders(), "", override)->spec.score().knn().k(), 9);
}

TEST(ResolveMethod, PresetsGoOverTheMethodAndItsBases) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/methods/based.textproto", "base: 'plain'\ntraining { epochs: 7 }\n");
  sandbox.Write("experiments/presets/long.textproto", "note: 'longer'\ntraining { epochs: 70 }\n");
  ASSERT_OK_AND_ASSIGN(const LoadedMethod method, LoadMethod("based+long", sandbox.folders(), ""));
  EXPECT_EQ(method.spec.name(), "based+long");
  EXPECT_EQ(method.spec.training().epochs(), 70);
  EXPECT_THAT(WhereInLayers(method, "training.epochs"), HasSubstr("long.textproto:2"));
  EXPECT_FALSE(method.spec.has_note());
}

constexpr char kSmooth[] = R"(
where_present { loss { term { cross_entropy { label_smoothing: 0.9 } } } }
where_present { inference { mc_dropout { passes: 3 } } model { head { linear { bias: false } } } }
)";

// A preset that smooths labels adds no cross entropy to methods without one.
TEST(ResolveMethod, WherePresentAddsNothing) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/presets/smooth.textproto", kSmooth);
  const LoadedMethod plain = *LoadMethod("plain+smooth", sandbox.folders(), "");
  ASSERT_EQ(plain.spec.loss().term_size(), 1);
  EXPECT_EQ(plain.spec.loss().term(0).cross_entropy().label_smoothing(), 0.9);
  EXPECT_TRUE(plain.spec.inference().has_plain());
  EXPECT_FALSE(plain.spec.model().head().linear().bias());
  EXPECT_EQ(plain.spec.where_present_size(), 0);
  EXPECT_THAT(WhereInLayers(plain, "loss.term[0].cross_entropy.label_smoothing"), HasSubstr("smooth.textproto:2"));
  EXPECT_THAT(WhereInLayers(plain, "loss.term[0].lambda"), HasSubstr("plain.textproto"));

  sandbox.Write("experiments/methods/evidence.textproto",
                "base: 'pairs'\nmodel { head { prototype {} } }\ninference { mc_dropout {} }\n");
  LoadedMethod pairs = *LoadMethod("evidence", sandbox.folders(), "");
  const std::string before = ToText(pairs.spec.model());
  pairs = *LoadMethod("evidence+smooth", sandbox.folders(), "");
  EXPECT_EQ(ToText(pairs.spec.model()), before);
  EXPECT_EQ(pairs.spec.inference().mc_dropout().passes(), 3);

  sandbox.Write("experiments/methods/edl.textproto", R"(
      model { osrci_cnn {} head { linear {} } } input { size: 20 channels: 1 }
      loss { term { evidential {} } }
      training { epochs: 2 batch_size: 10 optimizer { learning_rate: 0.1 sgd {} } schedule { constant {} } }
      inference { plain {} } score { max_softmax {} })");
  const LoadedMethod edl = *LoadMethod("edl+smooth", sandbox.folders(), "");
  ASSERT_EQ(edl.spec.loss().term_size(), 1);
  EXPECT_TRUE(edl.spec.loss().term(0).has_evidential());
}

// METHOD+PRESET is a separate file if the preset differs for a method.
TEST(ResolveMethod, APresetCanHaveAFormForOneMethod) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/presets/long.textproto", "training { epochs: 70 batch_size: 5 }\n");
  sandbox.Write("experiments/presets/pairs+long.textproto", "base: 'long'\ntraining { epochs: 7 }\n");
  const LoadedMethod plain = *LoadMethod("plain+long", sandbox.folders(), "");
  EXPECT_EQ(plain.spec.training().epochs(), 70);
  const LoadedMethod pairs = *LoadMethod("pairs+long", sandbox.folders(), "");
  EXPECT_EQ(pairs.spec.name(), "pairs+long");
  EXPECT_EQ(pairs.spec.training().epochs(), 7);
  EXPECT_EQ(pairs.spec.training().batch_size(), 5);
  EXPECT_THAT(WhereInLayers(pairs, "training.epochs"), HasSubstr("pairs+long.textproto:2"));
  EXPECT_THAT(WhereInLayers(pairs, "training.batch_size"), HasSubstr("/long.textproto:1"));
  EXPECT_THAT(WhereInLayers(pairs, "views"), HasSubstr("pairs.textproto"));
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

TEST(PresetWarnings, NamesPartsReplacedByAnotherKind) {
  const SpecSandbox sandbox;
  sandbox.Write("experiments/presets/other.textproto", "score { max_logit {} }\nmodel { head { prototype {} } }");
  sandbox.Write("experiments/presets/same.textproto",
                "model { head { linear { bias: true } } } training { epochs: 9 }");
  sandbox.Write("experiments/presets/plain+own.textproto", "model { head { prototype {} } }");
  const auto warnings = [&](const std::string& name) {
    const absl::StatusOr<LoadedMethod> method = LoadMethod(name, sandbox.folders(), "");
    EXPECT_TRUE(method.ok()) << method.status();
    return method.ok() ? PresetWarnings(*method) : std::vector<std::string>();
  };
  const std::vector<std::string> lines = warnings("plain+other");
  ASSERT_EQ(lines.size(), 2);
  EXPECT_THAT(lines[0], AllOf(HasSubstr("warning: plain+other: the preset replaces the method's model.head linear by "
                                        "prototype ("),
                              HasSubstr("other.textproto:2: model.head)")));
  EXPECT_THAT(lines[1], HasSubstr("replaces the method's score max_softmax by max_logit ("));
  EXPECT_THAT(warnings("plain+same"), IsEmpty());
  EXPECT_THAT(warnings("plain+own"), IsEmpty());
  EXPECT_THAT(warnings("plain"), IsEmpty());
}

}  // namespace
}  // namespace openset
