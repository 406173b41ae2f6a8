// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduction/sum.h"

#include "kernels/elements/convert.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// The mean of no elements is 0 / 0, NaN.
template <class T>
T finished(T sum, size_t divisor) {
  if constexpr (std::is_floating_point_v<T>) {
    if (divisor != 1) return sum / static_cast<T>(divisor);
  }
  return sum;
}

template <class T>
void add(PairwiseSum<T>* sum, const T* values, ptrdiff_t stride, size_t n) {
#ifndef __OPTIMIZE_SIZE__
  if (stride == 1) return sum->add(values, n);
  // Others are gathered first: adding one by one, each addition would wait for the one before.
  constexpr size_t kGathered = 128;
  T gathered[kGathered];
  while (n >= 8) {
    const size_t length = n < kGathered ? n : kGathered;
    for (size_t i = 0; i < length; ++i) gathered[i] = values[static_cast<ptrdiff_t>(i) * stride];
    sum->add(gathered, length);
    values += static_cast<ptrdiff_t>(length) * stride;
    n -= length;
  }
#endif
  for (size_t i = 0; i < n; ++i) sum->add(values[static_cast<ptrdiff_t>(i) * stride]);
}

// Adds float32 values, each rounded to the 16-bit dtype `to`. Unused in builds without 16-bit floats.
[[maybe_unused]] void add_rounded(PairwiseSum<float>* sum, const float* values, ptrdiff_t stride, size_t n,
                                  ScalarType to) {
  constexpr size_t kBlock = 32;
  uint16_t stored[kBlock];
  float rounded[kBlock];
  for (size_t block = 0; n > 0; n -= block, values += stride * static_cast<ptrdiff_t>(block)) {
    block = n < kBlock ? n : kBlock;
    convert_span(stored, sizeof(uint16_t), to, values, stride * ptrdiff_t{sizeof(float)}, ScalarType::Float,
                 block);
    convert_span(rounded, sizeof(float), ScalarType::Float, stored, sizeof(uint16_t), to, block);
    add(sum, rounded, 1, block);
  }
}

#ifndef __OPTIMIZE_SIZE__
// Every 64 rows of a tile form a block, which bounds the rounding error.
template <class T>
void sum_columns(const Reduction& reduction, ScalarType to, size_t divisor) {
  constexpr size_t kRows = 64;
  reduction.for_each_tile<T>(to, [&](auto for_each_row, T* sums, size_t n) {
    T block[Reduction::kTile] = {};
    size_t rows = 0;
    for (size_t i = 0; i < n; ++i) sums[i] = 0;
    const auto add_block = [&] {
      for (size_t i = 0; i < n; ++i) {
        sums[i] = wrapping_add(sums[i], block[i]);
        block[i] = 0;
      }
    };
    for_each_row([&](const T* values) {
      for (size_t i = 0; i < n; ++i) block[i] = wrapping_add(block[i], values[i]);
      if (++rows % kRows == 0) add_block();
    });
    add_block();
    for (size_t i = 0; i < n; ++i) sums[i] = finished(sums[i], divisor);
  });
}
#endif

// Sums real elements into dtype `to`; with `is_zero` the result is 0. With `rounds`, elements are rounded to
// `to`, a 16-bit float, before they are added.
Error sum_spans(const Reduction& reduction, ScalarType to, bool rounds, bool is_zero, size_t divisor) {
  // Elements are converted to the dtype of the accumulator: float32 for 16-bit floats, int64 for integers.
  const ScalarType held = accumulated_type(to);
  RL_TRY(check_convertible(held));
  return dispatch<accumulated_in(kAnySelectedType)>(held, [&](auto type) {
    using T = typename decltype(type)::Element;
#ifndef __OPTIMIZE_SIZE__
    if (!rounds && !is_zero && reduction.is_by_columns()) {
      sum_columns<T>(reduction, to, divisor);
      return Error::Ok;
    }
#endif
    reduction.for_each_output([&](const char* first, char* result) {
      PairwiseSum<T> sum;
      if (!is_zero) {
        reduction.for_each_span<T>(first, [&](const T* values, ptrdiff_t stride, size_t n) {
          if constexpr ((kAnySelectedType & types::kReducedFloat) != 0 && std::is_same_v<T, float>) {
            if (rounds) return add_rounded(&sum, values, stride, n, to);
          }
          add(&sum, values, stride, n);
        });
      }
      const T value = finished(sum.total(), divisor);
      convert_span(result, 0, to, &value, 0, held, 1);
    });
    return Error::Ok;
  });
}

#ifndef __OPTIMIZE_SIZE__
// Sums complex elements into dtype `to`, both parts in one pass.
Error sum_complex_spans(const Reduction& reduction, ScalarType to, size_t divisor) {
  constexpr TypeSet kHeld =
      (kAnySelectedType & type_set(ScalarType::ComplexDouble)) | type_set(ScalarType::ComplexFloat);
  const ScalarType held = to == ScalarType::ComplexDouble ? to : ScalarType::ComplexFloat;
  return dispatch<kHeld>(held, [&](auto type) {
    using Pair = typename decltype(type)::Element;
    using T = decltype(Pair::real);
    reduction.for_each_output([&](const char* first, char* result) {
      PairwiseSum<T> sums[2];
      reduction.for_each_span<Pair>(first, [&](const Pair* values, ptrdiff_t stride, size_t n) {
        if (stride == 1) {
          const auto* const parts = reinterpret_cast<const T*>(values);
          return add_terms<2>(sums, 2 * n, [parts](size_t i) { return parts[i]; });
        }
        for (; n > 0; --n, values += stride) {
          sums[0].add(values->real);
          sums[1].add(values->imag);
        }
      });
      const Pair value(finished(sums[0].total(), divisor), finished(sums[1].total(), divisor));
      convert_span(result, 0, to, &value, 0, held, 1);
    });
    return Error::Ok;
  });
}
#endif

// With `rounds`, elements are rounded to the dtype of `out` before they are added. That differs from the
// conversion to the dtype of the accumulator for 16-bit floats only.
Error run(TypeSet types, const Reduction& reduction, const Tensor& self, const Tensor& out, bool rounds,
          size_t divisor) {
  const ScalarType type = out.scalar_type();
  if (!contains(types, type)) return unsupported_type(type);
  RL_TRY(check_convertible(self.scalar_type()));
  RL_TRY(check_convertible(type));
  if (!kSelectsComplex || !is_complex(type)) {
    const bool narrows = rounds && contains(types::kReducedFloat, type) && self.scalar_type() != type;
    return sum_spans(reduction, type, narrows, false, divisor);
  }
#ifndef __OPTIMIZE_SIZE__
  if constexpr (kSelectsComplex) {
    if (is_complex(self.scalar_type()) && !reduction.is_by_columns()) {
      return sum_complex_spans(reduction, type, divisor);
    }
  }
#endif
  // Complex sums are two real ones; a real input has only zeros as imaginary parts.
  RL_TRY(sum_spans(reduction.of_parts(0, type), component_type(type), false, false, divisor));
  return sum_spans(reduction.of_parts(1, type), component_type(type), false, !is_complex(self.scalar_type()),
                   divisor);
}

}  // namespace

Error sum_into(TypeSet types, const Reduction& reduction, const Tensor& self, const Tensor& out) {
  return run(types, reduction, self, out, true, 1);
}

Error mean_into(TypeSet types, const Reduction& reduction, const Tensor& self, const Tensor& out) {
  return run(types, reduction, self, out, false, reduction.count());
}

}  // namespace rushlight::kernels
