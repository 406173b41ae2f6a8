// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/elements/element_access.h"
#include "kernels/elements/promotion.h"
#include "kernels/math/complex_math.h"
#include "kernels/reduction/norm.h"
#include "kernels/walk/expand.h"
#include "kernels/walk/view.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

// The p-norm of the difference of two broadcast tensors, computed in double with a pairwise sum. Complex
// differences count by their modulus. p = 0 counts differing elements, infinite p gives the largest or
// smallest difference; no elements give 0. No difference is stored: one pass over both tensors.
Error dist_out(KernelContext&, const Tensor& self, const Tensor& other, const Scalar& p, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::dist.out");
  for (const Tensor* each : {&self, &other, static_cast<const Tensor*>(&out)}) {
    if (!contains(kTypes, each->scalar_type())) return unsupported_type(each->scalar_type());
  }
  const ScalarType type = component_type(result_type(self, other));
  RL_CHECK(out.scalar_type() == type, Error::InvalidType, "out: expected dtype %s, got %s", to_string(type),
           to_string(out.scalar_type()));
  Shape shape;
  RL_TRY(broadcast_shape(self.sizes(), other.sizes(), &shape));
  // Broadcast dimensions get stride 0 in both.
  View views[] = {expand_to(View::of(self), shape.span()), expand_to(View::of(other), shape.span())};
  RL_TRY(resize_out(out, {}));
  const bool are_complex =
      (kTypes & types::kComplex) != 0 && (is_complex(self.scalar_type()) || is_complex(other.scalar_type()));
  Norm<double> norm(p.to<double>());
  // Spans of merged dimensions: the order of elements does not matter. Real elements are converted to the
  // common dtype, complex ones to double.
  constexpr TypeSet kHeld = computed_in((kTypes | complex_needs(kTypes)) & types::kFloating);
  RL_TRY(dispatch<kHeld>(computed_type(type), [&](auto held) {
    using T = typename decltype(held)::Element;
    PairedLoops(views[0], views[1])
        .for_each_span([&](const char* a, const char* b, const PairedLoops::Loop& loop) {
          T values[2][kPiece];
          for (ptrdiff_t left = loop.size; left > 0; left -= kPiece) {
            const size_t n = left < ptrdiff_t{kPiece} ? static_cast<size_t>(left) : kPiece;
            if (are_complex) {
              for (size_t i = 0; i < n; ++i) {
                const auto at = static_cast<ptrdiff_t>(i);
                norm.add(modulus(load_complex(a + at * loop.target, self.scalar_type()) -
                                 load_complex(b + at * loop.source, other.scalar_type())));
              }
            } else {
              const T* const x = held_span(values[0], a, loop.target, self.scalar_type(), n);
              const T* const y = held_span(values[1], b, loop.source, other.scalar_type(), n);
              norm.add_each(
                  n, [x, y](size_t i) { return static_cast<double>(x[i]) - static_cast<double>(y[i]); });
            }
            a += ptrdiff_t{kPiece} * loop.target;
            b += ptrdiff_t{kPiece} * loop.source;
          }
        });
    return Error::Ok;
  }));
  store_number(out.mutable_data_ptr<char>(), type, norm.result());
  return Error::Ok;
}

}  // namespace rushlight::kernels
