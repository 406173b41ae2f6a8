// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/walk/fill.h"

#include "kernels/checks/scalar_range.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/scalar_tensor.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

Error fill(const Tensor& out, const Scalar& value) {
  RL_TRY(check_convertible(out.scalar_type()));
  RL_TRY(check_scalar_range(value, out.scalar_type(), "value"));
  const ScalarTensor element(value, out.scalar_type());
  // The shape of `out` with stride 0 everywhere: each element reads the one value.
  View source = View::of(out);
  source.data = View::of(element).data;
  for (size_t d = 0; d < source.dim; ++d) source.strides[d] = 0;
  return copy_view(View::of(out), source);
}

}  // namespace rushlight::kernels
