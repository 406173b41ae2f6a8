// SPDX-License-Identifier: BSD-3-Clause
// LSTM with precomputed input gates: each step adds hidden state times weight, then applies the cell. Small
// batches are dot products with the weight as stored, because packing gains nothing for few rows; larger ones
// use the packed weight and gemm(). 16-bit floats are converted as a whole: the states stay float32 from step
// to step, and are rounded once, when they are stored.
//
//   c = sigmoid(f) c + sigmoid(i) tanh(g)    h = sigmoid(o) tanh(c)    gates [i, f, g, o] of `units` each
#include "kernels/backs/lstm.h"

#include <algorithm>
#include <cstring>

#include "kernels/checks/selection.h"
#include "kernels/checks/sizes.h"
#include "kernels/host/elements.h"
#include "kernels/host/gemm.h"
#include "kernels/ukernel/dot.h"
#include "kernels/ukernel/lstm.h"
#include "runtime/tensor/dispatch.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kGates = 4;
constexpr size_t kUnits = 128;      // whose gates fit on the stack
constexpr size_t kGrain = 1 << 16;  // products worth another thread

template <class... Tensors>
bool are_row_major(const Tensors&... tensors) {
  return (is_row_major(tensors.dim_order(), tensors.sizes()) && ...);
}

constexpr TypeSet kTypes = kAnySelectedType & (types::kReducedFloat | type_set(ScalarType::Float));

Error run_portable(const LstmProblem& problem) {
  return dispatch<kTypes>(problem.type(), [&](auto type) {
    run_lstm<typename decltype(type)::Element>(problem.layer, problem.sizes);
    return Error::Ok;
  });
}

// One step. Matrices are row-major [batch, units]; gates are [batch, 4 units].
struct Step {
  const float* gates;
  const float* before;
  const float* weight;
  float* cell;
  float* hidden;
};

// Computes units [begin, end) for the whole batch, in blocks that fit on the stack.
void compute_units(const Step& step, const LstmSizes& sizes, size_t begin, size_t end) {
  float states[ukernel::kDotRows * kGates * kUnits];
  const size_t n = sizes.units;
  for (size_t row = 0; row < sizes.batch; row += ukernel::kDotRows) {
    const size_t rows = std::min(ukernel::kDotRows, sizes.batch - row);
    for (size_t first = begin; first < end; first += kUnits) {
      const size_t count = std::min(kUnits, end - first);
      // Four products, one for each gate, whose rows of the weight are `units` apart.
      for (size_t gate = 0; gate < kGates; ++gate) {
        ukernel::DotProducts dots;
        dots.rows = rows;
        dots.columns = count;
        dots.depth = n;
        dots.a = step.before + row * n;
        dots.a_stride = static_cast<ptrdiff_t>(n);
        dots.b = step.weight + (gate * n + first) * n;
        dots.b_stride = static_cast<ptrdiff_t>(n);
        dots.c = states + gate * kUnits;
        dots.c_stride = static_cast<ptrdiff_t>(kGates * kUnits);
        ukernel::dot_products(dots);
      }
      for (size_t i = 0; i < rows; ++i) {
        const size_t at = (row + i) * n + first;
        ukernel::lstm_cell(count, step.gates + (row + i) * kGates * n + first, static_cast<ptrdiff_t>(n),
                           states + i * kGates * kUnits, kUnits, step.cell + at, step.hidden + at);
      }
    }
  }
}

// The product of hidden states and weight for batches large enough to pack the weight; no data except the
// weight.
Gemm product_of(const Tensor& weight, const LstmSizes& sizes) {
  Gemm gemm;
  gemm.rows = sizes.batch;
  gemm.columns = kGates * sizes.units;
  gemm.depth = sizes.units;
  gemm.a = {nullptr, static_cast<ptrdiff_t>(gemm.depth), 1};
  // The weight [4 units, units] is read as its transpose.
  gemm.b = {weight.mutable_data_ptr(), 1, static_cast<ptrdiff_t>(gemm.depth)};
  gemm.out = {nullptr, static_cast<ptrdiff_t>(gemm.columns), 1};
  return gemm;
}

bool takes_gemm(const LstmSizes& sizes) { return sizes.batch > ukernel::kDotRows; }

size_t state_bytes(const LstmSizes& sizes) { return sizes.batch * kGates * sizes.units * sizeof(float); }

Error compute_batch(KernelContext& context, const Step& step, const LstmSizes& sizes, Gemm& gemm,
                    void* scratch) {
  auto* states = static_cast<float*>(gemm.out.data);
  gemm.a.data = const_cast<float*>(step.before);
  RL_TRY(multiply(context, gemm, scratch));
  const size_t n = sizes.units;
  for (size_t row = 0; row < sizes.batch; ++row) {
    ukernel::lstm_cell(n, step.gates + row * kGates * n, static_cast<ptrdiff_t>(n), states + row * kGates * n,
                       static_cast<ptrdiff_t>(n), step.cell + row * n, step.hidden + row * n);
  }
  return Error::Ok;
}

// Bytes of panels that a call packs if the weight is not packed at load.
size_t own_panel_bytes(const LstmSizes& sizes) {
  return packed_bytes(ScalarType::Float, sizes.units, kGates * sizes.units);
}

