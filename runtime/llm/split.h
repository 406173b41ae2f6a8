// SPDX-License-Identifier: BSD-3-Clause
// Deterministic automata over classes of characters, and splitting a text by their matches. Python compiles a
// tokenizer's regular expressions to these automata, so that the runtime needs no regex engine.
#pragma once

#include <string_view>

#include "runtime/llm/unicode.h"
#include "runtime/llm/vocabulary.h"

namespace rushlight::llm {

// Maps code points to classes: a table for the first 592 code points, binary search for the others.
class Classes {
 public:
  Classes() = default;
  // Fills the table of quick_. The vocabulary's blob must outlive the object.
  explicit Classes(const Vocabulary& vocabulary);
  // Returns the class of a code point: an index below count().
  uint32_t operator()(uint32_t code_point) const {
    return code_point < kQuick ? quick_[code_point] : find(code_point);
  }
  // Returns true if the code point's class has the flag.
  [[nodiscard]] bool is(ClassFlags flag, uint32_t code_point) const {
    return (flags_[(*this)(code_point)] & flag) != 0;
  }
  // The number of classes.
  [[nodiscard]] size_t count() const { return flags_.size(); }

 private:
  static constexpr uint32_t kQuick = 0x250;  // Latin
  [[nodiscard]] uint32_t find(uint32_t code_point) const;

  Table<ClassRange> ranges_;
  Table<uint8_t> flags_;
  uint8_t quick_[kQuick] = {};
};

// A deterministic automaton, compiled ahead of time from a regular expression. It matches like a backtracking
// engine (the first alternative wins), found in one pass over the text.
class Automaton {
 public:
  // The automaton at `index` of the vocabulary's table. `classes` must outlive it.
  Automaton(const Vocabulary& vocabulary, const Classes& classes, size_t index);
  // Length in bytes of the match at the start of `text`; 0 if there is none. Cost: O(bytes read), which may
  // exceed the match, because a longer one is tried first.
  [[nodiscard]] size_t match(std::string_view text) const;

 private:
  Table<uint16_t> transitions_;
  const Classes* classes_;
  size_t width_;
};

// Calls `take(part, matches)` for each part of `text` in order: matches, and the text between them. Parts are
// not empty.
template <class Take>
void each_part(const Automaton& automaton, std::string_view text, const Take& take) {
  size_t rest = 0;  // start of the text after the last match
  for (size_t at = 0; at < text.size();) {
    const size_t length = automaton.match(text.substr(at));
    if (length == 0) {
      at += first_character(text.substr(at)).bytes;
      continue;
    }
    if (rest < at) take(text.substr(rest, at - rest), false);
    take(text.substr(at, length), true);
    at += length;
    rest = at;
  }
  if (rest < text.size()) take(text.substr(rest), false);
}

}  // namespace rushlight::llm
