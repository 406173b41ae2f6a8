// SPDX-License-Identifier: BSD-3-Clause
// Merging follows the usual priority-queue algorithm: outdated pairs stay in the heap and are recognised by
// their length, because a merge changes the length of the left symbol.
#include "runtime/llm/merges.h"

#include <algorithm>

#include "runtime/llm/unicode.h"

namespace rushlight::llm {

uint32_t find_token(const Vocabulary& vocabulary, std::string_view text, uint32_t hash) {
  // Without buckets the vocabulary looks nothing up. Otherwise `begins` has a power of two of buckets and one
  // end offset, so size - 2 is the mask.
  const auto& begins = vocabulary.token_buckets;
  if (begins.empty()) return kNone;
  const size_t bucket = hash & (begins.size() - 2);
  for (uint32_t i = begins[bucket]; i < begins[bucket + 1]; ++i) {
    const uint32_t token = vocabulary.bucket_tokens[i];
    if (vocabulary.key(token) == text) return token;
  }
  return kNone;
}

void Merger::add(uint32_t token, uint32_t bytes) {
  const auto index = static_cast<int32_t>(symbols_.size());
  symbols_.push_back({token, bytes, index - 1, index + 1});
}

void Merger::add_known(uint32_t token, uint32_t bytes) {
  if (unknown_bytes_ > 0) add(facts_.unknown, unknown_bytes_);
  unknown_bytes_ = 0;
  add(token, bytes);
}

// Unknown bytes are held back, because the next ones may join the same unknown token. Without an unknown
// token in the vocabulary they are dropped.
void Merger::add_unknown(uint32_t bytes) {
  if (facts_.unknown == kNone) return;
  if (unknown_bytes_ > 0 && facts_.fuse_unknown == 0) {
    add(facts_.unknown, unknown_bytes_);
    unknown_bytes_ = 0;
  }
  unknown_bytes_ += bytes;
}

// A character without a token becomes the tokens of its bytes or, if there are none, the unknown token.
void Merger::start_with_character(std::string_view character, uint32_t code_point) {
  const auto& characters = vocabulary_.characters;
  const auto& bytes = vocabulary_.byte_tokens;
  const auto length = static_cast<uint32_t>(character.size());
  const size_t found = find_ascending(characters, code_point);
  if (found < characters.size()) return add_known(characters[found].token, length);
  if (bytes.empty()) return add_unknown(length);
  for (const char byte : character) add_known(bytes[static_cast<uint8_t>(byte)], 1);
}

void Merger::start(std::string_view piece) {
  symbols_.clear();
  unknown_bytes_ = 0;
  // Symbols begin as bytes (byte-level vocabularies, as of GPT-2) or as characters (vocabularies converted
  // from SentencePiece).
  for (size_t at = 0; at < piece.size();) {
    if (facts_.by_characters == 0) {
      const uint32_t token = vocabulary_.byte_tokens[static_cast<uint8_t>(piece[at++])];
      token == kNone ? add_unknown(1) : add_known(token, 1);
      continue;
    }
    const Character character = first_character(piece.substr(at));
    start_with_character(piece.substr(at, character.bytes), character.code_point);
    at += character.bytes;
  }
  if (unknown_bytes_ > 0) add(facts_.unknown, unknown_bytes_);
  if (!symbols_.empty()) symbols_.back().next = -1;
}

// Pushes the pair of a symbol and its right neighbour, if the vocabulary merges it.
void Merger::push(int32_t left) {
  if (left < 0 || symbols_[left].next < 0) return;
  const Symbol& a = symbols_[left];
  const Symbol& b = symbols_[a.next];
  const auto& begins = vocabulary_.merge_buckets;
  const size_t bucket = hash_pair(a.token, b.token) & (begins.size() - 2);
  for (uint32_t i = begins[bucket]; i < begins[bucket + 1]; ++i) {
    const Merge merge = vocabulary_.merges[i];
    if (merge.left != a.token || merge.right != b.token) continue;
    pairs_.push_back({merge.rank, left, a.bytes + b.bytes, merge.result});
    return std::push_heap(pairs_.begin(), pairs_.end(), Later());
  }
}

// Applies merges in order of rank. Each merge makes at most two new pairs, so the heap sees O(n) pairs. A
// pair is outdated if its left symbol was joined to an earlier one (0 bytes), became the last, or covers
// another number of bytes with its neighbour than when the pair was pushed.
void Merger::join_all() {
  while (!pairs_.empty()) {
    std::pop_heap(pairs_.begin(), pairs_.end(), Later());
    const Pair pair = pairs_.back();
    pairs_.pop_back();
    Symbol& left = symbols_[pair.left];
    if (left.bytes == 0 || left.next < 0) continue;
    Symbol& right = symbols_[left.next];
    if (left.bytes + right.bytes != pair.bytes) continue;
    left.token = pair.result;
    left.bytes = pair.bytes;
    // The right symbol leaves the list but keeps its position in the array: the heap refers to positions.
    right.bytes = 0;
    left.next = right.next;
    if (left.next >= 0) symbols_[left.next].previous = pair.left;
    push(left.previous);
    push(pair.left);
  }
}

// A piece that is a token itself needs no merging, if the exporter found that merging its bytes gives this
// token (kWhole).
void Merger::encode(std::string_view piece, std::vector<int32_t>* tokens) {
  const uint32_t whole = find_token(vocabulary_, piece, hash_bytes(piece));
  if (whole != kNone && (vocabulary_.token_flags[whole] & kWhole) != 0) {
    return tokens->push_back(static_cast<int32_t>(whole));
  }
  start(piece);
  pairs_.clear();
  if (!vocabulary_.merge_buckets.empty()) {
    for (size_t i = 0; i < symbols_.size(); ++i) push(static_cast<int32_t>(i));
  }
  join_all();
  for (const Symbol& symbol : symbols_) {
    if (symbol.bytes > 0) tokens->push_back(static_cast<int32_t>(symbol.token));
  }
}

}  // namespace rushlight::llm
