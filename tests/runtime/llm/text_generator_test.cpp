// SPDX-License-Identifier: BSD-3-Clause
// A fake language model: its next token is a weighted sum of all earlier ones, so a token that is lost,
// repeated or evaluated at a wrong position changes the text. Expected texts come from next_token(), without
// cache, chunks or shifts.
#include "runtime/llm/text_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/kernel/boxing.h"
#include "tests/runtime/llm/vocabulary_builder.h"
#include "tests/runtime/support/program_builder.h"

namespace rushlight::llm {
namespace {

using namespace ::rushlight::testing;  // NOLINT: the builders read as words
using llm::testing::VocabularyBuilder;
using ::testing::HasSubstr;

constexpr int kVocabulary = 11;
constexpr int kContext = 16;
constexpr int kChunk = 4;

// The likeliest token behind others.
int32_t next_token(const std::vector<int32_t>& tokens) {
  int32_t sum = 0;
  for (size_t i = 0; i < tokens.size(); ++i) sum += static_cast<int32_t>(i + 1) * tokens[i];
  return (3 * sum + 1) % kVocabulary;
}

// A language model whose cache is its tokens.
Error language(KernelContext&, const Tensor& tokens, const Tensor& position, const Tensor& cache,
               Tensor& out) {
  const auto first = static_cast<size_t>(*position.const_data_ptr<int64_t>());
  const size_t count = first + tokens.numel();
  RL_CHECK(count <= cache.numel(), Error::InvalidArgument, "language: expected at most %lu tokens, got %lu",
           log_number(cache.numel()), log_number(count));
  for (size_t i = first; i < count; ++i) {
    cache.mutable_data_ptr<float>()[i] = static_cast<float>(tokens.const_data_ptr<int64_t>()[i - first]);
  }
  std::vector<int32_t> seen(cache.const_data_ptr<float>(), cache.const_data_ptr<float>() + count);
  std::fill_n(out.mutable_data_ptr<float>(), kVocabulary, 0.0f);
  out.mutable_data_ptr<float>()[next_token(seen)] = 5;
  return Error::Ok;
}

constexpr KernelEntry kEntry = {"test::language", &boxed<&language>, signature_of<&language>()};
constexpr OperatorTable kTable = {&kEntry, 1};

PlanSpec constant(const char* name, int64_t number) {
  PlanSpec plan;
  plan.name = name;
  plan.values = {integer(number)};
  plan.outputs = {0};
  return plan;
}

PlanSpec forward(int chunk) {
  const auto dynamism = chunk > 1 ? TensorShapeDynamism::DYNAMIC_BOUND : TensorShapeDynamism::STATIC;
  PlanSpec plan;
  plan.values = {tensor({.sizes = {1, chunk}, .type = ScalarType::Long, .dynamism = dynamism}),
                 tensor({.sizes = {1}, .type = ScalarType::Long}),
                 tensor({.sizes = {kContext}, .memory_id = 1}), tensor({.sizes = {1, kVocabulary}})};
  plan.inputs = {0, 1};
  plan.outputs = {3};
  plan.operators = {{"test::language", ""}};
  plan.instructions = {call(0, {0, 1, 2, 3})};
  plan.buffer_sizes = {0, kContext * 4};
  return plan;
}

std::unique_ptr<TextGenerator> generator_of(const ProgramSpec& spec) {
  const Bytes file = build(spec);
  auto module = Module::load_bytes({file.data(), file.size()}, kTable);
  if (!module.ok()) return nullptr;
  auto generator = TextGenerator::load(std::move(*module));
  return generator.ok() ? std::move(*generator) : nullptr;
}

std::unique_ptr<TextGenerator> generator_of(std::vector<PlanSpec> plans) {
  ProgramSpec spec;
  spec.plans = std::move(plans);
  return generator_of(spec);
}

ProgramSpec language_model(int chunk = kChunk) {
  ProgramSpec spec;
  spec.plans = {forward(chunk), constant("get_max_seq_len", chunk == 1 ? kContext : chunk),
                constant("get_max_context_len", kContext), constant("get_eos_ids", 10)};
  return spec;
}

std::unique_ptr<TextGenerator> generator(int chunk = kChunk) { return generator_of(language_model(chunk)); }

std::vector<int32_t> expected(std::vector<int32_t> tokens, size_t count) {
  const size_t prompt = tokens.size();
  while (tokens.size() < prompt + count) tokens.push_back(next_token(tokens));
  tokens.erase(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(prompt));
  return tokens;
}

GenerateOptions options(size_t max_tokens) {
  GenerateOptions wanted;
  wanted.max_tokens = max_tokens;
  wanted.stops_at_end = false;
  return wanted;
}

Result<Finish> generate(TextGenerator& from, const std::vector<int32_t>& prompt,
                        const GenerateOptions& wanted, std::vector<int32_t>* tokens) {
  return from.generate({prompt.data(), prompt.size()}, wanted, [&](const Generated& made) {
    if (made.token) tokens->push_back(*made.token);
    return true;
  });
}

const std::vector<int32_t> kPrompt = {3, 1, 4, 1, 5, 9};

TEST(TextGenerator, GivesTheLikeliestTokens_InChunksAndOneByOne) {
  for (const int chunk : {kChunk, 1}) {
    const auto made = generator(chunk);
    ASSERT_NE(made, nullptr);
    std::vector<int32_t> tokens;
    const auto finish = generate(*made, kPrompt, options(8), &tokens);
    ASSERT_TRUE(finish.ok());
    EXPECT_EQ(*finish, Finish::MaxTokens);
    EXPECT_EQ(tokens, expected(kPrompt, 8));
    EXPECT_EQ(made->statistics().evaluated_tokens, kPrompt.size());
    EXPECT_EQ(made->statistics().decoded_tokens, 7u);
    EXPECT_GT(made->statistics().first_token_ns, 0u);
  }
}

TEST(TextGenerator, EvaluatesWhatIsNew_OfALongerPrompt) {
  const auto made = generator();
  std::vector<int32_t> tokens;
  ASSERT_TRUE(generate(*made, kPrompt, options(3), &tokens).ok());
  std::vector<int32_t> longer = made->tokens();
  longer.push_back(2);
  tokens.clear();
  ASSERT_TRUE(generate(*made, longer, options(3), &tokens).ok());
  EXPECT_EQ(tokens, expected(longer, 3));
  EXPECT_EQ(made->statistics().cached_tokens, kPrompt.size() + 2);
  EXPECT_EQ(made->statistics().evaluated_tokens, 2u);
}

TEST(TextGenerator, EndsWhereTheCallbackSaysSo) {
  const auto made = generator();
  int steps = 0;
  const auto finish = made->generate({kPrompt.data(), kPrompt.size()}, options(9),
                                     [&](const Generated&) { return ++steps < 3; });
  ASSERT_TRUE(finish.ok());
  EXPECT_EQ(*finish, Finish::Cancelled);
  EXPECT_EQ(steps, 3);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(made->step().error(), Error::InvalidState);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("call begin() first"));
}

// Every token is the first byte of a character of two, which the decoder replaces by U+FFFD when the text
// ends.
TEST(TextGenerator, KeepsBeingCancelled_ThoughTheRestWouldBeAStopText) {
  VocabularyBuilder vocabulary;
  for (int token = 0; token < kVocabulary; ++token) vocabulary.texts[static_cast<size_t>(token)] = "\xC3";
  ProgramSpec spec = language_model();
  spec.segment = vocabulary.build();
  spec.named_data = {{"rushlight.vocabulary", 0}};
  const auto made = generator_of(spec);
  ASSERT_NE(made, nullptr);
  GenerateOptions wanted = options(1);
  wanted.stop = {"\xEF\xBF\xBD"};
  std::vector<int32_t> tokens;
  EXPECT_EQ(*generate(*made, kPrompt, wanted, &tokens), Finish::StopText);
  wanted.max_tokens = 9;
  const auto finish = made->generate({kPrompt.data(), kPrompt.size()}, wanted,
                                     [](const Generated& piece) { return !piece.token; });
  ASSERT_TRUE(finish.ok());
  EXPECT_EQ(*finish, Finish::Cancelled);
}

TEST(TextGenerator, EndsWhenTheContextIsFull_OrShifts) {
  const auto made = generator();
  std::vector<int32_t> tokens;
  EXPECT_EQ(*generate(*made, kPrompt, options(SIZE_MAX), &tokens), Finish::ContextFull);
  EXPECT_EQ(tokens, expected(kPrompt, kContext - kPrompt.size() + 1));

  std::vector<int32_t> context = kPrompt;
  std::vector<int32_t> shifted;
  constexpr size_t kKeep = 2;
  for (int i = 0; i < 40; ++i) {
    if (context.size() > kContext) {
      context.erase(context.begin() + kKeep, context.end() - (kContext - kKeep) / 2);
    }
    shifted.push_back(next_token(context));
    context.push_back(shifted.back());
  }
  GenerateOptions wanted = options(40);
  wanted.shifts = true;
  wanted.keep = kKeep;
  tokens.clear();
  EXPECT_EQ(*generate(*made, kPrompt, wanted, &tokens), Finish::MaxTokens);
  EXPECT_EQ(tokens, shifted);
}

TEST(TextGenerator, EndsAtAnEndToken) {
  const auto made = generator();
  GenerateOptions wanted = options(100);
  wanted.stops_at_end = true;
  for (int32_t first = 0; first < kVocabulary; ++first) {
    std::vector<int32_t> tokens;
    const Finish finish = *generate(*made, {first}, wanted, &tokens);
    const bool ends = tokens.back() == 10;
    EXPECT_EQ(finish, ends ? Finish::EndToken : Finish::ContextFull);
    EXPECT_EQ(tokens, expected({first}, tokens.size()));
  }
}

TEST(TextGenerator, Rewinds) {
  const auto made = generator();
  std::vector<int32_t> tokens;
  ASSERT_TRUE(generate(*made, kPrompt, options(3), &tokens).ok());
  ASSERT_EQ(made->rewind(2), Error::Ok);
  EXPECT_EQ(made->tokens(), std::vector<int32_t>({3, 1}));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(made->rewind(3), Error::InvalidArgument);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("expected at most 2 tokens, got 3"));
}

