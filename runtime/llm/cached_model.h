// SPDX-License-Identifier: BSD-3-Clause
// A language model and what is in its cache. Where keys and values are addressed by position the cache is
// shortened by forgetting its last tokens: later ones overwrite them. Other caches begin anew.
#pragma once

#include <memory>
#include <vector>

#include "runtime/llm/model_facts.h"

namespace rushlight::llm {

class CachedModel {
 public:
  // An instance of the module's method forward, with a cache of its own. Errors: what read_facts() and
  // Module::load_method() return.
  [[nodiscard]] static Result<CachedModel> load(std::shared_ptr<Module> module);

  [[nodiscard]] const ModelFacts& facts() const { return facts_; }
  [[nodiscard]] const Method& method() const { return method_->method(); }

  // The tokens whose keys and values are in the cache.
  [[nodiscard]] const std::vector<int32_t>& tokens() const { return tokens_; }
  // Evaluates 1 to facts().chunk tokens behind those, in one call, for logits(). Error: what executing the
  // method returns; the cache then holds what it held before.
  Error evaluate(Span<const int32_t> tokens);
  // Keeps the first `count` tokens, or none where the cache cannot be shortened; count <= tokens().size().
  void rewind(size_t count) { tokens_.resize(count == tokens_.size() || facts_.rewinds ? count : 0); }

  // Of the position behind the last token that was evaluated: facts().vocabulary numbers.
  [[nodiscard]] Span<const float> logits() const { return {logits_.data(), facts_.vocabulary}; }

 private:
  CachedModel() = default;
  Error read_logits(const Tensor& logits);

  std::shared_ptr<Module> module_;  // first, so that it goes last
  std::unique_ptr<ModuleMethod> method_;
  ModelFacts facts_;
  std::vector<int32_t> tokens_;
  std::vector<int64_t> inputs_;     // of one call; a method may use them in place
  std::vector<int64_t> positions_;  // likewise
  std::vector<float> logits_;
};

}  // namespace rushlight::llm
