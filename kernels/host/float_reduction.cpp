// SPDX-License-Identifier: BSD-3-Clause
// Sums are blocked: the microkernels add spans with several accumulators, and the partial sums of 64 spans
// are added before they join the total. This bounds the rounding error of long float32 sums without Kahan
// steps.
#include "kernels/host/float_reduction.h"

#include <cstring>

#include "kernels/ukernel/reduce.h"

namespace rushlight::kernels {

namespace {

constexpr ptrdiff_t kFloat = sizeof(float);
constexpr size_t kChain = 64;  // partial sums that are added to one block

const float* floats_at(const char* address) { return reinterpret_cast<const float*>(address); }

// NaN wins and stays, as no comparison with it is true.
float better(FloatFold::Kind kind, float a, float b) {
  const bool wins = kind == FloatFold::kLargest ? b > a : b < a;
  return wins || b != b ? b : a;
}

// Combines the partial results of several spans, for n outputs. At most kFoldTile outputs: their blocks are
// on the stack.
class Groups {
 public:
  Groups(FloatFold::Kind kind, size_t n, float* results) : kind_(kind), n_(n), results_(results) {}

  // Adds the partial results of one more span.
  void add(const float* values) {
    const bool first = seen_ == 0;
    for (size_t i = 0; i < n_; ++i) {
      if (kind_ == FloatFold::kSum) {
        block_[i] = seen_ % kChain == 0 ? values[i] : block_[i] + values[i];
      } else {
        results_[i] = first ? values[i] : better(kind_, results_[i], values[i]);
      }
    }
    if (++seen_ % kChain == 0) close();
  }
  void finish() {
    if (seen_ % kChain != 0 || seen_ == 0) close();
  }

 private:
  // Adds the block of at most kChain partial sums to the total.
  void close() {
    if (kind_ != FloatFold::kSum) return;
    for (size_t i = 0; i < n_; ++i) {
      const float block = seen_ == 0 ? 0.0f : block_[i];
      // The first block starts the total, which is not initialized before.
      results_[i] = seen_ <= kChain ? block : results_[i] + block;
    }
  }

  FloatFold::Kind kind_;
  size_t n_;
  float* results_;
  size_t seen_ = 0;
  float block_[kFoldTile];
};

}  // namespace

const FloatFold kSumFold = {FloatFold::kSum,
                            [](size_t n, const float* x, float) { return ukernel::sum_span(n, x); },
                            [](size_t rows, ptrdiff_t stride, size_t n, const float* x, const float*,
                               float* y) { ukernel::sum_rows(rows, stride, n, x, y); }};
const FloatFold kSquaresFold = {FloatFold::kSum, ukernel::squares_span, ukernel::squares_rows};
const FloatFold kLargestFold = {FloatFold::kLargest,
                                [](size_t n, const float* x, float) { return ukernel::max_span(n, x); },
                                [](size_t rows, ptrdiff_t stride, size_t n, const float* x, const float*,
                                   float* y) { ukernel::max_rows(rows, stride, n, x, y); }};
const FloatFold kSmallestFold = {FloatFold::kSmallest,
                                 [](size_t n, const float* x, float) { return ukernel::min_span(n, x); },
                                 [](size_t rows, ptrdiff_t stride, size_t n, const float* x, const float*,
                                    float* y) { ukernel::min_rows(rows, stride, n, x, y); }};

FloatReduction::FloatReduction(const Reduction& reduction) : reduction_(reduction) {
  constexpr size_t kElements = 4096;  // elements of spans in a tile
  const Axis& inner = reduction.kept().inner();
  apart_ = inner.input;
  columns_ = inner.size;
  tile_ = kFoldTile;
  if (apart_ != kFloat) {
    // Outputs that are not adjacent are reduced one by one, so a tile has few of them if each has many
    // elements.
    const size_t elements = kElements / (reduction.count() + 1);
    tile_ = elements == 0 ? 1 : elements < kFoldTile ? elements : kFoldTile;
  }
  per_row_ = (columns_ + tile_ - 1) / tile_;
}

size_t FloatReduction::tiles() const {
  return reduction_.kept().count() == 0 ? 0 : reduction_.kept().count(1) * per_row_;
}

size_t FloatReduction::grain() const {
  constexpr size_t kElements = 32768;  // worth another thread
  // Elements that a tile reads.
  const size_t each = reduction_.count() * (columns_ < tile_ ? columns_ : tile_);
  return each >= kElements ? 1 : kElements / (each + 1) + 1;
}

FloatReduction::TilePosition FloatReduction::position_of(size_t tile) const {
  const size_t j = tile % per_row_ * tile_;
  const Axis& inner = reduction_.kept().inner();
  TilePosition position{nullptr, nullptr, columns_ - j < tile_ ? columns_ - j : tile_};
  const size_t step = tile / per_row_;
  reduction_.kept().walk_part(reduction_.input(), reduction_.output(), 1, step, step + 1,
                              [&](const char* input, char* output) {
                                position.input = input + static_cast<ptrdiff_t>(j) * inner.input;
                                position.output = output + static_cast<ptrdiff_t>(j) * inner.output;
                              });
  return position;
}

void FloatReduction::fold(const FloatFold& fold, const char* first, size_t n, const float* center,
                          float* results) const {
  const PairedAxes& reduced = reduction_.reduced();
  if (apart_ == kFloat) return fold_floats(fold, reduced, first, n, center, results);
  const Axis& inner = reduced.inner();
  // The reduced elements of an output are one contiguous span: no partial results to combine.
  const bool one_run = inner.input == kFloat && inner.size != 0 && reduced.count(1) == 1;
  for (size_t i = 0; i < n; ++i, first += apart_) {
    if (one_run) {
      results[i] = fold.run(inner.size, floats_at(first), center == nullptr ? 0.0f : center[i]);
    } else {
      fold_floats(fold, reduced, first, 1, center == nullptr ? nullptr : center + i, results + i);
    }
  }
}

void FloatReduction::write(const TilePosition& position, const float* results) const {
  const ptrdiff_t stride = reduction_.kept().inner().output;
  if (position.count == 1 || stride == kFloat) {
    std::memcpy(position.output, results, position.count * sizeof(float));
    return;
  }
  for (size_t i = 0; i < position.count; ++i) {
    std::memcpy(position.output + static_cast<ptrdiff_t>(i) * stride, results + i, sizeof(float));
  }
}

void fold_floats(const FloatFold& fold, const PairedAxes& reduced, const char* first, size_t n,
                 const float* center, float* results) {
  const Axis& inner = reduced.inner();
  const bool elements = n == 1 && inner.input == kFloat;
  const auto fold_group = [&](const char* at, float* to) {
    if (elements) {
      *to = fold.run(inner.size, floats_at(at), center == nullptr ? 0.0f : *center);
    } else {
      fold.rows(inner.size, inner.input / kFloat, n, floats_at(at), center, to);
    }
  };
  if (reduced.count(1) == 1 && inner.size != 0) return fold_group(first, results);
  Groups groups(fold.kind, n, results);
  // The walk writes nothing: the axes may hold output strides for another walk.
  reduced.walk(first, const_cast<char*>(first), 1, [&](const char* at, char*) {
    float values[kFoldTile];
    fold_group(at, values);
    groups.add(values);
  });
  groups.finish();
}

}  // namespace rushlight::kernels
