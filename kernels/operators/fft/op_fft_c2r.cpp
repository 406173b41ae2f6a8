// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/math/fft.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

// Complex transforms along all dimensions but the last of `dim`, then a complex-to-real transform along that.
// Scratch: 3 complex values for each element of the longest transform; with several dimensions, also a copy
// of the input for the intermediate result.
Error _fft_c2r_out(KernelContext& context, const Tensor& self, Span<const int64_t> dim, int64_t normalization,
                   int64_t last_dim_size, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_fft_c2r.out") & types::kComplex;
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  const ScalarType component = component_type(self.scalar_type());
  RL_CHECK(out.scalar_type() == component, Error::InvalidType, "out: expected dtype %s, got %s",
           to_string(component), to_string(out.scalar_type()));
  RL_CHECK(!dim.empty(), Error::InvalidArgument, "dim: expected at least one");
  const int64_t last = dim[dim.size() - 1];
  Shape shape = Shape::of(self);
  if (last >= 0 && last < static_cast<int64_t>(shape.dim)) {
    // The input holds the elements 0 to n / 2 of a Hermitian-symmetric spectrum of n elements, so both even
    // and odd n are possible; a smaller n leaves elements out.
    const int64_t most = 2 * int64_t{shape.sizes[last]} - 1;
    RL_CHECK(last_dim_size >= 1 && last_dim_size <= most, Error::InvalidArgument,
             "last_dim_size: expected 1 to %ld, got %ld", static_cast<long>(most),
             static_cast<long>(last_dim_size));
    shape.sizes[last] = static_cast<SizesType>(last_dim_size);
  }
  Fourier fourier;
  RL_TRY(fourier.plan(dim, normalization, shape));
  RL_TRY(resize_out(out, shape.span()));
  const bool several = fourier.count() > 1;
  // The input must not change, and `out`, which is real, cannot hold complex intermediate results.
  RL_TRY(fourier.reserve(context, component, several ? self.numel() : 0));
  View source = View::of(self);
  const View between = View::row_major(fourier.extra(), self.scalar_type(), self.sizes());
  for (size_t i = 0; i + 1 < fourier.count(); ++i, source = between) {
    RL_TRY(fourier.run(source, between, i, false));
  }
  return fourier.run(source, View::of(out), fourier.count() - 1, false, true);
}

}  // namespace rushlight::kernels
