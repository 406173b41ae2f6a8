// SPDX-License-Identifier: BSD-3-Clause
// Random permutation of 0 to n - 1 by the inside-out form of the Fisher-Yates shuffle (Knuth, TAOCP 2,
// 3.4.2): n random draws, no scratch. Every permutation has the same probability. n may not exceed the
// integers that the dtype represents exactly.
#include <cstring>
#include <utility>

#include "kernels/checks/checks.h"
#include "kernels/elements/element_access.h"
#include "kernels/math/random.h"
#include "runtime/kernel/context.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

Error randperm_out(KernelContext&, int64_t n, Tensor& out) {
  constexpr TypeSet kTypes = selected_types("aten::randperm.out");
  const ScalarType type = out.scalar_type();
  if (!contains(kTypes, type)) return unsupported_type(type);
  const uint64_t limit = largest_drawn(type) < INT32_MAX ? largest_drawn(type) : INT32_MAX;
  RL_CHECK(n >= 0 && static_cast<uint64_t>(n) <= limit, Error::InvalidArgument,
           "n: expected 0 to %llu for dtype %s, got %lld", static_cast<unsigned long long>(limit),
           to_string(type), static_cast<long long>(n));
  Shape shape;
  shape.push(static_cast<ptrdiff_t>(n));
  RL_TRY(resize_out(out, shape.span()));
  const size_t size = out.element_size();
  char* const data = out.mutable_data_ptr<char>();
  Random random(type);
  // Inserts i at a random position among the first i + 1; the element there moves to the end.
  for (size_t i = 0; i < out.numel(); ++i) {
    char* const slot = data + static_cast<size_t>(random.below(i + 1)) * size;
    std::memcpy(data + i * size, slot, slot == data + i * size ? 0 : size);
    store_integer(slot, type, static_cast<int64_t>(i));
  }
  return Error::Ok;
}

}  // namespace rushlight::kernels
