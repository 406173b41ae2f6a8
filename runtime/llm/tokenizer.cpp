// SPDX-License-Identifier: BSD-3-Clause
// Pipeline: added tokens, normalization, added tokens again, pre-tokenizers, model. Steps call each other
// with pieces instead of collecting lists, so memory stays proportional to the text.
#include "runtime/llm/tokenizer.h"

#include <algorithm>

#include "runtime/base/log.h"
#include "runtime/llm/merges.h"
#include "runtime/llm/normalize.h"
#include "runtime/llm/unicode.h"
#include "runtime/llm/unigram.h"

namespace rushlight::llm {

// One call of Tokenizer::encode().
class Encoder {
 public:
  Encoder(const Tokenizer& tokenizer, bool parse_special, Span<const TextRange> plain,
          std::vector<int32_t>* tokens)
      : tokenizer_(tokenizer),
        parse_special_(parse_special),
        plain_(plain),
        vocabulary_(tokenizer.vocabulary_),
        merger_(vocabulary_),
        unigram_(vocabulary_, tokenizer.longest_),
        tokens_(tokens) {}

  void encode(std::string_view text) {
    // A special token that touches a plain range stays text, even if it begins outside of the range.
    const auto parses = [&](size_t begin, size_t end) { return parse_special_ && !is_plain(begin, end); };
    each_added(tokenizer_.added_, vocabulary_, tokenizer_.classes_, text, parses,
               [&](std::string_view part, uint32_t token) {
                 if (token != kNone) return put(token);
                 segment(part, static_cast<size_t>(part.data() - text.data()));
               });
  }

 private:
  void put(uint32_t token) { tokens_->push_back(static_cast<int32_t>(token)); }

  [[nodiscard]] bool is_plain(size_t begin, size_t end) const {
    return std::any_of(plain_.begin(), plain_.end(),
                       [&](const TextRange& range) { return begin < range.end && range.begin < end; });
  }

  // Encodes the text between two added tokens, at `offset` of the whole text.
  void segment(std::string_view text, size_t offset) {
    // After normalization, offsets no longer refer to the original text, so plain ranges cannot be applied.
    const bool is_moved = !vocabulary_.normalizers.empty();
    const auto parses = [&](size_t begin, size_t end) {
      return parse_special_ && (is_moved || !is_plain(offset + begin, offset + end));
    };
    std::string normalized;
    if (is_moved) {
      normalized = normalize(vocabulary_, tokenizer_.classes_, text);
      text = normalized;
    }
    each_added(tokenizer_.added_normalized_, vocabulary_, tokenizer_.classes_, text, parses,
               [&](std::string_view part, uint32_t token) {
                 if (token != kNone) return put(token);
                 pre_tokenize(0, part, offset == 0 && part.data() == text.data());
               });
  }

  // Applies the pre-tokenizers from `index` on, depth first.
  void pre_tokenize(size_t index, std::string_view piece, bool first) {
    if (piece.empty()) return;
    if (index == vocabulary_.pre_tokenizers.size()) return model(piece);
    const Step step = vocabulary_.pre_tokenizers[index];
    const auto& strings = vocabulary_.strings;
    if (step.kind == StepKind::Split) return split(index, step, piece, first);
    if (step.kind == StepKind::ReplaceInPiece) {
      return pre_tokenize(index + 1, replace_all(piece, strings[step.a], strings[step.b]), first);
    }
    // PrefixPiece: puts string a (a space or a word mark) before a piece that does not begin with string b.
    const std::string_view has = strings[step.b];
    if (piece.substr(0, has.size()) == has || (step.c != 0 && !first)) {
      return pre_tokenize(index + 1, piece, first);
    }
    pre_tokenize(index + 1, std::string(strings[step.a]).append(piece), first);
  }

  // `first` stays true for the piece at the very start of the text only, compared by address. Pieces are
  // views of `text`, which is alive until the recursion returns.
  void split(size_t index, const Step& step, std::string_view text, bool first) {
    const auto behavior = static_cast<Behavior>(step.b);
    const Automaton automaton(vocabulary_, tokenizer_.classes_, step.a);
    const auto hand_on = [&](std::string_view piece) {
      if (!piece.empty()) pre_tokenize(index + 1, piece, first && piece.data() == text.data());
    };
    std::string_view piece;  // held back, because the next part may join it
    bool piece_matches = false;
    each_part(automaton, text, [&](std::string_view part, bool matches) {
      // step.c swaps the roles: the text between matches then counts as the match.
      matches = matches != (step.c != 0);
      const bool joins = (behavior == Behavior::Contiguous && matches == piece_matches) ||
                         (behavior == Behavior::WithPrevious && matches && !piece_matches) ||
                         (behavior == Behavior::WithNext && !matches && piece_matches);
      // Parts are adjacent in memory, so joining two extends the view.
      if (joins && !piece.empty()) {
        piece = {piece.data(), piece.size() + part.size()};
      } else {
        hand_on(piece);
        piece = behavior == Behavior::Removed && matches ? std::string_view() : part;
      }
      piece_matches = matches;
    });
    hand_on(piece);
  }

