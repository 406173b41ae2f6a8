// SPDX-License-Identifier: BSD-3-Clause
// Copies between the memory of the host and of a device. If both tensors are on the host this is a plain
// copy, so that programs exported for a device also run without one.
#include "kernels/walk/strided_copy.h"
#include "runtime/base/log.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/device.h"

namespace rushlight::kernels {

namespace {

// Devices copy bytes without conversion, so dtype and dim order must agree.
Error copy_between_devices(const Tensor& self, Tensor& out) {
  RL_CHECK(out.scalar_type() == self.scalar_type(), Error::InvalidArgument,
           "device copy: expected dtype %s, got %s", to_string(self.scalar_type()),
           to_string(out.scalar_type()));
  RL_TRY(out.impl()->resize(self.sizes()));
  for (size_t i = 0; i < self.sizes().size(); ++i) {
    RL_CHECK(out.dim_order()[i] == self.dim_order()[i], Error::InvalidArgument,
             "device copy: expected tensors of one dim order");
  }
  return copy_bytes(*self.impl(), *out.impl());
}

Error copy(const Tensor& self, Tensor& out) {
  const bool on_host = (self.impl()->device() | out.impl()->device()) == TensorImpl::kHost;
  return on_host ? copy_to_out(View::of(self), out) : copy_between_devices(self, out);
}

}  // namespace

Error _h2d_copy_out(KernelContext&, const Tensor& self, Tensor& out) { return copy(self, out); }

Error _d2h_copy_out(KernelContext&, const Tensor& self, Tensor& out) { return copy(self, out); }

}  // namespace rushlight::kernels
