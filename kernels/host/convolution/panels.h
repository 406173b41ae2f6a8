// SPDX-License-Identifier: BSD-3-Clause
// Weights in panels, as products of pixels read them: [phase][group][panel][tap][input channel][output
// channel]. A panel has gemm_columns() output channels; the last one of a group has as many vectors as it
// needs.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/host/convolution.h"
#include "kernels/ukernel/gemm.h"

namespace rushlight::kernels::host {

class Panels {
 public:
  Panels(const Convolution& c, const Phase& phase)
      : columns_(static_cast<ptrdiff_t>(ukernel::gemm_columns())),
        channels_(c.out_channels),
        depth_(phase.taps() * c.in_channels) {
    const auto lanes = static_cast<ptrdiff_t>(ukernel::gemm_lanes());
    padded_ = (channels_ + lanes - 1) / lanes * lanes;
    count_ = (channels_ + columns_ - 1) / columns_;
    floats_ = c.groups * padded_ * depth_;
  }

  [[nodiscard]] ptrdiff_t count() const { return count_; }
  // Output channels from panel to panel, of one, and floats of a row of it.
  [[nodiscard]] ptrdiff_t columns() const { return columns_; }
  [[nodiscard]] ptrdiff_t channels_in(ptrdiff_t panel) const {
    return std::min(columns_, channels_ - panel * columns_);
  }
  [[nodiscard]] ptrdiff_t width(ptrdiff_t panel) const {
    return std::min(columns_, padded_ - panel * columns_);
  }
  // Where a panel begins, behind where those of the phase do.
  [[nodiscard]] ptrdiff_t offset(ptrdiff_t group, ptrdiff_t panel) const {
    return (group * padded_ + panel * columns_) * depth_;
  }
  [[nodiscard]] ptrdiff_t floats() const { return floats_; }

 private:
  ptrdiff_t columns_;
  ptrdiff_t channels_;  // of a group
  ptrdiff_t padded_;    // to whole vectors
  ptrdiff_t depth_;     // taps and input channels
  ptrdiff_t count_;     // of a group
  ptrdiff_t floats_;
};

}  // namespace rushlight::kernels::host
