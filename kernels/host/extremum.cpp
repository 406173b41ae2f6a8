// SPDX-License-Identifier: BSD-3-Clause
// Index and value of the largest or smallest float32 element. NaN wins over every other value, and the first
// of equal elements wins. Contiguous fibers take two passes, one for the value and one to find it; adjacent
// outputs are searched together, a row of inputs at a time.
#include "kernels/backs/reduction.h"
#include "kernels/checks/sizes.h"
#include "kernels/ukernel/reduce.h"
#include "kernels/walk/fibers.h"
#include "kernels/walk/joint_axes.h"

namespace rushlight::kernels::host {

namespace {

constexpr ptrdiff_t kFloat = sizeof(float);

// A search along one dimension: the addresses of inputs, values and indices. The value address is null if
// only indices are wanted.
struct Search {
  enum { kInput, kValue, kIndex, kOperands };
  bool largest;
  size_t size = 1;       // of the dimension
  ptrdiff_t stride = 0;  // in bytes
  JointAxes<kOperands> others;
  char* start[kOperands];

  // One output from a contiguous fiber.
  void run(char* const* at) const {
    const auto* x = reinterpret_cast<const float*>(at[kInput]);
    // Two vector loops cost less than one that carries indices.
    const float value = largest ? ukernel::max_span(size, x) : ukernel::min_span(size, x);
    if (at[kValue] != nullptr) *reinterpret_cast<float*>(at[kValue]) = value;
    *reinterpret_cast<int64_t*>(at[kIndex]) = static_cast<int64_t>(ukernel::find_span(size, x, value));
  }

  // n adjacent outputs.
  void columns(char* const* at, size_t n, const JointAxes<kOperands>::Axis& axis) const {
    // Results of a tile are on the stack, since values and indices may have any stride.
    constexpr size_t kTile = 32;
    for (size_t j = 0; j < n; j += kTile) {
      const size_t count = n - j < kTile ? n - j : kTile;
      const auto* x = reinterpret_cast<const float*>(at[kInput]) + j;
      float values[kTile];
      int32_t found[kTile];
      const auto search = largest ? ukernel::argmax_rows : ukernel::argmin_rows;
      search(size, stride / kFloat, count, x, values, found);
      for (size_t i = 0; i < count; ++i) {
        const auto step = static_cast<ptrdiff_t>(j + i);
        if (at[kValue] != nullptr) {
          *reinterpret_cast<float*>(at[kValue] + step * axis.strides[kValue]) = values[i];
        }
        *reinterpret_cast<int64_t*>(at[kIndex] + step * axis.strides[kIndex]) = found[i];
      }
    }
  }

  void all(KernelContext& context) const {
    constexpr size_t kElements = 32768;  // worth another thread
    const auto& inner = others.inner();
    const bool beside = stride != kFloat && inner.strides[kInput] == kFloat;
    const size_t n = beside ? inner.size : 1;
    const size_t first = beside ? 1 : 0;
    const size_t grain = kElements / (size * n + 1) + 1;
    context.parallel_for(others.count(first), grain, [&](size_t begin, size_t end, size_t) {
      others.walk_part(start, first, begin, end, [&](char* const* at) {
        if (stride == kFloat) {
          run(at);
        } else {
          columns(at, n, inner);
        }
      });
    });
  }
};

// Computes the addresses and strides of the search.
Search plan_search(bool largest, const Tensor& self, size_t dim, const View& values, const View& indices) {
  Search search{largest, 1, 0, {}, {self.mutable_data_ptr<char>(), values.data, indices.data}};
  for (size_t i = self.sizes().size(); i-- > 0;) {
    const size_t d = self.dim_order()[i];
    const auto size = static_cast<size_t>(self.sizes()[d]);
    if (d == dim) {
      search.size = size;
      search.stride = byte_stride(self, d);
    } else {
      search.others.add({size, {byte_stride(self, d), values.strides[d], indices.strides[d]}});
    }
  }
  return search;
}

// The index of the extremum of all elements in row-major order.
int64_t find_of_all(bool largest, const Tensor& self) {
  const auto find = largest ? ukernel::argmax_rows : ukernel::argmin_rows;
  const auto* x = self.const_data_ptr<float>();
  if (is_row_major(self.dim_order(), self.sizes())) {
    const float value = largest ? ukernel::max_span(self.numel(), x) : ukernel::min_span(self.numel(), x);
    return static_cast<int64_t>(ukernel::find_span(self.numel(), x, value));
  }
  const View views[] = {View::of(self)};
  float best = 0.0f;
  int64_t index = 0;
  int64_t seen = 0;
  const Error error = for_each_fiber(views, views[0].dim - 1, [&](const Fiber* fibers) {
    float value = 0.0f;
    int32_t position = 0;
    find(static_cast<size_t>(fibers[0].size), fibers[0].stride / kFloat, 1,
         reinterpret_cast<const float*>(fibers[0].data), &value, &position);
    // Fibers are visited in row-major order, so only a strictly better value or the first NaN replaces the
    // winner.
    const bool beats = largest ? value > best : value < best;
    if (seen == 0 || beats || (value != value && best == best)) {
      best = value;
      index = seen + position;
    }
    seen += fibers[0].size;
    return Error::Ok;
  });
  RL_DCHECK(error == Error::Ok);
  static_cast<void>(error);
  return index;
}

Error search_fibers(KernelContext& context, bool largest, const ExtremumSearch& search) {
  if (search.indices.numel() == 0) return Error::Ok;
  const View indices = search.view_of(search.indices);
  View values = indices;
  if (search.values != nullptr) {
    values = search.view_of(*search.values);
  } else {
    // A null address with strides of 0 stays null during the walk.
    for (ptrdiff_t& stride : values.strides) stride = 0;
    values.data = nullptr;
  }
  plan_search(largest, search.self, search.dim, values, indices).all(context);
  return Error::Ok;
}

Error find(KernelContext& context, bool largest, const ExtremumSearch& search) {
  if (!search.over_all) return search_fibers(context, largest, search);
  *search.indices.mutable_data_ptr<int64_t>() = find_of_all(largest, search.self);
  return Error::Ok;
}

}  // namespace

Error max_along(KernelContext& context, const SearchProblem& problem) {
  return search_fibers(context, true, problem.search);
}

Error min_along(KernelContext& context, const SearchProblem& problem) {
  return search_fibers(context, false, problem.search);
}

Error argmax(KernelContext& context, const SearchProblem& problem) {
  return find(context, true, problem.search);
}

Error argmin(KernelContext& context, const SearchProblem& problem) {
  return find(context, false, problem.search);
}

}  // namespace rushlight::kernels::host
