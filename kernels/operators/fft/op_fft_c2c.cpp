// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/math/fft.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// Transforms one dimension at a time, the last first; all but the first transform work in place on `out`. The
// order does not matter, as the transforms commute. Scratch: 3 complex values for each element of the longest
// transform.
Error _fft_c2c_out(KernelContext& context, const Tensor& self, Span<const int64_t> dim, int64_t normalization,
                   bool forward, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_fft_c2c.out") & types::kComplex;
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_TRY(check_same_dtype(self, out, "self and out"));
  Fourier fourier;
  const Shape shape = Shape::of(self);
  RL_TRY(fourier.plan(dim, normalization, shape));
  // Without dimensions the transform is the identity, and no factor normalizes it.
  if (dim.empty()) return copy_to_out(View::of(self), out);
  RL_TRY(resize_out(out, shape.span()));
  RL_TRY(fourier.reserve(context, component_type(self.scalar_type())));
  View source = View::of(self);
  const View target = View::of(out);
  for (size_t i = fourier.count(); i-- > 0; source = target) RL_TRY(fourier.run(source, target, i, forward));
  return Error::Ok;
}

}  // namespace rushlight::kernels
