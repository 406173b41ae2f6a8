// SPDX-License-Identifier: BSD-3-Clause
// Added tokens are sorted by their bytes, so tokens with a common prefix are adjacent and the longest match
// is found by narrowing a range. No index beyond the first byte is needed.
#include "runtime/llm/added_tokens.h"

#include "runtime/llm/unicode.h"

namespace rushlight::llm {

namespace {

// Decodes backwards: tries 1 to 4 bytes from the end. A text that ends in invalid UTF-8 counts as one that
// ends with U+FFFD.
uint32_t last_character(std::string_view text) {
  for (size_t back = 1; back <= 4 && back <= text.size(); ++back) {
    const Character character = first_character(text.substr(text.size() - back));
    if (character.valid && character.bytes == back) return character.code_point;
  }
  return kReplacement;
}

bool ends_with(const Classes& classes, ClassFlags flag, std::string_view text) {
  return !text.empty() && classes.is(flag, last_character(text));
}

bool begins_with(const Classes& classes, ClassFlags flag, std::string_view text) {
  return !text.empty() && classes.is(flag, first_character(text).code_point);
}

}  // namespace

AddedTokens::AddedTokens(const Vocabulary& vocabulary, const Table<Added>& added) : added_(added) {
  uint32_t next = 0;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    begins_[byte] = next;
    // check_added() has excluded empty texts, so each token has a first byte.
    while (next < added.size() && static_cast<uint8_t>(vocabulary.strings[added[next].text][0]) == byte)
      ++next;
  }
  begins_[256] = next;
}

// Narrows the range of tokens that start like the text, byte by byte, with two binary searches per byte. A
// token that is a prefix of others precedes them.
size_t AddedTokens::longest(const Vocabulary& vocabulary, std::string_view text) const {
  const auto byte_of = [&](size_t token, size_t i) {
    const std::string_view key = vocabulary.strings[added_[token].text];
    return i < key.size() ? static_cast<uint8_t>(key[i]) : -1;
  };
  const auto lead = static_cast<uint8_t>(text[0]);
  size_t low = begins_[lead], high = begins_[lead + 1], found = added_.size();
  for (size_t i = 1; low < high; ++i) {
    // A token that ends after i bytes is the first of the range, and longer than every token found before.
    if (byte_of(low, i) < 0) found = low++;
    if (i == text.size()) break;
    const auto first_from = [&](int byte) {
      size_t from = low, to = high;
      while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (byte_of(middle, i) < byte)
          from = middle + 1;
        else
          to = middle;
      }
      return from;
    };
    // Tokens with the text's byte at i occupy [begin, high): the first position with at least `byte`, and
    // with at least `byte + 1`.
    const int byte = static_cast<uint8_t>(text[i]);
    const size_t begin = first_from(byte);
    high = first_from(byte + 1);
    low = begin;
  }
  return found;
}

AddedMatch match_at(const Classes& classes, std::string_view text, size_t taken, size_t begin, size_t end,
                    uint32_t flags) {
  const bool in_word =
      ends_with(classes, kWord, text.substr(0, begin)) || begins_with(classes, kWord, text.substr(end));
  if ((flags & kSingleWord) != 0 && in_word) return {begin, begin};
  if ((flags & kTakesLeftSpaces) != 0) {
    while (begin > taken && ends_with(classes, kSpace, text.substr(0, begin))) {
      // Steps back to the lead byte of the space: 10xxxxxx are continuation bytes.
      do --begin;
      while (begin > taken && (static_cast<uint8_t>(text[begin]) & 0xC0) == 0x80);
    }
  }
  if ((flags & kTakesRightSpaces) != 0) {
    while (begins_with(classes, kSpace, text.substr(end))) end += first_character(text.substr(end)).bytes;
  }
  return {begin, end};
}

}  // namespace rushlight::llm
