// SPDX-License-Identifier: BSD-3-Clause
// Encodes text to tokens and decodes tokens to text by a program's vocabulary. The results equal Hugging
// Face's `tokenizers`, whose steps it follows: added tokens, normalizer, pre-tokenizer, model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/llm/added_tokens.h"
#include "runtime/llm/split.h"
#include "runtime/llm/vocabulary.h"

namespace rushlight::llm {

// The byte range [begin, end) of a text.
struct TextRange {
  size_t begin, end;
};

// Immutable; threads may share it.
class Tokenizer {
 public:
  // Loads a vocabulary. `blob` must outlive the tokenizer. Error: InvalidExternalData.
  static Result<Tokenizer> load(Span<const uint8_t> blob);

  // Appends the tokens of `text`, without prefix() and suffix(). Special tokens in `text` are parsed only if
  // `parse_special`, and never inside the ranges `plain`, which hold untrusted text. (If a vocabulary finds
  // special tokens after normalization, `plain` does not apply to those.) Cost: O(n log n). Error:
  // InvalidArgument (the text could normalize to 2^31 bytes or more).
  Error encode(std::string_view text, std::vector<int32_t>* tokens, bool parse_special,
               Span<const TextRange> plain = {}) const;

  [[nodiscard]] size_t size() const { return vocabulary_.size(); }
  // The bytes of a token, possibly part of a character. Empty for ids outside of the vocabulary.
  [[nodiscard]] std::string_view text(int32_t token) const;
  [[nodiscard]] bool is_special(int32_t token) const;
  // Returns the token, special or not, that decodes to `text`, or -1. Linear in the vocabulary.
  [[nodiscard]] int32_t find(std::string_view text) const;
  // Tokens before and after a whole text, such as a begin-of-sequence token.
  [[nodiscard]] std::vector<int32_t> prefix() const { return copy(vocabulary_.prefix); }
  [[nodiscard]] std::vector<int32_t> suffix() const { return copy(vocabulary_.suffix); }
  // The begin- and end-of-sequence tokens; -1 if there are none.
  [[nodiscard]] int32_t bos() const { return static_cast<int32_t>(vocabulary_.facts[0].bos); }
  [[nodiscard]] int32_t eos() const { return static_cast<int32_t>(vocabulary_.facts[0].eos); }
  [[nodiscard]] Strip strip() const { return vocabulary_.facts[0].strip; }

 private:
  friend class Encoder;
  explicit Tokenizer(const Vocabulary& vocabulary);
  static std::vector<int32_t> copy(const Table<uint32_t>& tokens);

  Vocabulary vocabulary_;
  Classes classes_;
  AddedTokens added_, added_normalized_;
  size_t longest_ = 0;  // length in bytes of the longest key
};

// Decodes a stream of tokens. Emits whole characters only: the bytes of an incomplete character are held back
// until the rest arrives. Bytes that are not UTF-8 become U+FFFD.
class Decoder {
 public:
  explicit Decoder(const Tokenizer& tokenizer, bool skip_special = true)
      : tokenizer_(&tokenizer), skip_special_(skip_special) {}
  // Appends the text that is certain after this token.
  void add(int32_t token, std::string* text);
  // Appends what was held back. The next token starts a new text.
  void finish(std::string* text);

 private:
  void release(bool all, std::string* text);

  const Tokenizer* tokenizer_;
  bool skip_special_;
  bool at_start_ = true;
  std::string kept_;
};

}  // namespace rushlight::llm
