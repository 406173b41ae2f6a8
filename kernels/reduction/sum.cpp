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
// True if outputs are neighbours in the input, and the elements of one output are further apart.
bool sums_columns(const Reduction& reduction, size_t element) {
  const auto size = static_cast<ptrdiff_t>(element);
  return reduction.kept().inner().input == size && reduction.kept().inner().size >= 8 &&
         reduction.reduced().inner().input != size;
}

// Sums columns in tiles, row by row, so that memory is read in order. Every 64 rows form a block, which
// bounds the rounding error. Elements of dtype `from` are converted to T.
template <class T>
void sum_columns(const Reduction& reduction, ScalarType from, ScalarType to, size_t divisor) {
  constexpr size_t kTile = 128;
  constexpr size_t kRows = 64;
  const Axis& columns = reduction.kept().inner();
  reduction.kept().walk(reduction.input(), reduction.output(), 1, [&](const char* first, char* result) {
    for (size_t begin = 0; begin < columns.size; begin += kTile) {
      const size_t n = columns.size - begin < kTile ? columns.size - begin : kTile;
      const auto start = static_cast<ptrdiff_t>(begin);
      T sums[kTile] = {};
      T block[kTile] = {};
      T converted[kTile];
      size_t rows = 0;
      const auto add_block = [&] {
        for (size_t i = 0; i < n; ++i) {
          sums[i] = wrapping_add(sums[i], block[i]);
          block[i] = 0;
        }
      };
      reduction.reduced().walk(first + start * columns.input, nullptr, 0, [&](const char* row, char*) {
        const T* values = reinterpret_cast<const T*>(row);
        if (from != scalar_type_of<T>) {
          convert_span(converted, sizeof(T), scalar_type_of<T>, row, columns.input, from, n);
          values = converted;
        }
        for (size_t i = 0; i < n; ++i) block[i] = wrapping_add(block[i], values[i]);
        if (++rows % kRows == 0) add_block();
      });
      add_block();
      for (size_t i = 0; i < n; ++i) sums[i] = finished(sums[i], divisor);
      convert_span(result + start * columns.output, columns.output, to, sums, sizeof(T), scalar_type_of<T>,
                   n);
    }
  });
}
#endif

// Sums real elements into dtype `to`; with `is_zero` the result is 0. With `rounds`, elements are rounded to
// `to`, a 16-bit float, before they are added.
Error sum_spans(const Reduction& reduction, [[maybe_unused]] ScalarType from, ScalarType to, bool rounds,
                bool is_zero, size_t divisor) {
  // Elements are converted to the dtype of the accumulator: float32 for 16-bit floats, int64 for integers.
  const ScalarType held = accumulated_type(to);
  RL_TRY(check_convertible(held));
  return dispatch<accumulated_in(kAnySelectedType)>(held, [&](auto type) {
    using T = typename decltype(type)::Element;
#ifndef __OPTIMIZE_SIZE__
    if (!rounds && !is_zero && sums_columns(reduction, element_size(from))) {
      sum_columns<T>(reduction, from, to, divisor);
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
    return sum_spans(reduction, self.scalar_type(), type, narrows, false, divisor);
  }
  // Complex sums are two real ones; a real input has only zeros as imaginary parts.
  const ScalarType part = component_type(self.scalar_type());
  RL_TRY(sum_spans(reduction.of_parts(0, type), part, component_type(type), false, false, divisor));
  return sum_spans(reduction.of_parts(1, type), part, component_type(type), false,
                   !is_complex(self.scalar_type()), divisor);
}

}  // namespace

Error sum_into(TypeSet types, const Reduction& reduction, const Tensor& self, const Tensor& out) {
  return run(types, reduction, self, out, true, 1);
}

Error mean_into(TypeSet types, const Reduction& reduction, const Tensor& self, const Tensor& out) {
  return run(types, reduction, self, out, false, reduction.count());
}

}  // namespace rushlight::kernels
