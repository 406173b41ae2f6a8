// SPDX-License-Identifier: BSD-3-Clause
// Parses the sections of a vocabulary and verifies every index in them; linear in the size of the blob. The
// blob comes from a file, so afterwards no lookup may leave it, no chain of steps may overflow the stack or
// memory, and no bucket may make a lookup slow.
#include "runtime/llm/vocabulary.h"

#include <algorithm>

#include "runtime/base/checked.h"
#include "runtime/base/log.h"
#include "runtime/llm/unicode.h"

namespace rushlight::llm {

namespace {

constexpr uint32_t kSections = 29;
constexpr uint32_t kMaxSteps = 32;       // steps call each other: bounds the stack
constexpr uint32_t kMaxStates = kMatch;  // kMatch is the top bit of a transition
// The longest result per byte of input; bounds memory
constexpr uint64_t kMaxGrowth = 4096;
constexpr uint32_t kMaxBucket = 4096;  // bounds the time of a lookup

#define VOCABULARY_CHECK(condition, ...) \
  RL_CHECK(condition, Error::InvalidExternalData, "vocabulary: " __VA_ARGS__)

// Takes the sections in order.
class Sections {
 public:
  explicit Sections(Span<const uint8_t> blob) : blob_(blob) {}

  Error open() const {
    VOCABULARY_CHECK(blob_.size() >= 8 + 8 * kSections, "expected at least %lu bytes, got %lu",
                     log_number(8 + 8 * kSections), log_number(blob_.size()));
    VOCABULARY_CHECK(std::memcmp(blob_.data(), "RLV1", 4) == 0,
                     "expected the identifier RLV1; export the model again with this version");
    VOCABULARY_CHECK(word(1) == kSections, "expected %lu sections, got %lu", log_number(kSections),
                     log_number(word(1)));
    return Error::Ok;
  }

  template <class T>
  Error take(Table<T>* table) {
    const uint32_t section = next_++;
    // range_fits() compares without overflow: offset and bytes are any 32-bit values.
    const uint32_t offset = word(2 + 2 * section), bytes = word(3 + 2 * section);
    VOCABULARY_CHECK(range_fits(offset, bytes, blob_.size()),
                     "section %lu: expected to end in %lu bytes, got %lu at %lu", log_number(section),
                     log_number(blob_.size()), log_number(bytes), log_number(offset));
    VOCABULARY_CHECK(bytes % sizeof(T) == 0, "section %lu: expected items of %lu bytes, got %lu bytes",
                     log_number(section), log_number(sizeof(T)), log_number(bytes));
    *table = {blob_.data() + offset, bytes / sizeof(T)};
    return Error::Ok;
  }

  Error take(Strings* strings) {
    const uint32_t section = next_;
    Table<uint32_t> offsets;
    Table<char> bytes;
    RL_TRY(take(&offsets));
    RL_TRY(take(&bytes));
    uint32_t last = 0;
    for (size_t i = 0; i < offsets.size(); ++i) {
      const uint32_t offset = offsets[i];
      // Ascending offsets within `bytes` let operator[] compute lengths by subtraction.
      VOCABULARY_CHECK(offset >= last && offset <= bytes.size(),
                       "section %lu: expected ascending offsets up to %lu, got %lu", log_number(section),
                       log_number(bytes.size()), log_number(offset));
      last = offset;
    }
    *strings = {offsets, bytes};
    return Error::Ok;
  }

 private:
  [[nodiscard]] uint32_t word(uint32_t index) const { return Table<uint32_t>(blob_.data(), 0)[index]; }

