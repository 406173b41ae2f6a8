// SPDX-License-Identifier: BSD-3-Clause
// Constants as kernels like them best, weights in panels for instance, made once when a method is loaded. The
// memory is the caller's, and may serve several methods: what one has prepared, another one finds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/memory/arena.h"

namespace rushlight {

class PreparedWeights {
 public:
  static constexpr size_t kAlignment = 64;

  // Told of each block before it is made; by then those before it have been.
  class Watcher {
   public:
    virtual void begin_block(size_t size) = 0;

   protected:
    ~Watcher() = default;
  };

  PreparedWeights() = default;
  explicit PreparedWeights(Span<uint8_t> memory) : arena_(memory) {}

  // Where blocks are put from now on; those that there are stay where they are.
  void extend(Span<uint8_t> memory) { arena_ = Arena(memory); }

  // The bytes that were made of `source` in the layout of that number, or null.
  [[nodiscard]] void* find(const void* source, uint64_t layout, size_t size) const;
  // Memory for new ones, which find() does not know yet; null when they do not fit.
  [[nodiscard]] void* add(const void* source, uint64_t layout, size_t size);
  // Remembers that there are such bytes, without memory for them; true if that is new.
  bool note(const void* source, uint64_t layout, size_t size);
  // Forgets what was added last, if it was not made after all; its memory stays taken.
  void drop_last() { *last_ = nullptr; }
  // What add() takes of the memory at most.
  [[nodiscard]] static constexpr size_t cost(size_t size) { return note_cost() + size + kAlignment; }
  [[nodiscard]] static constexpr size_t note_cost() { return sizeof(Block) + alignof(Block); }

  [[nodiscard]] Arena& arena() { return arena_; }
  // Null: nobody.
  void set_watcher(Watcher* watcher) { watcher_ = watcher; }

 private:
  struct Block {
    const void* source;
    uint64_t layout;
    void* data;
    size_t size;
    Block* children[2];  // by the next bit of its hash: a trie, which finds a block in logarithmic time
  };

  // Where the block is, or would be.
  static Block** find_slot(Block** root, const void* source, uint64_t layout, size_t size);

  Arena arena_;
  Block* root_ = nullptr;
  Block** last_ = nullptr;  // where the last one was put
  Watcher* watcher_ = nullptr;
};

// A number for PreparedWeights: of a kind of layout, each kernel's its own, and the sizes it depends on.
template <class... Sizes>
[[nodiscard]] constexpr uint64_t layout_number(uint64_t kind, Sizes... sizes) {
  constexpr uint64_t kPrime = 0x100000001b3;  // of FNV-1a
  uint64_t number = 0xcbf29ce484222325 ^ kind;
  ((number = (number * kPrime) ^ static_cast<uint64_t>(sizes)), ...);
  return number;
}

// The most bytes that kernels may make of `constants` bytes of a file: 4-bit weights as float32, and these
// packed once more. Small programs are not counted so closely.
constexpr uint64_t most_prepared_of(uint64_t constants) {
  constexpr uint64_t kMostGrowth = 16;
  constexpr uint64_t kAlwaysAllowed = uint64_t{1} << 20;
  return constants > UINT64_MAX / kMostGrowth - kAlwaysAllowed ? UINT64_MAX
                                                               : kMostGrowth * constants + kAlwaysAllowed;
}

// What a method's kernels ask for when it is loaded: see KernelContext::need_scratch and prepare.
struct Preparation {
  PreparedWeights* weights = nullptr;       // null: sizes are only counted
  const PreparedWeights* shared = nullptr;  // what need not be counted: it is there
  size_t scratch_bytes = 0;                 // the most of any call
  size_t prepared_bytes = 0;                // memory for what is to be made
  size_t index_bytes = 0;                   // for the method's own list of it; 0 where nothing is prepared
  const void* prepared = nullptr;           // of the call at hand
  // For hosts, while sizes are counted: what does not fit into `most_prepared_bytes` is left out, and what
  // several calls ask for counts once as long as `counted` has memory for its notes.
  size_t most_prepared_bytes = SIZE_MAX;
  PreparedWeights* counted = nullptr;

  // Counts the memory for what is to be made of `source`; false if it is left out.
  [[nodiscard]] bool count(const void* source, uint64_t layout, size_t size);
};

}  // namespace rushlight
