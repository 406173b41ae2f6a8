// SPDX-License-Identifier: BSD-3-Clause
// What the runtime logged on this thread since it was last cleared: the innermost cause first.
#pragma once

#include <string>
#include <utility>

namespace rushlight {

struct CapturedLog {
  std::string text;
  const char* place = nullptr;  // the source that logged the first line; null for words of the bindings' own

  void say(std::string words) {
    text = std::move(words);
    place = nullptr;
  }
  void clear() { say({}); }
};

CapturedLog& captured_log();

}  // namespace rushlight
