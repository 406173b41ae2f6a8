// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/walk/fill.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// Zeros, then one element for each step along the diagonal; in any dim order a step is the sum of both
// strides.
Error eye_m_out(KernelContext&, int64_t n, int64_t m, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::eye.out") | selected_types("aten::eye.m_out");
  RL_CHECK(n >= 0 && n <= INT32_MAX, Error::InvalidArgument, "n: expected 0 to 2^31 - 1, got %lld",
           static_cast<long long>(n));
  RL_CHECK(m >= 0 && m <= INT32_MAX, Error::InvalidArgument, "m: expected 0 to 2^31 - 1, got %lld",
           static_cast<long long>(m));
  if (!contains(kTypes, out.scalar_type())) return unsupported_type(out.scalar_type());
  const SizesType sizes[] = {static_cast<SizesType>(n), static_cast<SizesType>(m)};
  RL_TRY(resize_out(out, sizes));
  RL_TRY(fill(out, 0));
  const ScalarTensor one(1, out.scalar_type());
  const size_t size = out.element_size();
  const size_t step = (static_cast<size_t>(out.strides()[0]) + static_cast<size_t>(out.strides()[1])) * size;
  char* at = out.mutable_data_ptr<char>();
  const auto* const bytes = static_cast<const Tensor&>(one).const_data_ptr<char>();
  for (int64_t i = 0; i < (n < m ? n : m); ++i, at += step) std::memcpy(at, bytes, size);
  return Error::Ok;
}

Error eye_out(KernelContext& context, int64_t n, Tensor& out) { return eye_m_out(context, n, n, out); }

}  // namespace rushlight::kernels
