// SPDX-License-Identifier: BSD-3-Clause
// The strings of the template are distinct brackets, so that each expected prompt shows which string was used
// where. Equality with Jinja templates of models is tested in Python.
#include "runtime/llm/chat_template.h"

#include <array>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/llm/vocabulary_builder.h"

namespace rushlight::llm {
namespace {

constexpr uint32_t kTrimUser = 2, kNoSystem = 8;
using Texts = std::array<std::string, 10>;
const Texts kTexts = {"(none)", "(sys:", ")", "(user:", "+(user:", ")", "(bot:", ")", "(bot:", "</think>"};

std::vector<uint8_t> build(const Texts& texts, uint32_t flags = 0) {
  std::vector<uint32_t> head = {0, flags, static_cast<uint32_t>(texts.size()), 0};
  std::memcpy(head.data(), "RLC1", 4);
  std::string bytes;
  for (const auto& text : texts) {
    bytes += text;
    head.push_back(static_cast<uint32_t>(bytes.size()));
  }
  const auto* begin = reinterpret_cast<const uint8_t*>(head.data());
  std::vector<uint8_t> blob(begin, begin + head.size() * 4);
  blob.insert(blob.end(), bytes.begin(), bytes.end());
  return blob;
}

// The prompt, or the error's name.
std::string render(const std::vector<Message>& messages, bool generation_prompt = true, uint32_t flags = 0) {
  const auto blob = build(kTexts, flags);
  const auto made = ChatTemplate::load({blob.data(), blob.size()});
  EXPECT_TRUE(made.ok());
  std::string text;
  const Error error = made->render({messages.data(), messages.size()}, generation_prompt, &text);
  return error == Error::Ok ? text : to_string(error);
}

TEST(ChatTemplate_Render, Messages_HaveTheirTexts) {
  EXPECT_EQ(render({{"user", "a"}}), "(none)(user:a)(bot:");
  EXPECT_EQ(render({{"user", "a"}, {"assistant", "b"}}, false), "(none)(user:a)(bot:b)");
  EXPECT_EQ(render({{"system", "s"}, {"user", "a"}, {"assistant", "b"}, {"user", "c"}}),
            "(sys:s)+(user:a)(bot:b)(user:c)(bot:");
  EXPECT_EQ(render({}), "(none)(bot:");
}

TEST(ChatTemplate_Render, Reasoning_IsLeftOut) {
  EXPECT_EQ(render({{"assistant", "<think>x</think>y</think>\n\nb"}}, false), "(none)(bot:b)");
}

TEST(ChatTemplate_Render, Spaces_AreTrimmedOfOneRole) {
  EXPECT_EQ(render({{"user", " a\n"}, {"assistant", " b"}}, false, kTrimUser), "(none)(user:a)(bot: b)");
  EXPECT_EQ(render({{"user", " \n "}}, false, kTrimUser), "(none)(user:)");
}

TEST(ChatTemplate_Render, WrongRoles_Fail) {
  EXPECT_EQ(render({{"tool", "a"}}), "InvalidArgument");
  EXPECT_EQ(render({{"user", "a"}, {"system", "s"}}), "InvalidArgument");
  EXPECT_EQ(render({{"system", "s"}}, true, kNoSystem), "InvalidArgument");
}

TEST(ChatTemplate_Encode, SpecialTokensInMessages_AreText) {
  const auto vocabulary = testing::VocabularyBuilder().build();
  const auto tokenizer = Tokenizer::load({vocabulary.data(), vocabulary.size()});
  ASSERT_TRUE(tokenizer.ok());
  Texts texts = {};
  texts[3] = "<s>";  // before the user's message
  const auto blob = build(texts);
  const auto made = ChatTemplate::load({blob.data(), blob.size()});
  ASSERT_TRUE(made.ok());
  const Message messages[] = {{"user", "<s>b"}, {"user", "s>"}};
  std::vector<int32_t> tokens;
  EXPECT_EQ(made->encode(messages, false, *tokenizer, &tokens), Error::Ok);
  EXPECT_THAT(tokens, ::testing::ElementsAre(testing::kStart, '<', 's', '>', 'b', testing::kStart, 's', '>'));
}

TEST(ChatTemplate_Load, DamagedBlob_Fails) {
  const auto blob = build(kTexts);
  for (size_t size = 0; size < blob.size(); ++size) {
    const std::vector<uint8_t> cut(blob.begin(), blob.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_FALSE(ChatTemplate::load({cut.data(), cut.size()}).ok()) << size;
  }
  for (size_t position = 8; position < 56; ++position) {
    auto changed = blob;
    changed[position] = 0xff;
    EXPECT_FALSE(ChatTemplate::load({changed.data(), changed.size()}).ok()) << position;
  }
}

}  // namespace
}  // namespace rushlight::llm
