// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduction/norm.h"

#include "kernels/checks/checks.h"
#include "kernels/math/complex_math.h"
#include "kernels/reduction/extremum.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kHeld = computed_in(kAnySelectedType & types::kFloating);
using Pair = Complex<double>;

}  // namespace

Error plan_norm(TypeSet types, const Tensor& self, double p, const DimList& dims, bool keepdim,
                std::optional<int64_t> dtype, const Tensor& out, Reduction* reduction) {
  const ScalarType given = self.scalar_type();
  const ScalarType written = out.scalar_type();
  if (!contains(types & (types::kFloating | types::kComplex), given)) return unsupported_type(given);
  if (!contains(types & types::kFloating, written)) return unsupported_type(written);
  // A complex dtype computes in complex elements and gives real results.
  RL_CHECK(!dtype || component_type(static_cast<ScalarType>(*dtype)) == written, Error::InvalidType,
           "out: expected the dtype of the parts of %s, got %s", to_string(static_cast<ScalarType>(*dtype)),
           to_string(written));
  // These have no value for no elements; all other norms are 0 then.
  if (p < 0 || std::isinf(p)) RL_TRY(check_not_empty(self, dims));
  return reduction->plan(self, dims, keepdim, out);
}

Error norm_into(const Reduction& reduction, const Tensor& self, double p, const Tensor& out) {
  const ScalarType given = self.scalar_type();
  // The dtype of sums: that of the output, or float32 for 16-bit floats.
  const ScalarType held = computed_type(out.scalar_type());
  return dispatch<kHeld>(held, [&](auto type) {
    using T = typename decltype(type)::Element;
    reduction.for_each_output([&](const char* first, char* result) {
      // One accumulator for each output; elements are converted in spans.
      Norm<T> norm(static_cast<T>(p));
      // Complex elements are converted to complex128 and count by their moduli.
      if (kSelectsComplex && is_complex(given)) {
        if constexpr (kSelectsComplex) {
          reduction.for_each_span<Pair>(first, [&](const Pair* values, ptrdiff_t stride, size_t n) {
            for (size_t i = 0; i < n; ++i) {
              norm.add(static_cast<T>(modulus(values[static_cast<ptrdiff_t>(i) * stride])));
            }
          });
        }
      } else {
        reduction.for_each_span<T>(
            first, [&](const T* values, ptrdiff_t stride, size_t n) { norm.add(values, stride, n); });
      }
      const T value = norm.result();
      convert_span(result, 0, out.scalar_type(), &value, 0, held, 1);
    });
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
