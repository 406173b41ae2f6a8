// SPDX-License-Identifier: BSD-3-Clause
// The largest number of channels that convolutions gather from separate planes while they read the input.
#pragma once

#include <cstddef>

namespace rushlight::kernels {

// An input with at most this many channels may be channels-first if the result is channels-last: gathering
// its pixels costs less than a conversion, and the microkernels interleave no more planes. With 5 to 16
// channels networks were up to 10 % faster with a conversion. `rushlight.export` does not convert such inputs
// (passes/channels_last.py); a test there compares its constant with this one.
inline constexpr ptrdiff_t kImageChannels = 4;

}  // namespace rushlight::kernels
