// SPDX-License-Identifier: BSD-3-Clause
// The argument of set_option() and get_option().
#pragma once

#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/core/named_data_map.h>

namespace executorch::ET_RUNTIME_NAMESPACE {

// Passed to a backend when its options are read or set outside of load_method(); has no members yet, as in
// ExecuTorch 1.5.
class BackendOptionContext final {
 public:
  explicit BackendOptionContext() {}
};

}  // namespace executorch::ET_RUNTIME_NAMESPACE

namespace torch::executor {
using ::executorch::ET_RUNTIME_NAMESPACE::BackendOptionContext;
}
