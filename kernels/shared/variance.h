// SPDX-License-Identifier: BSD-3-Clause
// Variance over reduced dimensions.
#pragma once

#include <cstddef>
#include <optional>

#include "kernels/shared/checks.h"
#include "kernels/shared/reduce.h"
#include "kernels/shared/sum.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

// What is taken from the number of elements before dividing by it: 1 where nothing else is said.
inline double correction_of(const std::optional<Scalar>& correction) {
  return correction ? correction->to<double>() : 1.0;
}

// Writes the variance to every element of `out`. Two passes: the differences from the mean are exact
// where it is large. InvalidType when self is not floating or the result does not go into `out`.
template <TypeSet kTypes>
Error variance_into(const Reduction& reduction, const Tensor& self, double correction, const Tensor& out) {
  const ScalarType type = self.scalar_type();
  if (!contains(kTypes & types::kFloating, type)) return unsupported_type(type);
  RL_TRY(check_can_cast(type, out));
  RL_TRY(check_convertible(out.scalar_type()));
  RL_TRY(check_convertible(type));
  const auto count = static_cast<double>(reduction.count());
  const double divisor = count > correction ? count - correction : 0;
  return dispatch<computed_in(kTypes & types::kFloating)>(computed_type(type), [&](auto held) {
    using T = typename decltype(held)::Element;
    reduction.for_each_output([&](const char* first, char* result) {
      const auto add_all = [&](auto of) {
        PairwiseSum<T> sum;
        reduction.for_each_run<T>(first, [&](const T* values, ptrdiff_t stride, size_t n) {
          for (size_t i = 0; i < n; ++i) sum.add(of(values[static_cast<ptrdiff_t>(i) * stride]));
        });
        return sum.total();
      };
      const T mean = add_all([](T x) { return x; }) / static_cast<T>(count);
      const T squares = add_all([mean](T x) { return (x - mean) * (x - mean); });
      const T variance = squares / static_cast<T>(divisor);
      convert_run(result, 0, out.scalar_type(), &variance, 0, scalar_type_of<T>, 1);
    });
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
