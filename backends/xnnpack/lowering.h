// SPDX-License-Identifier: BSD-3-Clause
// Translates a payload's graph to plain calls. Values keep XNNPACK's layout, images as [n, height, width,
// channels]; operators on images see the same bytes as [n, channels, height, width] in channels-last order.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/calls/call_list.h"
#include "backends/xnnpack/payload.h"
#include "backends/xnnpack/values.h"

namespace rushlight::xnnpack {

// For each input and output of the list, the index of the delegate's argument.
struct Ends {
  std::vector<uint32_t> inputs, outputs;
};

// Fills the empty `list`. The payload must outlive it. Errors: InvalidProgram, NotSupported; the log names
// the node.
[[nodiscard]] Result<Ends> lower(const Payload& payload, CallList* list);

}  // namespace rushlight::xnnpack
