// SPDX-License-Identifier: BSD-3-Clause
// Sums of rescaled int8, one element at a time; shared by all variants.
#include "kernels/ukernel/generic/vector.h"
#include "kernels/ukernel/int8_elementwise.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

namespace {

const int8_t* row_of(const RowInput& input, size_t row) {
  return reinterpret_cast<const int8_t*>(static_cast<const char*>(input.data) +
                                         static_cast<ptrdiff_t>(row) * input.stride);
}

// out = each(a, b) for all elements.
template <class Each>
RL_INLINE void compute_each(const Rows& rows, const Each& each) {
  for (size_t row = 0; row < rows.count; ++row) {
    const int8_t* a = row_of(rows.in[0], row);
    const int8_t* b = row_of(rows.in[1], row);
    auto* out = static_cast<char*>(rows.out) + static_cast<ptrdiff_t>(row) * rows.stride;
    for (size_t i = 0; i < rows.n; ++i) {
      out[i] = static_cast<char>(each(a[rows.in[0].one ? 0 : i], b[rows.in[1].one ? 0 : i]));
    }
  }
}

}  // namespace

// A rescaled operand is a function of one byte: a table of 256 values for each operand leaves one 64-bit
// rounding an element instead of three. Short rows are computed without tables.
void add_rescaled_int8(const Rows& rows, const RescaledSum& sum) {
  constexpr size_t kBytes = 256;
  if (rows.count * rows.n < 2 * kBytes) return compute_each(rows, sum);
  int32_t rescaled[2][kBytes];
  for (int i = 0; i < 2; ++i) {
    for (size_t byte = 0; byte < kBytes; ++byte) {
      rescaled[i][byte] = sum.rescaled(static_cast<int8_t>(byte), i);
    }
  }
  compute_each(rows, [&](int8_t a, int8_t b) {
    return requantize(sum.to, rescaled[0][static_cast<uint8_t>(a)] + rescaled[1][static_cast<uint8_t>(b)], 0);
  });
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
