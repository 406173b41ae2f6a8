// SPDX-License-Identifier: BSD-3-Clause
// The vocabulary of a language model, written by python/rushlight/llm/vocabulary as the named data
// `rushlight.vocabulary`. load() verifies all tables once; they are then used in place without checks.
//
// Format, little-endian: "RLV1", uint32 number of sections, then uint32 (offset, bytes) of each; offsets
// count from the start of the blob and are multiples of 4. The sections follow the order of Vocabulary's
// members; each is an array of the member's items. A table of strings takes two sections: offsets (one more
// than strings), then bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/base/result.h"
#include "runtime/base/span.h"

namespace rushlight::llm {

// An array in the blob. Items are read by memcpy, because the blob may be misaligned.
template <class T>
class Table {
 public:
  Table() = default;
  Table(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const uint8_t* data() const { return data_; }
  T operator[](size_t i) const {
    T item;
    std::memcpy(&item, data_ + i * sizeof(T), sizeof(T));
    return item;
  }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

// An array of strings in the blob.
class Strings {
 public:
  Strings() = default;
  Strings(Table<uint32_t> offsets, Table<char> bytes) : offsets_(offsets), bytes_(bytes) {}
  [[nodiscard]] size_t size() const { return offsets_.empty() ? 0 : offsets_.size() - 1; }
  std::string_view operator[](size_t i) const {
    const uint32_t begin = offsets_[i];
    return {reinterpret_cast<const char*>(bytes_.data()) + begin, offsets_[i + 1] - begin};
  }
  // For verification: the offsets, and the number of bytes that they refer to.
  [[nodiscard]] const Table<uint32_t>& offsets() const { return offsets_; }
  [[nodiscard]] size_t bytes() const { return bytes_.size(); }

 private:
  Table<uint32_t> offsets_;
  Table<char> bytes_;
};

inline constexpr uint32_t kNone = 0xFFFFFFFF;  // no token, no string

// The algorithm that encodes pieces: merges.h or unigram.h.
enum class ModelKind : uint32_t { Merges = 0, Unigram = 1 };
enum class Strip : uint32_t { Nothing = 0, OneSpace = 1, FirstToken = 2 };  // removed at the start of a text

// Scalar properties.
struct Facts {
  ModelKind kind;
  uint32_t by_characters;  // initial symbols are characters (with bytes as fallback), else bytes
  uint32_t fuse_unknown;   // adjacent unknown characters form one token
  uint32_t unknown;        // token or kNone
  uint32_t bos;            // token or kNone
  uint32_t eos;            // token or kNone
  Strip strip;
  float unknown_score;  // Unigram only
};

// The rule by which matches of a pattern, and the text between them, form pieces.
enum class Behavior : uint32_t { Isolated = 0, Removed = 1, Contiguous = 2, WithPrevious = 3, WithNext = 4 };

// The kinds of steps, with the meaning of a, b and c.
enum class StepKind : uint32_t {
  // Normalizers: text to text.
  Prepend = 0,         // string a, unless the text is empty
  Replace = 1,         // string a by string b
  MapCharacters = 2,   // character_maps a
  Compose = 3,         // decompose (form: by the tables); a: then compose
  ReplacePattern = 4,  // matches of automaton a by string b
  StripSpaces = 5,     // a: at the start, b: at the end
  // Pre-tokenizers: text to pieces.
  Split = 16,           // by automaton a with behavior b; c: swap matches and the rest
  PrefixPiece = 17,     // string a before pieces that do not start with string b; c: first piece only
  ReplaceInPiece = 18,  // string a by string b
};

// One step of normalization or pre-tokenization.
struct Step {
  StepKind kind;
  uint32_t a, b, c;
};

// A merge rule of byte pair encoding.
struct Merge {
  uint32_t left, right;
  uint32_t rank;  // low ranks merge first
  uint32_t result;
};

// For vocabularies whose initial symbols are characters.
struct CharacterToken {
  uint32_t code_point, token;  // `token` is the initial symbol of the character
};

// The code points from `first` to the next range's `first` belong to a class.
struct ClassRange {
  uint32_t first, character_class;
};
// Properties of a class, for added tokens that consume spaces or match whole words.
enum ClassFlags : uint8_t { kSpace = 1, kWord = 2 };

// The part of `transitions` that belongs to one automaton.
struct AutomatonInfo {
  uint32_t first_transition, states;
};
// A transition holds the next state (0: none) and kMatch if a match ends before the character. State 1 is the
// start. Each state has one transition per class and one for the end of the text.
inline constexpr uint16_t kMatch = 0x8000;

// Properties of a token.
enum TokenFlags : uint8_t { kSpecial = 1, kWhole = 2, kByte = 4 };  // kWhole: its own text encodes to itself

// Properties of an added token.
enum AddedFlags : uint32_t {
  kTakesLeftSpaces = 1,   // the match includes spaces before the token
  kTakesRightSpaces = 2,  // the match includes spaces after it
  kSingleWord = 4,        // matches whole words only
  kAddedSpecial = 8       // special: a caller of each_added() may treat it as text
};
// A token that is found in the text before the model encodes the rest; `text` is an index in `strings`.
struct Added {
  uint32_t text, token, flags;
};

// A character's replacement; `text` is an index in `strings`.
struct CharacterMap {
  uint32_t code_point, text;
};
// The canonical combining class of Unicode, by which Compose sorts marks.
struct CombiningClass {
  uint32_t code_point, value;
};
// A pair of characters that composes to one.
struct Composition {
  uint32_t first, second, composed;
};

// The tables. Members are in the order of the sections.
struct Vocabulary {
  Table<Facts> facts;  // one item
  Strings texts;       // decoded text of each token
  Table<uint8_t> token_flags;
  Strings keys;                   // text by which each token is looked up; empty: `texts`
  Table<uint32_t> token_buckets;  // by hash_bytes: start of each bucket; a power of two, and one more
  Table<uint32_t> bucket_tokens;
  Table<uint32_t> merge_buckets;  // by hash_pair; likewise
  Table<Merge> merges;
  Table<uint32_t> byte_tokens;       // 256 or none; kNone for a byte without token
  Table<CharacterToken> characters;  // ascending
  Table<float> scores;               // Unigram: one per token
  Table<ClassRange> ranges;          // ascending, from 0
  Table<uint8_t> class_flags;
  Table<AutomatonInfo> automata;
  Table<uint16_t> transitions;
  Table<Step> normalizers;
  Table<Step> pre_tokenizers;
  Strings strings;
  Table<Added> added;             // matched before normalization; ascending by bytes
  Table<Added> added_normalized;  // matched after normalization
  Table<uint32_t> prefix;         // tokens before a text
  Table<uint32_t> suffix;
  Table<CharacterMap> character_maps;  // ascending; one map per blob
  Table<CharacterMap> decompositions;  // ascending, fully decomposed
  Table<CombiningClass> combining;     // ascending; nonzero values only
  Table<Composition> compositions;     // ascending by (first, second)

  uint32_t growth = 1;  // bound for the length of normalized pieces per byte of text

  // Parses and verifies a vocabulary. The blob must outlive it. Error: InvalidExternalData.
  static Result<Vocabulary> load(Span<const uint8_t> blob);

  // The number of tokens. Precondition: load() has succeeded.
  [[nodiscard]] size_t size() const { return texts.size(); }
  // The text by which a token is looked up.
  [[nodiscard]] std::string_view key(size_t token) const {
    return keys.size() == 0 ? texts[token] : keys[token];
  }
};

// FNV-1a with the high bits folded into the low ones, which select the bucket.
class ByteHash {
 public:
  void add(char byte) { state_ = (state_ ^ static_cast<uint8_t>(byte)) * 16777619u; }
  [[nodiscard]] uint32_t value() const { return state_ ^ state_ >> 15; }

 private:
  uint32_t state_ = 2166136261u;
};
// Hash functions of the buckets. Python writes the tables with the same functions.
inline uint32_t hash_bytes(std::string_view bytes) {
  ByteHash hash;
  for (const char byte : bytes) hash.add(byte);
  return hash.value();
}
inline uint32_t hash_pair(uint32_t left, uint32_t right) {
  const uint32_t hash = (left * 0x9E3779B1u) ^ (right * 0x85EBCA77u);
  return hash ^ hash >> 15;
}

// Binary search: index of the item whose first member is `key`, or the table's size. Items must be ascending.
template <class T>
size_t find_ascending(const Table<T>& table, uint32_t key) {
  size_t low = 0, high = table.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    uint32_t found;
    std::memcpy(&found, table.data() + middle * sizeof(T), sizeof found);
    if (found == key) return middle;
    if (found < key)
      low = middle + 1;
    else
      high = middle;
  }
  return table.size();
}

}  // namespace rushlight::llm
