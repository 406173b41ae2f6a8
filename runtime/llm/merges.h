// SPDX-License-Identifier: BSD-3-Clause
// Byte pair encoding (Sennrich et al. 2016): repeatedly joins the adjacent pair with the lowest rank, the
// leftmost of equal ones. Uses a heap of pairs over a linked list of symbols: O(n log n) for a piece of n
// bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/llm/vocabulary.h"

namespace rushlight::llm {

// Returns the token whose key is `text`, or kNone. `hash` is hash_bytes(text).
uint32_t find_token(const Vocabulary& vocabulary, std::string_view text, uint32_t hash);

// Encodes pieces one after another and reuses its buffers. `vocabulary` must outlive it.
class Merger {
 public:
  explicit Merger(const Vocabulary& vocabulary) : vocabulary_(vocabulary), facts_(vocabulary.facts[0]) {}
  // Appends the tokens of a piece, which must have less than 2^31 bytes.
  void encode(std::string_view piece, std::vector<int32_t>* tokens);

 private:
  // A node of the list: a token and the bytes that it covers.
  struct Symbol {
    uint32_t token, bytes;   // 0 bytes: joined to an earlier symbol
    int32_t previous, next;  // -1: none
  };
  // A candidate for joining, in the heap.
  struct Pair {
    uint32_t rank;
    int32_t left;     // index of a symbol
    uint32_t bytes;   // sum of both symbols; a different sum means that a symbol has changed
    uint32_t result;  // token of the joined symbols
  };
  // Order of the heap: lowest rank first, then leftmost.
  struct Later {
    bool operator()(const Pair& a, const Pair& b) const {
      return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
    }
  };

  // Append an initial symbol. Unknown bytes are held back in unknown_bytes_, because adjacent ones may form
  // one token (Facts::fuse_unknown).
  void add(uint32_t token, uint32_t bytes);
  void add_known(uint32_t token, uint32_t bytes);
  void add_unknown(uint32_t bytes);
  // Fills symbols_ with the initial symbols of a piece: bytes, or characters with bytes as fallback.
  void start(std::string_view piece);
  void start_with_character(std::string_view character, uint32_t code_point);
  // Pushes the pair of a symbol and its right neighbour, if the vocabulary merges it.
  void push(int32_t left);
  // Applies merges until none is left.
  void join_all();

  const Vocabulary& vocabulary_;
  Facts facts_;
  std::vector<Symbol> symbols_;
  std::vector<Pair> pairs_;
  uint32_t unknown_bytes_ = 0;  // length of an unknown token that may still grow
};

}  // namespace rushlight::llm
