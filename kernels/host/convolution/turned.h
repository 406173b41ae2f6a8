// SPDX-License-Identifier: BSD-3-Clause
// Channels-first convolutions by way of channels-last: an image is copied to pixels with a border, the
// methods for channels-last compute bands of the result, and each band is transposed to the planes of the
// output.
#pragma once

#include "kernels/host/convolution.h"

namespace rushlight::kernels::host {

// Bytes of scratch memory for one image and one band.
[[nodiscard]] size_t turned_size(const Convolution& convolution);

// Calls compute(band), which computes one channels-last band, for all bands of all images.
template <class Compute>
void convolve_turned(KernelContext& context, const Convolution& convolution, void* scratch, Compute compute);

// The steps of convolve_turned(): bands are numbered over all images.
class Turned {
 public:
  Turned(KernelContext& context, const Convolution& convolution, void* scratch);
  [[nodiscard]] ptrdiff_t bands() const { return c_.batch * bands_; }
  // Copies the input of an image's first band, and the residual.
  Convolution start(ptrdiff_t band);
  void finish(ptrdiff_t band) const;

 private:
  // The part of the output that a band computes.
  [[nodiscard]] Convolution part_of(ptrdiff_t band) const;

  KernelContext& context_;
  const Convolution& c_;
  Convolution image_;  // the current one
  float* pixels_;      // of the input
  float* results_;     // of a band
  size_t axis_;        // that is divided into bands
  ptrdiff_t length_;   // of a band
  ptrdiff_t bands_;    // of an image
};

template <class Compute>
void convolve_turned(KernelContext& context, const Convolution& convolution, void* scratch, Compute compute) {
  Turned turned(context, convolution, scratch);
  for (ptrdiff_t band = 0; band < turned.bands(); ++band) {
    compute(turned.start(band));
    turned.finish(band);
  }
}

}  // namespace rushlight::kernels::host
