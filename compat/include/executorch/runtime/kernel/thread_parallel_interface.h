// SPDX-License-Identifier: BSD-3-Clause
// A loop whose parts may execute in parallel. Like rushlight's kernels, it executes on the calling thread:
// with the official threadpool the parts would be distributed over threads, so a function must not depend on
// their order in either case.
//
//   parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
//     for (int64_t row = begin; row < end; ++row) compute(row);
//   });
#pragma once

#include <cinttypes>
#include <cstdint>
#include <functional>

#include <c10/util/irange.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/function_ref.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::extension {

namespace internal {

// The size of a part that repays a thread's start, in simple operations on elements. Kernels pass it as
// `grain_size`.
constexpr int64_t GRAIN_SIZE = 32768;

// Calls f(begin, end). Debug builds call f for each index from the end, to expose code that relies on an
// order; they do not call it for an empty range, other builds do.
template <class Func>
inline bool parallel_for_no_threadpool(const int64_t begin, const int64_t end, const int64_t grain_size,
                                       const Func& f) {
  ET_CHECK_OR_RETURN_FALSE(begin >= 0 && end >= begin, "from %" PRId64 " to %" PRId64, begin, end);
  ET_CHECK_OR_RETURN_FALSE(grain_size > 0, "pieces of %" PRId64, grain_size);
#ifdef NDEBUG
  f(begin, end);
#else
  for (int64_t i = end; i-- > begin;) f(i, i + 1);
#endif
  return true;
}

}  // namespace internal

// Calls func(from, to) for parts that together are [begin, end), each index once. `grain_size` is the least
// size of a part, at least 1; here the whole range is one part. Returns false, with a log line, if the range
// or the grain size is invalid: 0 <= begin <= end.
template <class Func>
bool parallel_for(const int64_t begin, const int64_t end, const int64_t grain_size, const Func& func) {
  return internal::parallel_for_no_threadpool(begin, end, grain_size, func);
}

// The calling thread's number in parallel_for(), and the number of threads: always 0 of 1. set_thread_num()
// aborts in debug builds.
inline int64_t get_thread_num() { return 0; }
inline int64_t get_thread_count() { return 1; }
inline void set_thread_num(int64_t) { ET_DCHECK_MSG(false, "there is one thread"); }

}  // namespace executorch::extension

namespace torch::executor {
using ::executorch::extension::get_thread_num;
using ::executorch::extension::parallel_for;
using ::executorch::extension::set_thread_num;
}  // namespace torch::executor
