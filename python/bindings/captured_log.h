// SPDX-License-Identifier: BSD-3-Clause
// The runtime's log lines on this thread since the last clear(), innermost cause first. Exceptions carry them
// to Python.
#pragma once

#include <string>
#include <utility>

namespace rushlight {

struct CapturedLog {
  std::string text;
  const char* source_file = nullptr;  // source file of the first line; null for the bindings' own messages

  // Replaces the log by a message of the bindings.
  void say(std::string words) {
    text = std::move(words);
    source_file = nullptr;
  }
  void clear() { say({}); }
};

// The log of the calling thread.
CapturedLog& captured_log();

}  // namespace rushlight
