// SPDX-License-Identifier: BSD-3-Clause
// A window is one round of the pool, whose items are the lanes. If the pool is busy, the caller's thread
// executes all lanes itself, one after the other, which is a valid order.
#include "runtime/module/lanes/lanes.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/log.h"
#include "runtime/module/clock.h"
#include "runtime/module/lanes/planned_range.h"

namespace rushlight {

namespace {

size_t aligned(size_t size) {
  return (size + LaneMemory::kAlignment - 1) / LaneMemory::kAlignment * LaneMemory::kAlignment;
}

}  // namespace

// One execution of a window. Lanes that see a failure skip calls behind it in the program's order, so that
// the failure of the first call is the one that is reported, as without lanes.
struct Lanes::Round {
  Round(Lanes* method, const PlannedWindow& executed)
      : lanes(method), window(&executed), failures(executed.lanes.size()) {}

  Lanes* lanes;
  const PlannedWindow* window;
  std::atomic<size_t> failed{SIZE_MAX};  // the number of the first instruction that failed
  std::atomic<Error> stopped{Error::Ok};
  // Describes a lane's failure. The caller's thread has logged it if `is_logged`.
  struct Failure {
    const CallSite* site = nullptr;
    Error error = Error::Ok;
    bool is_logged = false;
  };
  std::vector<Failure> failures;  // by lane

  void fail(size_t lane, const CallSite& site, Error error, bool is_caller) {
    failures[lane] = {&site, error, is_caller};
    size_t first = failed.load(std::memory_order_relaxed);
    while (site.number < first && !failed.compare_exchange_weak(first, site.number)) {
    }
  }
};

std::unique_ptr<Lanes> Lanes::plan(Method& method, const OperatorTable& operators, ThreadPool& pool,
                                   ThreadPool& kernel_threads, const Options& options) {
  const size_t threads = pool.threads();
  if (threads < 2 || options.lanes < 2) return nullptr;
  std::optional<CallGraph> graph = CallGraph::of(method, operators);
  if (!graph.has_value()) return nullptr;
  const std::vector<CallCost> costs = call_costs(method, *graph, *options.work, *options.seconds);
  const std::vector<Window> windows = plan_lanes(*graph, costs, threads, options.lanes);
  if (windows.empty()) return nullptr;
  return std::unique_ptr<Lanes>(new Lanes(method, pool, kernel_threads, std::move(*graph), windows, options));
}

Lanes::Lanes(Method& method, ThreadPool& pool, ThreadPool& kernel_threads, CallGraph graph,
             const std::vector<Window>& windows, const Options& options)
    : method_(method),
      calls_(method),
      pool_(pool),
      kernel_threads_(kernel_threads),
      graph_(std::move(graph)),
      moves_memory_(graph_->groups() != nullptr),
      scratch_bytes_(aligned(options.scratch)) {
  if (moves_memory_) memory_ = plan_lane_memory(*graph_, windows);
  const std::vector<Instruction>& instructions = graph_->instructions();
  lengths_.resize(instructions.size());
  window_at_.resize(instructions.size());
  for (const Window& window : windows) {
    lengths_[window.begin] = static_cast<uint32_t>(window.end - window.begin);
    window_at_[window.begin] = static_cast<uint32_t>(windows_.size());
    PlannedWindow& made = windows_.emplace_back();
    for (size_t i = window.begin; i < window.end; ++i) {
      if (!instructions[i].is_folded) made.in_order.push_back(instructions[i].site);
    }
    for (const auto& lane : window.lanes) {
      std::vector<CallSite>& sites = made.lanes.emplace_back();
      for (const uint32_t i : lane) sites.push_back(instructions[i].site);
    }
    made.share = pool_.threads() / made.lanes.size();
    num_lanes_ = std::max(num_lanes_, made.lanes.size());
  }
  // The loader has computed the same size.
  if (const Result<size_t> bytes = calls_.frame_bytes(); bytes.ok()) frame_bytes_ = aligned(*bytes);
}

Lanes::~Lanes() { calls_.set_windows(nullptr, nullptr); }

size_t Lanes::bytes() const { return memory_.bytes + num_lanes_ * frame_bytes_; }

Error Lanes::start(Memory& memory) {
  const Span<uint8_t> frames = memory.zeroed(num_lanes_ * frame_bytes_ + LaneMemory::kAlignment);
  const Span<uint8_t> scratch = memory.reserved(num_lanes_ * scratch_bytes_);
  const Span<uint8_t> planned = memory.zeroed(memory_.bytes + LaneMemory::kAlignment);
  RL_CHECK(frames.data() != nullptr && scratch.data() != nullptr && planned.data() != nullptr,
           Error::MemoryAllocationFailed, "lanes: no memory for %lu bytes", log_number(bytes()));
  Arena arena(frames);
  scratch_.reserve(num_lanes_);
  for (size_t lane = 0; lane < num_lanes_; ++lane) {
    scratch_.emplace_back(Span<uint8_t>{scratch.data() + lane * scratch_bytes_, scratch_bytes_});
    RL_TRY_ASSIGN(CallFrame frame, calls_.make_frame(&arena, &scratch_.back(), nullptr));
    frames_.push_back(frame);
  }
  if (moves_memory_) move_tensors(planned);
  graph_.reset();
  calls_.set_windows(lengths_.data(), this);
  return Error::Ok;
}

// A group keeps the positions of its tensors to each other. Kept groups take their contents along.
void Lanes::move_tensors(Span<uint8_t> memory) {
  uint8_t* base = memory.data() + (aligned(reinterpret_cast<uintptr_t>(memory.data())) -
                                   reinterpret_cast<uintptr_t>(memory.data()));
  const std::vector<MemoryGroup>& groups = graph_->groups()->groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    const MemoryGroup& group = groups[i];
    uint8_t* to = base + memory_.offsets[i];
    if (group.is_kept) std::memcpy(to, reinterpret_cast<const void*>(group.begin), group.end - group.begin);
    for (const uint32_t value : group.values) {
      TensorImpl* tensor = method_.tensor(value).impl();
      tensor->set_data(to + (reinterpret_cast<uintptr_t>(tensor->data()) - group.begin), Storage::Planned);
    }
  }
}

