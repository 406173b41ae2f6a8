// SPDX-License-Identifier: BSD-3-Clause
// If all inputs have the layout of the output, or are scalars, one flat loop over memory does it. Otherwise
// rows along the innermost merged axis go to the microkernel; rows with strides or 16-bit floats pass through
// buffers of 256 elements on the stack.
#include "kernels/host/elementwise.h"

#include <cstring>

#include "kernels/checks/checks.h"
#include "kernels/checks/selected_calls.h"
#include "kernels/checks/selection.h"
#include "kernels/host/elements.h"
#include "kernels/walk/broadcast.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kMaxOperands = kMaxElementwiseInputs + 1;
// Fewest elements for a thread: about 20 us of reading and writing.
constexpr size_t kGrain = 1 << 15;
// Elements that are gathered or converted at a time.
constexpr size_t kGathered = 256;
constexpr size_t kMaxElementSize = 8;

// The axes of plan_broadcast(), at least two of them, with strides in bytes, and the addresses of the first
// elements. Operand 0 is the output.
struct Walk {
  BroadcastAxis axes[kTensorDimensionLimit];  // innermost first
  size_t dim = 0;
  size_t operands = 0;
  size_t sizes[kMaxOperands];  // of elements, in bytes
  char* data[kMaxOperands];
  // The dtype of an operand that is converted from or to float32; Float if it is not converted.
  ScalarType types[kMaxOperands];
};

bool converts(const Tensor& tensor, const RowWork& work) {
  return work.in_float && tensor.scalar_type() != ScalarType::Float;
}

// By size of the element: dtypes of one size share a loop.
void gather(char* to, const char* from, ptrdiff_t stride, size_t n, size_t element) {
  const auto copy = [&](auto type) {
    using T = decltype(type);
    for (size_t i = 0; i < n; ++i) {
      T value;
      std::memcpy(&value, from + static_cast<ptrdiff_t>(i) * stride, sizeof(T));
      std::memcpy(to + i * sizeof(T), &value, sizeof(T));
    }
  };
  if (element == 1) return copy(uint8_t{});
  if (element == 2) return copy(uint16_t{});
  return element == 4 ? copy(uint32_t{}) : copy(uint64_t{});
}

// The rows that pass through the buffers in one step: several if rows of the output have no gaps, and rows of
// each input have none, repeat, or are one element each.
size_t rows_together(const Walk& walk, const ukernel::Rows& rows) {
  const auto follow = [&](size_t k, ptrdiff_t stride) {
    return stride == walk.axes[0].strides[k] * static_cast<ptrdiff_t>(rows.n);
  };
  bool together = follow(0, rows.stride);
  for (size_t k = 1; k < walk.operands; ++k) {
    const ukernel::RowInput& in = rows.in[k - 1];
    together = together && (in.one || in.stride == 0 || follow(k, in.stride));
  }
  return together && rows.n < kGathered ? kGathered / rows.n : 1;
}

// Rows with an input that has strides or is converted.
void run_scattered(const Walk& walk, const ukernel::Rows& rows, const RowWork& work) {
  alignas(64) char gathered[kMaxOperands][kGathered * kMaxElementSize];
  const BroadcastAxis& inner = walk.axes[0];
  const bool converts_out = walk.types[0] != ScalarType::Float;
  const size_t most = rows_together(walk, rows);
  for (size_t row = 0; row < rows.count; row += most) {
    const size_t count = rows.count - row < most ? rows.count - row : most;
    for (size_t first = 0; first < rows.n; first += kGathered) {
      ukernel::Rows part = rows;
      part.count = count;
      part.n = rows.n - first < kGathered ? rows.n - first : kGathered;
      char* const out =
          static_cast<char*>(rows.out) + static_cast<ptrdiff_t>(row) * rows.stride + first * walk.sizes[0];
      part.out = converts_out ? gathered[0] : out;
      for (size_t k = 1; k < walk.operands; ++k) {
        const ukernel::RowInput& in = rows.in[k - 1];
        ptrdiff_t step = inner.strides[k];
        const char* from = static_cast<const char*>(in.data) + static_cast<ptrdiff_t>(row) * in.stride +
                           static_cast<ptrdiff_t>(first) * step;
        part.in[k - 1].data = from;
        // The elements of all rows, or of one that repeats.
        const size_t taken = in.stride == 0 ? 1 : count;
        const size_t n = in.one ? taken : taken * part.n;
        const bool is_gathered = step != 0 && step != static_cast<ptrdiff_t>(walk.sizes[k]);
        if (in.one) step = in.stride;
        // Three cases: converted to float32, gathered to adjacent elements, or used in place.
        const auto size = static_cast<ptrdiff_t>(walk.sizes[k]);
        if (walk.types[k] != ScalarType::Float) {
          load_floats(reinterpret_cast<float*>(gathered[k]), walk.types[k], from, step / size, n);
        } else if (is_gathered) {
          gather(gathered[k], from, step, n, walk.sizes[k]);
        } else {
          continue;
        }
        part.in[k - 1].data = gathered[k];
        const size_t element = walk.types[k] != ScalarType::Float ? sizeof(float) : walk.sizes[k];
        part.in[k - 1].stride = taken == 1 ? 0 : static_cast<ptrdiff_t>(n / taken * element);
      }
      if (converts_out) part.stride = static_cast<ptrdiff_t>(part.n * sizeof(float));
      work(part);
      if (converts_out)
        store_floats(out, 1, walk.types[0], reinterpret_cast<const float*>(gathered[0]), count * part.n);
    }
  }
}

