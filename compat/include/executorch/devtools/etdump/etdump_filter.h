// SPDX-License-Identifier: BSD-3-Clause
// Which outputs of delegates are recorded: by patterns of their names, or by a range of their numbers.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <executorch/runtime/core/event_tracer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/platform.h>

namespace executorch::etdump {

using ::executorch::runtime::Result;
using std::string_view;

class ETDumpFilter : public ::executorch::runtime::EventTracerFilterBase {
 public:
  static constexpr size_t MAX_REGEX_PATTERNS = 100;
  static constexpr size_t MAX_PATTERN_LENGTH = 100;

  ETDumpFilter();
  ETDumpFilter(const ETDumpFilter&) = delete;
  ETDumpFilter& operator=(const ETDumpFilter&) = delete;
  ~ETDumpFilter() override;

  // A pattern, one of which a name has to match as a whole. It is an extended regular expression of POSIX:
  // classes are written [0-9] and [[:alnum:]].
  // Errors: InvalidArgument (too long, no expression), OutOfResources (one more than MAX_REGEX_PATTERNS).
  Result<bool> add_regex(string_view pattern);
  // The numbers from `start` on, below `end`, in place of those set before. Error: InvalidArgument.
  Result<bool> set_debug_handle_range(size_t start, size_t end);

  // Of an output that has either a name or a number. All pass where nothing was set for their kind.
  // Error: InvalidArgument (both, or neither).
  Result<bool> filter(const char* name,
                      ::executorch::runtime::DelegateDebugIntId delegate_debug_index) override;

  size_t get_n_regex() const { return patterns_.size(); }

 private:
  struct Pattern;

  std::vector<std::unique_ptr<Pattern>> patterns_;
  size_t range_start_ = 0;
  size_t range_end_ = 0;
};

}  // namespace executorch::etdump
