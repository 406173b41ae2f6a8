// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/math/complex_math.h"
#include "kernels/reduction/norm.h"
#include "kernels/walk/fibers.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

namespace {

constexpr ptrdiff_t kLength = 64;  // elements of a span

// Calls f(first element, stride, n) for spans of at most kLength elements, in row-major order.
template <class F>
void for_each_span(const View& view, F f) {
  static_cast<void>(for_each_fiber({&view, 1}, view.dim - 1, [&](const Fiber* fibers) {
    const Fiber& fiber = fibers[0];
    for (ptrdiff_t i = 0; i < fiber.size; i += kLength) {
      const ptrdiff_t left = fiber.size - i;
      f(fiber.data + i * fiber.stride, fiber.stride, static_cast<size_t>(left < kLength ? left : kLength));
    }
    return Error::Ok;
  }));
}

constexpr TypeSet kTypes = selected_types("aten::renorm.out");
constexpr bool kHasComplex = (kTypes & types::kComplex) != 0;

// Multiplies the elements by the factor, in double. Parts of complex elements are scaled like real ones.
void scale(const View& view, double factor) {
  const ScalarType part = component_type(view.type);
  for_each_span(view, [&](char* data, ptrdiff_t stride, size_t n) {
    double numbers[kLength];
    for (size_t done = 0; done < element_size(view.type); done += element_size(part)) {
      load_numbers(numbers, data + done, stride, part, n);
      for (size_t i = 0; i < n; ++i) numbers[i] *= factor;
      store_numbers(data + done, stride, part, numbers, n);
    }
  });
}

// The p-norm, in double. A complex element counts by its modulus.
double norm_of(const View& view, double p) {
  Norm<double> norm(p);
  for_each_span(view, [&](const char* data, ptrdiff_t stride, size_t n) {
    double numbers[kLength];
    if (kHasComplex && is_complex(view.type)) {
      for (size_t i = 0; i < n; ++i, data += stride) numbers[i] = modulus(load_complex(data, view.type));
    } else {
      load_numbers(numbers, data, stride, view.type, n);
    }
    norm.add(numbers, 1, n);
  });
  return norm.result();
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
    scale(slice, factor);
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
