// SPDX-License-Identifier: BSD-3-Clause
// Each step maps a whole text to a new one, in linear time; Vocabulary::load() bounds how much the text can
// grow.
#include "runtime/llm/normalize.h"

namespace rushlight::llm {

namespace {

std::string map_characters(const Vocabulary& vocabulary, std::string_view text) {
  const auto& maps = vocabulary.character_maps;
  std::string mapped;
  for (size_t at = 0; at < text.size();) {
    const Character character = first_character(text.substr(at));
    const size_t found = find_ascending(maps, character.code_point);
    const bool known = found < maps.size();
    mapped += known ? vocabulary.strings[maps[found].text] : text.substr(at, character.bytes);
    at += character.bytes;
  }
  return mapped;
}

std::string replace_matches(const Automaton& automaton, std::string_view text, std::string_view by) {
  std::string replaced;
  each_part(automaton, text, [&](std::string_view part, bool matches) { replaced += matches ? by : part; });
  return replaced;
}

// Spaces may have several bytes, so the text is decoded once from the left; the end is that of the last
// character that is no space.
std::string_view strip_spaces(const Classes& classes, std::string_view text, bool left, bool right) {
  size_t begin = text.size(), end = 0;  // range without outer spaces
  for (size_t at = 0; at < text.size();) {
    const Character character = first_character(text.substr(at));
    if (!classes.is(kSpace, character.code_point)) {
      if (begin > at) begin = at;
      end = at + character.bytes;
    }
    at += character.bytes;
  }
  if (!right) end = text.size();
  if (!left) begin = 0;
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

std::string apply(const Vocabulary& vocabulary, const Classes& classes, const Step& step, std::string text) {
  // Steps index into strings and automata without checks: Vocabulary::load() has verified them.
  const auto& strings = vocabulary.strings;
  switch (step.kind) {
    case StepKind::Prepend:
      return text.empty() ? text : std::string(strings[step.a]) + text;
    case StepKind::Replace:
      return replace_all(text, strings[step.a], strings[step.b]);
    case StepKind::ReplacePattern:
      return replace_matches(Automaton(vocabulary, classes, step.a), text, strings[step.b]);
    case StepKind::MapCharacters:
      return map_characters(vocabulary, text);
    case StepKind::Compose:
      return normal_form(vocabulary, text, step.a != 0);
    case StepKind::StripSpaces:
      return std::string(strip_spaces(classes, text, step.a != 0, step.b != 0));
    default:
      return text;  // excluded by Vocabulary::load()
  }
}

}  // namespace

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string replaced;
  size_t at = 0;
  for (size_t found; (found = text.find(from, at)) != std::string_view::npos; at = found + from.size()) {
    replaced += text.substr(at, found - at);
    replaced += to;
  }
  return replaced += text.substr(at);
}

std::string normalize(const Vocabulary& vocabulary, const Classes& classes, std::string_view text) {
  std::string normalized(text);
  for (size_t i = 0; i < vocabulary.normalizers.size(); ++i) {
    normalized = apply(vocabulary, classes, vocabulary.normalizers[i], std::move(normalized));
  }
  return normalized;
}

}  // namespace rushlight::llm
