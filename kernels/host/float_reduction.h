// SPDX-License-Identifier: BSD-3-Clause
// Reductions of float32 over any dimensions of tensors in any dim order, by the microkernels of reduce.h:
// where outputs lie side by side, a tile of them at a time, row by row; otherwise, where the elements of an
// output follow each other, run by run.
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

// What is made of a run, and of rows side by side; `center` is what differences are taken from, for those
// that take some.
struct FloatFold {
  enum Kind { kSum, kLargest, kSmallest };
  Kind kind;
  float (*run)(size_t n, const float* x, float center);
  void (*rows)(size_t rows, ptrdiff_t stride, size_t n, const float* x, const float* center, float* y);
};

extern const FloatFold kSumFold;
extern const FloatFold kSquaresFold;  // of differences from the center
extern const FloatFold kLargestFold;
extern const FloatFold kSmallestFold;

// Outputs that are worked on at a time.
inline constexpr size_t kFoldTile = sizeof(void*) == 8 ? 256 : 32;

// Folds the elements of n <= kFoldTile outputs, of which the first one's input is at `first`: those that
// walking over `reduced` meets; the other outputs' lie beside them where there are several. Sums of nothing
// are 0; others are not asked for.
void fold_floats(const FloatFold& fold, const PairedAxes& reduced, const char* first, size_t n,
                 const float* center, float* results);

class FloatReduction {
 public:
  // The tensors that were planned for are float32.
  explicit FloatReduction(const Reduction& reduction);

  // Of n outputs of a tile.
  void fold(const FloatFold& fold, const char* first, size_t n, const float* center, float* results) const;

  // compute(first, n, results) for all outputs; then they are written.
  template <class Compute>
  void for_each_tile(KernelContext& context, Compute compute) const {
    const size_t count = tiles();
    context.parallel_for(count, grain(), [&](size_t begin, size_t end, size_t) {
      for (size_t tile = begin; tile < end; ++tile) {
        float results[kFoldTile];
        const Place place = place_of(tile);
        compute(place.input, place.count, results);
        write(place, results);
      }
    });
  }

 private:
  struct Place {
    const char* input;
    char* output;
    size_t count;
  };
  [[nodiscard]] size_t tiles() const;
  [[nodiscard]] size_t grain() const;
  [[nodiscard]] Place place_of(size_t tile) const;
  void write(const Place& place, const float* results) const;

  const Reduction& reduction_;
  ptrdiff_t apart_;  // bytes between the inputs of an output and of the next one in a tile
  size_t columns_;   // outputs that lie so
  size_t tile_;      // of these at a time
  size_t per_row_;   // tiles of all of these
};

}  // namespace rushlight::kernels
