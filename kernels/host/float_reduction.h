// SPDX-License-Identifier: BSD-3-Clause
// Reductions in T, float or double, over any dimensions of tensors in any dim order, with the microkernels of
// reduce.h and doubles.h. 16-bit floats are converted to float piece by piece on the stack, and results are
// rounded once.
// If outputs are adjacent in the input, a tile of them is reduced together, row by row; otherwise each output
// is reduced span by span of contiguous elements.
//
//   FloatReduction<float> floats(reduction, ScalarType::Half);
//   floats.for_each_tile(context, [&](const char* first, size_t n, float* results) {
//     floats.fold(Folds<float>::kSum, first, n, nullptr, results);
//   });
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/reduction/reduce.h"
#include "runtime/base/error.h"
#include "runtime/kernel/context.h"

namespace rushlight::kernels {

// A reduction as microkernels: `run` reduces one contiguous span, `rows` the columns of a matrix. `center` is
// subtracted first by folds of differences; the other folds ignore it. `kind` says how partial results
// combine.
enum class FoldKind : uint8_t { kSum, kLargest, kSmallest };
template <class T>
struct FloatFold {
  FoldKind kind;
  T (*run)(size_t n, const T* x, T center);
  void (*rows)(size_t rows, ptrdiff_t stride, size_t n, const T* x, const T* center, T* y);
};

template <class T>
struct Folds {
  static const FloatFold<T> kSum;
  static const FloatFold<T> kSquares;  // squared differences from the center
  static const FloatFold<T> kLargest;
  static const FloatFold<T> kSmallest;
};

// Outputs in a tile: their partial sums are on the stack, hence fewer on 32-bit cores.
inline constexpr size_t kFoldTile = sizeof(void*) == 8 ? 256 : 32;

// Reduces the elements of n <= kFoldTile outputs; their dtype is that of T or, for float, a 16-bit one.
// `first` is the input of the first output, `reduced` walks over its elements, and the inputs of output i are
// i elements further. `center` has n values, or is null. A sum of no elements is 0; other folds require an
// element.
template <class T>
void fold_floats(const FloatFold<T>& fold, ScalarType type, const PairedAxes& reduced, const char* first,
                 size_t n, const T* center, T* results);

// Divides the outputs of a reduction into tiles, and the tiles among threads.
template <class T>
class FloatReduction {
 public:
  // `type` is the dtype of both planned tensors: that of T or, for float, a 16-bit one. Keeps a reference to
  // `reduction`.
  FloatReduction(const Reduction& reduction, ScalarType type);

  // Reduces the n outputs of a tile, see fold_floats(). Threads may call it concurrently.
  void fold(const FloatFold<T>& fold, const char* first, size_t n, const T* center, T* results) const;

  // Calls compute(first, n, results) for each tile, concurrently, and stores the results. Tiles are
  // independent, so the division among threads does not change any result.
  template <class Compute>
  void for_each_tile(KernelContext& context, Compute compute) const {
    const size_t count = tiles();
    context.parallel_for(count, grain(), [&](size_t begin, size_t end, size_t) {
      for (size_t tile = begin; tile < end; ++tile) {
        T results[kFoldTile];
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
  void write(const TilePosition& position, const T* results) const;

  const Reduction& reduction_;
  ScalarType type_;
  ptrdiff_t element_;  // bytes of an element
  ptrdiff_t apart_;    // bytes between the inputs of adjacent outputs of a tile
  size_t columns_;     // outputs with this distance
  size_t tile_;        // outputs in a tile
  size_t per_row_;     // tiles in `columns_`
};

}  // namespace rushlight::kernels
