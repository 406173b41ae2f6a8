// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/fill.h"

#include "kernels/shared/scalar_tensor.h"
#include "kernels/shared/selection.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error fill(const Tensor& out, const Scalar& value) {
  if (!contains(kConvertibleTypes, out.scalar_type())) return unsupported_type(out.scalar_type());
  const ScalarTensor element(value, out.scalar_type());
  View source = View::of(out);
  source.data = View::of(element).data;
  for (size_t d = 0; d < source.dim; ++d) source.strides[d] = 0;
  return copy_view(View::of(out), source);
}

}  // namespace rushlight::kernels
