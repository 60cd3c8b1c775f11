#include "experiments/store/components.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/runfiles.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "experiments/spec/action.pb.h"

namespace openset {

// The sources of //core:in_parallel; //core:status_macros, which it depends on, is a member here.
extern const FingerprintRow openset_test_fingerprints[];

namespace {

constexpr FingerprintRow kTable[] = {
    {"LossTermSpec", "", "losses/make_loss_term", "all losses"},
    {"LossTermSpec", "open_auc", "losses/open_auc", "digest of open_auc"},
    {"ModelSpec", "", "models/make_model", "all models"},
    {"ModelSpec", "vgg32", "models/vgg32", "digest of vgg32"},
    {},
};

std::vector<std::string> ComponentsOf(const std::string& action) {
  StageProvenance provenance;
  AddComponents(Parsed<TrainAction>(action), kTable, &provenance);
  std::vector<std::string> lines;
  for (const ComponentProvenance& component : provenance.component()) {
    lines.push_back(absl::StrCat(component.family(), ".", component.name(), ", revision ", component.revision(), ": ",
                                 component.fingerprint()));
  }
  return lines;
}

TEST(SourcesOf, AreOfTheMemberOrElseOfTheFamily) {
  EXPECT_EQ(SourcesOf("LossTermSpec", "open_auc", kTable).fingerprint, "digest of open_auc");
  EXPECT_EQ(SourcesOf("LossTermSpec", "open_auc", kTable).target, "losses/open_auc");
  EXPECT_EQ(SourcesOf("LossTermSpec", "cross_entropy", kTable).fingerprint, "all losses");
  EXPECT_EQ(SourcesOf("ModelSpec", "open_auc", kTable).target, "models/make_model");
  EXPECT_EQ(SourcesOf("ScoreSpec", "open_auc", kTable).fingerprint, "");
}

TEST(AddComponents, FindsTheMembersOfItsFamiliesOnceEach) {
  EXPECT_THAT(ComponentsOf("model { vgg32 {} head { linear {} } } "
                           "loss { term { open_auc {} } term { cross_entropy {} } term { lambda: 2 open_auc {} } }"),
              ElementsAre("ModelSpec.vgg32, revision 1: digest of vgg32",
                          "LossTermSpec.open_auc, revision 1: digest of open_auc",
                          "LossTermSpec.cross_entropy, revision 1: all losses"));
}

// The table that the build makes: SHA-256 of the output of sha256sum for the files, in the order of their paths.
TEST(ComponentFingerprints, AreThoseOfTheSources) {
  const auto digest_of = [](const std::vector<std::string>& paths) {
    std::string lines = absl::StrCat(Sha256Hex(""), "  /dev/null\n");
    for (const std::string& path : paths) {
      absl::StrAppend(&lines, *Sha256HexOfFile(*RunfilesFolder() + "/openset/" + path), "  ", path, "\n");
    }
    return Sha256Hex(lines);
  };
  const std::string macros = digest_of({"core/status_macros.h"});
  EXPECT_EQ(SourcesOf("FirstSpec", "status_macros", openset_test_fingerprints).fingerprint, macros);
  EXPECT_EQ(SourcesOf("FirstSpec", "status_macros", openset_test_fingerprints).target, "core/status_macros");
  EXPECT_EQ(SourcesOf("SecondSpec", "status_macros", openset_test_fingerprints).fingerprint, macros);
  EXPECT_EQ(SourcesOf("FirstSpec", "other_name", openset_test_fingerprints).fingerprint, macros);
  const std::string all = digest_of({"core/in_parallel.cc", "core/in_parallel.h", "core/status_macros.h"});
  EXPECT_EQ(SourcesOf("SecondSpec", "no member", openset_test_fingerprints).fingerprint, all);
}

}  // namespace
}  // namespace openset
