// SPDX-License-Identifier: BSD-3-Clause
// Dim orders, shapes and memory of PyTorch's tensors, for tensor_util.h in ATen mode.
#include <algorithm>
#include <cstring>
#include <numeric>

#include <ATen/native/Resize.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

namespace {

// Strides of dimensions of size 1 do not tell their position, so the usual orders are tried first.
Error dim_order_of(const at::TensorImpl& tensor, uint8_t* order) {
  const auto rank = static_cast<size_t>(tensor.dim());
  ET_CHECK_OR_RETURN_ERROR(rank <= kTensorDimensionLimit, NotSupported,
                           "dimensions: got %zu, expected at most %zu", rank, kTensorDimensionLimit);
  if (tensor.is_contiguous()) {
    std::iota(order, order + rank, uint8_t{0});
    return Error::Ok;
  }
  const bool is_2d = rank == 4 && tensor.is_strides_like_channels_last();
  const bool is_3d = rank == 5 && tensor.is_strides_like_channels_last_3d();
  if (is_2d || is_3d) {
    order[0] = 0;
    std::iota(order + 1, order + rank - 1, uint8_t{2});
    order[rank - 1] = 1;
    return Error::Ok;
  }
  return stride_to_dim_order(tensor.strides().data(), rank, order);
}

}  // namespace

Error get_dim_order(const at::Tensor& tensor, uint8_t* out_dim_order, size_t out_dim_order_size) {
  ET_CHECK_OR_RETURN_ERROR(out_dim_order_size == static_cast<size_t>(tensor.dim()), InvalidArgument,
                           "dim order: expected as many items as dimensions, got %zu for %d",
                           out_dim_order_size, static_cast<int>(tensor.dim()));
  return dim_order_of(*tensor.unsafeGetTensorImpl(), out_dim_order);
}

namespace internal {

Error share_tensor_data(const at::Tensor& t_dst, const at::Tensor& t_src) {
  ET_CHECK_OR_RETURN_ERROR(t_dst.nbytes() == t_src.nbytes(), InvalidArgument,
                           "memory: got %zu bytes, expected %zu", t_src.nbytes(), t_dst.nbytes());
  ET_CHECK_OR_RETURN_ERROR(t_src.mutable_data_ptr() != nullptr, InvalidArgument, "source: has no memory");
  ET_CHECK_OR_RETURN_ERROR(t_dst.device() == t_src.device(), InvalidArgument, "device: expected the same");
  const auto& storage = t_dst.unsafeGetTensorImpl()->unsafe_storage();
  storage.unsafeGetStorageImpl()->set_data_ptr_noswap(at::DataPtr(t_src.mutable_data_ptr(), t_src.device()));
  storage.unsafeGetStorageImpl()->set_nbytes(t_src.nbytes());
  return Error::Ok;
}

Error copy_tensor_data(const at::Tensor& t_dst, const at::Tensor& t_src) {
  ET_CHECK_OR_RETURN_ERROR(t_src.nbytes() == t_dst.nbytes(), InvalidArgument,
                           "copy_tensor_data: expected %zu bytes, got %zu", t_dst.nbytes(), t_src.nbytes());
  const bool has_target = t_dst.const_data_ptr() != nullptr || t_dst.nbytes() == 0;
  ET_CHECK_OR_RETURN_ERROR(has_target, InvalidArgument, "copy_tensor_data: the target has no memory");
  ET_CHECK_OR_RETURN_ERROR(t_dst.device().is_cpu() && t_src.device().is_cpu(), NotSupported,
                           "copy_tensor_data: expected tensors of the CPU");
  if (t_src.const_data_ptr() == nullptr) return Error::Ok;
  // Copies bytes, not elements: the runtime guarantees equal layouts.
  std::memcpy(t_dst.mutable_data_ptr(), t_src.const_data_ptr(), t_src.nbytes());
  return Error::Ok;
}

Error set_tensor_data(const at::Tensor& t, void* buffer, size_t buffer_size) {
  ET_CHECK_OR_RETURN_ERROR(buffer_size >= t.nbytes(), InvalidArgument, "memory: got %zu bytes, expected %zu",
                           buffer_size, t.nbytes());
  auto* storage = t.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl();
  storage->set_data_ptr_noswap(at::DataPtr(buffer, at::DeviceType::CPU));
  storage->set_nbytes(buffer_size);
  return Error::Ok;
}

void reset_data_ptr(const at::Tensor& tensor) {
  auto* impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_contiguous({0});
  impl->unsafe_storage().unsafeGetStorageImpl()->reset();
}

// Keeps the memory if it holds the new shape. Otherwise a storage that PyTorch allows to grow is reallocated;
// a storage over a program's or an application's memory is not.
Error resize_tensor_impl(at::TensorImpl* impl, c10::ArrayRef<int64_t> new_sizes) {
  ET_CHECK_OR_RETURN_ERROR(static_cast<size_t>(impl->dim()) == new_sizes.size(), NotSupported,
                           "rank: expected %d, got %zu", static_cast<int>(impl->dim()), new_sizes.size());
  if (impl->sizes() == new_sizes) return Error::Ok;
  auto numel = executorch::aten::safe_numel(new_sizes.data(), static_cast<ssize_t>(new_sizes.size()));
  if (!numel.ok()) return numel.error();
  const size_t needed = static_cast<size_t>(impl->storage_offset() + *numel) * impl->itemsize();
  const bool has_memory = !impl->has_storage() || needed <= impl->unsafe_storage().nbytes();
  const bool may_grow = impl->is_cpu() && impl->has_storage() && impl->unsafe_storage().resizable();
  ET_CHECK_OR_RETURN_ERROR(has_memory || may_grow, OutOfResources,
                           "resize: expected at most %zu bytes, got %zu", impl->unsafe_storage().nbytes(),
                           needed);
  if (!has_memory) at::native::resize_bytes_cpu(impl->unsafe_storage().unsafeGetStorageImpl(), needed);
  std::array<uint8_t, kTensorDimensionLimit> order{};
  ET_CHECK_OK_OR_RETURN_ERROR(dim_order_of(*impl, order.data()));
  std::array<int64_t, kTensorDimensionLimit> strides{};
  dim_order_to_stride_nocheck(new_sizes.data(), order.data(), new_sizes.size(), strides.data());
  impl->set_sizes_and_strides(new_sizes, {strides.data(), new_sizes.size()});
  return Error::Ok;
}

}  // namespace internal

}  // namespace executorch::ET_RUNTIME_NAMESPACE
