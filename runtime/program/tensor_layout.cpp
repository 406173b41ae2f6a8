// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/program/tensor_layout.h"

#include "runtime/base/checked.h"
#include "runtime/base/log.h"
#include "runtime/tensor/tensor.h"

namespace rushlight {

namespace {

constexpr uint8_t kRowMajor[kTensorDimensionLimit] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// A bit per dimension. Rank is at most 16, so 32 bits suffice.
bool is_permutation(Span<const uint8_t> order) {
  uint32_t seen = 0;
  for (const uint8_t d : order) {
    if (d >= order.size() || ((seen >> d) & 1u) != 0) return false;
    seen |= 1u << d;
  }
  return true;
}

}  // namespace

Result<TensorLayout> make_tensor_layout(int8_t scalar_type, Span<const int32_t> sizes,
                                        Span<const uint8_t> dim_order, const char* what) {
  // An unknown dtype number has element size 0, so the cast is safe.
  const auto type = static_cast<ScalarType>(scalar_type);
  const size_t width = element_size(type);
  RL_CHECK(width != 0, Error::InvalidArgument, "%s: unknown dtype %d", what, scalar_type);
  RL_CHECK(sizes.size() <= kTensorDimensionLimit, Error::InvalidArgument, "%s: %lu dimensions, at most %lu",
           what, log_number(sizes.size()), log_number(kTensorDimensionLimit));
  // Files may omit the dim order of a row-major tensor.
  if (dim_order.empty()) dim_order = {kRowMajor, sizes.size()};
  RL_CHECK(dim_order.size() == sizes.size() && is_permutation(dim_order), Error::InvalidArgument,
           "%s: dim order of %lu is no permutation of %lu dimensions", what, log_number(dim_order.size()),
           log_number(sizes.size()));
  size_t numel = 0;
  size_t nbytes = 0;
  RL_CHECK(checked_numel(sizes, &numel) && checked_mul(numel, width, &nbytes), Error::InvalidArgument,
           "%s: a negative size, or too many elements", what);
  return TensorLayout{type, sizes, dim_order, nbytes};
}

}  // namespace rushlight
