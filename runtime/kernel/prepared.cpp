// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/kernel/prepared.h"

#include <new>

#include "runtime/kernel/context.h"

namespace rushlight {

void* PreparedWeights::find(const void* source, uint64_t layout, size_t size) const {
  for (const Block* block = blocks_; block != nullptr; block = block->next) {
    if (block->source == source && block->layout == layout && block->size == size) return block->data;
  }
  return nullptr;
}

void* PreparedWeights::add(const void* source, uint64_t layout, size_t size) {
  void* block = arena_.allocate(sizeof(Block), alignof(Block));
  void* data = block == nullptr ? nullptr : arena_.allocate(size, kAlignment);
  if (data == nullptr) return nullptr;
  blocks_ = new (block) Block{source, layout, data, size, blocks_};
  return data;
}

void* KernelContext::prepare(const void* source, uint64_t layout, size_t size) {
  if (preparation_ == nullptr) return nullptr;
  if (preparation_->weights == nullptr) {
    const bool there =
        preparation_->shared != nullptr && preparation_->shared->find(source, layout, size) != nullptr;
    if (!there) preparation_->prepared_bytes += PreparedWeights::cost(size);
    return nullptr;
  }
  preparation_->prepared = preparation_->weights->find(source, layout, size);
  if (preparation_->prepared != nullptr) return nullptr;
  void* made = preparation_->weights->add(source, layout, size);
  preparation_->prepared = made;
  return made;
}

}  // namespace rushlight
