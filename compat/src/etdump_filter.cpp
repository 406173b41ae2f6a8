// SPDX-License-Identifier: BSD-3-Clause
// POSIX regular expressions, because the C library has them: RE2, which ExecuTorch uses, would be a
// dependency, and std::regex throws.
#include <string>

#include <executorch/devtools/etdump/etdump_filter.h>
#include <regex.h>

namespace executorch::etdump RUSHLIGHT_TENSOR_MODE {

using runtime::Error;
using runtime::kUnsetDelegateDebugIntId;

struct ETDumpFilter::Pattern {
  Pattern() = default;
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern() {
    if (is_compiled) ::regfree(&compiled);
  }

  regex_t compiled{};
  bool is_compiled = false;
};

ETDumpFilter::ETDumpFilter() = default;
ETDumpFilter::~ETDumpFilter() = default;

Result<bool> ETDumpFilter::add_regex(string_view pattern) {
  ET_CHECK_OR_RETURN_ERROR(patterns_.size() < MAX_REGEX_PATTERNS, OutOfResources,
                           "patterns: expected at most %zu", MAX_REGEX_PATTERNS);
  ET_CHECK_OR_RETURN_ERROR(pattern.size() <= MAX_PATTERN_LENGTH, InvalidArgument,
                           "pattern: expected at most %zu characters, got %zu", MAX_PATTERN_LENGTH,
                           pattern.size());
  auto added = std::make_unique<Pattern>();
  // In parentheses, so that the anchors apply to all alternatives of "a|b".
  const std::string whole = "^(" + std::string(pattern) + ")$";
  added->is_compiled = ::regcomp(&added->compiled, whole.c_str(), REG_EXTENDED | REG_NOSUB) == 0;
  ET_CHECK_OR_RETURN_ERROR(added->is_compiled, InvalidArgument,
                           "pattern '%.*s': expected a regular expression", static_cast<int>(pattern.size()),
                           pattern.data());
  patterns_.push_back(std::move(added));
  return true;
}

Result<bool> ETDumpFilter::set_debug_handle_range(size_t start, size_t end) {
  ET_CHECK_OR_RETURN_ERROR(start < end, InvalidArgument,
                           "range: expected a begin below its end, got %zu to %zu", start, end);
  range_start_ = start;
  range_end_ = end;
  return true;
}

Result<bool> ETDumpFilter::filter(const char* name, runtime::DelegateDebugIntId delegate_debug_index) {
  // Callers may use either of the two constants for "no integer".
  const bool has_number =
      delegate_debug_index != kUnsetDelegateDebugIntId &&
      (name == nullptr || delegate_debug_index != static_cast<int>(runtime::kUnsetDebugHandle));
  ET_CHECK_OR_RETURN_ERROR((name != nullptr) != has_number, InvalidArgument,
                           "output: expected either a name or an index");
  if (has_number) {
    // No range was set: a valid one has an end above 0.
    if (range_end_ == 0) return true;
    if (delegate_debug_index < 0) return false;
    const auto number = static_cast<size_t>(delegate_debug_index);
    return number >= range_start_ && number < range_end_;
  }
  for (const auto& pattern : patterns_) {
    if (::regexec(&pattern->compiled, name, 0, nullptr, 0) == 0) return true;
  }
  return patterns_.empty();
}

}  // namespace executorch::etdumpRUSHLIGHT_TENSOR_MODE
