// SPDX-License-Identifier: BSD-3-Clause
// Scalars read from a tensor: sizes, strides, number of elements, and the value of a single element.
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element.h"
#include "kernels/elements/number.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// The size at run time, which a dynamic tensor may change from call to call.
Error sym_size_int(KernelContext&, const Tensor& self, int64_t dim, EValue& out) {
  RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected at least one dimension");
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  return write_number(out, EValue(static_cast<int64_t>(self.sizes()[d])));
}

// In elements.
Error sym_stride_int(KernelContext&, const Tensor& self, int64_t dim, EValue& out) {
  RL_CHECK(self.dim() > 0, Error::InvalidArgument, "self: expected at least one dimension");
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  return write_number(out, EValue(static_cast<int64_t>(self.strides()[d])));
}

Error sym_numel(KernelContext&, const Tensor& self, EValue& out) {
  return write_number(out, EValue(static_cast<int64_t>(self.numel())));
}

// 16-bit floats and float32 widen to a double, exactly. A bool stays a bool.
Error _local_scalar_dense(KernelContext&, const Tensor& self, EValue& out) {
  constexpr TypeSet kTypes = selected_types("aten::_local_scalar_dense");
  RL_CHECK(self.numel() == 1, Error::InvalidArgument, "self: expected one element, got %lu",
           static_cast<unsigned long>(self.numel()));
  return dispatch<kTypes>(self.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    const T value = load(self.const_data_ptr<T>());
    if constexpr (std::is_same_v<T, bool>) {
      return write_number(out, EValue(value));
    } else if constexpr (std::is_integral_v<T>) {
      return write_number(out, EValue(static_cast<int64_t>(value)));
    } else if constexpr (std::is_same_v<T, double>) {
      return write_number(out, EValue(value));
    } else {
      return write_number(out, EValue(static_cast<double>(static_cast<float>(value))));
    }
  });
}

}  // namespace rushlight::kernels
