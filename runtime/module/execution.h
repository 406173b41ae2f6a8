// SPDX-License-Identifier: BSD-3-Clause
// Asynchronous executions: what their callers hold, and how they are stopped.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "runtime/executor/method.h"

namespace rushlight {

struct ExecutionOptions {
  using Clock = std::chrono::steady_clock;
  // The execution ends with DeadlineExceeded if it has not finished by then.
  Clock::time_point deadline = Clock::time_point::max();
};

// One asynchronous execution of a method. Thread-safe.
class Execution {
 public:
  explicit Execution(const ExecutionOptions& options) : deadline_(options.deadline) {}

  // Ends the execution with Cancelled: before it begins, or between two instructions and within kernels that
  // use the thread pool. Has no effect once its last instruction has begun.
  void cancel() { is_cancelled_.store(true, std::memory_order_relaxed); }
  // True from the moment that its turn comes.
  [[nodiscard]] bool has_begun() const { return has_begun_.load(std::memory_order_relaxed); }
  // The error with which the execution must end now, or Ok.
  [[nodiscard]] Error check() const {
    if (is_cancelled_.load(std::memory_order_relaxed)) return Error::Cancelled;
    if (deadline_ == ExecutionOptions::Clock::time_point::max()) return Error::Ok;
    return ExecutionOptions::Clock::now() < deadline_ ? Error::Ok : Error::DeadlineExceeded;
  }

 private:
  friend class ExecutionQueue;

  std::atomic<bool> is_cancelled_{false};
  std::atomic<bool> has_begun_{false};
  const ExecutionOptions::Clock::time_point deadline_;
};

// The interrupt of a method that may execute asynchronously: checks the current execution after the method's
// own interrupt. Without either, a method polls it once.
class ExecutionInterrupt final : public Interrupt {
 public:
  // `own` may be null.
  explicit ExecutionInterrupt(Interrupt* own) : own_(own) {}

  // Sets the execution that the method performs; null for one that nobody can cancel.
  void set(const Execution* execution) { execution_ = execution; }
  [[nodiscard]] bool can_stop() const { return own_ != nullptr || execution_ != nullptr; }

  Error poll(uint64_t* next) override {
    *next = UINT64_MAX;
    if (own_ != nullptr) RL_TRY(own_->poll(next));
    if (execution_ == nullptr) return Error::Ok;
    *next = 1;
    return execution_->check();
  }

 private:
  Interrupt* own_;
  const Execution* execution_ = nullptr;
};

}  // namespace rushlight
