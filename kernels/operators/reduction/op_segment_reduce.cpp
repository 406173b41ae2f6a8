// SPDX-License-Identifier: BSD-3-Clause
// Reduces consecutive segments along a dimension, given by lengths or offsets. One pass in double, segment by
// segment, in sequence; each result is rounded once. NaN elements win in max and min.
#include <cmath>

#include "kernels/checks/checks.h"
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/index/index.h"
#include "kernels/walk/fibers.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"
#include "runtime/tensor/scalar.h"

namespace rushlight::kernels {

namespace {

// In the order of the words in read_reduction().
enum class Reduction : uint8_t { kSum, kMean, kProduct, kLargest, kSmallest };

Error read_reduction(std::string_view word, Reduction* reduction) {
  static constexpr std::string_view kWords[] = {"sum", "mean", "prod", "max", "min"};
  for (size_t i = 0; i < 5; ++i) {
    if (word != kWords[i]) continue;
    *reduction = static_cast<Reduction>(i);
    return Error::Ok;
  }
  RL_LOG(Error, "reduce: expected sum, mean, prod, max or min, got %.*s", static_cast<int>(word.size()),
         word.data());
  return Error::InvalidArgument;
}

// The result for an empty segment without initial value.
double neutral(Reduction reduction) {
  switch (reduction) {
    case Reduction::kProduct:
      return 1;
    case Reduction::kLargest:
      return -INFINITY;
    case Reduction::kSmallest:
      return INFINITY;
    default:
      return 0;
  }
}

// The reduction of one fiber, as a function object for for_each_fiber().
struct Segments {
  Reduction reduction;
  std::optional<Scalar> initial;
  ScalarType type;
  ScalarType bound_type;
  bool are_lengths;

  // Fibers: bounds (lengths, or offsets with the end), data, result. Each bound is checked as it is read,
  // because the program may have placed the tensors on shared memory.
  Error operator()(const Fiber* fibers) const {
    const Fiber& data = fibers[1];
    int64_t start = 0;
    for (ptrdiff_t i = 0; i < fibers[2].size; ++i) {
      int64_t end = bound(fibers[0], are_lengths ? i : i + 1);
      if (are_lengths) {
        RL_CHECK(end >= 0 && end <= data.size - start, Error::InvalidArgument,
                 "lengths: expected 0 to %ld for segment %ld, got %ld", static_cast<long>(data.size - start),
                 static_cast<long>(i), static_cast<long>(end));
        end += start;
      } else {
        start = bound(fibers[0], i);
        RL_CHECK(start >= 0 && start <= end && end <= data.size, Error::InvalidArgument,
                 "offsets: expected ascending values up to %ld, got %ld and %ld",
                 static_cast<long>(data.size), static_cast<long>(start), static_cast<long>(end));
      }
      store_number(fibers[2].data + i * fibers[2].stride, type,
                   reduce(data, static_cast<ptrdiff_t>(start), static_cast<ptrdiff_t>(end)));
      start = end;
    }
    return Error::Ok;
  }

 private:
  [[nodiscard]] int64_t bound(const Fiber& bounds, ptrdiff_t i) const {
    return read_index(bounds.data + i * bounds.stride, bound_type);
  }

  [[nodiscard]] double reduce(const Fiber& data, ptrdiff_t start, ptrdiff_t end) const {
    // The initial value is the first operand, for every segment.
    double held = initial ? initial->to<double>() : neutral(reduction);
    for (ptrdiff_t i = start; i < end; ++i) {
      const double value = load_number(data.data + i * data.stride, type);
      if (reduction == Reduction::kProduct) {
        held *= value;
      } else if (reduction == Reduction::kLargest) {
        if (value > held || value != value) held = value;
      } else if (reduction == Reduction::kSmallest) {
        if (value < held || value != value) held = value;
      } else {
        held += value;
      }
    }
    // The mean of an empty segment is the initial value, or NaN without one. An initial value counts as a
    // summand, not as an element.
    if (reduction != Reduction::kMean) return held;
    if (end > start) return held / static_cast<double>(end - start);
    return initial ? held : NAN;
  }
};

}  // namespace

// `axis` is the last dimension of lengths or offsets. Lengths are always checked, also with `unsafe`; they
// need not cover the data.
Error segment_reduce_out(KernelContext&, const Tensor& data, std::string_view reduce,
                         const std::optional<Tensor>& lengths, const std::optional<Tensor>& indices,
                         const std::optional<Tensor>& offsets, int64_t axis, bool,
                         const std::optional<Scalar>& initial, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::segment_reduce.out");
  const ScalarType type = data.scalar_type();
  if (!contains(kTypes, type)) return unsupported_type(type);
  RL_TRY(check_same_dtype(data, out, "data and out"));
  RL_CHECK(!indices, Error::InvalidArgument, "indices: expected none");
  RL_CHECK(lengths || offsets, Error::InvalidArgument, "lengths and offsets: expected one of them");
  Reduction reduction;
  RL_TRY(read_reduction(reduce, &reduction));
  const Tensor& bounds = offsets ? *offsets : *lengths;
  RL_TRY(check_index_dtype(bounds));
  size_t d = 0;
  RL_TRY(normalize_dim(axis, data.dim(), &d));
  RL_CHECK(data.dim() > 0 && static_cast<size_t>(bounds.dim()) == d + 1, Error::InvalidArgument,
           "lengths or offsets: expected %lu dimensions, as data has up to axis, got %ld", log_number(d + 1),
           static_cast<long>(bounds.dim()));
  for (size_t i = 0; i < d; ++i) {
    RL_CHECK(bounds.sizes()[i] == data.sizes()[i], Error::InvalidArgument,
             "lengths or offsets: expected size %ld in dimension %lu, got %ld",
             static_cast<long>(data.sizes()[i]), log_number(i), static_cast<long>(bounds.sizes()[i]));
  }
  const SizesType segments = bounds.sizes()[d] - (offsets ? 1 : 0);
  RL_CHECK(segments >= 0, Error::InvalidArgument, "offsets: expected at least one");
  Shape shape;
  for (ptrdiff_t i = 0; i < data.dim(); ++i) {
    shape.push(static_cast<size_t>(i) == d ? segments : data.sizes()[i]);
  }
  RL_TRY(resize_out(out, shape.span()));
  // Bounds have no dimensions after the axis: these are added with stride 0.
  View beside = View::of(bounds);
  while (beside.dim < static_cast<size_t>(data.dim())) beside.insert(beside.dim, data.sizes()[beside.dim], 0);
  const View views[] = {beside, View::of(data), View::of(out)};
  return for_each_fiber(views, d, Segments{reduction, initial, type, bounds.scalar_type(), !offsets});
}

}  // namespace rushlight::kernels
