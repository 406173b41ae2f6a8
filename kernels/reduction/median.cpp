// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/reduction/median.h"

#include <cmath>
#include <cstdint>

#include "kernels/checks/checks.h"
#include "kernels/elements/element_access.h"
#include "kernels/walk/strided_copy.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels {

ptrdiff_t position_of_median(const Fiber& fiber, ScalarType type, int64_t ignores_nan, RankScratch scratch) {
  // NaN sorts behind all numbers, so the median of the numbers has rank (numbers - 1) / 2: the lower one of
  // two middle elements.
#ifndef __OPTIMIZE_SIZE__
  if (scratch != nullptr) {
    const auto size = static_cast<size_t>(fiber.size);
    int64_t* const keys = read_keys(fiber, type, scratch);
    size_t others = 0;  // NaN, whose key is INT64_MAX
    if (!is_integer_like(type)) {
      // Compilers vectorize this form: only for INT64_MAX the sign changes from plus to minus.
      for (size_t i = 0; i < size; ++i) {
        const auto key = static_cast<uint64_t>(keys[i]);
        others += static_cast<size_t>(((key + 1) & ~key) >> 63);
      }
    }
    // The first NaN follows all numbers.
    const bool is_nan = others == size || (ignores_nan == 0 && others > 0);
    return position_among(keys, size, is_nan ? size - others : (size - others - 1) / 2);
  }
#endif
  const ptrdiff_t numbers = count_not_nan(fiber, type);
  if (numbers == 0 || (ignores_nan == 0 && numbers < fiber.size)) return position_of_nan(fiber, type);
  return position_of_rank(fiber, type, (numbers - 1) / 2, scratch);
}

Error median_of_all(KernelContext& context, TypeSet types, const Tensor& self, bool ignores_nan,
                    const Tensor& out) {
  const ScalarType type = self.scalar_type();
  if (!contains(types, type)) return unsupported_type(type);
  RL_TRY(check_same_dtype(self, out, "self and out"));
  RL_TRY(resize_out(out, {}));
  char* const target = out.mutable_data_ptr<char>();
  // The order of elements does not matter here, so the whole tensor is one fiber in memory order.
  const Fiber fiber = fiber_of(self);
  if (fiber.size == 0) {
    // PyTorch stores NaN, whose conversion to an integer gives the lowest int32 and int64, and 0 for smaller
    // types. store_number() would give 0 for int32.
    if (type == ScalarType::Int) {
      store_integer(target, type, INT32_MIN);
    } else {
      store_number(target, type, NAN);
    }
    return Error::Ok;
  }
  const RankScratch scratch = allocate_ranks(context, static_cast<size_t>(fiber.size));
  const ptrdiff_t found = position_of_median(fiber, type, ignores_nan ? 1 : 0, scratch);
  copy_elements(target, 0, fiber.data + found * fiber.stride, 0, 1, self.element_size());
  return Error::Ok;
}

Error median_along(KernelContext& context, TypeSet types, const Tensor& self, int64_t dim, bool keepdim,
                   bool ignores_nan, const Tensor& values, const Tensor& indices) {
  if (!contains(types, self.scalar_type())) return unsupported_type(self.scalar_type());
  return pick_along(context, self, dim, keepdim, position_of_median, ignores_nan ? 1 : 0, values, indices);
}

}  // namespace rushlight::kernels
