// SPDX-License-Identifier: BSD-3-Clause
// Reductions of float32 over any dimensions of tensors in any dim order, with the microkernels of reduce.h.
// If outputs are adjacent in the input, a tile of them is reduced together, row by row; otherwise each output
// is reduced span by span of contiguous elements.
//
//   FloatReduction floats(reduction);
//   floats.for_each_tile(context, [&](const char* first, size_t n, float* results) {
//     floats.fold(kSumFold, first, n, nullptr, results);
//   });
#pragma once

#include <cstddef>

#include "kernels/reduction/reduce.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// A reduction as microkernels: `run` reduces one contiguous span, `rows` the columns of a matrix. `center` is
// subtracted first by folds of differences; the other folds ignore it. `kind` says how partial results
// combine.
struct FloatFold {
  enum Kind { kSum, kLargest, kSmallest };
  Kind kind;
  float (*run)(size_t n, const float* x, float center);
  void (*rows)(size_t rows, ptrdiff_t stride, size_t n, const float* x, const float* center, float* y);
};

extern const FloatFold kSumFold;
extern const FloatFold kSquaresFold;  // squared differences from the center
extern const FloatFold kLargestFold;
extern const FloatFold kSmallestFold;

// Outputs in a tile: their partial sums are on the stack, hence fewer on 32-bit cores.
inline constexpr size_t kFoldTile = sizeof(void*) == 8 ? 256 : 32;

// Reduces the elements of n <= kFoldTile outputs. `first` is the input of the first output, `reduced` walks
// over its elements, and the inputs of output i are i floats further. `center` has n values, or is null. A
// sum of no elements is 0; other folds require an element.
void fold_floats(const FloatFold& fold, const PairedAxes& reduced, const char* first, size_t n,
                 const float* center, float* results);

// Divides the outputs of a reduction into tiles, and the tiles among threads.
class FloatReduction {
 public:
  // Precondition: the planned tensors are float32. Keeps a reference to `reduction`.
  explicit FloatReduction(const Reduction& reduction);

  // Reduces the n outputs of a tile, see fold_floats(). Threads may call it concurrently.
  void fold(const FloatFold& fold, const char* first, size_t n, const float* center, float* results) const;

  // Calls compute(first, n, results) for each tile, concurrently, and stores the results. Tiles are
  // independent, so the division among threads does not change any result.
  template <class Compute>
  void for_each_tile(KernelContext& context, Compute compute) const {
    const size_t count = tiles();
    context.parallel_for(count, grain(), [&](size_t begin, size_t end, size_t) {
      for (size_t tile = begin; tile < end; ++tile) {
        float results[kFoldTile];
        const TilePosition position = position_of(tile);
        compute(position.input, position.count, results);
        write(position, results);
      }
    });
  }

 private:
  // The inputs and outputs of a tile, which has `count` adjacent outputs.
  struct TilePosition {
    const char* input;
    char* output;
    size_t count;
  };
  [[nodiscard]] size_t tiles() const;
  [[nodiscard]] size_t grain() const;
  [[nodiscard]] TilePosition position_of(size_t tile) const;
  void write(const TilePosition& position, const float* results) const;

  const Reduction& reduction_;
  ptrdiff_t apart_;  // bytes between the inputs of adjacent outputs of a tile
  size_t columns_;   // outputs with this distance
  size_t tile_;      // outputs in a tile
  size_t per_row_;   // tiles in `columns_`
};

}  // namespace rushlight::kernels
