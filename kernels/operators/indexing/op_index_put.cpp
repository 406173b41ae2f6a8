// SPDX-License-Identifier: BSD-3-Clause
// index_put: scatters values to the elements that index tensors select, or adds them, so that repeated
// indices accumulate; without accumulation the last of repeated ones remains. Moves spans of the dimensions
// without an index. Sums of 16-bit floats are rounded after each addition.
#include "kernels/checks/selection.h"
#include "kernels/elements/element.h"
#include "kernels/index/indexing.h"
#include "kernels/math/arithmetic.h"
#include "kernels/walk/expand.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr TypeSet kAccumulated = selected_types("aten::index_put.out") | selected_types("aten::index_put_");

// The inner loops of accumulation: add n elements, integers with wrap-around.
template <class T>
void accumulate_elements(char* target, ptrdiff_t target_stride, const char* source, ptrdiff_t source_stride,
                         size_t n, size_t) {
  for (; n > 0; --n, target += target_stride, source += source_stride) {
    T* const sum = reinterpret_cast<T*>(target);
    *sum = wrapping_add(load(sum), load(reinterpret_cast<const T*>(source)));
  }
}

// The same for complex values, as pairs of T.
template <class T>
void accumulate_pairs(char* target, ptrdiff_t target_stride, const char* source, ptrdiff_t source_stride,
                      size_t n, size_t element) {
  accumulate_elements<T>(target, target_stride, source, source_stride, n, element);
  accumulate_elements<T>(target + sizeof(T), target_stride, source + sizeof(T), source_stride, n, element);
}

// `values` broadcast to the shape of the selected elements. A single value broadcasts to any shape.
Error expand(const Tensor& values, const Shape& shape, View* expanded) {
  View source = View::of(values);
  // Also a value of more dimensions than the selection.
  if (values.numel() == 1) source.dim = 0;
  RL_CHECK(source.dim <= shape.dim, Error::InvalidArgument,
           "values: expected at most the %lu dimensions that the indices select, got %lu",
           log_number(shape.dim), log_number(source.dim));
  for (size_t d = 0; d < source.dim; ++d) {
    const SizesType wanted = shape.sizes[shape.dim - source.dim + d];
    RL_CHECK(source.sizes[d] == 1 || source.sizes[d] == wanted, Error::InvalidArgument,
             "values: expected 1 or %ld, which the indices select, as the size of dimension %lu, got %ld",
             static_cast<long>(wanted), log_number(d), static_cast<long>(source.sizes[d]));
  }
  *expanded = expand_to(source, shape.span());
  return Error::Ok;
}

// Indices are checked as they are used, so an error may leave `target` partly written.
Error put(const Tensor& target, Span<const std::optional<Tensor>> indices, const Tensor& values,
          bool accumulate) {
  RL_TRY(check_same_dtype(target, values, "self and values"));
  Indexing indexing;
  RL_TRY(indexing.plan(target, indices));
  View source;
  RL_TRY(expand(values, indexing.result(), &source));
  if (!accumulate) return indexing.run(target, source, Indexing::kWrite, copy_elements);
  if constexpr ((kAccumulated & types::kComplex) != 0) {
    constexpr TypeSet kParts = type_set(ScalarType::Half, ScalarType::Float, ScalarType::Double);
    if (contains(kAccumulated & types::kComplex, target.scalar_type())) {
      return dispatch<kParts>(component_type(target.scalar_type()), [&](auto type) {
        using T = typename decltype(type)::Element;
        return indexing.run(target, source, Indexing::kWrite, accumulate_pairs<T>);
      });
    }
  }
  return dispatch<(kAccumulated & types::kAll)>(target.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    return indexing.run(target, source, Indexing::kWrite, accumulate_elements<T>);
  });
}

}  // namespace

Error index_put_out(KernelContext&, const Tensor& self, Span<const std::optional<Tensor>> indices,
                    const Tensor& values, bool accumulate, Tensor& out) {
  RL_TRY(copy_to_out(View::of(self), out));
  return put(out, indices, values, accumulate);
}

Error index_put_(KernelContext&, Tensor& self, Span<const std::optional<Tensor>> indices,
                 const Tensor& values, bool accumulate) {
  return put(self, indices, values, accumulate);
}

}  // namespace rushlight::kernels
