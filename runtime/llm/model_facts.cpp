// SPDX-License-Identifier: BSD-3-Clause
// Metadata methods are programs with constant outputs; they are loaded and executed like any other method.
#include "runtime/llm/model_facts.h"

#include <algorithm>
#include <climits>

namespace rushlight::llm {

namespace {

bool has_method(const Module& module, const char* name) {
  const std::vector<std::string> names = module.method_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the integers of a metadata method, or none if the program lacks it. A list of ids may be several
// outputs or one list.
Result<std::vector<int64_t>> integers(const Module& module, const char* name) {
  std::vector<int64_t> numbers;
  if (!has_method(module, name)) return numbers;
  RL_TRY_ASSIGN(const std::unique_ptr<ModuleMethod> method, module.load_method(name));
  RL_TRY(method->execute(Span<const EValue>()));
  for (const EValue& value : method->outputs()) {
    if (value.is_int() || value.is_bool()) {
      numbers.push_back(value.to_int());
    } else if (value.tag == Tag::ListInt) {
      const Span<const int64_t> list = value.to_int_list();
      numbers.insert(numbers.end(), list.begin(), list.end());
    } else {
      RL_CHECK(false, Error::InvalidProgram, "method %s: expected an integer, got a %s", name,
               to_string(value.tag));
    }
  }
  return numbers;
}

// Returns the single integer of a metadata method, from 1 to `most`, or nothing if the program lacks it.
Result<std::optional<size_t>> count(const Module& module, const char* name, size_t most) {
  RL_TRY_ASSIGN(const std::vector<int64_t> numbers, integers(module, name));
  if (numbers.empty()) return std::optional<size_t>();
  const int64_t number = numbers[0];
  RL_CHECK(number >= 1 && static_cast<uint64_t>(number) <= most, Error::InvalidProgram,
           "method %s: expected 1 to %lu, got %ld", name, log_number(most), static_cast<long>(number));
  return std::optional<size_t>(static_cast<size_t>(number));
}

// Reads token ids from a metadata method. Negative values mean "none".
Error token_ids(const Module& module, const char* name, size_t vocabulary, std::vector<int32_t>* ids) {
  RL_TRY_ASSIGN(const std::vector<int64_t> numbers, integers(module, name));
  for (const int64_t number : numbers) {
    if (number < 0) continue;
    RL_CHECK(static_cast<uint64_t>(number) < vocabulary, Error::InvalidProgram,
             "method %s: expected a token below %lu, got %ld", name, log_number(vocabulary),
             static_cast<long>(number));
    ids->push_back(static_cast<int32_t>(number));
  }
  return Error::Ok;
}

Error read_tokens_input(const MethodMeta& forward, ModelFacts* facts) {
  // Input 0 is tokens [1, S]; batches are not supported, because a cache holds one sequence.
  RL_TRY_ASSIGN(const TensorInfo tokens, forward.input_tensor(0));
  RL_CHECK(tokens.scalar_type == ScalarType::Long && tokens.sizes.size() == 2 && tokens.sizes[0] == 1 &&
               tokens.sizes[1] >= 1,
           Error::NotSupported,
           "method forward, input 0: expected tokens as int64 [1, S], got %s of rank %lu",
           to_string(tokens.scalar_type), log_number(tokens.sizes.size()));
  // Sizes in the program are upper bounds: for a dynamic S, the longest chunk that one call takes.
  facts->chunk = static_cast<size_t>(tokens.sizes[1]);
  RL_CHECK(facts->chunk == 1 || tokens.dynamism != TensorShapeDynamism::STATIC, Error::NotSupported,
           "method forward, input 0: expected a dynamic number of tokens or 1, got exactly %lu; export the "
           "model with dynamic shapes",
           log_number(facts->chunk));
  return Error::Ok;
}

Error read_position_input(const MethodMeta& forward, ModelFacts* facts) {
  RL_TRY_ASSIGN(const TensorInfo position, forward.input_tensor(1));
  RL_CHECK(position.scalar_type == ScalarType::Long && position.sizes.size() == 1 && position.sizes[0] >= 1,
           Error::NotSupported,
           "method forward, input 1: expected input_pos as int64 [1], got %s of rank %lu",
           to_string(position.scalar_type), log_number(position.sizes.size()));
  // A size above 1 is an upper bound too: such a model wants the position of each token.
  facts->positions_of_each = position.sizes[0] > 1;
  if (facts->positions_of_each) facts->chunk = std::min(facts->chunk, static_cast<size_t>(position.sizes[0]));
  return Error::Ok;
}

Error read_logits_output(const MethodMeta& forward, ModelFacts* facts) {
  RL_TRY_ASSIGN(const TensorInfo logits, forward.output_tensor(0));
  const size_t rank = logits.sizes.size();
  const bool is_number = logits.scalar_type == ScalarType::Float || logits.scalar_type == ScalarType::Half ||
                         logits.scalar_type == ScalarType::BFloat16;
  RL_CHECK(is_number && (rank == 2 || rank == 3) && logits.sizes[0] == 1 && logits.sizes[rank - 1] >= 1,
           Error::NotSupported,
           "method forward, output 0: expected logits [1, vocabulary] or [1, S, vocabulary] in float32, "
           "float16 or bfloat16, got %s of rank %lu",
           to_string(logits.scalar_type), log_number(rank));
  // The last size is the number of logits of a position in both accepted forms.
  facts->logits = static_cast<size_t>(logits.sizes[rank - 1]);
  return Error::Ok;
}

// The operator by which programs write cache rows at computed indices: a ring buffer with fewer rows than the
// context. The previous contents of a row are lost, so such a cache cannot be shortened.
constexpr std::string_view kWritesToRing = "llama::update_cache_with_indices";

bool calls(const MethodMeta& method, std::string_view name) {
  const flatbuffer::TableVector operators = method.plan().tables(schema::plan::kOperators);
  for (size_t i = 0; i < operators.size(); ++i) {
    const char* found = operators[i].string(schema::operator_name::kName);
    if (found != nullptr && name == found) return true;
  }
  return false;
}

Error read_forward(const Module& module, ModelFacts* facts) {
  RL_TRY_ASSIGN(const MethodMeta forward, module.method_meta("forward"));
  RL_CHECK(
      forward.num_inputs() == 2 && forward.num_outputs() >= 1, Error::NotSupported,
      "method forward: expected inputs tokens and input_pos and an output logits, got %lu inputs and %lu "
      "outputs; export a language model with a cache",
      log_number(forward.num_inputs()), log_number(forward.num_outputs()));
  facts->rewinds = !calls(forward, kWritesToRing);
  RL_TRY(read_tokens_input(forward, facts));
  RL_TRY(read_position_input(forward, facts));
  return read_logits_output(forward, facts);
}

}  // namespace

Result<ModelFacts> read_facts(const Module& module) {
  ModelFacts facts;
  RL_TRY(read_forward(module, &facts));
  RL_TRY_ASSIGN(const std::optional<size_t> sequence, count(module, "get_max_seq_len", INT32_MAX));
  RL_TRY_ASSIGN(const std::optional<size_t> context, count(module, "get_max_context_len", INT32_MAX));
  RL_CHECK(
      sequence || context, Error::NotSupported,
      "program: expected a method get_max_seq_len or get_max_context_len, got neither; they say how many "
      "tokens the cache holds");
  // If both exist, get_max_context_len is the capacity of the cache and get_max_seq_len limits one call only.
  facts.context = context.value_or(sequence.value_or(0));
  facts.chunk = std::min({facts.chunk, sequence.value_or(facts.context), facts.context});
  // A head may be padded to a round size. Its logits beyond the vocabulary are read but never sampled.
  RL_TRY_ASSIGN(const std::optional<size_t> vocabulary, count(module, "get_vocab_size", facts.logits));
  facts.vocabulary = vocabulary.value_or(facts.logits);
  std::vector<int32_t> begins;
  RL_TRY(token_ids(module, "get_bos_id", facts.vocabulary, &begins));
  if (!begins.empty()) facts.begin = begins[0];
  RL_TRY(token_ids(module, has_method(module, "get_eos_ids") ? "get_eos_ids" : "get_eos_id", facts.vocabulary,
                   &facts.ends));
  return facts;
}

}  // namespace rushlight::llm
