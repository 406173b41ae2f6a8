// SPDX-License-Identifier: BSD-3-Clause
// One piece of fork-join work that a caller offers to the workers of a pool.
//
// The state is one atomic word, so that a worker joins, and the caller closes, with one operation, and the
// caller waits for the workers that joined only:
//
//   bits 0-8 workers inside | 9-17 workers that ever joined | 18-26 threads at most | open | parked | claimed
//
// A worker that compares a word from an earlier round with an equal word joins correctly: it reads the work
// only after it has joined, and the caller changes the work only while the round is claimed and not open.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/kernel/thread_pool.h"

namespace rushlight {

// In separate cache lines: workers watch the rounds of their pool while they wait.
class alignas(64) ThreadRound {
 public:
  // The most threads of a round; a field of the word has 9 bits.
  static constexpr size_t kMostThreads = 511;
  // The most parts of the work that have separate counters.
  static constexpr size_t kMostLanes = 16;

  // Items in pieces whose sizes differ by one unit at most, but for the last piece, so that threads with
  // equally many pieces have equally much to do.
  struct Work {
    size_t count;
    size_t pieces;  // at most count
    size_t unit;    // pieces begin at its multiples
    ThreadPool::Task task;
    void* work;

    // The first item of a piece; `count` for the number after the last one.
    [[nodiscard]] size_t begin_of(size_t piece) const {
      const size_t units = (count + unit - 1) / unit;
      return std::min((units / pieces * piece + units % pieces * piece / pieces) * unit, count);
    }
    void compute(size_t piece, size_t thread) const {
      const size_t begin = begin_of(piece);
      const size_t end = begin_of(piece + 1);
      if (begin < end) task(work, begin, end, thread);
    }
  };

  // ---- For callers ----

  // Takes the round; false if another caller has it.
  bool claim() {
    uint32_t free = 0;
    return word_.load(std::memory_order_relaxed) == 0 &&
           word_.compare_exchange_strong(free, kClaimed, std::memory_order_acquire);
  }
  // Offers the work to `most` - 1 workers. The first piece is the caller's.
  void open(const Work& work, size_t most) {
    work_ = work;
    lanes_ = std::min({most, work.pieces, kMostLanes});
    for (size_t lane = 0; lane < lanes_; ++lane) {
      // The first piece is the caller's.
      next_[lane].piece.store(first_of(lane) + (lane == 0 ? 1 : 0), std::memory_order_relaxed);
    }
    // Sequentially consistent: see HostThreads::park().
    word_.store(kClaimed | kOpen | static_cast<uint32_t>(most) * kMostUnit, std::memory_order_seq_cst);
  }
  // Processes pieces as thread 0 until none is left, beginning with the first one.
  void work_as_caller() {
    work_.compute(0, 0);
    take_pieces(0);
  }
  // Lets no worker join any more. Returns true if none is inside.
  bool close() { return inside(word_.fetch_and(~kOpen, std::memory_order_acq_rel)) == 0; }
  [[nodiscard]] bool is_left() const { return inside(word_.load(std::memory_order_acquire)) == 0; }
  // Asks the last worker inside to wake the caller; returns true if none is inside.
  bool ask_to_wake() { return inside(word_.fetch_or(kParked, std::memory_order_acq_rel)) == 0; }
  void release() { word_.store(0, std::memory_order_release); }

  // ---- For workers ----

  [[nodiscard]] bool is_joinable(std::memory_order order = std::memory_order_relaxed) const {
    return is_joinable(word_.load(order));
  }
  // Joins; returns the worker's thread number, or 0 if no worker may join.
  size_t join() {
    uint32_t word = word_.load(std::memory_order_relaxed);
    while (is_joinable(word)) {
      if (word_.compare_exchange_weak(word, word + kJoinedUnit + 1, std::memory_order_acquire))
        return field(word / kJoinedUnit) + 1;
    }
    return 0;
  }
  // Takes pieces of the thread's own lane, then of others. In successive rounds a thread so computes about
  // the same part of the items, whose data its cache has.
  void take_pieces(size_t thread) {
    for (size_t i = 0; i < lanes_; ++i) {
      const size_t lane = (thread + i) % lanes_;
      const size_t end = first_of(lane + 1);
      std::atomic<size_t>& next = next_[lane].piece;
      // The counter may run past the end by one piece per thread.
      while (next.load(std::memory_order_relaxed) < end) {
        const size_t piece = next.fetch_add(1, std::memory_order_relaxed);
        if (piece < end) work_.compute(piece, thread);
      }
    }
  }
  // Leaves after take_pieces(), and closes the round, because no piece is left. Returns true if the worker
  // must wake the caller. The round may have another caller as soon as this returns.
  bool leave() {
    uint32_t word = word_.load(std::memory_order_relaxed);
    // Release: the caller sees the results of this worker's pieces.
    while (!word_.compare_exchange_weak(word, (word & ~kOpen) - 1, std::memory_order_acq_rel)) {
    }
    return (word & kParked) != 0 && inside(word) == 1;
  }

 private:
  static constexpr uint32_t kJoinedUnit = 1u << 9;
  static constexpr uint32_t kMostUnit = 1u << 18;
  static constexpr uint32_t kOpen = 1u << 27;
  static constexpr uint32_t kParked = 1u << 28;
  static constexpr uint32_t kClaimed = 1u << 29;

  // The first piece of a lane; lanes differ by one at most.
  [[nodiscard]] size_t first_of(size_t lane) const { return work_.pieces * lane / lanes_; }

  static uint32_t field(uint32_t bits) { return bits & static_cast<uint32_t>(kMostThreads); }
  static uint32_t inside(uint32_t word) { return field(word); }
  static bool is_joinable(uint32_t word) {
    return (word & kOpen) != 0 && field(word / kJoinedUnit) + 1 < field(word / kMostUnit);
  }

  std::atomic<uint32_t> word_{0};
  Work work_ = {};
  size_t lanes_ = 0;
  // Apart from each other and from the word, which others watch and change while threads take pieces.
  struct alignas(64) Next {
    std::atomic<size_t> piece{0};
  };
  Next next_[kMostLanes];
};

}  // namespace rushlight
