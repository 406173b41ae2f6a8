// SPDX-License-Identifier: BSD-3-Clause
// The asynchronous executions of one method: one after another, in the order of their calls.
#pragma once

#include <functional>
#include <memory>

#include "runtime/module/execution.h"
#include "runtime/module/host_threads.h"

namespace rushlight {

// Thread-safe. Queues of different methods run at once, on the jobs of their pool.
class ExecutionQueue {
 public:
  using Run = std::function<Error(const Execution&)>;
  using Done = std::function<void(Error)>;

  explicit ExecutionQueue(std::shared_ptr<HostThreads> pool);
  ExecutionQueue(const ExecutionQueue&) = delete;
  ExecutionQueue& operator=(const ExecutionQueue&) = delete;
  // Cancels all executions and waits until their `done` have returned. A `done` may destroy the queue; then
  // those of later executions are called afterwards.
  ~ExecutionQueue();

  // Calls `run` on a thread of the pool when the executions before it have ended, then `done` with its
  // result. An execution that is cancelled or late before its turn has no call of `run`. Each `done` is
  // called once. In a child process after fork() both are called before add() returns.
  std::shared_ptr<Execution> add(const ExecutionOptions& options, Run run, Done done);

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the pool's job, which may outlive the queue
};

}  // namespace rushlight
