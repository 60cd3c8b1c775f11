#include "losses/testing/golden.h"

#include <vector>

#include "core/files/files.h"
#include "core/logging.h"

namespace openset {

nlohmann::json ReadGolden(const std::string& name) {
  const absl::StatusOr<std::string> text = ReadFile("losses/testdata/" + name);
  CHECK(text.ok()) << text.status();
  return nlohmann::json::parse(*text);
}

at::Tensor TensorOf(const nlohmann::json& value) {
  if (!value.is_array()) return at::scalar_tensor(value.get<double>(), at::kDouble);
  std::vector<at::Tensor> parts;
  for (const nlohmann::json& part : value) parts.push_back(TensorOf(part));
  return at::stack(parts);
}

}  // namespace openset
