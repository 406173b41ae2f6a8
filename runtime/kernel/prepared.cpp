// SPDX-License-Identifier: BSD-3-Clause
// Blocks form a binary trie over the bits of a 64-bit hash. It needs no rehashing as it grows, and its nodes
// lie in the arena beside the data, so addresses never change.
#include "runtime/kernel/prepared.h"

#include <new>

#include "runtime/base/assert.h"
#include "runtime/kernel/context.h"

namespace rushlight {

PreparedWeights::Block** PreparedWeights::find_slot(Block** root, const void* source, uint64_t layout,
                                                    size_t size) {
  // The finalizer of MurmurHash3 (Austin Appleby, public domain): each input bit affects all output bits.
  uint64_t hash = layout ^ (uint64_t{size} << 40) ^ reinterpret_cast<uintptr_t>(source);
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
  hash ^= hash >> 33;
  // Each level consumes the top bit; after 64 levels the rest of the hash is 0, and the walk goes on to the
  // left.
  Block** slot = root;
  for (; *slot != nullptr; hash <<= 1) {
    Block& block = **slot;
    if (block.source == source && block.layout == layout && block.size == size) break;
    slot = block.children + (hash >> 63);
  }
  return slot;
}

void* PreparedWeights::find(const void* source, uint64_t layout, size_t size) const {
  Block* root = root_;
  const Block* block = *find_slot(&root, source, layout, size);
  return block == nullptr ? nullptr : block->data;
}

void* PreparedWeights::add(const void* source, uint64_t layout, size_t size) {
  const size_t most = cost(size);
  // Compares first, because Arena logs an error when it is full, and constants that stay unprepared are no
  // error. The bound includes all padding, so that what fits does not depend on the memory's address. most <
  // size: the sum overflowed.
  if (most < size || most > arena_.size() - arena_.used()) return nullptr;
  if (watcher_ != nullptr) watcher_->begin_block(size);
  void* block = arena_.allocate(sizeof(Block), alignof(Block));
  void* data = arena_.allocate(size, kAlignment);
  RL_DCHECK(block != nullptr && data != nullptr);
  last_ = find_slot(&root_, source, layout, size);
  RL_DCHECK(*last_ == nullptr);
  *last_ = new (block) Block{source, layout, data, size, {}};
  return data;
}

bool PreparedWeights::note(const void* source, uint64_t layout, size_t size) {
  Block** slot = find_slot(&root_, source, layout, size);
  if (*slot != nullptr) return false;
  if (arena_.size() - arena_.used() < note_cost()) return true;
  if (void* block = arena_.allocate(sizeof(Block), alignof(Block)))
    *slot = new (block) Block{source, layout, nullptr, size, {}};
  return true;
}

// Counts each entry once per cache; duplicates are recognised as long as `counted` has memory for its notes.
bool Preparation::count(const void* source, uint64_t layout, size_t size) {
  if (shared != nullptr && shared->find(source, layout, size) != nullptr) return true;
  const size_t cost = PreparedWeights::cost(size);
  // cost < size: the sum overflowed.
  if (cost < size || cost > most_prepared_bytes - prepared_bytes) return false;
  if (counted == nullptr || counted->note(source, layout, size)) prepared_bytes += cost;
  return true;
}

void* KernelContext::prepare(const void* source, uint64_t layout, size_t size) {
  if (preparation_ == nullptr) return nullptr;
  if (preparation_->weights == nullptr) {
    static_cast<void>(preparation_->count(source, layout, size));
    return nullptr;
  }
  preparation_->prepared = preparation_->weights->find(source, layout, size);
  // Found: already prepared, and the kernel must not fill it again.
  if (preparation_->prepared != nullptr) return nullptr;
  void* made = preparation_->weights->add(source, layout, size);
  preparation_->prepared = made;
  return made;
}

}  // namespace rushlight