// False if every operand's row is contiguous or one element, in the dtype that the microkernel reads.
bool is_scattered(const Walk& walk) {
  if (walk.types[0] != ScalarType::Float) return true;
  for (size_t k = 1; k < walk.operands; ++k) {
    if (walk.types[k] != ScalarType::Float) return true;
    const ptrdiff_t step = walk.axes[0].strides[k];
    if (step != 0 && step != static_cast<ptrdiff_t>(walk.sizes[k])) return true;
  }
  return false;
}

// Rows [begin, end), numbered over all axes except the innermost.
void run_rows(const Walk& walk, const RowWork& work, bool scattered, size_t begin, size_t end) {
  const BroadcastAxis& rows_axis = walk.axes[1];
  size_t index[kTensorDimensionLimit] = {};
  char* data[kMaxOperands];
  for (size_t k = 0; k < walk.operands; ++k) data[k] = walk.data[k];
  const auto move = [&](size_t axis, ptrdiff_t steps) {
    for (size_t k = 0; k < walk.operands; ++k) data[k] += steps * walk.axes[axis].strides[k];
  };
  // The position of the first row, divided into indices once; the walk then counts on.
  size_t left = begin;
  for (size_t axis = 1; axis < walk.dim; ++axis) {
    index[axis] = left % walk.axes[axis].size;
    left /= walk.axes[axis].size;
    move(axis, static_cast<ptrdiff_t>(index[axis]));
  }
  while (begin < end) {
    ukernel::Rows rows{};
    rows.n = walk.axes[0].size;
    // All rows along axis 1 form one call; the first call may begin in the middle of that axis.
    rows.count = rows_axis.size - index[1] < end - begin ? rows_axis.size - index[1] : end - begin;
    rows.out = data[0];
    rows.stride = rows_axis.strides[0];
    for (size_t k = 1; k < walk.operands; ++k) {
      rows.in[k - 1] = {data[k], rows_axis.strides[k], walk.axes[0].strides[k] == 0};
    }
    if (scattered) {
      run_scattered(walk, rows, work);
    } else {
      work(rows);
    }
    begin += rows.count;
    move(1, -static_cast<ptrdiff_t>(index[1]));
    index[1] = 0;
    for (size_t axis = 2; axis < walk.dim; ++axis) {
      move(axis, 1);
      if (++index[axis] < walk.axes[axis].size) break;
      move(axis, -static_cast<ptrdiff_t>(index[axis]));
      index[axis] = 0;
    }
  }
}

// One row of n elements: every input has the layout of the output or is a scalar.
void run_flat(KernelContext& context, const Tensor& out, Span<const Tensor* const> inputs,
              const RowWork& work, const bool* one) {
  context.parallel_for(out.numel(), kGrain, [&](size_t begin, size_t end, size_t) {
    ukernel::Rows rows{};
    rows.count = 1;
    rows.n = end - begin;
    rows.out = out.mutable_data_ptr<char>() + begin * out.element_size();
    for (size_t k = 0; k < inputs.size(); ++k) {
      const size_t first = one[k] ? 0 : begin * inputs[k]->element_size();
      rows.in[k] = {inputs[k]->const_data_ptr<char>() + first, 0, one[k]};
    }
    work(rows);
  });
}

