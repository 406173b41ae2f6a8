// SPDX-License-Identifier: BSD-3-Clause
// Unicode normalization (UAX 15) by tables of the vocabulary; Hangul syllables by arithmetic (Unicode,
// section 3.12). Invalid bytes pass unchanged, and nothing composes across them.
#include <algorithm>
#include <vector>

#include "runtime/llm/normalize.h"

namespace rushlight::llm {

namespace {

constexpr uint32_t kSyllables = 0xAC00, kLeads = 0x1100, kVowels = 0x1161, kTrails = 0x11A7;
constexpr uint32_t kLeadCount = 19, kVowelCount = 21, kTrailCount = 28;
constexpr uint32_t kSyllableCount = kLeadCount * kVowelCount * kTrailCount;

// A code point and its canonical combining class; class 0 is a starter.
struct Mark {
  uint32_t code_point, combining;
};

class NormalForm {
 public:
  NormalForm(const Vocabulary& vocabulary, bool compose) : vocabulary_(vocabulary), compose_(compose) {}

  std::string run(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      const Character character = first_character(text.substr(at));
      if (character.valid) {
        decompose(character.code_point);
      } else {
        flush();
        result_ += text.substr(at, character.bytes);
      }
      at += character.bytes;
    }
    flush();
    return std::move(result_);
  }

 private:
  void decompose(uint32_t code_point) {
    // Unsigned wrap-around: code points below the first syllable become large and fail the comparison.
    const uint32_t syllable = code_point - kSyllables;
    if (syllable < kSyllableCount) {
      add(kLeads + syllable / (kVowelCount * kTrailCount));
      add(kVowels + syllable / kTrailCount % kVowelCount);
      if (syllable % kTrailCount != 0) add(kTrails + syllable % kTrailCount);
      return;
    }
    const auto& table = vocabulary_.decompositions;
    // U+00A0 is the first code point of Unicode with a decomposition. The table holds full decompositions, so
    // no recursion is needed.
    const size_t found = code_point < 0xA0 ? table.size() : find_ascending(table, code_point);
    if (found == table.size()) return add(code_point);
    const std::string_view parts = vocabulary_.strings[table[found].text];
    for (size_t at = 0; at < parts.size();) {
      const Character part = first_character(parts.substr(at));
      add(part.code_point);
      at += part.bytes;
    }
  }

  // Collects a run of characters. A starter below U+0300, which composes with nothing before it, ends the
  // run.
  void add(uint32_t code_point) {
    const auto& table = vocabulary_.combining;
    const size_t found = code_point < 0x300 ? table.size() : find_ascending(table, code_point);
    const uint32_t combining = found == table.size() ? 0 : table[found].value;
    if (combining == 0 && code_point < 0x300) flush();
    pending_.push_back({code_point, combining});
  }

  // Canonical ordering: sorts each span of marks between starters by class. The sort must be stable, because
  // the order of marks of equal class is significant.
  void flush() {
    for (auto begin = pending_.begin(); begin != pending_.end();) {
      const auto is_starter = [](const Mark& mark) { return mark.combining == 0; };
      const auto end = std::find_if(begin, pending_.end(), is_starter);
      std::stable_sort(begin, end, [](const Mark& a, const Mark& b) { return a.combining < b.combining; });
      begin = end == pending_.end() ? end : end + 1;
    }
    if (compose_) compose();
    for (const Mark& mark : pending_) append_character(mark.code_point, &result_);
    pending_.clear();
  }

  // Joins each starter with later characters that nothing blocks (UAX 15, definition of "blocked"). In place:
  // `kept` never passes the mark that is read. A mark is reachable if it directly follows the starter, or if
  // the last kept mark has a lower class that is not 0.
  void compose() {
    size_t kept = 0, starter = pending_.size();  // no starter yet
    uint32_t last = 0;                           // combining class of the last kept character
    for (const Mark mark : pending_) {
      const bool next_to = starter + 1 == kept;
      const bool reaches = starter < kept && (next_to || (last != 0 && last < mark.combining));
      const uint32_t joined = reaches ? composed(pending_[starter].code_point, mark.code_point) : 0;
      if (joined != 0) {
        pending_[starter].code_point = joined;
        continue;
      }
      if (mark.combining == 0) starter = kept;
      last = mark.combining;
      pending_[kept++] = mark;
    }
    pending_.resize(kept);
  }

  // Returns the composition of two code points, or 0.
  [[nodiscard]] uint32_t composed(uint32_t first, uint32_t second) const {
    // Hangul by arithmetic: lead + vowel, then syllable without trail + trail. Trail index 0 means "no trail"
    // and is no character, therefore 1 is subtracted before the comparison.
    const uint32_t lead = first - kLeads, vowel = second - kVowels, trail = second - kTrails;
    if (lead < kLeadCount && vowel < kVowelCount) {
      return kSyllables + (lead * kVowelCount + vowel) * kTrailCount;
    }
    const uint32_t syllable = first - kSyllables;
    if (syllable < kSyllableCount && syllable % kTrailCount == 0 && trail - 1 < kTrailCount - 1) {
      return first + trail;
    }
    // Binary search by (first, second), the order that Vocabulary::load() verified.
    const auto& table = vocabulary_.compositions;
    size_t low = 0, high = table.size();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      const Composition entry = table[middle];
      if (entry.first == first && entry.second == second) return entry.composed;
      const bool before = entry.first < first || (entry.first == first && entry.second < second);
      (before ? low : high) = before ? middle + 1 : middle;
    }
    return 0;
  }

  const Vocabulary& vocabulary_;
  bool compose_;
  std::string result_;
  std::vector<Mark> pending_;
};

}  // namespace

std::string normal_form(const Vocabulary& vocabulary, std::string_view text, bool compose) {
  return NormalForm(vocabulary, compose).run(text);
}

}  // namespace rushlight::llm
