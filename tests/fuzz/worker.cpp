// SPDX-License-Identifier: BSD-3-Clause
// The child counts in shared memory, so after a crash the parent knows the input, reports it and continues
// with the next one in a new child. A hang is measured in the child's processor time, which the load of the
// machine does not change.
#include "tests/fuzz/worker.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <utility>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rushlight::fuzz {

namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

Pool::Pool(uint64_t first, uint64_t last, double seconds, std::function<Outcome(uint64_t)> run)
    : first_(first), last_(last), seconds_(seconds), run_(std::move(run)) {
  void* shared = mmap(nullptr, sizeof(Tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) std::abort();
  tally_ = static_cast<Tally*>(shared);
  tally_->next = first;
}

Pool::~Pool() { munmap(tally_, sizeof(Tally)); }

std::vector<Failure> Pool::run() {
  std::vector<Failure> failures;
  while (tally_->next < last_) {
    tally_->started = 0;
    const pid_t child = fork();
    if (child < 0) std::abort();
    if (child == 0) {
      work();
      _exit(0);
    }
    bool hung = false;
    while (!watch(child, &hung)) say(failures.size());
    if (tally_->next < last_) failures.push_back({tally_->next++, hung});
  }
  say(failures.size());
  return failures;
}

void Pool::work() {
  for (; tally_->next < last_; ++tally_->next) {
    const double started = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    tally_->started = started;
    const Outcome outcome = run_(tally_->next);
    const double took = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - started;
    if (took > tally_->slowest_seconds) tally_->slowest_seconds = took;
    const auto error = static_cast<uint32_t>(outcome.error);
    ++tally_->counts[static_cast<size_t>(outcome.stage)][error < Tally::kErrors ? error : 0];
  }
}

bool Pool::watch(int child, bool* hung) {
  usleep(20000);
  int status = 0;
  const pid_t ended = waitpid(child, &status, WNOHANG);
  if (ended == child) return true;
  clockid_t clock = 0;
  if (clock_getcpuclockid(child, &clock) != 0) return false;
  const double started = tally_->started;
  if (started == 0 || seconds_of(clock) - started < seconds_) return false;
  *hung = true;
  kill(child, SIGKILL);
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return true;
}

void Pool::say(size_t failures) {
  const uint64_t total = last_ - first_;
  const uint64_t done = tally_->next - first_;
  if (done - said_ < (total + 9) / 10 && done != total) return;
  said_ = done;
  std::fprintf(stderr, "fuzz: %llu of %llu, %zu failures\n", static_cast<unsigned long long>(done),
               static_cast<unsigned long long>(total), failures);
}

}  // namespace rushlight::fuzz
