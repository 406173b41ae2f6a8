// SPDX-License-Identifier: BSD-3-Clause
// A language model with its key-value cache. If rows of the cache are addressed by position, dropping the
// last tokens shortens it, because later tokens overwrite their rows. Other caches restart empty.
#pragma once

#include <memory>
#include <vector>

#include "runtime/llm/model_facts.h"

namespace rushlight::llm {

// One instance of method `forward` with its own cache. Movable, not thread-safe.
class CachedModel {
 public:
  // Loads an instance of the module's method `forward`. Errors: as read_facts() and
  // Module::load_method().
  [[nodiscard]] static Result<CachedModel> load(std::shared_ptr<Module> module);

  [[nodiscard]] const ModelFacts& facts() const { return facts_; }
  [[nodiscard]] Method::FailedCall failed_call() const { return method_->failed_call(); }

  // The tokens whose keys and values are in the cache.
  [[nodiscard]] const std::vector<int32_t>& tokens() const { return tokens_; }
  // Evaluates 1 to facts().chunk tokens after those in the cache, in one call, and updates logits(). On an
  // error the cache keeps its tokens. Errors: InvalidArgument (the context is full), InvalidProgram (wrong
  // number of logits), or as ModuleMethod::execute().
  Error evaluate(Span<const int32_t> tokens);
  // Keeps the first `count` tokens, or none if the cache cannot be shortened. Precondition: count <=
  // tokens().size().
  void rewind(size_t count) { tokens_.resize(count == tokens_.size() || facts_.rewinds ? count : 0); }

  // Logits after the last evaluated token: facts().vocabulary values.
  [[nodiscard]] Span<const float> logits() const { return {logits_.data(), facts_.vocabulary}; }

 private:
  CachedModel() = default;
  Error read_logits(const Tensor& logits);

  std::shared_ptr<Module> module_;  // first, so that it is destroyed last
  std::unique_ptr<ModuleMethod> method_;
  ModelFacts facts_;
  std::vector<int32_t> tokens_;
  std::vector<int64_t> inputs_;     // input of one call; a method may use it in place
  std::vector<int64_t> positions_;  // likewise
  std::vector<float> logits_;
};

}  // namespace rushlight::llm