TEST(TextGenerator, RefusesPromptsAndOptions) {
  const auto made = generator();
  std::vector<int32_t> tokens;
  ::testing::internal::CaptureStderr();
  for (const std::vector<int32_t>& prompt :
       {std::vector<int32_t>{}, {kVocabulary}, {-1}, std::vector<int32_t>(kContext + 1, 1)}) {
    EXPECT_EQ(generate(*made, prompt, options(1), &tokens).error(), Error::InvalidArgument);
  }
  EXPECT_EQ(generate(*made, kPrompt, options(0), &tokens).error(), Error::InvalidArgument);
  GenerateOptions wanted = options(1);
  wanted.shifts = true;
  wanted.keep = kContext - 1;
  EXPECT_EQ(generate(*made, kPrompt, wanted, &tokens).error(), Error::InvalidArgument);
  EXPECT_EQ(made->encode("text").error(), Error::NotSupported);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("the program has no vocabulary"));
}

TEST(TextGenerator, GoesOnAfterAKernelFailed) {
  // More context than the cache has.
  const auto made = generator_of({forward(kChunk), constant("get_max_context_len", 2 * kContext)});
  ASSERT_NE(made, nullptr);
  std::vector<int32_t> tokens;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(generate(*made, kPrompt, options(100), &tokens).error(), Error::InvalidArgument);
  ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(tokens, expected(kPrompt, kContext - kPrompt.size() + 1));
  tokens.clear();
  ASSERT_TRUE(generate(*made, kPrompt, options(3), &tokens).ok());
  EXPECT_EQ(tokens, expected(kPrompt, 3));
}

