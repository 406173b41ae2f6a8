// SPDX-License-Identifier: BSD-3-Clause
// _trilinear: a product of three broadcast tensors, summed over some dimensions. The general form of bilinear
// layers; one nested loop, because it is too rare for a lowering to matrix products. Two products for each
// element of the broadcast shape. Adjacent sums are computed together, so that a factor that they share is
// loaded once, with a call, and the walk over the summed dimensions is shared.
#include <algorithm>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/checks/sizes.h"
#include "kernels/elements/element_access.h"
#include "kernels/walk/expand.h"
#include "kernels/walk/fibers.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

constexpr size_t kFactors = 3;

// Inserts dimensions of size 1 into a factor at the indices `dims`; the result has rank `rank`.
Error insert_dims(const Tensor& factor, Span<const int64_t> dims, size_t rank, View* view) {
  uint32_t added = 0;
  RL_TRY(read_dims(dims, static_cast<ptrdiff_t>(rank), &added));
  *view = View::of(factor);
  RL_CHECK(view->dim + dims.size() == rank, Error::InvalidArgument,
           "factors: expected %d dimensions each, got %d", static_cast<int>(rank),
           static_cast<int>(view->dim + dims.size()));
  for (size_t d = 0; d < rank; ++d) {
    if ((added >> d & 1) != 0) view->insert(d, 1, 0);
  }
  return Error::Ok;
}

// Fibers run along the last dimension, so a view needs at least one.
void ensure_dim(View* view) {
  if (view->dim == 0) view->insert(0, 1, 0);
}

// Sums that are computed together.
#ifdef __OPTIMIZE_SIZE__
constexpr ptrdiff_t kSums = 1;
#else
constexpr ptrdiff_t kSums = 64;
#endif

// Adds up the products of `count` sums in T; load(to, from, step, n) converts elements. The elements of sum i
// start steps[k] * i bytes after `views`.
template <class T, class Load>
void add_products(const View (&views)[kFactors], const ptrdiff_t* steps, ptrdiff_t count, Load load,
                  T* sums) {
  for (ptrdiff_t j = 0; j < count; ++j) sums[j] = 0;
  static_cast<void>(for_each_fiber({views, kFactors}, views[0].dim - 1, [&](const Fiber* fibers) {
    for (ptrdiff_t i = 0; i < fibers[0].size; ++i) {
      T products[kSums];
      for (size_t k = 0; k < kFactors; ++k) {
        T values[kSums];
        T* const loaded = k == 0 ? products : values;
        load(loaded, fibers[k].data + i * fibers[k].stride, steps[k], steps[k] == 0 ? 1 : count);
        const ptrdiff_t step = steps[k] == 0 ? 0 : 1;  // a repeated element is loaded once
        if (k == 0) {
          for (ptrdiff_t j = count; j-- > 0;) products[j] = products[j * step];
          continue;
        }
        for (ptrdiff_t j = 0; j < count; ++j) products[j] *= values[j * step];
      }
      for (ptrdiff_t j = 0; j < count; ++j) sums[j] += products[j];
    }
    return Error::Ok;
  }));
}

// Writes sums of products to the elements of `out`. Integers wrap; others are summed in double.
void write_sums(const View (&views)[kFactors], const ptrdiff_t* steps, ScalarType type, const Fiber& out) {
  if (is_integer_like(type)) {
    // uint64 wraps without undefined behavior; the low bits do not depend on signs.
    uint64_t sums[kSums];
    const auto load = [type](uint64_t* to, const char* from, ptrdiff_t step, ptrdiff_t n) {
      for (ptrdiff_t j = 0; j < n; ++j, from += step) to[j] = static_cast<uint64_t>(load_integer(from, type));
    };
    add_products(views, steps, out.size, load, sums);
    for (ptrdiff_t j = 0; j < out.size; ++j) {
      store_integer(out.data + j * out.stride, type, static_cast<int64_t>(sums[j]));
    }
    return;
  }
  double sums[kSums];
  const auto load = [type](double* to, const char* from, ptrdiff_t step, ptrdiff_t n) {
    load_numbers(to, from, step, type, static_cast<size_t>(n));
  };
  add_products(views, steps, out.size, load, sums);
  store_numbers(out.data, out.stride, type, sums, static_cast<size_t>(out.size));
}

}  // namespace

// The summed dimensions vanish from `out`. unroll_dim is a hint for PyTorch's implementation and is ignored.
Error _trilinear_out(KernelContext&, const Tensor& i1, const Tensor& i2, const Tensor& i3,
                     Span<const int64_t> expand1, Span<const int64_t> expand2, Span<const int64_t> expand3,
                     Span<const int64_t> sumdim, int64_t, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::_trilinear.out");
  const ScalarType type = out.scalar_type();
  if (!contains(kTypes, type)) return unsupported_type(type);
  const size_t rank = static_cast<size_t>(i1.dim()) + expand1.size();
  RL_CHECK(rank <= kTensorDimensionLimit, Error::InvalidArgument, "expand1: more than %d dimensions",
           static_cast<int>(kTensorDimensionLimit));
  const Tensor* const factors[] = {&i1, &i2, &i3};
  const Span<const int64_t> expansions[] = {expand1, expand2, expand3};
  View summed[kFactors];
  Shape shape;
  for (size_t k = 0; k < kFactors; ++k) {
    RL_TRY(check_same_dtype(*factors[k], out, "factors and out"));
    RL_TRY(insert_dims(*factors[k], expansions[k], rank, &summed[k]));
    RL_TRY(broadcast_shape(shape.span(), {summed[k].sizes, rank}, &shape));
  }
  uint32_t sums = 0;
  RL_TRY(read_dims(sumdim, static_cast<ptrdiff_t>(rank), &sums));
  // Splits the dimensions of each factor: `summed` keeps the summed ones, `kept` the output's.
  View kept[kFactors + 1];
  for (size_t k = 0; k < kFactors; ++k) {
    kept[k] = summed[k] = expand_to(summed[k], shape.span());
    // select(d, 0) keeps the address: each element of `kept` is the first element of its sum.
    for (size_t d = rank; d-- > 0;) ((sums >> d & 1) != 0 ? kept[k] : summed[k]).select(d, 0);
  }
  RL_TRY(resize_out(out, {kept[0].sizes, kept[0].dim}));
  kept[kFactors] = View::of(out);
  for (View& view : summed) ensure_dim(&view);
  for (View& view : kept) ensure_dim(&view);
  return for_each_fiber(kept, kept[0].dim - 1, [&](const Fiber* fibers) {
    const ptrdiff_t steps[] = {fibers[0].stride, fibers[1].stride, fibers[2].stride};
    for (ptrdiff_t i = 0; i < fibers[0].size; i += kSums) {
      for (size_t k = 0; k < kFactors; ++k) summed[k].data = fibers[k].data + i * steps[k];
      Fiber sums = fibers[kFactors];
      sums.data += i * sums.stride;
      sums.size = std::min(fibers[0].size - i, kSums);
      write_sums(summed, steps, type, sums);
    }
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
