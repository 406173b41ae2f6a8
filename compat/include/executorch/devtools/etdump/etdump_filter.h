// SPDX-License-Identifier: BSD-3-Clause
// Selects the delegate outputs to record, by patterns of their names or by a range of their debug handles.
// For ETDumpGen::set_delegation_intermediate_output_filter(); a filter must outlive the tracer's use of it.
//
//   ETDumpFilter filter;
//   filter.add_regex("conv[0-9]+");
//   filter.set_debug_handle_range(10, 20);
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/platform.h>

#include "compat/detail/tensor_mode.h"

namespace executorch::etdump RUSHLIGHT_TENSOR_MODE {

using ::executorch::runtime::Result;
using std::string_view;

// Not thread-safe while rules are added; filter() may then be called from several threads.
class ETDumpFilter : public ::executorch::runtime::EventTracerFilterBase {
 public:
  static constexpr size_t MAX_REGEX_PATTERNS = 100;
  static constexpr size_t MAX_PATTERN_LENGTH = 100;

  ETDumpFilter();
  ETDumpFilter(const ETDumpFilter&) = delete;
  ETDumpFilter& operator=(const ETDumpFilter&) = delete;
  ~ETDumpFilter() override;

  // Adds a pattern of at most MAX_PATTERN_LENGTH characters; a name passes if it matches one as a whole.
  // Patterns are POSIX extended regular expressions, not RE2's as in ExecuTorch: classes are written [0-9]
  // and [[:alnum:]]. Errors: InvalidArgument (too long, invalid), OutOfResources (more than
  // MAX_REGEX_PATTERNS).
  Result<bool> add_regex(string_view pattern);
  // Selects handles from `start` to `end` - 1; replaces an earlier range. Error: InvalidArgument (unless
  // start < end).
  Result<bool> set_debug_handle_range(size_t start, size_t end);

  // Returns true if an output, identified by a name or an integer, passes. All pass if no rule was set for
  // their kind of identifier. A null name and kUnsetDelegateDebugIntId mean none; beside a name,
  // kUnsetDebugHandle does too. Matching is linear in the number of patterns. Error: InvalidArgument (both,
  // or neither).
  Result<bool> filter(const char* name,
                      ::executorch::runtime::DelegateDebugIntId delegate_debug_index) override;

  // Number of patterns.
  size_t get_n_regex() const { return patterns_.size(); }

 private:
  struct Pattern;

  std::vector<std::unique_ptr<Pattern>> patterns_;
  size_t range_start_ = 0;
  size_t range_end_ = 0;
};

}  // namespace executorch::etdumpRUSHLIGHT_TENSOR_MODE