  void model(std::string_view piece) {
    if (vocabulary_.facts[0].kind == ModelKind::Unigram) return unigram_.encode(piece, tokens_);
    merger_.encode(piece, tokens_);
  }

  const Tokenizer& tokenizer_;
  bool parse_special_;
  Span<const TextRange> plain_;
  const Vocabulary& vocabulary_;
  Merger merger_;
  Unigram unigram_;
  std::vector<int32_t>* tokens_;
};

Tokenizer::Tokenizer(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary),
      classes_(vocabulary),
      added_(vocabulary, vocabulary.added),
      added_normalized_(vocabulary, vocabulary.added_normalized) {
  for (size_t i = 0; i < vocabulary.size(); ++i) longest_ = std::max(longest_, vocabulary.key(i).size());
}

Result<Tokenizer> Tokenizer::load(Span<const uint8_t> blob) {
  RL_TRY_ASSIGN(const Vocabulary vocabulary, Vocabulary::load(blob));
  return Tokenizer(vocabulary);
}

Error Tokenizer::encode(std::string_view text, std::vector<int32_t>* tokens, bool parse_special,
                        Span<const TextRange> plain) const {
  // A piece must have fewer than 2^31 bytes, because Merger counts in int32; `growth` bounds the length of a
  // piece per byte of text.
  const size_t most = INT32_MAX / vocabulary_.growth;
  RL_CHECK(text.size() < most, Error::InvalidArgument,
           "text: expected less than %lu bytes, got %lu; encode it in parts", log_number(most),
           log_number(text.size()));
  Encoder(*this, parse_special, plain, tokens).encode(text);
  return Error::Ok;
}

std::string_view Tokenizer::text(int32_t token) const {
  const auto index = static_cast<uint32_t>(token);
  return index < size() ? vocabulary_.texts[index] : std::string_view();
}

bool Tokenizer::is_special(int32_t token) const {
  const auto index = static_cast<uint32_t>(token);
  return index < size() && (vocabulary_.token_flags[index] & kSpecial) != 0;
}

// Linear, because it serves setup only: encoding uses hash tables.
int32_t Tokenizer::find(std::string_view text) const {
  for (size_t i = 0; i < size(); ++i) {
    if (vocabulary_.texts[i] == text) return static_cast<int32_t>(i);
  }
  return -1;
}

std::vector<int32_t> Tokenizer::copy(const Table<uint32_t>& tokens) {
  std::vector<int32_t> copied(tokens.size());
  for (size_t i = 0; i < tokens.size(); ++i) copied[i] = static_cast<int32_t>(tokens[i]);
  return copied;
}

void Decoder::add(int32_t token, std::string* text) {
  if (skip_special_ && tokenizer_->is_special(token)) return;
  std::string_view bytes = tokenizer_->text(token);
  if (bytes.empty()) return;
  if (at_start_) {
    // Drops the space that the encoder put before the first word: one space (OneSpace), or all leading spaces
    // of the first token (FirstToken).
    const size_t spaces = std::min(bytes.find_first_not_of(' '), bytes.size());
    const Strip strip = tokenizer_->strip();
    bytes.remove_prefix(strip == Strip::Nothing    ? 0
                        : strip == Strip::OneSpace ? std::min(spaces, size_t{1})
                                                   : spaces);
  }
  at_start_ = false;
  kept_ += bytes;
  release(false, text);
}

void Decoder::finish(std::string* text) {
  release(true, text);
  at_start_ = true;
}

// Emits complete characters and keeps an incomplete one, unless `all`.
void Decoder::release(bool all, std::string* text) {
  size_t at = 0;
  while (at < kept_.size()) {
    const std::string_view rest = std::string_view(kept_).substr(at);
    const Character character = first_character(rest);
    // A partial character counts as invalid once the text is complete.
    if (character.partial && !all) break;
    if (character.valid)
      text->append(rest.substr(0, character.bytes));
    else
      append_character(kReplacement, text);
    at += character.bytes;
  }
  kept_.erase(0, at);
}

}  // namespace rushlight::llm
