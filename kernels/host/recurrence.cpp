// SPDX-License-Identifier: BSD-3-Clause
// Recurrent layers with precomputed input gates: each step multiplies the hidden state by the weight, in
// blocks of units with all their gates, and applies the cell to a block while its sums are in the L1 cache.
// Blocks are divided among threads. A constant weight is packed at load in panels whose columns are a block's
// gates, [gate][unit], so that one register tile has all sums of a vector of units: no sums of lanes, and no
// waste for few units. Other weights are read as stored, by dot products.
#include "kernels/backs/recurrence.h"

#include <algorithm>
#include <optional>

#include "kernels/host/elements.h"
#include "kernels/recurrence/steps.h"
#include "kernels/ukernel/dot.h"
#include "kernels/ukernel/gemm.h"
#include "kernels/ukernel/recurrence.h"

namespace rushlight::kernels::host {

namespace {

constexpr size_t kGrain = size_t{1} << 16;  // products worth another thread
constexpr uint64_t kLayout = 0x72656375;    // "recu": identifies packed weights
constexpr size_t kDotUnits = 128;           // whose gates fit on the stack
constexpr size_t kMostColumns = 128;        // of a block: all gates of its units
constexpr size_t kBlockVectors = 8;         // of a block's columns
constexpr size_t kMostGates = LstmUnit::kGates;

size_t round_up(size_t value, size_t multiple) { return (value + multiple - 1) / multiple * multiple; }

// The packed weight: blocks of `units` units; the last one has fewer, padded to whole vectors. A block's
// columns [gate][unit] are in panels of gemm_columns() columns, each [depth][its columns]. Blocks have
// several panels, for gemm_row().
class PackedBlocks {
 public:
  explicit PackedBlocks(const RecurrenceSizes& sizes)
      : sizes_(sizes), lanes_(ukernel::gemm_lanes()), panel_(ukernel::gemm_columns()) {
    const size_t columns = std::min(kMostColumns, kBlockVectors * lanes_);
    units_ = std::max(lanes_, columns / sizes.gates / lanes_ * lanes_);
  }

  [[nodiscard]] size_t units() const { return units_; }
  [[nodiscard]] size_t bytes() const { return floats_before(round_up(sizes_.units, lanes_)) * sizeof(float); }
  // Returns the units, with padding, of the block from unit `first` on.
  [[nodiscard]] size_t width(size_t first) const {
    return std::min(units_, round_up(sizes_.units - first, lanes_));
  }

  // The weight may have 16-bit floats.
  void pack(const Tensor& weight, float* to) const {
    for (size_t first = 0; first < sizes_.units; first += units_) {
      for_each_panel(first, [&](size_t column, size_t columns, size_t offset) {
        for (size_t j = 0; j < columns; ++j) pack_column(weight, first, column + j, to + offset + j, columns);
      });
    }
  }

  // states[i * stride + column] = the products of row i of `hidden` with the block's columns, where
  // stride = gates * width(first). Columns of padding are written, too.
  void multiply(const float* packed, size_t first, const float* hidden, size_t rows, float* states) const {
    const size_t whole = rows == 1 ? sizes_.gates * width(first) / panel_ : 0;
    if (whole > 0) {
      const auto panel_stride = static_cast<ptrdiff_t>(sizes_.units * panel_);
      ukernel::gemm_row(whole, sizes_.units, hidden, packed + floats_before(first), panel_stride, false,
                        states);
    }
    for_each_panel(first, [&](size_t column, size_t columns, size_t offset) {
      if (column < whole * panel_) return;
      const float* panel = packed + offset;
      ukernel::GemmStrip strip;
      strip.rows = rows;
      strip.columns = columns;
      strip.depth = sizes_.units;
      strip.a = &hidden;
      strip.a_stride = static_cast<ptrdiff_t>(sizes_.units);
      strip.b = &panel;
      strip.b_stride = static_cast<ptrdiff_t>(columns);
      strip.c = states + column;
      strip.c_stride = static_cast<ptrdiff_t>(sizes_.gates * width(first));
      ukernel::gemm_strip(strip);
    });
  }

 private:
  [[nodiscard]] size_t floats_before(size_t unit) const { return unit * sizes_.gates * sizes_.units; }

  // body(first column, columns, offset in the packed weight) for each panel of a block.
  template <class Body>
  void for_each_panel(size_t first, Body body) const {
    const size_t all = sizes_.gates * width(first);
    for (size_t column = 0; column < all; column += panel_) {
      body(column, std::min(panel_, all - column), floats_before(first) + column * sizes_.units);
    }
  }

