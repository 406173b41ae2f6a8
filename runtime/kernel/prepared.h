// SPDX-License-Identifier: BSD-3-Clause
// A cache of constants in kernel-specific layouts (for example weights packed in panels), filled when methods
// are loaded. The caller provides the memory. Several methods may share a cache: each finds what another
// prepared. Blocks form a binary trie over a hash of their key, so lookup is logarithmic and needs no table.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/memory/arena.h"

namespace rushlight {

// Maps (source address, layout number, size) to prepared bytes. Not thread-safe.
class PreparedWeights {
 public:
  static constexpr size_t kAlignment = 64;

  // Notified before each block is added; earlier blocks are complete by then.
  class Watcher {
   public:
    virtual void begin_block(size_t size) = 0;

   protected:
    ~Watcher() = default;
  };

  PreparedWeights() = default;
  explicit PreparedWeights(Span<uint8_t> memory) : arena_(memory) {}

  // Sets the memory of later blocks; existing blocks stay valid.
  void extend(Span<uint8_t> memory) { arena_ = Arena(memory); }

  // Returns the bytes that were derived from `source` in layout `layout`, or null.
  [[nodiscard]] void* find(const void* source, uint64_t layout, size_t size) const;
  // Allocates a block that find() does not know yet; null if less than cost(size) bytes are left.
  [[nodiscard]] void* add(const void* source, uint64_t layout, size_t size);
  // Adds an entry without data, for counting. Returns true if it is new.
  bool note(const void* source, uint64_t layout, size_t size);
  // Removes the last added block, if its data could not be computed. Its memory stays allocated.
  void drop_last() { *last_ = nullptr; }
  // Upper bound of the memory that add() takes.
  [[nodiscard]] static constexpr size_t cost(size_t size) { return note_cost() + size + kAlignment; }
  [[nodiscard]] static constexpr size_t note_cost() { return sizeof(Block) + alignof(Block); }

  [[nodiscard]] Arena& arena() { return arena_; }
  // Null removes the watcher.
  void set_watcher(Watcher* watcher) { watcher_ = watcher; }

 private:
  struct Block {
    const void* source;
    uint64_t layout;
    void* data;
    size_t size;
    Block* children[2];  // indexed by the next bit of the hash
  };

  // The link that points to the block, or would.
  static Block** find_slot(Block** root, const void* source, uint64_t layout, size_t size);

  Arena arena_;
  Block* root_ = nullptr;
  Block** last_ = nullptr;  // link to the last added block
  Watcher* watcher_ = nullptr;
};

// A layout number for PreparedWeights: hashes `kind`, unique to the kernel and its format, and the sizes that
// the format depends on (FNV-1a).
template <class... Sizes>
[[nodiscard]] constexpr uint64_t layout_id(uint64_t kind, Sizes... sizes) {
  constexpr uint64_t kPrime = 0x100000001b3;  // FNV-1a's
  uint64_t number = 0xcbf29ce484222325 ^ kind;
  ((number = (number * kPrime) ^ static_cast<uint64_t>(sizes)), ...);
  return number;
}

// The most bytes that kernels may prepare from `constants` bytes of a file. A factor of 16 covers 4-bit
// weights expanded to float32 and packed once more; small programs get a fixed allowance.
constexpr uint64_t most_prepared_of(uint64_t constants) {
  constexpr uint64_t kMostGrowth = 16;
  constexpr uint64_t kAlwaysAllowed = uint64_t{1} << 20;
  return constants > UINT64_MAX / kMostGrowth - kAlwaysAllowed ? UINT64_MAX
                                                               : kMostGrowth * constants + kAlwaysAllowed;
}

// A kernel's estimate of the time that one call takes.
struct CallWork {
  float products = 0;  // multiply-accumulates; 0 if the kernel states nothing
  uint32_t joins = 1;  // calls of parallel_for(), one after another
};

// Totals of what a method's kernels request when it is loaded; see KernelContext::need_scratch() and
// prepare().
struct Preparation {
  PreparedWeights* weights = nullptr;       // null: sizes are only counted
  const PreparedWeights* shared = nullptr;  // its entries need no memory and are not counted
  size_t scratch_bytes = 0;                 // maximum over the calls
  size_t prepared_bytes = 0;                // memory for data to be prepared
  size_t index_bytes = 0;                   // memory for the method's index of it; 0 if nothing is prepared
  const void* prepared = nullptr;           // result for the current call
  CallWork work;                            // of the current call
  CallWork* works = nullptr;                // null, or receives the work of each instruction's call
  // For hosts, while counting: requests that exceed `most_prepared_bytes` are dropped. Data that several
  // calls request counts once, as long as `counted` has memory for its entries.
  size_t most_prepared_bytes = SIZE_MAX;
  PreparedWeights* counted = nullptr;

  // Counts `size` bytes derived from `source`. Returns false if the request is dropped.
  [[nodiscard]] bool count(const void* source, uint64_t layout, size_t size);
};

}  // namespace rushlight
