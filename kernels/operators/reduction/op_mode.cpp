// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/checks/selection.h"
#include "kernels/elements/element_access.h"
#include "kernels/sorting/order_statistic.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

namespace {

// The index of the most frequent element: the smallest of several, at its last position. All NaNs count as
// one value, the largest. `entries` and `buffer` have an entry for each element.
[[maybe_unused]] ptrdiff_t mode_of_sorted(const Fiber& fiber, ScalarType type, KeyedPosition* entries,
                                          KeyedPosition* buffer) {
  read_keys(fiber, type, false, entries);
  sort_by_key(entries, buffer, static_cast<size_t>(fiber.size));
  ptrdiff_t best = 0;
  ptrdiff_t most = 0;
  ptrdiff_t count = 0;  // of the elements that equal entry i, up to it
  for (ptrdiff_t i = 0; i < fiber.size; ++i) {
    count = i > 0 && entries[i].key == entries[i - 1].key ? count + 1 : 1;
    if (count > most) {
      most = count;
      best = i;
    }
  }
  return static_cast<ptrdiff_t>(entries[best].position);
}

// The same without scratch: one pass over the fiber for each distinct element finds the next larger one and
// counts it, quadratic in the worst case.
ptrdiff_t position_of_mode(const Fiber& fiber, ScalarType type, int64_t, RankScratch scratch) {
#ifndef __OPTIMIZE_SIZE__
  if (scratch != nullptr) return mode_of_sorted(fiber, type, scratch, scratch + fiber.size);
#endif
  static_cast<void>(scratch);
  ptrdiff_t best = 0;
  ptrdiff_t most = 0;
  ptrdiff_t next = -1;
  ptrdiff_t count = 0;
  do {
    const ptrdiff_t previous = next;
    next = -1;
    count = 0;
    for (ptrdiff_t i = 0; i < fiber.size; ++i) {
      const char* const at = fiber.data + i * fiber.stride;
      // Skips the values that earlier passes have counted.
      if (previous >= 0 && compare_elements(at, fiber.data + previous * fiber.stride, type) <= 0) continue;
      const int order = next < 0 ? -1 : compare_elements(at, fiber.data + next * fiber.stride, type);
      if (order > 0) continue;
      count = order < 0 ? 1 : count + 1;
      next = i;
    }
    // Values come in ascending order, so of equally frequent ones the smallest stays.
    if (count > most) {
      most = count;
      best = next;
    }
  } while (count > 0);
  return best;
}

}  // namespace

Error mode_values(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& values,
                  Tensor& indices) {
  constexpr TypeSet kTypes = selected_types("aten::mode.values");
  if (!contains(kTypes, self.scalar_type())) return unsupported_type(self.scalar_type());
  return pick_along(context, self, dim, keepdim, position_of_mode, 0, values, indices);
}

}  // namespace rushlight::kernels
