// openset::apply_pixel_ops on CUDA, for programs that link this. Without the kernel, it copies the images to the CPU,
// computes there, and copies the result back.
#include <cstdint>

#include "core/tensor/torch.h"
#include "core/tensor/torch_library.h"
#include "core/tensor/transfer.h"
#include "data/augment/pixels/apply_pixel_ops.h"
#include "data/augment/pixels/pixel_op.h"
#include "data/augment/pixels/pixel_ops_kernel.h"
#include "data/augment/pixels/pixel_ops_launcher.h"

namespace openset {
namespace {

at::Tensor ApplyOnCuda(const at::Tensor& images, const at::Tensor& ops) {
  static const PixelOpsLauncher launcher = FindPixelOpsLauncher();
  if (launcher == nullptr) return ToDevice(ApplyPackedPixelOps(images.cpu(), ops.cpu()), images.device());
  const at::Tensor contiguous = images.contiguous();
  const at::Tensor result = at::empty_like(contiguous);
  const at::Tensor spare = at::empty_like(contiguous);  // later operations on this stream may reuse it
  const c10::impl::VirtualGuardImpl guard(c10::kCUDA);
  PixelOpsLaunch launch;
  launch.images = contiguous.const_data_ptr<uint8_t>();
  launch.ops = ops.const_data_ptr<uint8_t>();
  launch.result = result.mutable_data_ptr<uint8_t>();
  launch.spare = spare.mutable_data_ptr<uint8_t>();
  launch.batch = static_cast<int>(images.size(0));
  launch.ops_of_image = static_cast<int>(ops.size(1) / static_cast<int64_t>(sizeof(PixelOp)));
  launch.channels = static_cast<int>(images.size(1));
  launch.height = static_cast<int>(images.size(2));
  launch.width = static_cast<int>(images.size(3));
  launch.stream = guard.getStream(images.device()).native_handle();
  const int error = launcher(&launch);
  TORCH_CHECK(error == 0, "CUDA error: code ", error, " from the start of the kernel of openset::apply_pixel_ops");
  return result;
}

TORCH_LIBRARY_IMPL(openset, CUDA, library) { library.impl("apply_pixel_ops", ApplyOnCuda); }

}  // namespace
}  // namespace openset
