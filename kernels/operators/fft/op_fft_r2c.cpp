// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/math/fft.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// A real-to-complex transform along the last of `dim`, then complex ones along the others, in place. Scratch:
// 3 complex values for each element of the longest transform.
Error _fft_r2c_out(KernelContext& context, const Tensor& self, Span<const int64_t> dim, int64_t normalization,
                   bool onesided, Tensor& out) {
  // The output is complex, so a build without complex dtypes does not support this operator.
  if constexpr (!kSelectsComplex) return unsupported_type(complex_type(self.scalar_type()));
  constexpr TypeSet kTypes = selected_types("aten::_fft_r2c.out") & types::kFloating;
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  RL_CHECK(out.scalar_type() == complex_type(self.scalar_type()), Error::InvalidType,
           "out: expected dtype %s, got %s", to_string(complex_type(self.scalar_type())),
           to_string(out.scalar_type()));
  RL_CHECK(!dim.empty(), Error::InvalidArgument, "dim: expected at least one");
  Shape shape = Shape::of(self);
  Fourier fourier;
  RL_TRY(fourier.plan(dim, normalization, shape));
  const auto last = static_cast<size_t>(dim[dim.size() - 1]);
  // The other half of the spectrum of a real signal holds the conjugates of the first.
  if (onesided) shape.sizes[last] = shape.sizes[last] / 2 + 1;
  RL_TRY(resize_out(out, shape.span()));
  RL_TRY(fourier.reserve(context, self.scalar_type()));
  const View target = View::of(out);
  // The real input first; the other dimensions then transform `out` in place.
  RL_TRY(fourier.run(View::of(self), target, fourier.count() - 1, true));
  for (size_t i = fourier.count() - 1; i-- > 0;) RL_TRY(fourier.run(target, target, i, true));
  return Error::Ok;
}

}  // namespace rushlight::kernels