// All steps, of float32. `packed` are panels of the weight, or null.
Error compute(KernelContext& context, const Lstm& layer, const LstmSizes& sizes, const void* packed) {
  const auto& [gates, hidden, cell, weight, reverse, out, last_hidden, last_cell] = layer;
  const size_t elements = sizes.batch * sizes.units;
  if (elements == 0) return Error::Ok;
  Step step = {};
  step.before = hidden.const_data_ptr<float>();
  step.weight = weight.const_data_ptr<float>();
  step.cell = last_cell.mutable_data_ptr<float>();
  // The cell is updated in place in `last_cell`; a plan may have given both the same memory.
  std::memmove(step.cell, cell.const_data_ptr(), cell.nbytes());
  Gemm gemm = product_of(weight, sizes);
  gemm.packed_b = packed;
  // Without this memory the dot products compute large batches, too.
  gemm.out.data = takes_gemm(sizes) ? context.allocate_temp(state_bytes(sizes), 64) : nullptr;
  if (gemm.out.data != nullptr && packed == nullptr) {
    if (void* own = context.allocate_temp(own_panel_bytes(sizes), 64)) {
      pack_b(own, gemm.type, gemm.b, gemm.depth, gemm.columns);
      gemm.packed_b = own;
    }
  }
  void* scratch = gemm.out.data == nullptr ? nullptr : take_scratch(context, gemm);
  for (size_t i = 0; i < sizes.steps; ++i) {
    const size_t t = sizes.step(i, reverse);
    step.gates = gates.const_data_ptr<float>() + t * kGates * elements;
    step.hidden = out.mutable_data_ptr<float>() + t * elements;
    if (gemm.out.data != nullptr) {
      RL_TRY(compute_batch(context, step, sizes, gemm, scratch));
    } else {
      const size_t each = kGates * elements;  // products for one unit
      context.parallel_for(sizes.units, kGrain / (each + 1) + 1,
                           [&](size_t begin, size_t end, size_t) { compute_units(step, sizes, begin, end); });
    }
    step.before = step.hidden;
  }
  std::memmove(last_hidden.mutable_data_ptr(), step.before, last_hidden.nbytes());
  return Error::Ok;
}

size_t widened_bytes(const Lstm& layer) {
  size_t floats = 0;
  for (const Tensor& tensor : {layer.gates, layer.hidden, layer.cell, layer.weight, layer.output,
                               layer.last_hidden, layer.last_cell}) {
    floats += padded_floats(tensor.numel());
  }
  return floats * sizeof(float);
}

// The same for 16-bit floats, in float32 copies. Without memory for these the portable code computes.
Error compute_widened(KernelContext& context, const LstmProblem& problem) {
  const Lstm& layer = problem.layer;
  auto* floats = static_cast<float*>(context.allocate_temp(widened_bytes(layer), 64));
  if (floats == nullptr) return run_portable(problem);
  const auto take = [&](const Tensor& of) {
    const TensorImpl made = widened_tensor(of, floats);
    floats += padded_floats(of.numel());
    return made;
  };
  TensorImpl impls[] = {take(layer.gates),  take(layer.hidden),      take(layer.cell),     take(layer.weight),
                        take(layer.output), take(layer.last_hidden), take(layer.last_cell)};
  const Tensor gates(&impls[0]);
  const Tensor hidden(&impls[1]);
  const Tensor cell(&impls[2]);
  const Tensor weight(&impls[3]);
  const Tensor output(&impls[4]);
  const Tensor last_hidden(&impls[5]);
  const Tensor last_cell(&impls[6]);
  load_tensor(context, gates.mutable_data_ptr<float>(), layer.gates);
  load_tensor(context, hidden.mutable_data_ptr<float>(), layer.hidden);
  load_tensor(context, cell.mutable_data_ptr<float>(), layer.cell);
  load_tensor(context, weight.mutable_data_ptr<float>(), layer.weight);
  const Lstm widened{gates, hidden, cell, weight, layer.reverse, output, last_hidden, last_cell};
  RL_TRY(compute(context, widened, problem.sizes, nullptr));
  store_tensor(context, layer.output, output.const_data_ptr<float>());
  store_tensor(context, layer.last_hidden, last_hidden.const_data_ptr<float>());
  store_tensor(context, layer.last_cell, last_cell.const_data_ptr<float>());
  return Error::Ok;
}

}  // namespace

Error lstm(KernelContext& context, const LstmProblem& problem) {
  const auto& [gates, hidden, cell, weight, reverse, out, last_hidden, last_cell] = problem.layer;
  if (!are_row_major(gates, hidden, cell, weight, out, last_hidden, last_cell)) return run_portable(problem);
  if (widens(problem.type())) return compute_widened(context, problem);
  return compute(context, problem.layer, problem.sizes, context.prepared());
}

Error lstm_prepare(KernelContext& context, const LstmProblem& problem) {
  const LstmSizes& sizes = problem.sizes;
  const size_t products = sizes.steps * sizes.batch * kGates * sizes.units * sizes.units;
  context.need_products(products, sizes.steps);
  const bool is_widened = widens(problem.type());
  if (is_widened) {
    context.need_besides(widened_bytes(problem.layer) + 64);
  }
  if (!takes_gemm(sizes)) return Error::Ok;
  const Tensor& weight = problem.layer.weight;
  Gemm gemm = product_of(weight, sizes);
  const bool packs = is_widened || !is_constant(weight);
  if (!packs) prepare(context, gemm, weight);
  context.need_products(products, sizes.steps);
  const size_t bytes = most_scratch_bytes(gemm) + (packs ? own_panel_bytes(sizes) + 64 : 0);
  context.need_scratch(state_bytes(sizes) + bytes + 128);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
