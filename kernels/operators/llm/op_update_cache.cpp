// SPDX-License-Identifier: BSD-3-Clause
// Writes keys or values of new positions into a cache. Checks every position before it writes the first, so
// that an error leaves the cache unchanged. `out` is a placeholder for the exporter's graph: one element, 0,
// which is never read.
#include <cstring>

#include "kernels/checks/checks.h"
#include "kernels/index/cache_rows.h"
#include "kernels/index/index.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

namespace {

// A graph needs a result to keep the operator; the cache is its real output.
Error prepare_placeholder(const Tensor& value, const Tensor& out) {
  RL_TRY(check_same_dtype(value, out, "value and out"));
  const SizesType one = 1;
  return resize_out(out, {&one, 1});
}

void clear(const Tensor& out) { std::memset(out.mutable_data_ptr<char>(), 0, out.nbytes()); }

Error check_indices(const Tensor& value, const Tensor& indices) {
  RL_CHECK(indices.scalar_type() == ScalarType::Long, Error::InvalidType, "indices: expected int64, got %s",
           to_string(indices.scalar_type()));
  RL_CHECK(has_sizes(indices, value.sizes().subspan(0, 2)), Error::InvalidArgument,
           "indices: expected sizes %ld, %ld", static_cast<long>(value.size(0)),
           static_cast<long>(value.size(1)));
  return Error::Ok;
}

// Calls f(batch, row, index) for each index; stops with InvalidArgument at an index outside the cache.
template <class F>
Error for_each_row(const Tensor& indices, ptrdiff_t positions, F f) {
  const View view = View::of(indices);
  for (ptrdiff_t batch = 0; batch < indices.size(0); ++batch) {
    for (ptrdiff_t row = 0; row < indices.size(1); ++row) {
      const int64_t index =
          read_index(view.data + batch * view.strides[0] + row * view.strides[1], ScalarType::Long);
      RL_TRY(check_index(index, positions));
      RL_TRY(f(batch, row, static_cast<ptrdiff_t>(index)));
    }
  }
  return Error::Ok;
}

}  // namespace

// plan() has checked everything that can fail but the placeholder.
Error update_cache_out(KernelContext&, const Tensor& value, Tensor& cache, int64_t start_pos, Tensor& out) {
  CacheRows rows;
  RL_TRY(rows.plan(value, cache, start_pos));
  RL_TRY(prepare_placeholder(value, out));
  RL_TRY(rows.write());
  clear(out);
  return Error::Ok;
}

// Row i of each batch goes to position indices[batch, i]. start_pos is ignored, as in ExecuTorch.
Error update_cache_with_indices_out(KernelContext&, const Tensor& value, Tensor& cache, int64_t,
                                    const Tensor& indices, Tensor& out) {
  RL_TRY(check_cache_rows(value, cache));
  RL_TRY(check_indices(value, indices));
  RL_TRY(prepare_placeholder(value, out));
  const ptrdiff_t positions = cache.size(1);
  // Only checks; the second walk checks again, because the indices may be in memory that the copy changes.
  RL_TRY(for_each_row(indices, positions, [](ptrdiff_t, ptrdiff_t, ptrdiff_t) { return Error::Ok; }));
  const auto write = [&](ptrdiff_t batch, ptrdiff_t row, ptrdiff_t index) {
    return copy_view(View::of(cache).select(0, batch).select(0, index),
                     View::of(value).select(0, batch).select(0, row));
  };
  RL_TRY(for_each_row(indices, positions, write));
  clear(out);
  return Error::Ok;
}

}  // namespace rushlight::kernels
