// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/complex_view.h"
#include "kernels/shared/expand.h"
#include "kernels/shared/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

Error complex_out(KernelContext&, const Tensor& real, const Tensor& imag, Tensor& out) {
  RL_TRY(check_same_dtype(real, imag, "real and imag"));
  const ScalarType type = out.scalar_type();
  RL_CHECK(is_complex(type) && component_type(type) == real.scalar_type(), Error::InvalidType,
           "out: expected a complex dtype with parts of dtype %s, got %s", to_string(real.scalar_type()),
           to_string(type));
  Shape shape;
  RL_TRY(broadcast_shape(real.sizes(), imag.sizes(), &shape));
  RL_TRY(resize_out(out, shape.span()));
  RL_TRY(copy_view(parts_of(View::of(out), 0), expand_to(View::of(real), shape.span())));
  return copy_view(parts_of(View::of(out), 1), expand_to(View::of(imag), shape.span()));
}

}  // namespace rushlight::kernels
