// SPDX-License-Identifier: BSD-3-Clause
// Reduction over any list of dimensions, for tensors in any dim order. The plan merges dimensions once; then
// each output element reduces a sequence of strided spans of the input:
//
//   Reduction reduction;
//   RL_TRY(reduction.plan(self, dims, keepdim, out));
//   reduction.for_each_output([&](const char* first, char* result) {
//     float largest = -INFINITY;
//     reduction.for_each_span<float>(first, [&](const float* values, ptrdiff_t stride, size_t n) { ... });
//     store(result, largest);
//   });
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "kernels/checks/selection.h"
#include "kernels/elements/convert.h"
#include "kernels/walk/paired_axes.h"
#include "runtime/base/error.h"
#include "runtime/base/span.h"
#include "runtime/tensor/tensor.h"

namespace rushlight::kernels {

// Dimensions of a reduction; none means all.
using DimList = std::optional<Span<const int64_t>>;

// The list as sum and mean read it: empty means all dimensions, as None does.
inline DimList all_if_empty(DimList dims) { return dims.has_value() && dims->empty() ? std::nullopt : dims; }

// A mask with bit d set for every dimension of the list, or for all dimensions without a list.
// InvalidArgument if one is out of range or repeated.
Error dim_mask(const DimList& dims, ptrdiff_t rank, uint32_t* mask);

// The plan of a reduction. Holds addresses, not the tensors.
class Reduction {
 public:
  // Checks the dimensions and resizes `out`. Precondition: the tensors outlive the reduction. Errors:
  // InvalidArgument (dimension, shape of out).
  Error plan(const Tensor& self, const DimList& dims, bool keepdim, const Tensor& out);

  // Number of input elements for one output element.
  [[nodiscard]] size_t count() const { return reduced_.count(); }

  // For kernels with their own loops: the axes of the output, the reduced axes, and the base addresses.
  [[nodiscard]] const PairedAxes& kept() const { return kept_; }
  [[nodiscard]] const PairedAxes& reduced() const { return reduced_; }
  [[nodiscard]] const char* input() const { return input_; }
  [[nodiscard]] char* output() const { return output_; }

  // The reduction of the real parts (which = 0) or imaginary parts (1) of complex tensors; `out` is the
  // output's dtype. A real tensor stays as it is. The result refers to the same memory.
  [[nodiscard]] Reduction of_parts(size_t which, ScalarType out) const;

  // Calls f(const char* first, char* result) for every output element, in the order of the input's memory:
  // the address of its first input, and its own.
  template <class F>
  void for_each_output(F f) const {
    kept_.walk(input_, output_, 0, f);
  }

  // Calls f(const T* values, ptrdiff_t stride, size_t n) for the spans of one output element, in memory
  // order; stride in elements. Input of another dtype is converted, kLength elements at a time; precondition:
  // check_convertible() of both. Bool is always converted, because its bytes may have any value.
  template <class T, class F>
  void for_each_span(const char* first, F f) const {
    const Axis& run = reduced_.inner();
    reduced_.walk(first, nullptr, 1, [&](const char* values, char*) {
      if (type_ == scalar_type_of<T> && !std::is_same_v<T, bool>) {
        f(reinterpret_cast<const T*>(values), run.input / static_cast<ptrdiff_t>(sizeof(T)), run.size);
      } else {
        convert_spans<T>(values, run, f);
      }
    });
  }

  // The same without conversion: f(const char* values, ptrdiff_t stride, size_t n); stride in bytes.
  template <class F>
  void for_each_stored_span(const char* first, F f) const {
    const Axis& run = reduced_.inner();
    reduced_.walk(first, nullptr, 1, [&](const char* values, char*) { f(values, run.input, run.size); });
  }

#ifndef __OPTIMIZE_SIZE__
  // True if outputs are closer together in the input than the elements of one output.
  [[nodiscard]] bool is_by_columns() const {
    const Axis& columns = kept_.inner();
    return columns.size >= 8 && columns.input > 0 && columns.input < reduced_.inner().input;
  }

  static constexpr size_t kTile = 128;  // outputs

  // Reduces such outputs in tiles of at most kTile, row by row, so that memory is read in order: f(rows, T*
  // results, size_t n) sets n results, which are converted to dtype `to`; rows(g) calls g(const T* row).
  template <class T, class F>
  void for_each_tile(ScalarType to, F f) const {
    const Axis& columns = kept_.inner();
    const bool converts = type_ != scalar_type_of<T> || columns.input != ptrdiff_t{sizeof(T)};
    kept_.walk(input_, output_, 1, [&](const char* first, char* result) {
      T results[kTile];
      T converted[kTile];
      for (size_t begin = 0; begin < columns.size; begin += kTile) {
        const size_t n = columns.size - begin < kTile ? columns.size - begin : kTile;
        const auto start = static_cast<ptrdiff_t>(begin);
        const auto rows = [&](auto g) {
          reduced_.walk(first + start * columns.input, nullptr, 0, [&](const char* row, char*) {
            if (!converts) return g(reinterpret_cast<const T*>(row));
            convert_span(converted, sizeof(T), scalar_type_of<T>, row, columns.input, type_, n);
            g(static_cast<const T*>(converted));
          });
        };
        f(rows, static_cast<T*>(results), n);
        convert_span(result + start * columns.output, columns.output, to, results, sizeof(T),
                     scalar_type_of<T>, n);
      }
    });
  }
#endif

 private:
  template <class T, class F>
  void convert_spans(const char* source, const Axis& run, F f) const {
    for_pieces<T>(source, run.input, type_, run.size,
                  [&](const T* values, size_t, size_t n) { f(values, ptrdiff_t{1}, n); });
  }

  PairedAxes kept_;
  PairedAxes reduced_;
  const char* input_ = nullptr;
  char* output_ = nullptr;
  ScalarType type_ = ScalarType::Float;  // of the input
};

}  // namespace rushlight::kernels
