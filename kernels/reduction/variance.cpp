// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduction/variance.h"

#include "kernels/checks/checks.h"
#include "kernels/reduction/sum.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error variance_into(TypeSet types, const Reduction& reduction, const Tensor& self, double correction,
                    const Tensor& out) {
  // Only floating and complex inputs have a variance in PyTorch.
  constexpr TypeSet kGiven = kAnySelectedType & (types::kFloating | types::kComplex);
  const ScalarType given = self.scalar_type();
  if (!contains(types & kGiven, given)) return unsupported_type(given);
  const ScalarType type = component_type(given);
  const size_t parts = kSelectsComplex && is_complex(given) ? 2 : 1;
  RL_TRY(check_can_cast(type, out));
  RL_TRY(check_convertible(out.scalar_type()));
  RL_TRY(check_convertible(type));
  const auto count = static_cast<double>(reduction.count());
  // Divisor 0 gives NaN or infinity, as in PyTorch.
  const double divisor = count > correction ? count - correction : 0;
  // Walks over the real parts; the imaginary part of an element follows at the next address.
  const Reduction of_real = parts == 2 ? reduction.of_parts(0, out.scalar_type()) : reduction;
  return dispatch<accumulated_in(kGiven)>(computed_type(type), [&](auto held) {
    using T = typename decltype(held)::Element;
    of_real.for_each_output([&](const char* first, char* result) {
      const auto add_all = [&](auto of) {
        PairwiseSum<T> sum;
        of_real.for_each_span<T>(first, [&](const T* values, ptrdiff_t stride, size_t n) {
          for (size_t i = 0; i < n; ++i) sum.add(of(values[static_cast<ptrdiff_t>(i) * stride]));
        });
        return sum.total();
      };
      T squares = 0;
      for (size_t part = 0; part < parts; ++part, first += element_size(type)) {
        // Two passes over the elements: the mean first, then the squared deviations.
        const T mean = add_all([](T x) { return x; }) / static_cast<T>(count);
        squares += add_all([mean](T x) { return (x - mean) * (x - mean); });
      }
      const T variance = squares / static_cast<T>(divisor);
      convert_span(result, 0, out.scalar_type(), &variance, 0, scalar_type_of<T>, 1);
    });
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
