// SPDX-License-Identifier: BSD-3-Clause
// A small vocabulary: tokens 0 to 255 are bytes, then "ab", "abc", " ab", "bc", and the special token "<s>".
// Words are letters with a space before them; all else is split into runs. Tests change the members before
// build(), also to tables that Vocabulary::load() must refuse.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/llm/vocabulary.h"

namespace rushlight::llm::testing {

inline constexpr int32_t kAb = 256, kAbc = 257, kSpaceAb = 258, kBc = 259, kStart = 260;

// The members are named like the tables of Vocabulary that they become.
class VocabularyBuilder {
 public:
  VocabularyBuilder() {
    facts = {ModelKind::Merges, 0, 0, kNone, kStart, kNone, Strip::Nothing, 0};
    for (int byte = 0; byte < 256; ++byte) texts.emplace_back(1, static_cast<char>(byte));
    for (const char* text : {"ab", "abc", " ab", "bc", "<s>"}) texts.emplace_back(text);
    flags.assign(texts.size(), 0);
    flags[kStart] = kSpecial;
    for (uint32_t byte = 0; byte < 256; ++byte) bytes.push_back(byte);
    // Low ranks merge first: "abc" becomes "a", "bc", although it is a token.
    merges = {{'b', 'c', 0, kBc}, {'a', 'b', 1, kAb}, {' ', kAb, 2, kSpaceAb}, {kAb, 'c', 3, kAbc}};
    // Classes: 0 others, 1 space, 2 letters. Automaton: ` ?letters+`; state 2 has a letter, 3 the space.
    ranges = {{0, 0}, {' ', 1}, {'!', 0}, {'A', 2}, {'[', 0}, {'a', 2}, {'{', 0}, {0xC0, 2}};
    class_flags = {0, kSpace, kWord};
    transitions = {0, 0, 0, 0, 0, 3, 2, 0, kMatch, kMatch, 2, kMatch, 0, 0, 2, 0};
    // One step: words are separate pieces, and so is the text between them.
    steps = {{StepKind::Split, 0, uint32_t(Behavior::Isolated), 0}};
    strings = {"<s>"};
    added = {{0, kStart, kAddedSpecial}};
  }

  // The blob: all sections in the order of Vocabulary's members.
  std::vector<uint8_t> build() const {
    std::vector<std::string> sections;
    const auto add = [&](const auto& items) {
      sections.emplace_back(reinterpret_cast<const char*>(items.data()), items.size() * sizeof items[0]);
    };
    // A table of strings takes two sections; see runtime/llm/vocabulary.h. An empty one has no offsets.
    const auto add_strings = [&](const std::vector<std::string>& all) {
      std::vector<uint32_t> offsets(all.empty() ? 0 : 1, 0);
      std::string joined;
      for (const auto& text : all) {
        joined += text;
        offsets.push_back(static_cast<uint32_t>(joined.size()));
      }
      add(offsets);
      add(joined);
    };
    // A hash table with one bucket, which is correct for any hash.
    const auto one_bucket = [](size_t items) {
      return items == 0 ? std::vector<uint32_t>() : std::vector<uint32_t>{0, static_cast<uint32_t>(items)};
    };
    const std::vector<uint32_t> none;
    add(std::vector<Facts>{facts});
    add_strings(texts);
    add(flags);
    add_strings({});
    add(one_bucket(looked_up.size()));
    add(looked_up);
    add(one_bucket(merges.size()));
    add(merges);
    add(bytes);
    add(characters);
    add(scores);
    add(ranges);
    add(class_flags);
    add(std::vector<AutomatonInfo>{
        {0, static_cast<uint32_t>(transitions.size() / (class_flags.size() + 1))}});
    add(transitions);
    add(normalizers);
    add(steps);
    add_strings(strings);
    add(added);
    // The tables that this vocabulary does not use, then the last one.
    for (int rest = 0; rest < 6; ++rest) add(none);
    add(compositions);
    return join(sections);
  }

  // As in Vocabulary, in another order.
  Facts facts;
  std::vector<std::string> texts, strings;
  std::vector<uint8_t> flags, class_flags;
  std::vector<uint32_t> bytes, looked_up;
  std::vector<Merge> merges;
  std::vector<CharacterToken> characters;
  std::vector<float> scores;
  std::vector<ClassRange> ranges;
  std::vector<uint16_t> transitions;
  std::vector<Step> normalizers, steps;
  std::vector<Added> added;
  std::vector<Composition> compositions;

 private:
  // Adds the head: "RLV1", the number of sections, and the offset and bytes of each. Sections start at
  // multiples of 4.
  static std::vector<uint8_t> join(const std::vector<std::string>& sections) {
    std::vector<uint32_t> head = {0, static_cast<uint32_t>(sections.size())};
    std::memcpy(head.data(), "RLV1", 4);
    size_t offset = 8 + 8 * sections.size();
    for (const auto& section : sections) {
      head.push_back(static_cast<uint32_t>(offset));
      head.push_back(static_cast<uint32_t>(section.size()));
      offset += (section.size() + 3) / 4 * 4;
    }
    std::vector<uint8_t> blob(offset, 0);
    std::memcpy(blob.data(), head.data(), head.size() * 4);
    for (size_t i = 0; i < sections.size(); ++i) {
      if (!sections[i].empty())
        std::memcpy(blob.data() + head[2 + 2 * i], sections[i].data(), sections[i].size());
    }
    return blob;
  }
};

}  // namespace rushlight::llm::testing
