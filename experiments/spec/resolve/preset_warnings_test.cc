#include "experiments/spec/resolve/preset_warnings.h"

#include "experiments/testing/spec_sandbox.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
