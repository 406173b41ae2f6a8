// SPDX-License-Identifier: BSD-3-Clause
// RISC-V with vectors of any length.
#include "kernels/ukernel/int8_product.h"
#include "kernels/ukernel/riscv/int8_rows_rvv.h"

namespace rushlight::ukernel::RL_UKERNEL_VARIANT {

void multiply_int8(const Int8Product& p) {
  multiply_int8_rows<true>({p.rows, p.columns, p.depth, p.left, p.left_stride, p.right, p.right_stride,
                            p.bias, nullptr, &p.to, p.out, p.out_stride, p.parts, p.part_stride});
}

}  // namespace rushlight::ukernel::RL_UKERNEL_VARIANT
