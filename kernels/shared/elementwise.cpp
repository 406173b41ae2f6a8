// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/shared/elementwise.h"

#include "kernels/shared/convert.h"
#include "kernels/shared/selection.h"

namespace rushlight::kernels {

namespace {

constexpr size_t kMaxOperands = kMaxElementwiseInputs + 1;
// Elements converted at a time; the stack holds one such run for each operand.
constexpr size_t kRun = 32;
constexpr size_t kMaxElementSize = 8;

// One dimension of the walk: its size and each operand's step in bytes.
struct Axis {
  size_t size;
  ptrdiff_t strides[kMaxOperands];
};

struct Walk {
  Axis axes[kTensorDimensionLimit];  // innermost first
  size_t dim = 0;
};

// Strides of `tensor` in the walk's dimensions; 0 where it is broadcast.
ptrdiff_t byte_stride(const Tensor& tensor, size_t from_last) {
  const auto rank = static_cast<size_t>(tensor.dim());
  if (from_last >= rank) return 0;
  const size_t d = rank - 1 - from_last;
  if (tensor.sizes()[d] == 1) return 0;
  return static_cast<ptrdiff_t>(tensor.strides()[d]) * static_cast<ptrdiff_t>(tensor.element_size());
}

bool continues(const Axis& inner, const Axis& outer, size_t operands) {
  for (size_t k = 0; k < operands; ++k) {
    if (outer.strides[k] != inner.strides[k] * static_cast<ptrdiff_t>(inner.size)) return false;
  }
  return true;
}

// Axes in the output's memory order, neighbours merged where every operand allows it.
void plan_walk(const Tensor* const* operands, size_t count, Walk* walk) {
  const Tensor& out = *operands[0];
  const auto rank = static_cast<size_t>(out.dim());
  for (size_t i = rank; i-- > 0;) {
    const size_t d = out.dim_order()[i];
    const auto size = static_cast<size_t>(out.sizes()[d]);
    if (size == 1) continue;
    Axis axis{size, {}};
    for (size_t k = 0; k < count; ++k) axis.strides[k] = byte_stride(*operands[k], rank - 1 - d);
    if (walk->dim > 0 && continues(walk->axes[walk->dim - 1], axis, count)) {
      walk->axes[walk->dim - 1].size *= size;
    } else {
      walk->axes[walk->dim++] = axis;
    }
  }
  if (walk->dim == 0) walk->axes[walk->dim++] = Axis{1, {}};
}

struct Operands {
  size_t count;
  ScalarType types[kMaxOperands];     // as stored
  ScalarType computed[kMaxOperands];  // as the row function sees them
  bool converts;
  RowFunction row;
  const void* function;
};

void run_converted(const Operands& operands, char* const* pointers, const ptrdiff_t* strides, size_t n) {
  alignas(kMaxElementSize) char buffers[kMaxOperands][kRun * kMaxElementSize];
  char* run_pointers[kMaxOperands];
  ptrdiff_t run_strides[kMaxOperands];
  for (size_t start = 0; start < n; start += kRun) {
    const size_t length = n - start < kRun ? n - start : kRun;
    for (size_t k = 0; k < operands.count; ++k) {
      char* stored = pointers[k] + static_cast<ptrdiff_t>(start) * strides[k];
      if (operands.types[k] == operands.computed[k]) {
        run_pointers[k] = stored;
        run_strides[k] = strides[k];
        continue;
      }
      run_pointers[k] = buffers[k];
      run_strides[k] = static_cast<ptrdiff_t>(element_size(operands.computed[k]));
      if (k > 0) {
        convert_run(buffers[k], run_strides[k], operands.computed[k], stored, strides[k], operands.types[k],
                    length);
      }
    }
    operands.row(operands.function, run_pointers, run_strides, length);
    if (operands.types[0] != operands.computed[0]) {
      convert_run(pointers[0] + static_cast<ptrdiff_t>(start) * strides[0], strides[0], operands.types[0],
                  buffers[0], run_strides[0], operands.computed[0], length);
    }
  }
}

void run_walk(const Walk& walk, const Operands& operands, char** pointers) {
  size_t index[kTensorDimensionLimit] = {};
  const Axis& inner = walk.axes[0];
  while (true) {
    if (operands.converts) {
      run_converted(operands, pointers, inner.strides, inner.size);
    } else {
      operands.row(operands.function, pointers, inner.strides, inner.size);
    }
    size_t axis = 1;
    for (; axis < walk.dim; ++axis) {
      const Axis& step = walk.axes[axis];
      for (size_t k = 0; k < operands.count; ++k) pointers[k] += step.strides[k];
      if (++index[axis] < step.size) break;
      for (size_t k = 0; k < operands.count; ++k) {
        pointers[k] -= step.strides[k] * static_cast<ptrdiff_t>(step.size);
      }
      index[axis] = 0;
    }
    if (axis >= walk.dim) return;
  }
}

Error check_selected(ScalarType type) {
  return contains(kConvertibleTypes, type) ? Error::Ok : unsupported_type(type);
}

}  // namespace

Error run_elementwise(Span<const Tensor* const> inputs, const Tensor& out, ScalarType compute,
                      ScalarType result, RowFunction row, const void* function) {
  RL_TRY(check_can_cast(result, out));
  Shape shape;
  for (const Tensor* input : inputs) RL_TRY(broadcast_shape(shape.span(), input->sizes(), &shape));
  RL_TRY(resize_out(out, shape.span()));
  if (out.numel() == 0) return Error::Ok;

  const Tensor* tensors[kMaxOperands] = {&out};
  char* pointers[kMaxOperands] = {out.mutable_data_ptr<char>()};
  Operands operands{inputs.size() + 1, {out.scalar_type()}, {result}, out.scalar_type() != result, row,
                    function};
  for (size_t k = 1; k < operands.count; ++k) {
    const Tensor& input = *inputs[k - 1];
    tensors[k] = &input;
    pointers[k] = input.mutable_data_ptr<char>();
    operands.types[k] = input.scalar_type();
    operands.computed[k] = compute;
    operands.converts = operands.converts || input.scalar_type() != compute;
  }
  if (operands.converts) {
    for (size_t k = 0; k < operands.count; ++k) {
      RL_TRY(check_selected(operands.types[k]));
      RL_TRY(check_selected(operands.computed[k]));
    }
  }
  Walk walk;
  plan_walk(tensors, operands.count, &walk);
  run_walk(walk, operands, pointers);
  return Error::Ok;
}

}  // namespace rushlight::kernels
