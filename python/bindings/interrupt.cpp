// SPDX-License-Identifier: BSD-3-Clause
// Python records a signal until its main thread checks for it, which needs the GIL. A method polls after
// about a millisecond of instructions: the interval doubles until a poll finds that a millisecond has passed
// on a coarse clock, which costs a few nanoseconds.
#include "python/bindings/interrupt.h"

#include <ctime>

#include <pthread.h>

#include "python/bindings/captured_log.h"
#include "python/bindings/failure.h"
#include "python/bindings/gil.h"

namespace py = pybind11;

namespace rushlight {

namespace {

constexpr int64_t kShort = 1'000'000;       // ns
constexpr int64_t kPeriod = 50'000'000;     // ns between checks of Python's signals
constexpr uint64_t kMostInstructions = 64;  // between readings of the clock

unsigned long main_thread = 0;
thread_local bool handles = false;  // a signal handler is on this thread's stack
thread_local int loads = 0;

int64_t coarse_now_ns() {
#ifdef CLOCK_MONOTONIC_COARSE
  constexpr clockid_t kClock = CLOCK_MONOTONIC_COARSE;
#else
  constexpr clockid_t kClock = CLOCK_MONOTONIC;
#endif
  timespec now{};
  ::clock_gettime(kClock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Handlers may call the runtime, which logs; the log of the interrupted call is saved meanwhile.
bool handle_signals() {
  const py::gil_scoped_acquire acquired;
  const bool outer = handles;
  CapturedLog log;
  std::swap(log, captured_log());
  handles = true;
  const bool raised = PyErr_CheckSignals() != 0;
  handles = outer;
  std::swap(log, captured_log());
  return raised;
}

class PythonInterrupt final : public Interrupt {
 public:
  Error poll(uint64_t* next) override {
    // Per thread, because several threads execute methods and only one handles signals.
    thread_local int64_t asked = 0;
    thread_local int64_t looked = 0;
    thread_local uint64_t instructions = 1;
    const int64_t now = coarse_now_ns();
    // The interval adapts: 1 after a slow slice, doubled after a fast one, at most kMostInstructions.
    instructions = now - looked >= kShort             ? 1
                   : instructions < kMostInstructions ? 2 * instructions
                                                      : instructions;
    looked = now;
    *next = instructions;
    // Other threads only pace their polls.
    if (now - asked < kPeriod || PyThread_get_thread_ident() != main_thread) return Error::Ok;
    asked = now;
    return handle_signals() ? Error::InvalidState : Error::Ok;
  }
};

[[noreturn]] void refuse() {
  // Waiting here would never end: the interrupted call holds the mutex and resumes after the handler.
  captured_log().say("called by a signal handler that interrupted the call it needs");
  fail(Error::InvalidState);
}

}  // namespace

Interrupt* python_interrupt() {
  static PythonInterrupt interrupt;
  return &interrupt;
}

void throw_if_interrupted() {
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
}

std::unique_lock<std::mutex> lock_for_python(std::mutex& mutex) {
  std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  if (lock.owns_lock()) return lock;
  if (handles) refuse();
  const WithoutGil others_run;
  lock.lock();
  return lock;
}

Loading::Loading() {
  if (handles && loads > 0) refuse();
  ++loads;
}

Loading::~Loading() { --loads; }

void bind_interrupt(py::module_&) {
  main_thread = py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
  // In a forked child, the thread that called fork() is the main thread.
  ::pthread_atfork(nullptr, nullptr, [] { main_thread = PyThread_get_thread_ident(); });
}

}  // namespace rushlight