// True if run_flat() computes this, given the shape of the output. Sets one[k] if input k is a scalar.
bool is_flat(const Tensor& out, Span<const Tensor* const> inputs, bool* one) {
  bool any_dense = false;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Tensor& input = *inputs[k];
    one[k] = !has_layout_of(input, out);
    any_dense = any_dense || !one[k];
    if (one[k] && (input.numel() != 1 || input.dim() > out.dim())) return false;
  }
  return any_dense;
}

// True if a call of the build may broadcast, convert, or read another layout than it writes.
constexpr bool kReachesRows =
    (kAnySelectedType & types::kReducedFloat) != 0 ||
    is_reached_through("kernels/host/elementwise", [](const SelectedCall& call) {
      const CallValue* first = nullptr;
      for (size_t i = 0; i < call.count; ++i) {
        const CallValue& value = call.arguments[i];
        if (value.kind != CallValue::Kind::kTensor) continue;
        if (first == nullptr) first = &value;
        if (value.count != first->count) return true;
        for (size_t d = 0; d < value.count; ++d) {
          if (value.numbers[d] != first->numbers[d] || value.tensor_strides[d] != first->tensor_strides[d]) {
            return true;
          }
        }
      }
      return false;
    });

}  // namespace

Error run_elementwise(KernelContext& context, const Tensor& out, Span<const Tensor* const> inputs,
                      const RowWork& work) {
  bool one[kMaxElementwiseInputs];
  if constexpr (!kReachesRows) {
    const bool is_selected =
        out.impl()->shape_dynamism() == TensorShapeDynamism::STATIC && is_flat(out, inputs, one);
    if (!is_selected) return not_selected("elementwise");
    if (out.numel() > 0) run_flat(context, out, inputs, work, one);
    return Error::Ok;
  }
  // A static output with the layout of its inputs needs neither a shape nor a resize.
  if (out.impl()->shape_dynamism() != TensorShapeDynamism::STATIC || !is_flat(out, inputs, one)) {
    Shape shape;
    for (const Tensor* input : inputs) RL_TRY(broadcast_shape(shape.span(), input->sizes(), &shape));
    RL_TRY(resize_out(out, shape.span()));
  }
  if (out.numel() == 0) return Error::Ok;
  bool any_converts = converts(out, work);
  for (const Tensor* input : inputs) any_converts = any_converts || converts(*input, work);
  if (!any_converts && is_flat(out, inputs, one)) {
    run_flat(context, out, inputs, work, one);
    return Error::Ok;
  }
  const Tensor* operands[kMaxOperands] = {&out};
  Walk walk;
  walk.operands = inputs.size() + 1;
  for (size_t k = 0; k < inputs.size(); ++k) operands[k + 1] = inputs[k];
  for (size_t k = 0; k < walk.operands; ++k) {
    walk.sizes[k] = operands[k]->element_size();
    walk.data[k] = operands[k]->mutable_data_ptr<char>();
    walk.types[k] = converts(*operands[k], work) ? operands[k]->scalar_type() : ScalarType::Float;
  }
  walk.dim = plan_broadcast(operands, walk.operands, walk.axes);
  // The loops need an axis of elements and an axis of rows.
  while (walk.dim < 2) walk.axes[walk.dim++] = BroadcastAxis{1, {}};
  const bool scattered = is_scattered(walk);
  const size_t n = walk.axes[0].size;
  // A single row is divided among threads along its elements, all other outputs by rows.
  if (walk.dim == 2 && walk.axes[1].size == 1) {
    context.parallel_for(n, kGrain, [&](size_t begin, size_t end, size_t) {
      Walk part = walk;
      part.axes[0].size = end - begin;
      for (size_t k = 0; k < walk.operands; ++k)
        part.data[k] += static_cast<ptrdiff_t>(begin) * walk.axes[0].strides[k];
      run_rows(part, work, scattered, 0, 1);
    });
    return Error::Ok;
  }
  context.parallel_for(out.numel() / n, n < kGrain ? kGrain / n : 1, [&](size_t begin, size_t end, size_t) {
    run_rows(walk, work, scattered, begin, end);
  });
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
