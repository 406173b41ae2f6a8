// SPDX-License-Identifier: BSD-3-Clause
// Finds stop texts in a stream of text: the first that is complete, no matter how the stream is divided.
// Holds back text that may be the start of one. Cost: one comparison per held byte and stop text.
#pragma once

#include <string>
#include <vector>

namespace rushlight::llm {

// State of one stream.
class StopTexts {
 public:
  // Empty stop texts are ignored.
  explicit StopTexts(const std::vector<std::string>& texts);

  // Adds a piece and appends the text that cannot belong to a stop text to `out`. Returns true if a stop text
  // was found: `out` then ends before it, and add() must not be called again.
  bool add(const std::string& piece, std::string* out);
  // Returns the text that was held back, at the end of the stream.
  std::string rest();

 private:
  std::vector<std::string> texts_;
  std::string held_;
};

}  // namespace rushlight::llm
