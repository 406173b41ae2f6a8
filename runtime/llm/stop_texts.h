// SPDX-License-Identifier: BSD-3-Clause
// Finds the first of some texts in text that comes piece by piece: the one that is complete first, however
// the text is cut. Holds back what may be the beginning of one. Cost: a comparison for each byte held and
// text.
#pragma once

#include <string>
#include <vector>

namespace rushlight::llm {

class StopTexts {
 public:
  // Empty texts are left out.
  explicit StopTexts(const std::vector<std::string>& texts);

  // Adds a piece and moves what is certain to `out`. After true nothing more may be added: a text was found,
  // and `out` ends before it.
  bool add(const std::string& piece, std::string* out);
  // What was held back, when nothing more comes.
  std::string rest();

 private:
  std::vector<std::string> texts_;
  std::string held_;
};

}  // namespace rushlight::llm
