// SPDX-License-Identifier: BSD-3-Clause
// Small cases with results found by hand, and cases that Hugging Face's package cannot produce, such as
// damaged vocabularies. Equality with the package is tested in tests/python/llm.
#include "runtime/llm/tokenizer.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/llm/vocabulary_builder.h"

namespace rushlight::llm {
namespace {

using ::testing::ElementsAre;
using testing::kAb;
using testing::kAbc;
using testing::kBc;
using testing::kSpaceAb;
using testing::kStart;
using testing::VocabularyBuilder;

Span<const uint8_t> span_of(const std::vector<uint8_t>& blob) { return {blob.data(), blob.size()}; }

std::vector<int32_t> encode(const VocabularyBuilder& builder, std::string_view text,
                            bool parse_special = false) {
  const auto blob = builder.build();
  const auto tokenizer = Tokenizer::load(span_of(blob));
  EXPECT_TRUE(tokenizer.ok());
  std::vector<int32_t> tokens;
  if (!tokenizer.ok()) return {};
  EXPECT_EQ(tokenizer->encode(text, &tokens, parse_special), Error::Ok);
  return tokens;
}

std::vector<std::string> streamed(std::initializer_list<int32_t> tokens) {
  const auto blob = VocabularyBuilder().build();
  const auto tokenizer = Tokenizer::load(span_of(blob));
  Decoder decoder(*tokenizer, false);
  std::vector<std::string> texts;
  for (const int32_t token : tokens) decoder.add(token, &texts.emplace_back());
  decoder.finish(&texts.emplace_back());
  return texts;
}

TEST(Tokenizer_Encode, LowestRankFirst_JoinsLeftmost) {
  // "bc" has rank 0, so that "abc" is not made of "ab" and "c".
  EXPECT_THAT(encode({}, "abc"), ElementsAre('a', kBc));
  EXPECT_THAT(encode({}, "ab ab"), ElementsAre(kAb, kSpaceAb));
}

TEST(Tokenizer_Encode, WholeToken_NeedsNoMerges) {
  VocabularyBuilder builder;
  builder.looked_up = {kAbc};
  EXPECT_THAT(encode(builder, "abc"), ElementsAre('a', kBc));
  builder.flags[kAbc] = kWhole;
  EXPECT_THAT(encode(builder, "abc"), ElementsAre(kAbc));
}

TEST(Tokenizer_Encode, SpecialToken_IsTextUnlessParsed) {
  EXPECT_THAT(encode({}, "<s>ab", true), ElementsAre(kStart, kAb));
  EXPECT_THAT(encode({}, "<s>ab", false), ElementsAre('<', 's', '>', kAb));
  EXPECT_THAT(encode({}, "<s", true), ElementsAre('<', 's'));
}

TEST(Tokenizer_Encode, InvalidUtf8_KeepsItsBytes) {
  EXPECT_THAT(encode({}, "\xff\xe2\x82 \xf0"), ElementsAre(0xff, 0xe2, 0x82, ' ', 0xf0));
  EXPECT_THAT(encode({}, ""), ElementsAre());
}

TEST(Tokenizer_Encode, LongPiece_TakesLittleMoreThanLinearTime) {
  std::string text(1 << 20, 'a');
  for (size_t i = 1; i < text.size(); i += 2) text[i] = 'b';
  EXPECT_EQ(encode({}, text).size(), text.size() / 2);
}

TEST(Tokenizer_Encode, UnknownCharacters_AreFusedIfAsked) {
  VocabularyBuilder builder;
  builder.facts.by_characters = 1;
  builder.facts.unknown = 7;
  builder.bytes.clear();
  builder.characters = {{'a', 'a'}, {'b', 'b'}};
  EXPECT_THAT(encode(builder, "x"), ElementsAre(7));
  EXPECT_THAT(encode(builder, "xyab"), ElementsAre(7, 7, kAb));
  builder.facts.fuse_unknown = 1;
  EXPECT_THAT(encode(builder, "xyab"), ElementsAre(7, kAb));
}

TEST(Decoder_Add, PartsOfACharacter_AreKeptUntilItIsWhole) {
  EXPECT_THAT(streamed({0xe2, 0x82, 0xac, 'a'}), ElementsAre("", "", "\u20ac", "a", ""));
  EXPECT_THAT(streamed({0xe2, 'a'}), ElementsAre("",
                                                 "\ufffd"
                                                 "a",
                                                 ""));
  EXPECT_THAT(streamed({'a', 0xf0, 0x9f}), ElementsAre("a", "", "", "\ufffd"));
  EXPECT_THAT(streamed({0xff, 0xc0, 0xed, 0xa0}), ElementsAre("\ufffd", "\ufffd", "", "\ufffd\ufffd", ""));
}

TEST(Decoder_Add, NoToken_GivesNothing) { EXPECT_THAT(streamed({-1, 1 << 30}), ElementsAre("", "", "")); }

TEST(Decoder_Add, SpecialTokens_AreLeftOutIfAsked) {
  const auto blob = VocabularyBuilder().build();
  const auto tokenizer = Tokenizer::load(span_of(blob));
  std::string text;
  Decoder decoder(*tokenizer);
  for (const int32_t token : {kStart, kAb}) decoder.add(token, &text);
  EXPECT_EQ(text, "ab");
}

TEST(Vocabulary_Load, CutOffAnywhere_Fails) {
  const auto blob = VocabularyBuilder().build();
  ASSERT_TRUE(Vocabulary::load(span_of(blob)).ok());
  for (size_t size = 0; size < blob.size() - 3; ++size) {
    const std::vector<uint8_t> cut(blob.begin(), blob.begin() + static_cast<ptrdiff_t>(size));
    const auto loaded = Vocabulary::load(span_of(cut));
    EXPECT_EQ(loaded.ok() ? Error::InvalidExternalData : loaded.error(), Error::InvalidExternalData) << size;
  }
}

template <class Edit>
Error load_edited(const Edit& edit) {
  VocabularyBuilder builder;
  edit(builder);
  const auto blob = builder.build();
  const auto loaded = Vocabulary::load(span_of(blob));
  return loaded.ok() ? Error::Ok : loaded.error();
}

TEST(Vocabulary_Load, IndexPastItsTable_Fails) {
  using B = VocabularyBuilder;
  EXPECT_EQ(load_edited([](B&) {}), Error::Ok);
  const auto bad = Error::InvalidExternalData;
  EXPECT_EQ(load_edited([](B& b) { b.merges[1].result = 261; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.bytes[9] = 261; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.bytes.pop_back(); }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.looked_up = {261}; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.transitions[6] = 4; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.ranges[1].character_class = 3; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.ranges[0].first = 1; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.ranges[2].first = ' '; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.steps[0].a = 1; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.steps[0].kind = StepKind::Prepend; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.normalizers = {{StepKind::Replace, 1, 0, 0}}; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.steps.assign(33, b.steps[0]); }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.added[0].token = 261; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.added.push_back(b.added[0]); }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.strings[0] = ""; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.facts.kind = ModelKind::Unigram; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.facts.bos = 261; }), bad);
  EXPECT_EQ(load_edited([](B& b) { b.flags.pop_back(); }), bad);
}

