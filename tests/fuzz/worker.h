// SPDX-License-Identifier: BSD-3-Clause
// Runs many inputs in a child process; if an input ends it, a new child continues with the next input. One
// fork per failure, not per input, because most inputs fail nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/fuzz/target.h"

namespace rushlight::fuzz {

// Counts of the inputs' outcomes, in memory that both processes share.
struct Tally {
  static constexpr uint32_t kErrors = 0x40;
  volatile uint64_t next;   // the input that runs now
  volatile double started;  // in seconds of the child's own time
  double slowest_seconds;
  uint64_t counts[kStages][kErrors];
};

// An input that ended its process, or was stopped after the time limit (`hung`).
struct Failure {
  uint64_t number;
  bool hung;
};

// The limit is processor time of the child, so a busy machine causes no failures.
class Pool {
 public:
  // Inputs first to last - 1; each may take `seconds` of processor time.
  Pool(uint64_t first, uint64_t last, double seconds, std::function<Outcome(uint64_t)> run);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  // Runs all inputs and prints the progress on stderr. Returns the failures, in order.
  std::vector<Failure> run();
  [[nodiscard]] const Tally& tally() const { return *tally_; }

 private:
  // Runs the inputs from tally().next to the end, in this process.
  void work();
  // Waits briefly; returns true if the child has ended. Kills a child that runs too long, and sets *hung.
  bool watch(int child, bool* hung);
  void say(size_t failures);

  uint64_t first_;
  uint64_t last_;
  double seconds_;
  std::function<Outcome(uint64_t)> run_;
  Tally* tally_;
  uint64_t said_ = 0;
};

}  // namespace rushlight::fuzz
