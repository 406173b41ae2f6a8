// SPDX-License-Identifier: BSD-3-Clause
// From a payload's graph to plain calls. Values lie as XNNPACK has them, pixels as [n, height, width,
// channels]; operators on images see the same bytes as [n, channels, height, width] in channels-last order.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/calls/call_list.h"
#include "backends/xnnpack/payload.h"
#include "backends/xnnpack/values.h"

namespace rushlight::xnnpack {

// Of each input and output of the list, in its order, the delegate's argument.
struct Ends {
  std::vector<uint32_t> inputs, outputs;
};

// Fills an empty list. The payload outlives it. Errors: InvalidProgram, NotSupported; each names the node.
[[nodiscard]] Result<Ends> lower(const Payload& payload, CallList* list);

}  // namespace rushlight::xnnpack
