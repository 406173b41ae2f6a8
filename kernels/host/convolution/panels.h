// SPDX-License-Identifier: BSD-3-Clause
// Layout of packed weights for matrix products: [phase][group][panel][tap][input channel][output channel]. A
// panel has gemm_columns() output channels; the last panel of a group is padded to whole vectors only.
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/host/convolution.h"
#include "kernels/ukernel/gemm.h"

namespace rushlight::kernels::host {

// Offsets into the panels of one phase. Cheap to construct; does not refer to its arguments.
class Panels {
 public:
  Panels(const Convolution& c, const Phase& phase)
      : columns_(static_cast<ptrdiff_t>(ukernel::gemm_columns())),
        channels_(c.out_channels),
        depth_(phase.taps() * c.in_channels) {
    const auto lanes = static_cast<ptrdiff_t>(ukernel::gemm_lanes());
    // Panels are whole except the last, so offsets need no sum over panels.
    padded_ = (channels_ + lanes - 1) / lanes * lanes;
    count_ = (channels_ + columns_ - 1) / columns_;
    floats_ = c.groups * padded_ * depth_;
  }

  [[nodiscard]] ptrdiff_t count() const { return count_; }
  // columns(): output channels from panel to panel. channels_in(): output channels of one panel. width():
  // floats of a row of it, with padding.
  [[nodiscard]] ptrdiff_t columns() const { return columns_; }
  [[nodiscard]] ptrdiff_t channels_in(ptrdiff_t panel) const {
    return std::min(columns_, channels_ - panel * columns_);
  }
  // The last panel is narrower if its padded channels do not fill it.
  [[nodiscard]] ptrdiff_t width(ptrdiff_t panel) const {
    return std::min(columns_, padded_ - panel * columns_);
  }
  // Offset of a panel from the start of the phase's panels, in floats.
  [[nodiscard]] ptrdiff_t offset(ptrdiff_t group, ptrdiff_t panel) const {
    return (group * padded_ + panel * columns_) * depth_;
  }
  // Floats of all panels of the phase.
  [[nodiscard]] ptrdiff_t floats() const { return floats_; }

 private:
  ptrdiff_t columns_;
  ptrdiff_t channels_;  // of a group
  ptrdiff_t padded_;    // rounded up to whole vectors
  ptrdiff_t depth_;     // taps * input channels
  ptrdiff_t count_;     // of a group
  ptrdiff_t floats_;
};

}  // namespace rushlight::kernels::host