  // One column of a block, whose elements are `step` apart; zeros for units of padding.
  void pack_column(const Tensor& weight, size_t first, size_t column, float* to, size_t step) const {
    constexpr size_t kPart = 256;
    const size_t n = sizes_.units;
    const size_t unit = first + column % width(first);
    const size_t row = (column / width(first) * n + unit) * n;
    const auto* bytes = static_cast<const char*>(weight.const_data_ptr());
    for (size_t k = 0; k < n; k += kPart) {
      float part[kPart] = {};
      const size_t count = std::min(kPart, n - k);
      if (unit < n) {
        load_floats(part, weight.scalar_type(), bytes + (row + k) * weight.element_size(), 1, count);
      }
      for (size_t i = 0; i < count; ++i) to[(k + i) * step] = part[i];
    }
  }

  const RecurrenceSizes& sizes_;
  size_t lanes_;
  size_t panel_;
  size_t units_;
};

// The weight as it is computed with: packed, or as stored.
struct Layer {
  const RecurrenceSizes& sizes;
  RecurrentCell cell;
  const float* packed;  // null: as stored
  PackedBlocks blocks;

  // Units of a block.
  [[nodiscard]] size_t units() const { return packed != nullptr ? blocks.units() : kDotUnits; }

  // Computes units [first, first + count), a block, for the whole batch.
  void compute_block(const RecurrenceStep& step, size_t first, size_t count) const {
    alignas(64) float states[kStates];
    const size_t most = packed != nullptr ? ukernel::kMostGemmRows : ukernel::kDotRows;
    const size_t apart = packed != nullptr ? blocks.width(first) : kDotUnits;
    for (size_t row = 0; row < sizes.batch; row += most) {
      ukernel::RecurrentUnits units = units_of(step, sizes, row, first);
      units.rows = std::min(most, sizes.batch - row);
      units.units = count;
      units.states = states;
      units.state_gate_stride = static_cast<ptrdiff_t>(apart);
      units.state_stride = static_cast<ptrdiff_t>(sizes.gates * apart);
      if (packed != nullptr) {
        blocks.multiply(packed, first, step.before + row * sizes.units, units.rows, states);
      } else {
        multiply_stored(step, row, units.rows, first, count, states);
      }
      cell(units);
    }
  }

 private:
  static constexpr size_t kStates =
      std::max(ukernel::kMostGemmRows * kMostColumns, ukernel::kDotRows* kMostGates* kDotUnits);

  // A product for each gate, whose rows of the weight are `units` apart.
  void multiply_stored(const RecurrenceStep& step, size_t row, size_t rows, size_t first, size_t count,
                       float* states) const {
    const size_t n = sizes.units;
    for (size_t gate = 0; gate < sizes.gates; ++gate) {
      ukernel::DotProducts dots;
      dots.rows = rows;
      dots.columns = count;
      dots.depth = n;
      dots.a = step.before + row * n;
      dots.a_stride = static_cast<ptrdiff_t>(n);
      dots.b = step.weight + (gate * n + first) * n;
      dots.b_stride = static_cast<ptrdiff_t>(n);
      dots.c = states + gate * kDotUnits;
      dots.c_stride = static_cast<ptrdiff_t>(sizes.gates * kDotUnits);
      ukernel::dot_products(dots);
    }
  }
};

// Calls compute(step) for each step of a layer of 16-bit floats, which are converted step by step. States are
// rounded after each step. Empty without scratch memory.
class WidenedSteps {
 public:
  WidenedSteps(const RecurrenceProblem& problem, bool is_packed) : problem_(problem), is_packed_(is_packed) {}

  // Floats of scratch memory.
  [[nodiscard]] size_t floats() const {
    const size_t weight = is_packed_ ? 0 : problem_.layer.weight.numel();
    return padded_floats(gates()) + 3 * padded_floats(elements()) + padded_floats(problem_.sizes.units) +
           padded_floats(weight);
  }

  template <class Compute>
  std::optional<Error> run(KernelContext& context, Compute compute) const {
    const Recurrence& layer = problem_.layer;
    if (elements() == 0) return Error::Ok;
    FloatBuffers buffers(context, floats());
    if (buffers.empty()) return std::nullopt;
    float* inputs = buffers.take(gates());
    float* before = buffers.load(layer.hidden);
    RecurrenceStep step = {};
    step.gates = inputs;
    step.before = before;
    step.hidden = buffers.take(elements());
    if (layer.cell != nullptr) step.cell = buffers.load(*layer.cell);
    if (layer.bias != nullptr) step.bias = buffers.load(*layer.bias);
    if (!is_packed_) step.weight = buffers.load(layer.weight);
    for (size_t i = 0; i < problem_.sizes.steps; ++i) {
      const size_t t = problem_.sizes.step(i, layer.reverse);
      load_floats(inputs, problem_.type(), element(layer.gates, t * gates()), 1, gates());
      compute(step);
      round(step.hidden, before, element(layer.output, t * elements()));
      if (step.cell != nullptr) round(step.cell, step.cell, element(*layer.last_cell, 0));
    }
    store_tensor(context, layer.last_hidden, before);
    if (step.cell != nullptr) store_tensor(context, *layer.last_cell, step.cell);
    return Error::Ok;
  }

