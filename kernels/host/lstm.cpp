// SPDX-License-Identifier: BSD-3-Clause
// LSTM with precomputed input gates: each step adds hidden state times weight, then applies the cell. Small
// batches are dot products with the weight as stored, because packing gains nothing for few rows; larger ones
// use the packed weight and gemm().
//
//   c = sigmoid(f) c + sigmoid(i) tanh(g)    h = sigmoid(o) tanh(c)    gates [i, f, g, o] of `units` each
#include "kernels/backs/lstm.h"

#include <algorithm>
#include <cstring>

#include "kernels/checks/sizes.h"
#include "kernels/host/gemm.h"
#include "kernels/ukernel/dot.h"
#include "kernels/ukernel/lstm.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kGates = 4;
constexpr size_t kUnits = 128;      // whose gates fit on the stack
constexpr size_t kGrain = 1 << 16;  // products worth another thread

template <class... Tensors>
bool are_row_major(const Tensors&... tensors) {
  return (is_row_major(tensors.dim_order(), tensors.sizes()) && ...);
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

}  // namespace

Error lstm(KernelContext& context, const LstmProblem& problem) {
  const auto& [gates, hidden, cell, weight, reverse, out, last_hidden, last_cell] = problem.layer;
  const LstmSizes& sizes = problem.sizes;
  if (!are_row_major(gates, hidden, cell, weight, out, last_hidden, last_cell)) {
    run_lstm<float>(problem.layer, sizes);
    return Error::Ok;
  }
  const size_t elements = sizes.batch * sizes.units;
  if (elements == 0) return Error::Ok;
  Step step = {};
  step.before = hidden.const_data_ptr<float>();
  step.weight = weight.const_data_ptr<float>();
  step.cell = last_cell.mutable_data_ptr<float>();
  // The cell is updated in place in `last_cell`; a plan may have given both the same memory.
  std::memmove(step.cell, cell.const_data_ptr(), cell.nbytes());
  Gemm gemm = product_of(weight, sizes);
  gemm.packed_b = static_cast<const float*>(context.prepared());
  // Without this memory the dot products compute large batches, too.
  gemm.out.data = takes_gemm(sizes) ? context.allocate_temp(state_bytes(sizes), 64) : nullptr;
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

Error lstm_prepare(KernelContext& context, const LstmProblem& problem) {
  const LstmSizes& sizes = problem.sizes;
  const size_t products = sizes.steps * sizes.batch * kGates * sizes.units * sizes.units;
  context.need_products(products, sizes.steps);
  if (!takes_gemm(sizes)) return Error::Ok;
  const Tensor& weight = problem.layer.weight;
  Gemm gemm = product_of(weight, sizes);
  prepare(context, gemm, weight);
  context.need_products(products, sizes.steps);
  const size_t bytes = most_scratch_bytes(gemm);
  context.need_scratch(state_bytes(sizes) + bytes + 128);
  return Error::Ok;
}

}  // namespace rushlight::kernels::host
