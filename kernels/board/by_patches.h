// SPDX-License-Identifier: BSD-3-Clause
// Direct convolution of padded patches of the image: for few output channels, for kernels that are stored in
// any order, and in one to three dimensions. Every input is copied once for many taps, and the loops have no
// border tests.
#pragma once

#include <cstdint>

#include "kernels/geometry/convolution_geometry.h"

namespace rushlight::kernels::board {

// The first elements of a group of one element of the batch: input, weight, bias (null: zeros) and output. T
// is float, or uint16_t for the bits of float16.
template <class T>
struct ConvolutionData {
  const T* in;
  const T* weight;
  const T* bias;
  T* out;
};

// The same of another group, counted from the one of `data`.
template <class T>
ConvolutionData<T> group_of(const ConvolutionGeometry& geometry, const ConvolutionData<T>& data,
                            ptrdiff_t group) {
  const ptrdiff_t first = group * geometry.out_channels;
  return {data.in + group * geometry.in_channels * geometry.in_channel_stride,
          data.weight + group * geometry.weight_group_stride,
          data.bias == nullptr ? nullptr : data.bias + first, data.out + first * geometry.out_channel_stride};
}

// Calls f(data) for each group of each element of the batch.
template <class T, class F>
void for_each_group(const ConvolutionGeometry& geometry, const ConvolutionData<T>& data, F f) {
  for (ptrdiff_t n = 0; n < geometry.batch; ++n) {
    ConvolutionData<T> image = data;
    image.in += n * geometry.in_batch_stride;
    image.out += n * geometry.out_batch_stride;
    for (ptrdiff_t group = 0; group < geometry.groups; ++group) f(group_of(geometry, image, group));
  }
}

// How patches divide a convolution that is not transposed. Computed once for all groups.
class PatchPlan {
 public:
  explicit PatchPlan(const ConvolutionGeometry& geometry);

  // False if the buffers on the stack are too small for the patch of one output.
  [[nodiscard]] bool fits() const { return columns > 0; }

  ptrdiff_t rows = 0;  // outputs of one patch
  ptrdiff_t columns = 0;
  ptrdiff_t channels = 0;  // input channels of one patch, in each of its groups
  ptrdiff_t groups = 0;
  // A patch has the planes [channel][depth], and of each the elements [residue of the row][residue of the
  // column][row][column]: positions that are equal modulo the stride are adjacent, so that all outputs read
  // adjacent elements through a tap.
  ptrdiff_t row_residues = 0;
  ptrdiff_t column_residues = 0;
  ptrdiff_t height = 0;
  ptrdiff_t width = 0;

  [[nodiscard]] ptrdiff_t plane() const { return row_residues * column_residues * height * width; }
};

// Convolves all groups of all elements of the batch. Precondition: the geometry's plan fits. Sums are
// float32.
void convolve_patches(const ConvolutionGeometry& geometry, const PatchPlan& plan,
                      const ConvolutionData<float>& data);
void convolve_patches(const ConvolutionGeometry& geometry, const PatchPlan& plan,
                      const ConvolutionData<uint16_t>& data);

}  // namespace rushlight::kernels::board