 private:
  [[nodiscard]] size_t elements() const { return problem_.sizes.batch * problem_.sizes.units; }
  [[nodiscard]] size_t gates() const { return problem_.sizes.gates * elements(); }
  [[nodiscard]] static void* element(const Tensor& tensor, size_t index) {
    return static_cast<char*>(tensor.mutable_data_ptr()) + index * tensor.element_size();
  }
  // Stores a state as 16-bit floats, and their values to `rounded`.
  void round(const float* state, float* rounded, void* to) const {
    store_floats(to, 1, problem_.type(), state, elements());
    load_floats(rounded, problem_.type(), to, 1, elements());
  }

  const RecurrenceProblem& problem_;
  bool is_packed_;
};

std::optional<Error> run(KernelContext& context, const RecurrenceProblem& problem, RecurrentCell cell) {
  const RecurrenceSizes& sizes = problem.sizes;
  if (!are_row_major(problem.layer)) return std::nullopt;
  const Layer layer = {sizes, cell, static_cast<const float*>(context.prepared()), PackedBlocks(sizes)};
  const size_t units = layer.units();
  const size_t blocks = (sizes.units + units - 1) / units;
  const size_t products = sizes.batch * sizes.gates * units * sizes.units;  // of a block
  const auto compute = [&](const RecurrenceStep& step) {
    context.parallel_for(blocks, kGrain / (products + 1) + 1, [&](size_t begin, size_t end, size_t) {
      for (size_t i = begin; i < end; ++i) {
        layer.compute_block(step, i * units, std::min(units, sizes.units - i * units));
      }
    });
  };
  if (widens(problem.type())) return WidenedSteps(problem, layer.packed != nullptr).run(context, compute);
  return for_each_step(problem, compute);
}

Error prepare(KernelContext& context, const RecurrenceProblem& problem) {
  const RecurrenceSizes& sizes = problem.sizes;
  const Tensor& weight = problem.layer.weight;
  context.need_products(sizes.steps * sizes.batch * sizes.gates * sizes.units * sizes.units, sizes.steps);
  if (!are_row_major(problem.layer)) return Error::Ok;
  const bool packs = is_constant(weight);
  if (widens(problem.type())) {
    context.need_scratch(WidenedSteps(problem, packs).floats() * sizeof(float) + 64);
  }
  if (!packs) return Error::Ok;
  const PackedBlocks blocks(sizes);
  const uint64_t layout =
      layout_id(kLayout, sizes.gates, sizes.units, ukernel::gemm_columns(), ukernel::gemm_lanes());
  if (void* to = context.prepare(weight.const_data_ptr(), layout, blocks.bytes())) {
    blocks.pack(weight, static_cast<float*>(to));
  }
  return Error::Ok;
}

}  // namespace

std::optional<Error> lstm(KernelContext& context, const RecurrenceProblem& problem) {
  return run(context, problem, ukernel::lstm_cell);
}
std::optional<Error> gru(KernelContext& context, const RecurrenceProblem& problem) {
  return run(context, problem, ukernel::gru_cell);
}
std::optional<Error> rnn_tanh(KernelContext& context, const RecurrenceProblem& problem) {
  return run(context, problem, ukernel::rnn_tanh_cell);
}
std::optional<Error> rnn_relu(KernelContext& context, const RecurrenceProblem& problem) {
  return run(context, problem, ukernel::rnn_relu_cell);
}

Error lstm_prepare(KernelContext& context, const RecurrenceProblem& problem) {
  return prepare(context, problem);
}
Error gru_prepare(KernelContext& context, const RecurrenceProblem& problem) {
  return prepare(context, problem);
}
Error rnn_tanh_prepare(KernelContext& context, const RecurrenceProblem& problem) {
  return prepare(context, problem);
}
Error rnn_relu_prepare(KernelContext& context, const RecurrenceProblem& problem) {
  return prepare(context, problem);
}

}  // namespace rushlight::kernels::host
