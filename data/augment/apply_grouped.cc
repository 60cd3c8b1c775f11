#include "data/augment/apply_grouped.h"

#include "core/logging.h"
#include "core/tensor/to_device.h"

namespace openset {

at::Tensor ApplyGrouped(
    const at::Tensor& images, absl::Span<const int> op_of_image, int ops,
    const std::function<at::Tensor(int op, const at::Tensor& members, const std::vector<int64_t>& places)>& apply) {
  CHECK_EQ(op_of_image.size(), images.size(0)) << "one operation per image";
  if (op_of_image.empty()) return images;
  std::vector<std::vector<int64_t>> groups(ops + 1);
  for (size_t i = 0; i < op_of_image.size(); ++i) {
    CHECK(op_of_image[i] >= -1 && op_of_image[i] < ops) << "no operation " << op_of_image[i];
    groups[op_of_image[i] + 1].push_back(static_cast<int64_t>(i));
  }
  const auto rows = [&](const at::Tensor& tensor, const std::vector<int64_t>& index) {
    return tensor.index_select(0, ToDevice(at::tensor(index, at::kLong), images.device()));
  };
  std::vector<at::Tensor> parts;
  std::vector<int64_t> row_of_image(op_of_image.size());
  int64_t row = 0;
  for (int op = -1; op < ops; ++op) {
    const std::vector<int64_t>& places = groups[op + 1];
    if (places.empty()) continue;
    const at::Tensor members = rows(images, places);
    parts.push_back(op == -1 ? members : apply(op, members, places));
    for (const int64_t image : places) row_of_image[image] = row++;
  }
  return rows(at::cat(parts), row_of_image);
}

}  // namespace openset
