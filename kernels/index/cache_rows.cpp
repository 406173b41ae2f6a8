// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/index/cache_rows.h"

#include "kernels/checks/checks.h"
#include "kernels/walk/strided_copy.h"

namespace rushlight::kernels {

Error check_cache_rows(const Tensor& value, const Tensor& cache) {
  RL_TRY(check_same_dtype(value, cache, "value and cache"));
  RL_CHECK(value.dim() == 4 && cache.dim() == 4, Error::InvalidArgument,
           "value, cache: expected 4 dimensions, got %ld and %ld", static_cast<long>(value.dim()),
           static_cast<long>(cache.dim()));
  for (ptrdiff_t d = 0; d < 4; ++d) {
    RL_CHECK(d == 1 || value.size(d) == cache.size(d), Error::InvalidArgument,
             "value: size %ld: expected the cache's %ld, got %ld", static_cast<long>(d),
             static_cast<long>(cache.size(d)), static_cast<long>(value.size(d)));
  }
  return Error::Ok;
}

Error CacheRows::plan(const Tensor& value, const Tensor& cache, int64_t start) {
  RL_TRY(check_cache_rows(value, cache));
  const ptrdiff_t rows = value.size(1);
  // Negative if there are more rows than positions: then no start is valid.
  const ptrdiff_t last = cache.size(1) - rows;
  RL_CHECK(start >= 0 && start <= last, Error::InvalidArgument,
           "start_pos: expected 0 to %ld (%ld positions in a cache of %ld), got %ld", static_cast<long>(last),
           static_cast<long>(rows), static_cast<long>(cache.size(1)), static_cast<long>(start));
  // The new rows are a slice of the cache, so one strided copy writes them.
  target_ = View::of(cache).slice(1, static_cast<ptrdiff_t>(start), rows);
  source_ = View::of(value);
  return Error::Ok;
}

Error CacheRows::write() const { return copy_view(target_, source_); }

}  // namespace rushlight::kernels
