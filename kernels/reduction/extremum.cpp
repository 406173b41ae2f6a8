// SPDX-License-Identifier: BSD-3-Clause
// Compares int64 keys (sorting/order.h), 32 elements at a time, so that the search is compiled once. Builds
// for speed compare elements of each dtype, 256 at a time: first their winner, by loops that compilers
// vectorize, then its index if it beats the winner so far.
#include "kernels/reduction/extremum.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/checks/checks.h"
#include "kernels/elements/convert.h"
#include "kernels/ukernel/loops.h"
#include "kernels/walk/fibers.h"
#include "kernels/walk/fill.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

#ifndef __OPTIMIZE_SIZE__
namespace {

constexpr size_t kBlock = 256;

// The best of n elements by `beats`, with NaN first. Sixteen winners side by side.
template <class T, class Beats>
[[gnu::always_inline]] inline T best_of(const T* values, size_t n, Beats beats) {
  constexpr size_t kWinners = 16;
  T best = values[0];
  size_t i = 0;
  bool has_nan = false;
  if (n >= kWinners) {
    T winners[kWinners];
    for (size_t k = 0; k < kWinners; ++k) winners[k] = values[k];
    for (; n - i >= kWinners; i += kWinners) {
      for (size_t k = 0; k < kWinners; ++k)
        winners[k] = beats(values[i + k], winners[k]) ? values[i + k] : winners[k];
    }
    for (const T each : winners) best = beats(each, best) ? each : best;
  }
  for (; i < n; ++i) best = beats(values[i], best) ? values[i] : best;
  if constexpr (std::is_floating_point_v<T>) {
    // A sum is NaN if an element is, or if infinities cancel: only then are elements tested.
    T sums[kWinners] = {};
    for (i = 0; n - i >= kWinners; i += kWinners) {
      for (size_t k = 0; k < kWinners; ++k) sums[k] += values[i + k];
    }
    T sum = 0;
    for (const T each : sums) sum += each;
    for (; i < n; ++i) sum += values[i];
    if (is_nan(sum)) {
      for (i = 0; i < n; ++i) has_nan |= is_nan(values[i]);
    }
    if (has_nan) return std::numeric_limits<T>::quiet_NaN();
  }
  return best;
}

template <class T, class Beats>
RL_LOOPS T best_in_loops(const T* values, size_t n, Beats beats) {
  return best_of(values, n, beats);
}

// The index of the first element that equals `best`, or is NaN if it is.
template <class T>
size_t index_of(const T* values, size_t n, T best) {
  size_t i = 0;
  while (i + 1 < n && !(values[i] == best || (is_nan(values[i]) && is_nan(best)))) ++i;
  return i;
}

// Sees a span whose elements compare as T, and are converted to it if they are stored otherwise.
template <class T, class Beats>
void see_as(Extremum* extremum, const char* source, ptrdiff_t stride, size_t n, Beats beats) {
  const bool is_stored = extremum->type == scalar_type_of<T>;
  const auto read = [&](T* to, const char* from, size_t count) {
    if (is_stored && !std::is_same_v<T, bool>) {
      for (size_t i = 0; i < count; ++i)
        to[i] = *reinterpret_cast<const T*>(from + static_cast<ptrdiff_t>(i) * stride);
    } else {
      convert_span(to, sizeof(T), scalar_type_of<T>, from, stride, extremum->type, count);
    }
  };
  // Vectors of SSE2 do not compare integers of 64 bits, and have no maxima of 32 bits.
  constexpr bool kInLoops = (std::is_integral_v<T> && sizeof(T) == 8) || std::is_same_v<T, int32_t>;
  T winner = T(0);
  if (extremum->seen != 0) read(&winner, extremum->at, 1);
  T block[kBlock];
  for (size_t first = 0; first < n; first += kBlock, source += stride * static_cast<ptrdiff_t>(kBlock)) {
    const size_t length = n - first < kBlock ? n - first : kBlock;
    const T* values = block;
    if (is_stored && stride == static_cast<ptrdiff_t>(sizeof(T))) {
      values = reinterpret_cast<const T*>(source);
    } else {
      read(block, source, length);
    }
    T best;
    if constexpr (kInLoops) {
      best = ukernel::runs_loops() ? best_in_loops(values, length, beats) : best_of(values, length, beats);
    } else {
      best = best_of(values, length, beats);
    }
    const bool wins = is_nan(best) ? !is_nan(winner) : beats(best, winner);
    if (wins || extremum->seen == 0) {
      const size_t index = index_of(values, length, best);
      winner = best;
      extremum->index = extremum->seen + static_cast<int64_t>(index);
      extremum->at = source + static_cast<ptrdiff_t>(index) * stride;
    }
    extremum->seen += static_cast<int64_t>(length);
  }
}

}  // namespace

// May be called for several spans: `seen` counts across them, so `index` is the position in the sequence of
// all.
void Extremum::see(const char* source, ptrdiff_t stride, size_t n) {
  // 16-bit floats compare as float32, and bool as an integer that the build has.
  constexpr TypeSet kCompared = kConvertibleTypes & (types::kAll & ~types::kReducedFloat);
  constexpr ScalarType kOfBool = contains(kCompared, ScalarType::Byte)   ? ScalarType::Byte
                                 : contains(kCompared, ScalarType::Long) ? ScalarType::Long
                                                                         : ScalarType::Bool;
  const ScalarType as = type == ScalarType::Bool ? kOfBool : computed_type(type);
  static_cast<void>(dispatch<kCompared>(as, [&](auto of) {
    using T = typename decltype(of)::Element;
    if (largest) {
      see_as<T>(this, source, stride, n, [](T a, T b) { return a > b; });
    } else {
      see_as<T>(this, source, stride, n, [](T a, T b) { return a < b; });
    }
    return Error::Ok;
  }));
}
#else
// May be called for several spans: `seen` counts across them, so `index` is the position in the sequence of
// all.
void Extremum::see(const char* source, ptrdiff_t stride, size_t n) {
  // 256 bytes of keys on the stack.
  constexpr size_t kRun = 32;
  int64_t keys[kRun];
  for (size_t start = 0; start < n; start += kRun) {
    const size_t length = n - start < kRun ? n - start : kRun;
    order_keys(source, stride, type, length, largest, NanOrder::kFirst, keys);
    for (size_t i = 0; i < length; ++i, ++seen, source += stride) {
      // Smaller keys win, so the first of equal elements stays. The first element wins even with the largest
      // key.
      if (keys[i] >= key && seen != 0) continue;
      key = keys[i];
      index = seen;
      at = source;
    }
  }
}
#endif

