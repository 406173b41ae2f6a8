// SPDX-License-Identifier: BSD-3-Clause
// Finds added tokens in a text: leftmost first, the longest of those that begin at one place.
#pragma once

#include <string_view>

#include "runtime/llm/split.h"
#include "runtime/llm/vocabulary.h"

namespace rushlight::llm {

class AddedTokens {
 public:
  AddedTokens() = default;
  AddedTokens(const Vocabulary& vocabulary, const Table<Added>& added);

  [[nodiscard]] bool empty() const { return added_.empty(); }
  // The longest token at the start of `text`; the number of tokens where there is none.
  [[nodiscard]] size_t longest(const Vocabulary& vocabulary, std::string_view text) const;
  Added operator[](size_t i) const { return added_[i]; }
  [[nodiscard]] size_t size() const { return added_.size(); }

 private:
  Table<Added> added_;
  uint32_t begins_[257] = {};  // of those whose first byte is the index
};

struct AddedMatch {
  size_t begin, end;  // with the spaces that it takes
};

// What an added token found at [begin, end) takes of the text from `taken` on; begin == end: it does not
// count there, as it is no word of its own.
AddedMatch match_at(const Classes& classes, std::string_view text, size_t taken, size_t begin, size_t end,
                    uint32_t flags);

// Hands the parts of `text` in order: (text, kNone), or an added token as (text, token). Special tokens are
// those if `parses(begin, end)` says so of the place where they are written, else text.
template <class Parses, class Take>
void each_added(const AddedTokens& added, const Vocabulary& vocabulary, const Classes& classes,
                std::string_view text, const Parses& parses, const Take& take) {
  size_t taken = 0;
  for (size_t at = 0; at < text.size() && !added.empty();) {
    const size_t found = added.longest(vocabulary, text.substr(at));
    if (found == added.size()) {
      ++at;
      continue;
    }
    const Added token = added[found];
    const size_t end = at + vocabulary.strings[token.text].size();
    const bool counts = (token.flags & kAddedSpecial) == 0 || parses(at, end);
    const AddedMatch match = match_at(classes, text, taken, at, end, token.flags);
    at = end;
    if (!counts || match.begin == match.end) continue;
    if (taken < match.begin) take(text.substr(taken, match.begin - taken), kNone);
    take(text.substr(match.begin, match.end - match.begin), token.token);
    at = taken = match.end;
  }
  if (taken < text.size()) take(text.substr(taken), kNone);
}

}  // namespace rushlight::llm
