// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/math/complex_math.h"
#include "kernels/walk/fibers.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

namespace {

// Calls f with a pointer to every element of the view.
template <class F>
// Compiled once for each function, in row-major order.
void for_each_element(const View& view, F f) {
  static_cast<void>(for_each_fiber({&view, 1}, view.dim - 1, [&](const Fiber* fibers) {
    for (ptrdiff_t i = 0; i < fibers[0].size; ++i) f(fibers[0].data + i * fibers[0].stride);
    return Error::Ok;
  }));
}

constexpr TypeSet kTypes = selected_types("aten::renorm.out");
constexpr bool kHasComplex = (kTypes & types::kComplex) != 0;

// A complex element counts by its modulus.
double size_of(const char* at, ScalarType type) {
  if (kHasComplex && is_complex(type)) return modulus(load_complex(at, type));
  return std::abs(load_number(at, type));
}

void scale(char* at, ScalarType type, double factor) {
  if (kHasComplex && is_complex(type)) return store_complex(at, type, load_complex(at, type) * factor);
  store_number(at, type, load_number(at, type) * factor);
}

// The p-norm for p > 0, in double. An infinite p takes the largest magnitude; NaN, once found, stays.
double norm_of(const View& view, double p) {
  double total = 0;
  for_each_element(view, [&](const char* at) {
    const double size = size_of(at, view.type);
    if (std::isinf(p)) {
      total = size > total || size != size ? size : total;
    } else {
      total += p == 2 ? size * size : std::pow(size, p);
    }
  });
  return std::isinf(p) ? total : std::pow(total, 1 / p);
}

}  // namespace

// Scales slices along `dim` down to maxnorm if their p-norm exceeds it. The 1e-7 in the divisor is PyTorch's.
// Slices whose norm is NaN stay unchanged. Two passes over each slice that is scaled, in place in the copy.
Error renorm_out(KernelContext&, const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm,
                 Tensor& out) {
  const ScalarType type = self.scalar_type();
  if (!contains(kTypes, type)) return unsupported_type(type);
  const double order = p.to<double>();
  const double limit = maxnorm.to<double>();
  RL_CHECK(self.dim() > 1, Error::InvalidArgument, "self: expected at least 2 dimensions, got %ld",
           static_cast<long>(self.dim()));
  RL_CHECK(order > 0, Error::InvalidArgument, "p: expected more than 0");
  RL_CHECK(limit >= 0, Error::InvalidArgument, "maxnorm: expected 0 at least");
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  RL_TRY(copy_to_out(View::of(self), out));
  for (SizesType i = 0; i < out.sizes()[d]; ++i) {
    const View slice = View::of(out).select(d, i);
    const double norm = norm_of(slice, order);
    if (!(norm > limit)) continue;
    const double factor = limit / (norm + 1e-7);
    for_each_element(slice, [&](char* at) { scale(at, type, factor); });
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
