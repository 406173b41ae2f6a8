// SPDX-License-Identifier: BSD-3-Clause
// Forward Viterbi over byte positions. Scores are log probabilities; sums are double, because float sums of a
// long piece would decide ties by rounding.
#include "runtime/llm/unigram.h"

#include <algorithm>

#include "runtime/llm/merges.h"
#include "runtime/llm/unicode.h"

namespace rushlight::llm {

void Unigram::offer(size_t begin, size_t end, uint32_t token, double score) {
  Node& node = nodes_[end];
  const double sum = nodes_[begin].score + score;
  // Strict comparison: of equal sums the one whose last token begins first, so is longest, wins.
  if (!node.reached || sum > node.score) node = {sum, token, static_cast<uint32_t>(begin), true};
}

// Offers all tokens that start at `begin`, and the unknown token unless one of them covers the whole
// character. Hence each reached position reaches the end of its first character, and the end of the piece is
// always reached. The hash is extended byte by byte, so a prefix costs one lookup.
void Unigram::extend(std::string_view piece, size_t begin) {
  const size_t character = first_character(piece.substr(begin)).bytes;
  const size_t most = std::min(piece.size() - begin, longest_);
  bool covered = false;
  ByteHash hash;
  for (size_t length = 1; length <= most; ++length) {
    hash.add(piece[begin + length - 1]);
    const uint32_t token = find_token(vocabulary_, piece.substr(begin, length), hash.value());
    if (token == kNone) continue;
    offer(begin, begin + length, token, vocabulary_.scores[token]);
    covered = covered || length == character;
  }
  if (!covered) offer(begin, begin + character, kNone, vocabulary_.facts[0].unknown_score);
}

void Unigram::put_unknown(std::string_view bytes, std::vector<int32_t>* tokens) const {
  const auto& fallback = vocabulary_.byte_tokens;
  const uint32_t unknown = vocabulary_.facts[0].unknown;
  if (fallback.empty() && unknown != kNone) tokens->push_back(static_cast<int32_t>(unknown));
  if (fallback.empty()) return;
  for (const char byte : bytes) tokens->push_back(static_cast<int32_t>(fallback[static_cast<uint8_t>(byte)]));
}

void Unigram::encode(std::string_view piece, std::vector<int32_t>* tokens) {
  nodes_.assign(piece.size() + 1, Node{0, kNone, 0, false});
  nodes_[0].reached = true;
  for (size_t begin = 0; begin < piece.size(); ++begin) {
    if (nodes_[begin].reached) extend(piece, begin);
  }
  // Walks back from the end along the best predecessors, then emits in order.
  std::vector<size_t> ends;
  for (size_t end = piece.size(); end > 0; end = nodes_[end].begin) ends.push_back(end);
  std::reverse(ends.begin(), ends.end());
  for (size_t i = 0; i < ends.size();) {
    const Node& node = nodes_[ends[i]];
    size_t end = ends[i++];
    if (node.token != kNone) {
      tokens->push_back(static_cast<int32_t>(node.token));
      continue;
    }
    // Adjacent unknown characters form one unknown.
    while (i < ends.size() && nodes_[ends[i]].token == kNone) end = ends[i++];
    put_unknown(piece.substr(node.begin, end - node.begin), tokens);
  }
}

}  // namespace rushlight::llm
