// SPDX-License-Identifier: BSD-3-Clause
// A segment tree in an array: node n has children 2n and 2n + 1, and the leaf of range p is node size + p.
// Ranges that begin before an address form a prefix of the sorted array; the one in the prefix that ends last
// tells if any of them reaches the address. The number of leaves need not be a power of two, because the
// order of combining does not matter.
#include "runtime/executor/slot_set.h"

#include <utility>

namespace rushlight {

namespace {

// Restores the max-heap below `at`.
void sift_down(Span<Slot> heap, size_t at) {
  for (size_t child = 2 * at + 1; child < heap.size(); child = 2 * at + 1) {
    if (child + 1 < heap.size() && heap[child].begin < heap[child + 1].begin) ++child;
    if (heap[child].begin <= heap[at].begin) return;
    std::swap(heap[at], heap[child]);
    at = child;
  }
}

}  // namespace

// Heap sort: in place, no recursion, n log n in the worst case.
void sort(Span<Slot> slots) {
  for (size_t i = slots.size() / 2; i-- > 0;) sift_down(slots, i);
  for (size_t left = slots.size(); left > 1; --left) {
    std::swap(slots[0], slots[left - 1]);
    sift_down({slots.data(), left - 1}, 0);
  }
}

SlotSet::SlotSet(Span<const Slot> slots, uint32_t* nodes) : slots_(slots), nodes_(nodes) {
  for (size_t i = 0; i < kNodes * slots.size(); ++i) nodes[i] = kNone;
}

uint32_t SlotSet::later(uint32_t a, uint32_t b) const {
  if (a == kNone || b == kNone) return a == kNone ? b : a;
  return slots_[a].end < slots_[b].end ? b : a;
}

void SlotSet::set(uint32_t slot, uint32_t content) {
  size_t at = slots_.size() + slot;
  nodes_[at] = content;
  while ((at /= 2) > 0) nodes_[at] = later(nodes_[2 * at], nodes_[2 * at + 1]);
}

uint32_t SlotSet::find(const Slot& with) const {
  size_t before = 0;  // number of ranges that begin before `with` ends
  for (size_t end = slots_.size(); before < end;) {
    const size_t middle = before + (end - before) / 2;
    if (slots_[middle].begin < with.end) {
      before = middle + 1;
    } else {
      end = middle;
    }
  }
  uint32_t found = kNone;
  size_t left = slots_.size();
  // Combines the nodes that cover the leaves [0, before): at each level the left end if it is a right child,
  // and the right end's left neighbour if that is a left child.
  for (size_t right = left + before; left < right; left /= 2, right /= 2) {
    if ((left & 1) != 0) found = later(found, nodes_[left++]);
    if ((right & 1) != 0) found = later(found, nodes_[--right]);
  }
  return found != kNone && slots_[found].end > with.begin ? found : kNone;
}

}  // namespace rushlight
