// SPDX-License-Identifier: BSD-3-Clause
// Naive matching at each held position. Between calls the held text is shorter than the longest stop text,
// and stop texts are short, so an automaton (Aho-Corasick) would not pay.
#include "runtime/llm/stop_texts.h"

#include <algorithm>
#include <utility>

namespace rushlight::llm {

StopTexts::StopTexts(const std::vector<std::string>& texts) {
  std::copy_if(texts.begin(), texts.end(), std::back_inserter(texts_),
               [](const std::string& text) { return !text.empty(); });
}

bool StopTexts::add(const std::string& piece, std::string* out) {
  held_ += piece;
  // Text before `certain` cannot begin a stop text. Among complete matches the one that ends first wins: it
  // is the one that a reader of single characters finds first.
  size_t certain = held_.size();
  size_t found = std::string::npos;
  size_t found_end = std::string::npos;
  for (size_t at = 0; at < held_.size(); ++at) {
    for (const std::string& text : texts_) {
      const size_t compared = std::min(text.size(), held_.size() - at);
      if (held_.compare(at, compared, text, 0, compared) != 0) continue;
      if (compared < text.size()) {
        // This suffix of the held text may still become a stop text.
        certain = std::min(certain, at);
      } else if (at + compared < found_end) {
        found = at;
        found_end = at + compared;
      }
    }
  }
  const bool stops = found != std::string::npos;
  out->append(held_, 0, stops ? found : certain);
  held_.erase(0, stops ? std::string::npos : certain);
  return stops;
}

std::string StopTexts::rest() { return std::exchange(held_, {}); }

}  // namespace rushlight::llm
