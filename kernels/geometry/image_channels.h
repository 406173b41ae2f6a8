// SPDX-License-Identifier: BSD-3-Clause
// How many channels of an input convolutions gather from planes as they read it.
#pragma once

#include <cstddef>

namespace rushlight::kernels {

// An input of at most so many channels may lie plane by plane where the result is channels-last: gathering
// its pixels takes less than a conversion, and microkernels interleave no more planes. With 5 to 16 channels
// networks were up to 10 % faster with a conversion. `rushlight.export` converts no such inputs
// (passes/channels_last.py); a test there holds it to this number.
inline constexpr ptrdiff_t kImageChannels = 4;

}  // namespace rushlight::kernels