TEST(TextGenerator, SaysWhatIsWrong_WithProgramsOfAnotherForm) {
  PlanSpec static_chunk = forward(1);
  static_chunk.values[0] = tensor({.sizes = {1, 4}, .type = ScalarType::Long});
  PlanSpec float_tokens = forward(1);
  float_tokens.values[0] = tensor({.sizes = {1, 1}});
  PlanSpec one_input = forward(1);
  one_input.inputs = {0};
  PlanSpec long_logits = forward(1);
  long_logits.values[3] = tensor({.sizes = {1, kVocabulary}, .type = ScalarType::Long});
  const struct {
    std::vector<PlanSpec> plans;
    const char* words;
  } cases[] = {
      {{constant("get_max_seq_len", 5)}, "forward"},
      {{forward(kChunk)}, "expected a method get_max_seq_len or get_max_context_len, got neither"},
      {{static_chunk, constant("get_max_seq_len", 5)},
       "expected a dynamic number of tokens or 1, got exactly 4"},
      {{float_tokens, constant("get_max_seq_len", 5)},
       "input 0: expected tokens as int64 [1, S], got float32"},
      {{one_input, constant("get_max_seq_len", 5)}, "got 1 inputs and 1 outputs"},
      {{long_logits, constant("get_max_seq_len", 5)}, "output 0: expected logits"},
      {{forward(kChunk), constant("get_max_seq_len", 0)}, "get_max_seq_len: expected 1 to 2147483647, got 0"},
      {{forward(kChunk), constant("get_max_seq_len", 5), constant("get_eos_ids", 11)}, "below 11, got 11"},
      {{forward(kChunk), constant("get_max_seq_len", 5), constant("get_vocab_size", 12)}, "1 to 11, got 12"},
  };
  for (const auto& each : cases) {
    ::testing::internal::CaptureStderr();
    EXPECT_EQ(generator_of(each.plans), nullptr);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr(each.words));
  }
}

}  // namespace
}  // namespace rushlight::llm
