// CUDA's operations on the devices of memory_gpu.h.
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/testing/device_memory_arena.h"
#include "core/tensor/testing/memory_gpu_state.h"

namespace openset {
namespace {

using Stack = torch::jit::Stack;

// The size of their results depends on values, so that the host waits for CUDA.
const std::set<std::string>& OperationsThatWait() {
  static const auto* const names = new std::set<std::string>{"aten::_unique",
                                                             "aten::_unique2",
                                                             "aten::bincount",
                                                             "aten::equal",
                                                             "aten::masked_select",
                                                             "aten::nonzero",
                                                             "aten::nonzero.out",
                                                             "aten::repeat_interleave.Tensor",
                                                             "aten::unique_consecutive",
                                                             "aten::unique_dim"};
  return *names;
}

// CUDA has no deterministic form of them: at::globalContext().alertNotDeterministic() in its kernels.
const std::set<std::string>& NondeterministicOperations() {
  static const auto* const names = new std::set<std::string>{"aten::adaptive_avg_pool2d_backward",
                                                             "aten::_adaptive_avg_pool2d_backward",
                                                             "aten::adaptive_max_pool2d_backward",
                                                             "aten::avg_pool3d_backward",
                                                             "aten::grid_sampler_2d_backward",
                                                             "aten::grid_sampler_3d_backward",
                                                             "aten::histc",
                                                             "aten::kthvalue",
                                                             "aten::max_pool3d_with_indices_backward",
                                                             "aten::median.dim",
                                                             "aten::nll_loss2d_forward",
                                                             "aten::put_",
                                                             "aten::reflection_pad1d_backward",
                                                             "aten::reflection_pad2d_backward",
                                                             "aten::replication_pad1d_backward",
                                                             "aten::replication_pad2d_backward",
                                                             "aten::upsample_bicubic2d_backward",
                                                             "aten::upsample_bilinear2d_backward",
                                                             "aten::upsample_linear1d_backward"};
  return *names;
}

c10::DispatchKeySet GpuKeys() { return c10::DispatchKeySet(c10::DispatchKey::CUDA); }

bool IsIndexing(const std::string& name) {
  return name.rfind("aten::index", 0) == 0 || name == "aten::_index_put_impl_";
}

// A tensor on the CPU with the same memory.
at::Tensor AliasOf(const at::Tensor& tensor) {
  const c10::Storage& storage = tensor.storage();
  c10::Storage same(c10::Storage::use_byte_size_t(), storage.nbytes(),
                    c10::DataPtr(const_cast<void*>(storage.data()), c10::Device(c10::kCPU)), c10::GetCPUAllocator(),
                    /*resizable=*/true);
  at::Tensor alias = at::detail::make_tensor<c10::TensorImpl>(
      std::move(same), c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
  alias.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  return alias;
}

// The tensors of one call. Tensors of a device are passed to the CPU's kernel as CPU tensors, and its results are
// converted back.
class Call {
 public:
  explicit Call(std::string name) : name_(std::move(name)) {}

  void SetDevice(c10::Device device) { device_ = device; }

  at::Tensor ToCpu(const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    if (tensor.is_cpu()) {
      TORCH_CHECK(tensor.dim() == 0 || IsIndexing(name_),
                  "Expected all tensors to be on the same device, but got one on cpu in ", name_);
      return tensor;
    }
    if (!device_.has_value()) device_ = tensor.device();
    TORCH_CHECK(*device_ == tensor.device(), "Expected all tensors to be on the same device, but found ",
                device_->str(), " and ", tensor.device().str(), " in ", name_);
    CheckStream(tensor, name_);
    for (const Pair& pair : pairs_) {
      if (pair.gpu.is_same(tensor)) return pair.cpu;
    }
    pairs_.push_back({tensor, AliasOf(tensor)});
    return pairs_.back().cpu;
  }

  at::Tensor ToGpu(const at::Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    for (const Pair& pair : pairs_) {
      if (pair.cpu.is_same(tensor)) return Written(pair);
    }
    TORCH_CHECK(device_.has_value(), name_, " has no device");
    const OnGpu on(device_->index());
    for (const Pair& pair : pairs_) {
      if (tensor.storage().data() != nullptr && tensor.storage().data() == pair.cpu.storage().data()) {
        return ViewOf(pair.gpu, tensor);
      }
    }
    at::Tensor made = at::detail::empty_strided_generic(tensor.sizes(), tensor.strides(), GpuAllocator(), GpuKeys(),
                                                        tensor.scalar_type());
    if (tensor.numel() > 0) std::memcpy(made.mutable_data_ptr(), tensor.const_data_ptr(), made.storage().nbytes());
    return made;
  }

 private:
  struct Pair {
    at::Tensor gpu, cpu;
  };

  // The device's tensor, whose alias the kernel has written to and perhaps enlarged.
  static at::Tensor Written(const Pair& pair) {
    const auto& [gpu, cpu] = pair;
    if (cpu.storage().data() != gpu.storage().data()) {
      const OnGpu on(gpu.device().index());
      c10::DataPtr block = GpuAllocator()->allocate(cpu.storage().nbytes());
      if (block.get() != nullptr) std::memcpy(block.get(), cpu.storage().data(), cpu.storage().nbytes());
      gpu.storage().unsafeGetStorageImpl()->set_data_ptr(std::move(block));
      gpu.storage().unsafeGetStorageImpl()->set_nbytes(cpu.storage().nbytes());
    }
    if (cpu.sizes() != gpu.sizes() || cpu.strides() != gpu.strides()) {
      gpu.unsafeGetTensorImpl()->set_sizes_and_strides(cpu.sizes(), cpu.strides(), cpu.storage_offset());
    }
    return gpu;
  }

  static at::Tensor ViewOf(const at::Tensor& gpu, const at::Tensor& cpu) {
    at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(c10::TensorImpl::VIEW, c10::Storage(gpu.storage()),
                                                               GpuKeys(), gpu.dtype());
    view.unsafeGetTensorImpl()->set_sizes_and_strides(cpu.sizes(), cpu.strides(), cpu.storage_offset());
    return view;
  }

  const std::string name_;
  std::optional<c10::Device> device_;
  std::vector<Pair> pairs_;
};

// CUDA finds the indices of a mask before it uses them.
bool HasMask(const Stack& stack, size_t begin) {
  for (size_t i = begin; i < stack.size(); ++i) {
    if (!stack[i].isOptionalTensorList()) continue;
    for (const auto& index : stack[i].toOptionalTensorVector()) {
      if (!index.has_value() || !index->defined()) continue;
      if (index->scalar_type() == at::kBool || index->scalar_type() == at::kByte) return true;
    }
  }
  return false;
}

void ToCpu(const c10::FunctionSchema& schema, size_t begin, Call* call, Stack* stack) {
  for (size_t i = begin; i < stack->size(); ++i) {
    c10::IValue& value = (*stack)[i];
    if (value.isTensor()) {
      value = call->ToCpu(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(call->ToCpu(tensor));
      value = std::move(list);
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const auto& tensor : value.toOptionalTensorVector()) {
        list.push_back(tensor.has_value() ? std::optional<at::Tensor>(call->ToCpu(*tensor)) : std::nullopt);
      }
      value = std::move(list);
    } else if (value.isDevice()) {
      call->SetDevice(value.toDevice());
      value = c10::Device(c10::kCPU);
    } else if (value.isGenerator()) {
      value = CpuGeneratorOf(value.toGenerator());
    } else if (value.isNone() && schema.arguments()[i - begin].name() == "generator") {
      value = CpuGeneratorOf(DefaultGpuGenerator(CurrentGpu()));
    }
  }
}

void ToGpu(size_t begin, Call* call, Stack* stack) {
  for (size_t i = begin; i < stack->size(); ++i) {
    c10::IValue& value = (*stack)[i];
    if (value.isTensor()) {
      value = call->ToGpu(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(call->ToGpu(tensor));
      value = std::move(list);
    }
  }
}

// All operations that have no kernel below.
void Operation(const c10::OperatorHandle& operation, Stack* stack) {
  const c10::FunctionSchema& schema = operation.schema();
  const size_t begin = stack->size() - schema.arguments().size();
  const std::string name = schema.name() + (schema.overload_name().empty() ? "" : "." + schema.overload_name());
  if (OperationsThatWait().count(name) > 0 || (IsIndexing(name) && HasMask(*stack, begin))) WaitForGpu(name.substr(6));
  if (NondeterministicOperations().count(name) > 0) at::globalContext().alertNotDeterministic(name + " on CUDA");
  CountOperation(name);
  Call call(name);
  ToCpu(schema, begin, &call, stack);
  RunDelayedCopies();
  const DeviceMemoryArena::Kernel kernel;
  operation.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
  ToGpu(stack->size() - schema.returns().size(), &call, stack);
}

at::Tensor Empty(at::IntArrayRef size, std::optional<at::ScalarType> type, std::optional<at::Layout> /*layout*/,
                 std::optional<at::Device> device, std::optional<bool> /*pinned*/,
                 std::optional<at::MemoryFormat> format) {
  const OnGpu on(c10::device_or_default(device).index());
  return at::detail::empty_generic(size, GpuAllocator(), GpuKeys(), c10::dtype_or_default(type), format);
}

at::Tensor EmptyStrided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> type,
                        std::optional<at::Layout> /*layout*/, std::optional<at::Device> device,
                        std::optional<bool> /*pinned*/) {
  const OnGpu on(c10::device_or_default(device).index());
  return at::detail::empty_strided_generic(size, stride, GpuAllocator(), GpuKeys(), c10::dtype_or_default(type));
}

at::Tensor AsStrided(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride,
                     std::optional<int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, size, stride, offset);
}

at::Tensor View(const at::Tensor& self, at::IntArrayRef size) { return at::native::view(self, size); }

at::Tensor& SetStorage(at::Tensor& self, at::Storage storage, int64_t offset, at::IntArrayRef size,
                       at::IntArrayRef stride) {
  return at::native::set_storage_cpu_(self, std::move(storage), offset, size, stride);
}

void RecordStream(at::Tensor& self, at::Stream stream) { RecordUse(self, stream.id()); }

void CopyNow(const at::Tensor& self, const at::Tensor& source) {
  RunDelayedCopies();
  const DeviceMemoryArena::Kernel kernel;
  const c10::impl::ExcludeDispatchKeyGuard plain(c10::autograd_dispatch_keyset | c10::autocast_dispatch_keyset |
                                                 c10::DispatchKeySet(c10::DispatchKey::ADInplaceOrView));
  const at::Tensor to = self.is_cuda() ? AliasOf(self) : self;
  to.copy_(source.is_cuda() ? AliasOf(source) : source);
}

at::Tensor& Copy(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
  if (self.is_same(source) || self.numel() == 0) return self;
  CheckStream(self, "copy_");
  CheckStream(source, "copy_");
  const bool is_plain = self.scalar_type() == source.scalar_type() && self.sizes() == source.sizes() &&
                        self.strides() == source.strides() && self.is_non_overlapping_and_dense();
  if (self.is_cuda() && source.is_cuda()) {
    CountOperation("aten::copy_");
    CopyNow(self, source);
  } else if (self.is_cuda()) {
    CountCopy(/*to_device=*/true);
    if (non_blocking && IsPinned(source.const_data_ptr()) && is_plain) {
      const DeviceMemoryArena::Kernel kernel;
      std::memset(self.mutable_data_ptr(), 0xff, self.nbytes());
      CopyLater(self, source);
    } else {
      if (!non_blocking || !IsPinned(source.const_data_ptr())) WaitForGpu("copy to the device");
      CopyNow(self, source);
    }
  } else {
    CountCopy(/*to_device=*/false);
    if (non_blocking && IsPinned(self.const_data_ptr()) && is_plain) {
      RunDelayedCopies();
      const DeviceMemoryArena::Kernel kernel;
      DeliverLater(self, std::string(static_cast<const char*>(source.const_data_ptr()), source.nbytes()));
      std::memset(self.mutable_data_ptr(), 0xff, self.nbytes());
    } else {
      WaitForGpu("copy to the host");
      CopyNow(self, source);
    }
  }
  return self;
}

at::Scalar Item(const at::Tensor& self) {
  CountCopy(/*to_device=*/false);
  WaitForGpu("item");
  const DeviceMemoryArena::Kernel kernel;
  const c10::impl::ExcludeDispatchKeyGuard plain(c10::autograd_dispatch_keyset | c10::autocast_dispatch_keyset);
  return at::_local_scalar_dense(AliasOf(self));
}

TORCH_LIBRARY_IMPL(_, CUDA, library) { library.fallback(torch::CppFunction::makeFromBoxedFunction<&Operation>()); }

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", Empty);
  library.impl("empty_strided", EmptyStrided);
  library.impl("as_strided", AsStrided);
  library.impl("view", View);
  library.impl("_reshape_alias", at::native::_reshape_alias);
  library.impl("unfold", at::native::unfold);
  library.impl("set_.source_Storage_storage_offset", SetStorage);
  library.impl("record_stream", RecordStream);
  library.impl("copy_", Copy);
  library.impl("_local_scalar_dense", Item);
  // LibTorch's own would look for cuDNN.
  library.impl("convolution", torch::CppFunction::makeFromBoxedFunction<&Operation>());
  library.impl("convolution_backward", torch::CppFunction::makeFromBoxedFunction<&Operation>());
}

}  // namespace
}  // namespace openset
