// SPDX-License-Identifier: BSD-3-Clause
// Byte pair encoding (Sennrich et al. 2016): joins neighbouring tokens, the pair of lowest rank first and of
// equal ones the leftmost. A heap of pairs over a linked list of tokens takes O(n log n) for a piece.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/llm/vocabulary.h"

namespace rushlight::llm {

// The token whose key is `text`; kNone where there is none.
uint32_t find_token(const Vocabulary& vocabulary, std::string_view text, uint32_t hash);

class Merger {
 public:
  explicit Merger(const Vocabulary& vocabulary) : vocabulary_(vocabulary), facts_(vocabulary.facts[0]) {}
  // Appends the tokens of a piece, of less than 2^31 bytes.
  void encode(std::string_view piece, std::vector<int32_t>* tokens);

 private:
  struct Symbol {
    uint32_t token, bytes;   // 0 bytes: joined to one before
    int32_t previous, next;  // -1: none
  };
  struct Pair {
    uint32_t rank;
    int32_t left;    // symbol
    uint32_t bytes;  // of both; a symbol has changed if they differ
    uint32_t result;
  };
  struct Later {
    bool operator()(const Pair& a, const Pair& b) const {
      return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
    }
  };

  void add(uint32_t token, uint32_t bytes);
  void add_known(uint32_t token, uint32_t bytes);
  void add_unknown(uint32_t bytes);
  void start(std::string_view piece);
  void start_with_character(std::string_view character, uint32_t code_point);
  void push(int32_t left);
  void join_all();

  const Vocabulary& vocabulary_;
  Facts facts_;
  std::vector<Symbol> symbols_;
  std::vector<Pair> pairs_;
  uint32_t unknown_bytes_ = 0;  // of an unknown token that may grow
};

}  // namespace rushlight::llm
