// SPDX-License-Identifier: BSD-3-Clause
// Methods that use the cache lock the generator for one call, so threads may interleave steps. The log
// belongs to the thread and is cleared before each call.
#include "python/bindings/generator.h"

#include <pybind11/stl.h>

#include "python/bindings/captured_log.h"
#include "python/bindings/failure.h"
#include "python/bindings/gil.h"
#include "python/bindings/interrupt.h"

namespace py = pybind11;

namespace rushlight {

namespace {

// Returns an option. The Python side always passes all keys.
template <class T>
T option(const py::dict& options, const char* name) {
  return options[name].cast<T>();
}

// Checks types only; TextGenerator::begin() checks values.
llm::GenerateOptions options_of(const py::dict& given) {
  llm::GenerateOptions options;
  options.max_tokens = option<size_t>(given, "max_tokens");
  options.stop = option<std::vector<std::string>>(given, "stop");
  options.stops_at_end = option<bool>(given, "stops_at_end");
  options.shifts = option<bool>(given, "shifts");
  options.keep = option<size_t>(given, "keep");
  options.logprobs = option<bool>(given, "logprobs");
  llm::SamplerOptions& sampler = options.sampler;
  sampler.temperature = option<float>(given, "temperature");
  sampler.top_k = option<int32_t>(given, "top_k");
  sampler.top_p = option<float>(given, "top_p");
  sampler.min_p = option<float>(given, "min_p");
  sampler.repetition_penalty = option<float>(given, "repetition_penalty");
  sampler.repeat_last_n = option<size_t>(given, "repeat_last_n");
  sampler.seed = option<uint64_t>(given, "seed");
  return options;
}

}  // namespace

std::unique_lock<std::mutex> PyTextGenerator::lock() {
  std::unique_lock<std::mutex> lock = lock_for_python(mutex_);
  captured_log().clear();
  return lock;
}

// Encoding reads immutable tables: no lock.
std::vector<int32_t> PyTextGenerator::encode(const std::string& prompt) const {
  return value_of([&] { return without_gil([&] { return generator_->encode(prompt); }); });
}

std::vector<int32_t> PyTextGenerator::encode_chat(
    const std::vector<std::pair<std::string, std::string>>& messages) const {
  std::vector<llm::Message> views;
  // Views of the caller's strings, which live until the call returns.
  for (const auto& [role, content] : messages) views.push_back({role, content});
  return value_of(
      [&] { return without_gil([&] { return generator_->encode({views.data(), views.size()}); }); });
}

void PyTextGenerator::begin(const std::vector<int32_t>& prompt, const py::dict& options) {
  const llm::GenerateOptions wanted = options_of(options);
  const auto locked = lock();
  check([&] { return generator_->begin({prompt.data(), prompt.size()}, wanted); });
}

// Locks the generator, then the trace; the GIL is released during the step.
py::tuple PyTextGenerator::step() {
  const auto locked = lock();
  const std::unique_lock<std::mutex> traced =
      trace_ == nullptr ? std::unique_lock<std::mutex>() : lock_for_python(trace_->mutex());
  Result<llm::Generated> made = without_gil([&] { return generator_->step(); });
  // An exception that a signal handler raised replaces the error with which the step stopped.
  throw_if_interrupted();
  if (!made.ok()) fail_in(generator_->failed_call(), made.error());
  const llm::Generated& step = *made;
  return py::make_tuple(py::bytes(step.text), step.token, step.logprob, static_cast<int>(step.finish));
}

void PyTextGenerator::rewind(size_t count) {
  const auto locked = lock();
  check([&] { return generator_->rewind(count); });
}

std::vector<int32_t> PyTextGenerator::tokens() {
  const auto locked = lock();
  return generator_->tokens();
}

// No lock: the facts do not change after loading.
py::dict PyTextGenerator::facts() const {
  const llm::ModelFacts& facts = generator_->facts();
  py::dict dict;
  dict["begin"] = facts.begin;
  dict["ends"] = facts.ends;
  dict["context"] = facts.context;
  dict["chunk"] = facts.chunk;
  dict["vocabulary"] = facts.vocabulary;
  dict["takes_text"] = generator_->tokenizer() != nullptr;
  dict["takes_messages"] = generator_->tokenizer() != nullptr && generator_->chat_template() != nullptr;
  return dict;
}

// Locked, because step() updates several counters.
py::dict PyTextGenerator::statistics() {
  const auto locked = lock();
  const llm::GenerateStatistics& numbers = generator_->statistics();
  py::dict dict;
  dict["prompt_tokens"] = numbers.prompt_tokens;
  dict["cached_tokens"] = numbers.cached_tokens;
  dict["evaluated_tokens"] = numbers.evaluated_tokens;
  dict["generated_tokens"] = numbers.generated_tokens;
  dict["decoded_tokens"] = numbers.decoded_tokens;
  dict["first_token_ns"] = numbers.first_token_ns;
  dict["prefill_ns"] = numbers.prefill_ns;
  dict["decode_ns"] = numbers.decode_ns;
  return dict;
}

void bind_generator(py::module_& m) {
  py::class_<PyTextGenerator>(m, "TextGenerator", py::module_local())
      .def("encode", &PyTextGenerator::encode, py::arg("prompt"), "Encodes a text to be continued.")
      .def("encode_chat", &PyTextGenerator::encode_chat, py::arg("messages"),
           "Encodes a conversation, for its next answer.")
      .def("begin", &PyTextGenerator::begin, py::arg("prompt"), py::arg("options"),
           "Starts a text after the tokens of the prompt; evaluates nothing.")
      .def("step", &PyTextGenerator::step,
           "Evaluates a part of the prompt, or samples a token. Returns text, token or None, log "
           "probability, finish.")
      .def("rewind", &PyTextGenerator::rewind, py::arg("count"), "Keeps the first `count` tokens.")
      .def("tokens", &PyTextGenerator::tokens, "All tokens so far, evaluated or not.")
      .def("facts", &PyTextGenerator::facts, "Properties of the language model.")
      .def("statistics", &PyTextGenerator::statistics, "Counts of tokens, and times, since begin().");
}

}  // namespace rushlight
