// SPDX-License-Identifier: BSD-3-Clause
// A segment tree in an array: node n has children 2n and 2n + 1, and the leaf of range p is node size + p.
// Ranges that begin before an address form a prefix of the sorted array; the one in the prefix that ends last
// tells if any of them reaches the address.
#include "runtime/executor/place_set.h"

#include <utility>

namespace rushlight {

namespace {

// Restores the max-heap below `at`.
void sift_down(Span<Place> heap, size_t at) {
  for (size_t child = 2 * at + 1; child < heap.size(); child = 2 * at + 1) {
    if (child + 1 < heap.size() && heap[child].begin < heap[child + 1].begin) ++child;
    if (heap[child].begin <= heap[at].begin) return;
    std::swap(heap[at], heap[child]);
    at = child;
  }
}

}  // namespace

// Heap sort: in place, no recursion, n log n in the worst case.
void sort(Span<Place> places) {
  for (size_t i = places.size() / 2; i-- > 0;) sift_down(places, i);
  for (size_t left = places.size(); left > 1; --left) {
    std::swap(places[0], places[left - 1]);
    sift_down({places.data(), left - 1}, 0);
  }
}

PlaceSet::PlaceSet(Span<const Place> places, uint32_t* nodes) : places_(places), nodes_(nodes) {
  for (size_t i = 0; i < kNodes * places.size(); ++i) nodes[i] = kNone;
}

uint32_t PlaceSet::later(uint32_t a, uint32_t b) const {
  if (a == kNone || b == kNone) return a == kNone ? b : a;
  return places_[a].end < places_[b].end ? b : a;
}

void PlaceSet::set(uint32_t place, uint32_t content) {
  size_t at = places_.size() + place;
  nodes_[at] = content;
  while ((at /= 2) > 0) nodes_[at] = later(nodes_[2 * at], nodes_[2 * at + 1]);
}

uint32_t PlaceSet::find(const Place& with) const {
  size_t before = 0;  // number of ranges that begin before `with` ends
  for (size_t end = places_.size(); before < end;) {
    const size_t middle = before + (end - before) / 2;
    if (places_[middle].begin < with.end) {
      before = middle + 1;
    } else {
      end = middle;
    }
  }
  uint32_t found = kNone;
  size_t left = places_.size();
  for (size_t right = left + before; left < right; left /= 2, right /= 2) {
    if ((left & 1) != 0) found = later(found, nodes_[left++]);
    if ((right & 1) != 0) found = later(found, nodes_[--right]);
  }
  return found != kNone && places_[found].end > with.begin ? found : kNone;
}

}  // namespace rushlight