Error check_not_empty(const Tensor& self, const DimList& dims) {
  uint32_t mask = 0;
  RL_TRY(dim_mask(dims, self.dim(), &mask));
  for (size_t d = 0; d < static_cast<size_t>(self.dim()); ++d) {
    RL_CHECK((mask >> d & 1u) == 0 || self.sizes()[d] != 0, Error::InvalidArgument,
             "self: reduced dimension %lu is empty", log_number(d));
  }
  return Error::Ok;
}

// A scalar has no dimension to reduce: its shape stays.
Shape reduced_shape(const Tensor& self, size_t dim, bool keepdim) {
  Shape shape;
  for (size_t d = 0; d < static_cast<size_t>(self.dim()); ++d) {
    if (d != dim) shape.push(self.sizes()[d]);
    if (d == dim && keepdim) shape.push(1);
  }
  return shape;
}

View with_reduced_dim(const Tensor& out, size_t dim, const Tensor& self, bool keepdim) {
  View view = View::of(out);
  if (!keepdim || self.dim() == 0) view.insert(dim, 1, 0);
  return view;
}

Error extremum_into(TypeSet types, bool largest, const Reduction& reduction, const Tensor& self,
                    const Tensor& out) {
  const ScalarType type = self.scalar_type();
  if (!contains(types, type)) return unsupported_type(type);
  RL_TRY(check_convertible(out.scalar_type()));
  // Converts only the winner; the search compares elements as they are stored.
  reduction.for_each_output([&](const char* first, char* result) {
    Extremum extremum{type, largest};
    reduction.for_each_stored_span(
        first, [&](const char* values, ptrdiff_t stride, size_t n) { extremum.see(values, stride, n); });
    convert_span(result, 0, out.scalar_type(), extremum.at, 0, type, 1);
  });
  return Error::Ok;
}

Error extremum_of_nothing(bool largest, const Tensor& out) {
  RL_TRY(resize_out(out, {}));
  const ScalarType type = out.scalar_type();
  if (is_floating(type)) return fill(out, largest ? -HUGE_VAL : HUGE_VAL);
  if (type == ScalarType::Bool) return fill(out, !largest);
  // The sign bit and all bits above it: the lowest value, sign-extended to 64 bits.
  const int64_t low = contains(types::kIntegral, type) && type != ScalarType::Byte
                          ? static_cast<int64_t>(UINT64_MAX << (8 * element_size(type) - 1))
                          : 0;
  // The complement sets all bits of the dtype.
  return fill(out, largest ? low : ~low);
}

Error ExtremumSearch::plan(TypeSet types, int64_t along) {
  RL_TRY(check_indices_dtype(indices));
  RL_TRY(normalize_dim(along, self.dim(), &dim));
  Shape shape;
  for (size_t d = 0; d < static_cast<size_t>(self.dim()); ++d) {
    // A reduced dimension without elements is refused, even if the result has no elements either.
    const bool reduced = over_all || d == dim;
    RL_CHECK(!reduced || self.sizes()[d] != 0, Error::InvalidArgument, "self: reduced dimension %lu is empty",
             log_number(d));
    if (!reduced || keepdim) shape.push(reduced ? 1 : self.sizes()[d]);
  }
  const ScalarType type = self.scalar_type();
  if (!contains(types, type)) return unsupported_type(type);
  if (values != nullptr) RL_TRY(resize_out(*values, shape.span()));
  return resize_out(indices, shape.span());
}

Error extremum_along(bool largest, const ExtremumSearch& search) {
  const ScalarType type = search.self.scalar_type();
  const View views[] = {at_least_1d(search.self), search.view_of(*search.values),
                        search.view_of(search.indices)};
  return for_each_fiber(views, search.dim, [&](const Fiber* fibers) {
    Extremum extremum{type, largest};
    extremum.see(fibers[0].data, fibers[0].stride, static_cast<size_t>(fibers[0].size));
    copy_elements(fibers[1].data, 0, extremum.at, 0, 1, element_size(type));
    fibers[2].at<int64_t>(0) = extremum.index;
    return Error::Ok;
  });
}

Error arg_extremum(bool largest, const ExtremumSearch& search) {
  View views[] = {at_least_1d(search.self),
                  search.over_all ? at_least_1d(search.self) : search.view_of(search.indices)};
  // With stride 0 every fiber overwrites the one result; the last one has seen all elements.
  if (search.over_all) {
    views[1].data = search.indices.mutable_data_ptr<char>();
    for (ptrdiff_t& stride : views[1].strides) stride = 0;
  }
  Extremum extremum{search.self.scalar_type(), largest};
  return for_each_fiber(views, search.dim, [&](const Fiber* fibers) {
    if (!search.over_all) extremum = {extremum.type, largest};
    extremum.see(fibers[0].data, fibers[0].stride, static_cast<size_t>(fibers[0].size));
    fibers[1].at<int64_t>(0) = extremum.index;
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
