// SPDX-License-Identifier: BSD-3-Clause
// Shared by max, min, argmax and argmin. NaN wins over every other value, and the first of equal elements
// wins. Portable code compares int64 keys (sorting/order.h), so one loop serves all dtypes.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/checks/sizes.h"
#include "kernels/reduction/reduce.h"
#include "kernels/sorting/order.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels {

// The winner among the elements seen so far, and its index in the order of see() calls. `at` is its address.
struct Extremum {
  ScalarType type;
  bool largest;
  const char* at = nullptr;
  int64_t index = 0;
  // The winner's, see order_keys(); the smallest key wins.
  int64_t key = INT64_MAX;
  int64_t seen = 0;

  // Sees n elements, `stride` bytes apart.
  void see(const char* source, ptrdiff_t stride, size_t n);
};

// InvalidArgument if a dimension that is reduced has no elements.
Error check_not_empty(const Tensor& self, const DimList& dims);

// A reduction's output as a view in which the reduced dimension has size 1, so that it has the rank of
// `self`.
View with_reduced_dim(const Tensor& out, size_t dim, const Tensor& self, bool keepdim);

// The shape of `self` with dimension `dim` reduced.
Shape reduced_shape(const Tensor& self, size_t dim, bool keepdim);

// The arguments of max.dim, min.dim, argmax and argmin. Refers to the tensors.
struct ExtremumSearch {
  const Tensor& self;
  const Tensor& indices;
  const Tensor* values;  // null for argmax and argmin
  bool keepdim;
  bool over_all;   // searches all elements in row-major order
  size_t dim = 0;  // dimension of the search

  // Checks the arguments, sets the dimension and resizes the outputs.
  Error plan(TypeSet types, int64_t along);

  [[nodiscard]] View view_of(const Tensor& out) const { return with_reduced_dim(out, dim, self, keepdim); }
};

// Errors of all functions: InvalidArgument (dimensions, no elements, shapes), InvalidType (`self` not in
// `types`, outputs).

// max and min as planned, converted to the dtype of `out`.
Error extremum_into(TypeSet types, bool largest, const Reduction& reduction, const Tensor& self,
                    const Tensor& out);

// max and min of a tensor without elements, as in PyTorch's unary overloads: the lowest (for max) or highest
// value of the dtype of `out`. Resizes `out` to rank 0. InvalidArgument, InvalidType.
Error extremum_of_nothing(bool largest, const Tensor& out);

// max.dim and min.dim: the winner along a dimension and its index.
Error extremum_along(bool largest, const ExtremumSearch& search);

// argmax and argmin.
Error arg_extremum(bool largest, const ExtremumSearch& search);

}  // namespace rushlight::kernels
