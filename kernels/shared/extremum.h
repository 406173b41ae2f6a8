// SPDX-License-Identifier: BSD-3-Clause
// What max, min and their like share. A NaN wins over every number, the first of equals over the others.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/shared/checks.h"
#include "kernels/shared/lane_walk.h"
#include "kernels/shared/order.h"
#include "kernels/shared/reduce.h"
#include "runtime/tensor/dispatch.h"

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
template <class T, class Rule>
struct Extremum {
  Comparable<T> value{};
  int64_t index = 0;
  int64_t seen = 0;

  void see(T element) {
    const auto candidate = static_cast<Comparable<T>>(element);
    if (seen == 0 || Rule::beats(candidate, value)) {
      value = candidate;
      index = seen;
    }
    ++seen;
  }
  void see(const ViewLane& lane) {
    for (ptrdiff_t i = 0; i < lane.size; ++i) see(lane.get<T>(i));
  }
};

// InvalidArgument when a dimension to be reduced has no element.
Error check_not_empty(const Tensor& self, const DimList& dims);

// A reduction's output as a view with a dimension of size 1 where the reduced one was.
View with_reduced_dim(const Tensor& out, size_t dim, const Tensor& self, bool keepdim);

// The shape of `self` with dimension `dim` reduced.
Shape reduced_shape(const Tensor& self, size_t dim, bool keepdim);

// max and min over any dimensions. `out` takes the dtype of `self`.
template <TypeSet kTypes, class Rule>
Error extremum_over(const Tensor& self, const DimList& dims, bool keepdim, const Tensor& out) {
  RL_TRY(check_not_empty(self, dims));
  Reduction reduction;
  RL_TRY(reduction.plan(self, dims, keepdim, out));
  return dispatch<kTypes>(self.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    RL_TRY(check_convertible(out.scalar_type()));
    reduction.for_each_output([&](const char* first, char* result) {
      Extremum<T, Rule> extremum;
      reduction.for_each_run<T>(first, [&](const T* values, ptrdiff_t stride, size_t n) {
        for (size_t i = 0; i < n; ++i) extremum.see(values[static_cast<ptrdiff_t>(i) * stride]);
      });
      const T value = static_cast<T>(extremum.value);
      convert_run(result, 0, out.scalar_type(), &value, 0, type.value, 1);
    });
    return Error::Ok;
  });
}

// max.dim and min.dim: the winner along a dimension and its index there.
template <TypeSet kTypes, class Rule>
Error extremum_along(const Tensor& self, int64_t dim, bool keepdim, const Tensor& values,
                     const Tensor& indices) {
  RL_TRY(check_same_dtype(self, values, "self and the values"));
  RL_TRY(check_indices_dtype(indices));
  size_t d = 0;
  RL_TRY(normalize_dim(dim, self.dim(), &d));
  RL_TRY(check_not_empty(self, Span<const int64_t>(&dim, 1)));
  const Shape shape = reduced_shape(self, d, keepdim);
  RL_TRY(resize_out(values, shape.span()));
  RL_TRY(resize_out(indices, shape.span()));
  const View views[] = {at_least_1d(self), with_reduced_dim(values, d, self, keepdim),
                        with_reduced_dim(indices, d, self, keepdim)};
  return dispatch<kTypes>(self.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    return for_each_lane(views, d, [](const ViewLane* lanes) {
      Extremum<T, Rule> extremum;
      extremum.see(lanes[0]);
      lanes[1].at<T>(0) = static_cast<T>(extremum.value);
      lanes[2].at<int64_t>(0) = extremum.index;
      return Error::Ok;
    });
  });
}

// argmax and argmin; without a dimension, over all elements in row major order.
template <TypeSet kTypes, class Rule>
Error arg_extremum(const Tensor& self, std::optional<int64_t> dim, bool keepdim, const Tensor& out) {
  RL_TRY(check_indices_dtype(out));
  size_t d = 0;
  RL_TRY(normalize_dim(dim.value_or(-1), self.dim(), &d));
  const DimList reduced = dim.has_value() ? DimList(Span<const int64_t>(&*dim, 1)) : DimList();
  RL_TRY(check_not_empty(self, reduced));
  const View source = at_least_1d(self);
  if (dim.has_value()) {
    RL_TRY(resize_out(out, reduced_shape(self, d, keepdim).span()));
  } else {
    Shape ones;
    for (ptrdiff_t i = 0; keepdim && i < self.dim(); ++i) ones.push(1);
    RL_TRY(resize_out(out, ones.span()));
  }
  return dispatch<kTypes>(self.scalar_type(), [&](auto type) {
    using T = typename decltype(type)::Element;
    Extremum<T, Rule> extremum;
    if (dim.has_value()) {
      const View views[] = {source, with_reduced_dim(out, d, self, keepdim)};
      return for_each_lane(views, d, [](const ViewLane* lanes) {
        Extremum<T, Rule> along;
        along.see(lanes[0]);
        lanes[1].at<int64_t>(0) = along.index;
        return Error::Ok;
      });
    }
    RL_TRY(for_each_lane({&source, 1}, d, [&](const ViewLane* lanes) {
      extremum.see(lanes[0]);
      return Error::Ok;
    }));
    *out.mutable_data_ptr<int64_t>() = extremum.index;
    return Error::Ok;
  });
}

}  // namespace rushlight::kernels