LaneFacts Lanes::facts() const {
  LaneFacts facts;
  facts.lanes = num_lanes_;
  facts.windows = windows_.size();
  for (const PlannedWindow& window : windows_) {
    facts.calls += window.in_order.size();
    facts.open += window.trial.is_open() ? 1 : 0;
    facts.taken += !window.trial.is_open() && window.trial.takes_new() ? 1 : 0;
  }
  facts.planned_bytes = memory_.bytes;
  return facts;
}

bool Lanes::is_measured() const {
  return std::any_of(windows_.begin(), windows_.end(),
                     [](const PlannedWindow& window) { return window.trial.is_open(); });
}

Error Lanes::execute_window(size_t number) {
  PlannedWindow& window = windows_[window_at_[number]];
  // The caller computes alone: nothing to choose, and nothing to learn.
  if (kernel_threads_.threads() == 1) return execute_in_order(window);
  const bool in_lanes = window.trial.takes_new();
  if (!window.trial.is_open()) {
    window.trial.pass();
    return in_lanes ? execute_in_lanes(window) : execute_in_order(window);
  }
  const double start = now_ns();
  const Error error = in_lanes ? execute_in_lanes(window) : execute_in_order(window);
  if (error == Error::Ok) window.trial.note(now_ns() - start);
  return error;
}

Error Lanes::execute_in_order(const PlannedWindow& window) {
  for (const CallSite& site : window.in_order) {
    RL_TRY(poll());
    RL_TRY(calls_.make(site));
  }
  return Error::Ok;
}

Error Lanes::poll() {
  uint64_t instructions = 1;
  Interrupt* interrupt = calls_.interrupt();
  return interrupt == nullptr ? Error::Ok : interrupt->poll(&instructions);
}

Error Lanes::execute_in_lanes(const PlannedWindow& window) {
  Round round(this, window);
  pool_.run(window.lanes.size(), 1, &Lanes::work, &round);
  RL_TRY(round.stopped.load(std::memory_order_relaxed));
  const size_t first = round.failed.load(std::memory_order_relaxed);
  if (first == SIZE_MAX) return Error::Ok;
  const auto failure = std::find_if(round.failures.begin(), round.failures.end(), [&](const auto& each) {
    return each.site && each.site->number == first;
  });
  if (failure->is_logged) return calls_.report(failure->error, *failure->site);
  // Logs belong to the thread that executes the method. Kernels check their arguments before they write, so
  // the call fails again in the same way.
  const Error again = calls_.make(*failure->site);
  return again == Error::Ok ? calls_.report(failure->error, *failure->site) : again;
}

void Lanes::work(void* work, size_t begin, size_t end, size_t thread) {
  Round& round = *static_cast<Round*>(work);
  Lanes& lanes = *round.lanes;
  ThreadShare share(lanes.kernel_threads_, round.window->share);
  for (size_t lane = begin; lane < end; ++lane) {
    lanes.frames_[lane].threads = &share;
    for (const CallSite& site : round.window->lanes[lane]) {
      if (site.number > round.failed.load(std::memory_order_relaxed)) break;
      if (round.stopped.load(std::memory_order_relaxed) != Error::Ok) return;
      // The interrupt may run code of its caller, so only that thread polls it.
      Error error = thread == 0 ? lanes.poll() : Error::Ok;
      if (error != Error::Ok) return round.stopped.store(error, std::memory_order_relaxed);
      error = lanes.calls_.make(lanes.frames_[lane], site);
      if (error != Error::Ok) {
        round.fail(lane, site, error, thread == 0);
        break;
      }
    }
  }
}

}  // namespace rushlight
