// SPDX-License-Identifier: BSD-3-Clause
// Unigram model (Kudo 2018): segments a piece into the tokens with the greatest sum of scores, by the Viterbi
// algorithm. Cost: O(n * length of the longest token).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/llm/vocabulary.h"

namespace rushlight::llm {

// Encodes pieces one after another and reuses its buffers. `longest` is the length in bytes of the longest
// key. `vocabulary` must outlive it and have scores.
class Unigram {
 public:
  Unigram(const Vocabulary& vocabulary, size_t longest) : vocabulary_(vocabulary), longest_(longest) {}
  // Appends the tokens of a piece. Adjacent unknown characters form one unknown token, or the tokens of their
  // bytes if the vocabulary has those tokens.
  void encode(std::string_view piece, std::vector<int32_t>* tokens);

 private:
  // The best segmentation that ends at a position.
  struct Node {
    double score;
    uint32_t token, begin;
    bool reached;  // false: no segmentation ends here
  };
  // Records a token as the last one of a segmentation that ends at `end`, if it has a greater score than the
  // known one.
  void offer(size_t begin, size_t end, uint32_t token, double score);
  // Offers all tokens that start at `begin`.
  void extend(std::string_view piece, size_t begin);
  void put_unknown(std::string_view bytes, std::vector<int32_t>* tokens) const;

  const Vocabulary& vocabulary_;
  size_t longest_;
  std::vector<Node> nodes_;
};

}  // namespace rushlight::llm
