// SPDX-License-Identifier: BSD-3-Clause
// RISC-V without vectors, see int8_rows_scalar.h.
#include "kernels/ukernel/int8_product.h"
#include "kernels/ukernel/riscv/int8_rows_scalar.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

static_assert(kBlockRows % kInt8ProductRows == 0);

void multiply_int8(const Int8Product& p) {
  multiply_int8_rows({p.rows, p.columns, p.depth, p.left, p.left_stride, p.right, p.right_stride, p.bias,
                      nullptr, &p.to, p.out, p.out_stride});
}

void multiply_int8_row(const Int8Row& p) {
  sum_row(p.left, p.right, p.right_stride, p.columns, p.depth, kNoBias, 0, p.sums);
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
