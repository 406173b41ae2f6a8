// SPDX-License-Identifier: BSD-3-Clause
// Text to tokens and back, by the vocabulary of a program. Equal to Hugging Face's `tokenizers`, whose steps
// it takes: added tokens, normalizer, pre-tokenizer, model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/result.h"
#include "runtime/llm/added_tokens.h"
#include "runtime/llm/split.h"
#include "runtime/llm/vocabulary.h"

namespace rushlight::llm {

struct TextRange {
  size_t begin, end;
};

class Tokenizer {
 public:
  // `blob` must outlive the tokenizer. Errors: InvalidExternalData.
  static Result<Tokenizer> load(Span<const uint8_t> blob);

  // Appends the tokens of `text`, without those that stand around a whole text (prefix, suffix). Special
  // tokens written in it are text unless `parse_special`, and always within the ranges `plain`, which others
  // have written (only a vocabulary that normalizes special tokens cannot tell those places). Takes O(n log
  // n). Errors: InvalidArgument, of a text whose pieces could have 2^31 bytes.
  Error encode(std::string_view text, std::vector<int32_t>* tokens, bool parse_special,
               Span<const TextRange> plain = {}) const;

  [[nodiscard]] size_t size() const { return vocabulary_.size(); }
  // What a token says; it may be a part of a character. Empty for other numbers.
  [[nodiscard]] std::string_view text(int32_t token) const;
  [[nodiscard]] bool is_special(int32_t token) const;
  // The token that decodes to `text`, special ones included; -1 where there is none. Looks at all.
  [[nodiscard]] int32_t find(std::string_view text) const;
  // Which stand before and after a whole text, such as a begin-of-sequence token.
  [[nodiscard]] std::vector<int32_t> prefix() const { return copy(vocabulary_.prefix); }
  [[nodiscard]] std::vector<int32_t> suffix() const { return copy(vocabulary_.suffix); }
  // -1: none.
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
  size_t longest_ = 0;  // bytes of the longest key
};

// Tokens to text as they come. Hands out whole characters only: a token that ends inside of one is kept until
// the rest comes. Bytes that are no UTF-8 become U+FFFD.
class Decoder {
 public:
  explicit Decoder(const Tokenizer& tokenizer, bool skip_special = true)
      : tokenizer_(&tokenizer), skip_special_(skip_special) {}
  // Appends what is certain after this token.
  void add(int32_t token, std::string* text);
  // Appends what was kept; the next token begins a text.
  void finish(std::string* text);

 private:
  void release(bool all, std::string* text);

  const Tokenizer* tokenizer_;
  bool skip_special_;
  bool at_start_ = true;
  std::string kept_;
};

}  // namespace rushlight::llm
