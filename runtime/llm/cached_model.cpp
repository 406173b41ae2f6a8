// SPDX-License-Identifier: BSD-3-Clause
// Runs `forward` on one chunk: ids [1, S] int64 and positions int64 [S] or [1], to the logits of the last
// position. Ids are widened from int32, because exported programs take int64.
#include "runtime/llm/cached_model.h"

#include <algorithm>
#include <numeric>

#include "runtime/tensor/float16.h"

namespace rushlight::llm {

namespace {

template <class T>
void copy_as_float(const T* from, std::vector<float>* to) {
  std::copy(from, from + to->size(), to->begin());
}

}  // namespace

Result<CachedModel> CachedModel::load(std::shared_ptr<Module> module) {
  CachedModel model;
  RL_TRY_ASSIGN(model.facts_, read_facts(*module));
  RL_TRY_ASSIGN(model.method_, module->load_method("forward"));
  model.module_ = std::move(module);
  model.logits_.resize(model.facts_.logits);
  return model;
}

Error CachedModel::evaluate(Span<const int32_t> tokens) {
  const size_t first = tokens_.size();
  // first <= context: tokens_ grows only after this check.
  RL_DCHECK(!tokens.empty() && tokens.size() <= facts_.chunk);
  RL_CHECK(tokens.size() <= facts_.context - first, Error::InvalidArgument,
           "context: expected at most %lu tokens, got %lu", log_number(facts_.context),
           log_number(first + tokens.size()));
  inputs_.assign(tokens.begin(), tokens.end());
  positions_.resize(facts_.positions_of_each ? tokens.size() : 1);
  std::iota(positions_.begin(), positions_.end(), static_cast<int64_t>(first));
  const HostTensor ids({1, static_cast<SizesType>(inputs_.size())}, inputs_.data());
  const HostTensor positions({static_cast<SizesType>(positions_.size())}, positions_.data());
  const EValue inputs[] = {ids.value(), positions.value()};
  RL_TRY(method_->execute(inputs));
  RL_TRY(read_logits(method_->method().output(0).to_tensor()));
  // Only now do the tokens count as cached. After an error the next call writes the same rows again.
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  return Error::Ok;
}

// Reads the logits of the last position that the method returned.
Error CachedModel::read_logits(const Tensor& logits) {
  const size_t width = facts_.logits;
  RL_CHECK(logits.numel() >= width && logits.numel() % width == 0, Error::InvalidProgram,
           "method forward, output 0: expected a multiple of %lu logits, got %lu", log_number(width),
           log_number(logits.numel()));
  // With logits [1, S, vocabulary], S - 1 positions precede the last one.
  const size_t skipped = logits.numel() - width;
  switch (logits.scalar_type()) {
    case ScalarType::Float:
      copy_as_float(logits.const_data_ptr<float>() + skipped, &logits_);
      return Error::Ok;
    case ScalarType::Half:
      copy_as_float(logits.const_data_ptr<Half>() + skipped, &logits_);
      return Error::Ok;
    default:  // read_facts() checked that it is one of the three
      copy_as_float(logits.const_data_ptr<BFloat16>() + skipped, &logits_);
      return Error::Ok;
  }
}

}  // namespace rushlight::llm
