// SPDX-License-Identifier: BSD-3-Clause
// Kernels written for ExecuTorch.
#include <executorch/runtime/kernel/kernel_includes.h>

namespace custom {
namespace native {

using executorch::aten::ArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

Tensor& scale_out(KernelRuntimeContext& context, const Tensor& input, double factor, Tensor& out) {
  ET_KERNEL_CHECK(context, input.scalar_type() == ScalarType::Float, InvalidArgument, out);
  ET_KERNEL_CHECK(context, executorch::runtime::resize_tensor(out, input.sizes()) == Error::Ok,
                  InvalidArgument, out);
  const auto memory = context.allocate_temp(static_cast<size_t>(input.numel()) * sizeof(float));
  ET_KERNEL_CHECK(context, memory.ok(), MemoryAllocationFailed, out);
  auto* scaled = static_cast<float*>(*memory);
  for (ssize_t i = 0; i < input.numel(); ++i) {
    scaled[i] = input.const_data_ptr<float>()[i] * static_cast<float>(factor);
  }
  for (ssize_t i = 0; i < input.numel(); ++i) out.mutable_data_ptr<float>()[i] = scaled[i];
  return out;
}

namespace {

Tensor& shift(const Tensor& input, ArrayRef<int64_t> by, const std::optional<Tensor>& bias, float more,
              Tensor& out) {
  float offset = more;
  for (const int64_t each : by) offset += static_cast<float>(each);
  if (bias.has_value()) offset += bias->const_data_ptr<float>()[0];
  for (ssize_t i = 0; i < input.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] = input.const_data_ptr<float>()[i] + offset;
  }
  return out;
}

}  // namespace

// The kernel for matrices adds 1000 more, which shows that it was selected.
Tensor& shifted_matrix_out(KernelRuntimeContext&, const Tensor& input, ArrayRef<int64_t> by,
                           const std::optional<Tensor>& bias, Tensor& out) {
  return shift(input, by, bias, 1000.0f, out);
}

Tensor& shifted_out(KernelRuntimeContext&, const Tensor& input, ArrayRef<int64_t> by,
                    const std::optional<Tensor>& bias, Tensor& out) {
  return shift(input, by, bias, 0.0f, out);
}

}  // namespace native
}  // namespace custom
