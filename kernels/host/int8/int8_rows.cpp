// SPDX-License-Identifier: BSD-3-Clause
// Panels of int8_gemm_columns() columns, each with the whole depth, packed at load if the weight is constant.
#include "kernels/host/int8/int8_rows.h"

namespace rushlight::kernels::host {

void Int8Matrix::pack(void* to) const {
  auto* panel = static_cast<char*>(to);
  const size_t width = ukernel::int8_gemm_columns();
  for (size_t column = 0; column < columns; column += width, panel += ukernel::int8_panel_bytes(depth)) {
    ukernel::pack_int8(panel, data + static_cast<ptrdiff_t>(column) * column_stride, depth_stride,
                       column_stride, depth, std::min(width, columns - column));
  }
}

void prepare_panels(KernelContext& context, const Int8Matrix& first, size_t count, ptrdiff_t stride,
                    bool is_constant, size_t scratch) {
  const size_t each = first.packed_bytes();
  context.need_scratch(scratch + 64 + (is_constant ? 0 : count * each + 64));
  if (!is_constant) return;
  // Equal layouts of one constant share their panels.
  const uint64_t layout = layout_id(kInt8Layout, first.depth, first.columns, first.depth_stride,
                                    first.column_stride, count, stride, ukernel::int8_gemm_columns());
  auto* to = static_cast<char*>(context.prepare(first.data, layout, count * each));
  if (to != nullptr) pack_panels(first, count, stride, to);
}

void pack_panels(const Int8Matrix& first, size_t count, ptrdiff_t stride, void* to) {
  Int8Matrix matrix = first;
  for (size_t i = 0; i < count; ++i, matrix.data += stride) {
    matrix.pack(static_cast<char*>(to) + i * first.packed_bytes());
  }
}

const void* packed_panels(KernelContext& context, const Int8Matrix& first, size_t count, ptrdiff_t stride) {
  if (context.prepared() != nullptr) return context.prepared();
  // Weights that are not constant are packed in each call.
  void* to = context.allocate_temp(std::max<size_t>(count * first.packed_bytes(), 1), 64);
  if (to != nullptr) pack_panels(first, count, stride, to);
  return to;
}

}  // namespace rushlight::kernels::host
