// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
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
  // Spans of merged dimensions: the order of elements does not matter.
  PairedLoops(views[0], views[1])
      .for_each_span([&](const char* first, const char* second, const PairedLoops::Loop& loop) {
        constexpr ptrdiff_t kLength = 128;
        double differences[kLength];
        double others[kLength];
        for (ptrdiff_t begin = 0; begin < loop.size; begin += kLength) {
          const ptrdiff_t n = loop.size - begin < kLength ? loop.size - begin : kLength;
          const char* a = first + begin * loop.target;
          const char* b = second + begin * loop.source;
          if (are_complex) {
            for (ptrdiff_t i = 0; i < n; ++i, a += loop.target, b += loop.source) {
              differences[i] =
                  modulus(load_complex(a, self.scalar_type()) - load_complex(b, other.scalar_type()));
            }
          } else {
            const auto count = static_cast<size_t>(n);
            load_numbers(differences, a, loop.target, self.scalar_type(), count);
            load_numbers(others, b, loop.source, other.scalar_type(), count);
            for (ptrdiff_t i = 0; i < n; ++i) differences[i] -= others[i];
          }
          norm.add(differences, 1, static_cast<size_t>(n));
        }
      });
  store_number(out.mutable_data_ptr<char>(), type, norm.result());
  return Error::Ok;
}

}  // namespace rushlight::kernels
