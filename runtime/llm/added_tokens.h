// SPDX-License-Identifier: BSD-3-Clause
// Finds added tokens (special tokens and the like) in a text: the leftmost match, and the longest one at
// that position.
#pragma once

#include <string_view>

#include "runtime/llm/split.h"
#include "runtime/llm/vocabulary.h"

namespace rushlight::llm {

// A lookup structure over the vocabulary's table of added tokens, which must outlive it.
class AddedTokens {
 public:
  // `added` must be sorted by its tokens' bytes (Vocabulary::load() verifies it).
  AddedTokens() = default;
  AddedTokens(const Vocabulary& vocabulary, const Table<Added>& added);

  [[nodiscard]] bool empty() const { return added_.empty(); }
  // Returns the index of the longest token at the start of `text`, which is not empty; size() if there is
  // none.
  [[nodiscard]] size_t longest(const Vocabulary& vocabulary, std::string_view text) const;
  // The token at an index that longest() returned.
  Added operator[](size_t i) const { return added_[i]; }
  [[nodiscard]] size_t size() const { return added_.size(); }

 private:
  Table<Added> added_;
  uint32_t begins_[257] = {};  // index of the first token that starts with each byte
};

// A match of an added token in the text.
struct AddedMatch {
  size_t begin, end;  // with the spaces that the token consumes
};

// Extends an added token found at [begin, end) by the spaces that it consumes, left to `taken` at most.
// Returns begin == end if the token only matches whole words and this is part of one.
AddedMatch match_at(const Classes& classes, std::string_view text, size_t taken, size_t begin, size_t end,
                    uint32_t flags);

// Calls `take` for each part of `text` in order: (text, kNone) or (text of an added token, token). A special
// token counts only if `parses(begin, end)` returns true for its range; otherwise it is text.
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
