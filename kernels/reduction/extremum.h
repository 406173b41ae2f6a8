// SPDX-License-Identifier: BSD-3-Clause
// What max, min and their like share. A NaN wins over every number, the first of equals over the others.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/checks/sizes.h"
#include "kernels/reduction/reduce.h"
#include "kernels/sorting/order.h"
#include "kernels/walk/view.h"

namespace rushlight::kernels {

struct Largest {
  template <class T>
  static bool beats(T a, T b) {
    return a > b || (is_nan(a) && !is_nan(b));
  }
};
struct Smallest {
  template <class T>
  static bool beats(T a, T b) {
    return a < b || (is_nan(a) && !is_nan(b));
  }
};

// The winner of the elements that were seen, and its number among them.
struct Extremum {
  ScalarType type;
  bool largest;
  const char* at = nullptr;
  int64_t index = 0;
  int64_t key = INT64_MAX;
  int64_t seen = 0;

  // n elements, `stride` bytes apart.
  void see(const char* source, ptrdiff_t stride, size_t n);
};

// InvalidArgument when a dimension to be reduced has no element.
Error check_not_empty(const Tensor& self, const DimList& dims);

// A reduction's output as a view with a dimension of size 1 where the reduced one was.
View with_reduced_dim(const Tensor& out, size_t dim, const Tensor& self, bool keepdim);

// The shape of `self` with dimension `dim` reduced.
Shape reduced_shape(const Tensor& self, size_t dim, bool keepdim);

// The arguments of max.dim, min.dim, argmax and argmin.
struct ExtremumSearch {
  const Tensor& self;
  const Tensor& indices;
  const Tensor* values;  // null for argmax and argmin, which write none
  bool keepdim;
  bool over_all;   // all elements, in row major order, whatever the dimension
  size_t dim = 0;  // that is searched along

  // Checks them, sets the dimension and gives the outputs their shape.
  Error plan(TypeSet types, int64_t along);

  [[nodiscard]] View view_of(const Tensor& out) const { return with_reduced_dim(out, dim, self, keepdim); }
};

// Errors of all: InvalidArgument (dimensions; no elements there; shapes), InvalidType (of `self`, unless
// one of `types`; of the outputs).

// max and min as planned, converted to the dtype of `out`.
Error extremum_into(TypeSet types, bool largest, const Reduction& reduction, const Tensor& self,
                    const Tensor& out);

// max and min of a tensor without elements, as PyTorch's unary overloads have it: the end of the range of
// out's dtype that every number beats. Gives `out` rank 0. InvalidArgument, InvalidType.
Error extremum_of_nothing(bool largest, const Tensor& out);

// max.dim and min.dim: the winner along a dimension and its index there.
Error extremum_along(bool largest, const ExtremumSearch& search);

// argmax and argmin.
Error arg_extremum(bool largest, const ExtremumSearch& search);

}  // namespace rushlight::kernels