TEST(Vocabulary_Load, CompositionsOutOfOrder_Fail) {
  using B = VocabularyBuilder;
  const Composition first = {'A', 0x300, 0xC0}, second = {'A', 0x301, 0xC1}, third = {'E', 0x300, 0xC8};
  EXPECT_EQ(load_edited([&](B& b) { b.compositions = {first, second, third}; }), Error::Ok);
  const auto bad = Error::InvalidExternalData;
  EXPECT_EQ(load_edited([&](B& b) { b.compositions = {second, first, third}; }), bad);
  EXPECT_EQ(load_edited([&](B& b) { b.compositions = {first, third, second}; }), bad);
  EXPECT_EQ(load_edited([&](B& b) { b.compositions = {first, first}; }), bad);
  EXPECT_EQ(load_edited([&](B& b) { b.compositions = {{'A', 0x300, 0x110000}}; }), bad);
}

TEST(Vocabulary_Load, StepsThatMultiplyATextWithoutEnd_Fail) {
  VocabularyBuilder builder;
  builder.strings = {"<s>", "s", "ssss"};
  builder.normalizers.assign(6, {StepKind::Replace, 1, 2, 0});
  EXPECT_THAT(encode(builder, "s").size(), 4096u);
  builder.normalizers.assign(7, {StepKind::Replace, 1, 2, 0});
  EXPECT_EQ(load_edited([&](VocabularyBuilder& b) { b = builder; }), Error::InvalidExternalData);
}

TEST(Vocabulary_Load, Mutants_FailOrEncode) {
  VocabularyBuilder builder;
  builder.looked_up = {kAb, kAbc};
  builder.normalizers = {
      {StepKind::Replace, 0, 0, 0}, {StepKind::Compose, 1, 0, 0}, {StepKind::StripSpaces, 1, 1, 0}};
  const auto blob = builder.build();
  std::mt19937 random(1);
  size_t refused = 0;
  for (int mutant = 0; mutant < 5000; ++mutant) {
    auto changed = blob;
    for (uint32_t edits = 1 + random() % 3; edits > 0; --edits) {
      changed[random() % changed.size()] = static_cast<uint8_t>(random());
    }
    const auto tokenizer = Tokenizer::load(span_of(changed));
    refused += !tokenizer.ok();
    if (!tokenizer.ok()) continue;
    std::vector<int32_t> tokens;
    EXPECT_EQ(tokenizer->encode("ab abc<s> \u00e9\u0301\uac00 12", &tokens, true), Error::Ok);
    std::string text;
    Decoder decoder(*tokenizer);
    for (const int32_t token : tokens) decoder.add(token, &text);
    decoder.finish(&text);
  }
  EXPECT_GT(refused, 500u);
  EXPECT_LT(refused, 4500u);
}

}  // namespace
}  // namespace rushlight::llm
