// SPDX-License-Identifier: BSD-3-Clause
// Table-driven automata. Transitions are uint16 [states, classes + 1]: the next state of each class of
// characters, and in the last column the end of the text. State 0 is dead and state 1 is the start; the top
// bit marks a match that ends before the character that is read. Classes keep the tables small: at most 256
// columns instead of one for each of a million code points.
#include "runtime/llm/split.h"

namespace rushlight::llm {

Classes::Classes(const Vocabulary& vocabulary) : ranges_(vocabulary.ranges), flags_(vocabulary.class_flags) {
  for (uint32_t code_point = 0; code_point < kQuick; ++code_point) {
    quick_[code_point] = static_cast<uint8_t>(find(code_point));
  }
}

uint32_t Classes::find(uint32_t code_point) const {
  // The last range that begins at or before the code point; range 0 begins at 0.
  size_t low = 0, high = ranges_.size();  // the range is in [low, high)
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (ranges_[middle].first <= code_point ? low : high) = middle;
  }
  return ranges_[low].character_class;
}

Automaton::Automaton(const Vocabulary& vocabulary, const Classes& classes, size_t index)
    : classes_(&classes), width_(classes.count() + 1) {
  const AutomatonInfo info = vocabulary.automata[index];
  transitions_ = {vocabulary.transitions.data() + size_t{info.first_transition} * sizeof(uint16_t),
                  info.states * width_};
}

size_t Automaton::match(std::string_view text) const {
  size_t end = 0, at = 0;
  for (size_t state = 1; state != 0;) {
    const bool finished = at == text.size();
    const Character character = finished ? Character{0, 0, true} : first_character(text.substr(at));
    const size_t column = finished ? width_ - 1 : (*classes_)(character.code_point);
    const uint16_t transition = transitions_[state * width_ + column];
    // kMatch on this transition means that the text before the character matches. The match grows until the
    // automaton dies, so the last mark wins.
    if ((transition & kMatch) != 0) end = at;
    if (finished) break;
    state = transition & (kMatch - 1u);
    at += character.bytes;
  }
  return end;
}

}  // namespace rushlight::llm