  Span<const uint8_t> blob_;
  uint32_t next_ = 0;
};

Error check_index(const char* what, uint32_t index, size_t count) {
  VOCABULARY_CHECK(index < count, "%s: expected less than %lu, got %lu", what, log_number(count),
                   log_number(index));
  return Error::Ok;
}

Error check_index_or_none(const char* what, uint32_t index, size_t count) {
  return index == kNone ? Error::Ok : check_index(what, index, count);
}

Error check_indices(const char* what, const Table<uint32_t>& indices, size_t count) {
  for (size_t i = 0; i < indices.size(); ++i) RL_TRY(check_index(what, indices[i], count));
  return Error::Ok;
}

// Checks a hash table's buckets: none, or a power of two. `begins` has one item more than buckets; bucket i
// holds the items [begins[i], begins[i + 1]).
Error check_buckets(const char* what, const Table<uint32_t>& begins, size_t items) {
  if (begins.empty()) return Error::Ok;
  const size_t count = begins.size() - 1;
  VOCABULARY_CHECK(count > 0 && (count & (count - 1)) == 0, "%s: expected a power of two, got %lu", what,
                   log_number(count));
  VOCABULARY_CHECK(begins[0] == 0 && begins[count] == items, "%s: expected to cover %lu items", what,
                   log_number(items));
  for (size_t i = 0; i < count; ++i) {
    VOCABULARY_CHECK(
        begins[i] <= begins[i + 1] && begins[i + 1] <= items && begins[i + 1] - begins[i] <= kMaxBucket,
        "%s: expected ascending begins, got %lu and %lu", what, log_number(begins[i]),
        log_number(begins[i + 1]));
  }
  return Error::Ok;
}

// Checks the order that find_ascending() and Classes rely on. Reads the first member of each item, a code
// point.
template <class T>
Error check_ascending(const char* what, const Table<T>& table) {
  for (size_t i = 0; i < table.size(); ++i) {
    uint32_t keys[2];
    std::memcpy(&keys[1], table.data() + i * sizeof(T), 4);
    if (i > 0) std::memcpy(&keys[0], table.data() + (i - 1) * sizeof(T), 4);
    VOCABULARY_CHECK(keys[1] < kCodePoints && (i == 0 || keys[0] < keys[1]),
                     "%s: expected ascending code points, got %lu", what, log_number(keys[1]));
  }
  return Error::Ok;
}

// Checks the order by (first, second) that NormalForm's binary search relies on.
Error check_compositions(const Table<Composition>& table) {
  Composition last = {};
  for (size_t i = 0; i < table.size(); ++i) {
    const Composition entry = table[i];
    VOCABULARY_CHECK(entry.composed < kCodePoints, "expected a composed code point, got %lu",
                     log_number(entry.composed));
    const bool after = entry.first > last.first || (entry.first == last.first && entry.second > last.second);
    VOCABULARY_CHECK(i == 0 || after, "composition %lu: expected ascending code points", log_number(i));
    last = entry;
  }
  return Error::Ok;
}

// Checks the model: tokens, buckets of hash tables, merges, byte and character tokens.
Error check_model(const Vocabulary& v) {
  const size_t tokens = v.size();
  VOCABULARY_CHECK(v.facts.size() == 1 && tokens > 0 && tokens < INT32_MAX, "expected facts and tokens");
  const Facts facts = v.facts[0];
  VOCABULARY_CHECK(facts.kind <= ModelKind::Unigram && facts.strip <= Strip::FirstToken,
                   "expected a model of kind 0 or 1, got %lu", log_number(uint32_t(facts.kind)));
  RL_TRY(check_index_or_none("unknown token", facts.unknown, tokens));
  RL_TRY(check_index_or_none("bos token", facts.bos, tokens));
  RL_TRY(check_index_or_none("eos token", facts.eos, tokens));
  VOCABULARY_CHECK(v.token_flags.size() == tokens && (v.keys.size() == 0 || v.keys.size() == tokens),
                   "expected flags and keys of %lu tokens", log_number(tokens));
  VOCABULARY_CHECK(v.scores.size() == (facts.kind == ModelKind::Unigram ? tokens : 0),
                   "expected scores of %lu tokens, got %lu", log_number(tokens), log_number(v.scores.size()));
  RL_TRY(check_buckets("token buckets", v.token_buckets, v.bucket_tokens.size()));
  RL_TRY(check_indices("token of a bucket", v.bucket_tokens, tokens));
  RL_TRY(check_buckets("merge buckets", v.merge_buckets, v.merges.size()));
  for (size_t i = 0; i < v.merges.size(); ++i) RL_TRY(check_index("merge", v.merges[i].result, tokens));
  VOCABULARY_CHECK(v.byte_tokens.empty() || v.byte_tokens.size() == 256,
                   "expected tokens of 256 bytes, got %lu", log_number(v.byte_tokens.size()));
  // A byte-level vocabulary may lack tokens of bytes, which are unknown then.
  const bool by_bytes = facts.kind == ModelKind::Merges && facts.by_characters == 0;
  VOCABULARY_CHECK(!by_bytes || !v.byte_tokens.empty(), "expected tokens of bytes, got none");
  for (size_t i = 0; i < v.byte_tokens.size(); ++i) {
    const auto check = by_bytes ? check_index_or_none : check_index;  // a byte fallback has all bytes
    RL_TRY(check("byte token", v.byte_tokens[i], tokens));
  }
  RL_TRY(check_ascending("characters", v.characters));
  for (size_t i = 0; i < v.characters.size(); ++i) {
    RL_TRY(check_index("character token", v.characters[i].token, tokens));
  }
  RL_TRY(check_indices("prefix", v.prefix, tokens));
  return check_indices("suffix", v.suffix, tokens);
}

// Checks that every transition leads to a state of its automaton. A class is stored as a byte
// (Classes::quick_), and the first range begins at 0, so that each code point has a range.
Error check_automata(const Vocabulary& v) {
  const size_t classes = v.class_flags.size();
  VOCABULARY_CHECK(classes > 0 && classes <= 255 && !v.ranges.empty() && v.ranges[0].first == 0,
                   "expected 1 to 255 classes of characters from 0, got %lu", log_number(classes));
  RL_TRY(check_ascending("classes", v.ranges));
  for (size_t i = 0; i < v.ranges.size(); ++i) {
    RL_TRY(check_index("class", v.ranges[i].character_class, classes));
  }
  for (size_t i = 0; i < v.automata.size(); ++i) {
    const AutomatonInfo info = v.automata[i];
    VOCABULARY_CHECK(info.states >= 2 && info.states < kMaxStates, "automaton: got %lu states",
                     log_number(info.states));
    const size_t count = size_t{info.states} * (classes + 1);
    VOCABULARY_CHECK(range_fits(info.first_transition, count, v.transitions.size()),
                     "automaton: expected %lu transitions at %lu, got %lu", log_number(count),
                     log_number(info.first_transition), log_number(v.transitions.size()));
    for (size_t t = 0; t < count; ++t) {
      const uint32_t next = v.transitions[info.first_transition + t] & ~uint32_t{kMatch};
      RL_TRY(check_index("state", next, info.states));
    }
  }
  return Error::Ok;
}

Error check_text(const char* what, const Strings& strings, uint32_t index) {
  RL_TRY(check_index(what, index, strings.size()));
  VOCABULARY_CHECK(!strings[index].empty(), "%s: expected some text, got none", what);
  return Error::Ok;
}

Error check_normalizer(const Vocabulary& v, const Step& step) {
  switch (step.kind) {
    case StepKind::Prepend:
      return check_index("prepended string", step.a, v.strings.size());
    case StepKind::Replace:
      RL_TRY(check_text("replaced string", v.strings, step.a));
      return check_index("replacement", step.b, v.strings.size());
    case StepKind::ReplacePattern:
      RL_TRY(check_index("automaton", step.a, v.automata.size()));
      return check_index("replacement", step.b, v.strings.size());
    case StepKind::MapCharacters:
    case StepKind::Compose:
    case StepKind::StripSpaces:
      return Error::Ok;
    default:
      break;
  }
  VOCABULARY_CHECK(false, "expected a normalizer, got step %lu", log_number(uint32_t(step.kind)));
}

Error check_pre_tokenizer(const Vocabulary& v, const Step& step) {
  switch (step.kind) {
    case StepKind::Split:
      VOCABULARY_CHECK(step.b <= uint32_t(Behavior::WithNext), "expected a behavior below 5, got %lu",
                       log_number(step.b));
      return check_index("automaton", step.a, v.automata.size());
    case StepKind::PrefixPiece:
      RL_TRY(check_index("prefix string", step.b, v.strings.size()));
      return check_index("prefix string", step.a, v.strings.size());
    case StepKind::ReplaceInPiece:
      RL_TRY(check_text("replaced string", v.strings, step.a));
      return check_index("replacement", step.b, v.strings.size());
    default:
      break;
  }
  VOCABULARY_CHECK(false, "expected a pre-tokenizer, got step %lu", log_number(uint32_t(step.kind)));
}

Error check_steps(const Vocabulary& v) {
  VOCABULARY_CHECK(v.normalizers.size() <= kMaxSteps && v.pre_tokenizers.size() <= kMaxSteps,
                   "expected at most %lu steps, got %lu and %lu", log_number(kMaxSteps),
                   log_number(v.normalizers.size()), log_number(v.pre_tokenizers.size()));
  for (size_t i = 0; i < v.normalizers.size(); ++i) RL_TRY(check_normalizer(v, v.normalizers[i]));
  for (size_t i = 0; i < v.pre_tokenizers.size(); ++i) RL_TRY(check_pre_tokenizer(v, v.pre_tokenizers[i]));
  return Error::Ok;
}

Error check_added(const Vocabulary& v, const Table<Added>& added) {
  std::string_view last;
  for (size_t i = 0; i < added.size(); ++i) {
    RL_TRY(check_text("added token", v.strings, added[i].text));
    // Strictly ascending by unsigned bytes (std::string_view compares as char_traits, that is as memcmp):
    // AddedTokens searches by bytes.
    RL_TRY(check_index("added token", added[i].token, v.size()));
    const std::string_view text = v.strings[added[i].text];
    VOCABULARY_CHECK(last < text, "added token %lu: expected ascending texts", log_number(i));
    last = text;
  }
  return Error::Ok;
}

Error check_characters(const Vocabulary& v) {
  RL_TRY(check_ascending("character map", v.character_maps));
  RL_TRY(check_ascending("decompositions", v.decompositions));
  RL_TRY(check_ascending("combining classes", v.combining));
  for (const auto* maps : {&v.character_maps, &v.decompositions}) {
    for (size_t i = 0; i < maps->size(); ++i) {
      RL_TRY(check_index("mapped character", (*maps)[i].text, v.strings.size()));
    }
  }
  return check_compositions(v.compositions);
}

// The largest growth of a character's UTF-8 length, rounded up. Characters of 4 bytes count as 3, which only
// raises the bound.
size_t growth_of(const Vocabulary& v, const Table<CharacterMap>& maps) {
  size_t most = 1;
  for (size_t i = 0; i < maps.size(); ++i) {
    const CharacterMap map = maps[i];
    const size_t bytes = map.code_point < 0x80 ? 1 : map.code_point < 0x800 ? 2 : 3;
    most = std::max(most, (v.strings[map.text].size() + bytes - 1) / bytes);
  }
  return most;
}

size_t growth_of(const Vocabulary& v, const Step& step) {
  const auto length = [&](uint32_t string) { return v.strings[string].size(); };
  switch (step.kind) {
    case StepKind::Prepend:
    case StepKind::PrefixPiece:
      return 1 + length(step.a);
    case StepKind::Replace:
    case StepKind::ReplaceInPiece:
      // Worst case of a replacement: the text consists of matches. A match of a pattern has at least 1 byte.
      return std::max<size_t>(1, (length(step.b) + length(step.a) - 1) / length(step.a));
    case StepKind::ReplacePattern:
      return std::max<size_t>(1, length(step.b));
    case StepKind::MapCharacters:
      return growth_of(v, v.character_maps);
    case StepKind::Compose:
      return std::max<size_t>(3, growth_of(v, v.decompositions));  // a syllable of 3 bytes becomes 9
    case StepKind::StripSpaces:
    case StepKind::Split:
      break;
  }
  return 1;
}

// Bounds the product over all steps: a chain of replacements could expand a short text to gigabytes.
Error measure_growth(Vocabulary* v) {
  uint64_t growth = 1;
  for (const auto* steps : {&v->normalizers, &v->pre_tokenizers}) {
    for (size_t i = 0; i < steps->size(); ++i) {
      growth *= growth_of(*v, (*steps)[i]);
      VOCABULARY_CHECK(growth <= kMaxGrowth, "steps: expected to make a text at most %lu times as long",
                       log_number(kMaxGrowth));
    }
  }
  v->growth = static_cast<uint32_t>(growth);
  return Error::Ok;
}

}  // namespace

Result<Vocabulary> Vocabulary::load(Span<const uint8_t> blob) {
  Sections sections(blob);
  RL_TRY(sections.open());
  Vocabulary v;
  // Stops at the first error: && skips the sections behind it.
  const auto take = [&](auto*... members) {
    Error error = Error::Ok;
    static_cast<void>((((error = sections.take(members)) == Error::Ok) && ...));
    return error;
  };
  RL_TRY(take(&v.facts, &v.texts, &v.token_flags, &v.keys, &v.token_buckets, &v.bucket_tokens,
              &v.merge_buckets, &v.merges, &v.byte_tokens, &v.characters, &v.scores, &v.ranges,
              &v.class_flags, &v.automata, &v.transitions, &v.normalizers, &v.pre_tokenizers, &v.strings,
              &v.added, &v.added_normalized, &v.prefix, &v.suffix, &v.character_maps, &v.decompositions,
              &v.combining, &v.compositions));
  RL_TRY(check_model(v));
  RL_TRY(check_automata(v));
  RL_TRY(check_steps(v));
  RL_TRY(check_added(v, v.added));
  RL_TRY(check_added(v, v.added_normalized));
  RL_TRY(check_characters(v));
  RL_TRY(measure_growth(&v));
  return v;
}

}  // namespace rushlight::llm
