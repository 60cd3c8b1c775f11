#include "models/script_state.h"

#include <string>

#include "gtest/gtest.h"

namespace openset {
namespace {

// A script with a weight, a buffer and a number.
torch::jit::Module Script(const std::string& code) {
  torch::jit::Module script("__torch__.Script");
  script.register_parameter("weight", at::ones({3}), /*is_buffer=*/false);
  script.register_buffer("seen", at::zeros({1}));
  script.register_attribute("count", c10::IntType::get(), 0);
  script.define(code);
  return script;
}

bool PassChanges(torch::jit::Module script) {
  const at::NoGradGuard no_grad;
  const ScriptState before(script);
  script.forward({at::ones({2, 3})});
  return !before.IsUnchanged(script);
}

TEST(ScriptState, PassesOfAPureScriptChangeNothing) {
  EXPECT_FALSE(PassChanges(Script("def forward(self, x):\n  return x * self.weight + self.seen\n")));
}

TEST(ScriptState, SeesAChangeOfATensorOfAnAttributeAndOfTheGenerator) {
  EXPECT_TRUE(PassChanges(Script("def forward(self, x):\n  self.seen.add_(1)\n  return x\n")));
  EXPECT_TRUE(PassChanges(Script("def forward(self, x):\n  self.seen = self.seen + 1\n  return x\n")));
  EXPECT_TRUE(PassChanges(Script("def forward(self, x):\n  self.count += 1\n  return x\n")));
  EXPECT_TRUE(PassChanges(Script("def forward(self, x):\n  return x + torch.rand_like(x)\n")));
}

TEST(ScriptState, ListsOfNumbersAreComparedOthersMayChangeUnseen) {
  const auto of_code = [](const std::string& code) {
    torch::jit::Module script("__torch__.Lists");
    script.register_attribute("sizes", c10::ListType::ofInts(), c10::List<int64_t>({1, 2}));
    script.define("def forward(self, x):\n" + code + "  return x\n");
    return script;
  };
  EXPECT_FALSE(PassChanges(of_code("  y = self.sizes[0]\n")));
  EXPECT_TRUE(PassChanges(of_code("  self.sizes[0] = 3\n")));
  EXPECT_TRUE(PassChanges(of_code("  self.sizes.append(1)\n")));
  torch::jit::Module script = Script("def forward(self, x):\n  return x\n");
  script.register_attribute("names", c10::ListType::ofStrings(), c10::List<std::string>({"a"}));
  EXPECT_TRUE(PassChanges(script));
}

TEST(ScriptState, SeesAChangeInASubmodule) {
  torch::jit::Module script("__torch__.Whole");
  script.register_module("part", Script("def forward(self, x):\n  self.seen.add_(1)\n  return x\n"));
  script.define("def forward(self, x):\n  return self.part.forward(x)\n");
  EXPECT_TRUE(PassChanges(script));
}

}  // namespace
}  // namespace openset
