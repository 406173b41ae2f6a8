// SPDX-License-Identifier: BSD-3-Clause
// Time is counted in steps: an instruction outside of windows is a step, and a window is one. Inside of a
// window, only uses in one lane have an order.
#include "runtime/module/lanes/lane_memory.h"

#include <algorithm>
#include <numeric>

namespace rushlight {

namespace {

constexpr uint32_t kNoLane = UINT32_MAX;
constexpr uint32_t kSeveralLanes = UINT32_MAX - 1;

// The step of an instruction and, in a window, its lane.
struct Moment {
  uint32_t step = 0;
  uint32_t lane = kNoLane;
  uint32_t number = 0;
};

// The first or the last step in which a group is used: there, its lane and its first or last instruction.
struct LifeEnd {
  uint32_t step;
  uint32_t lane;
  uint32_t number;
};

struct Life {
  LifeEnd first = {UINT32_MAX, kNoLane, UINT32_MAX};
  LifeEnd last = {0, kNoLane, 0};
  bool is_used = false;

  void use(const Moment& moment) {
    if (!is_used || moment.step < first.step) first = {moment.step, moment.lane, moment.number};
    if (!is_used || moment.step > last.step) last = {moment.step, moment.lane, moment.number};
    if (moment.step == first.step) {
      first.number = std::min(first.number, moment.number);
      if (moment.lane != first.lane) first.lane = kSeveralLanes;
    }
    if (moment.step == last.step) {
      last.number = std::max(last.number, moment.number);
      if (moment.lane != last.lane) last.lane = kSeveralLanes;
    }
    is_used = true;
  }

  // Returns true if all uses end before the first use of `later` begins.
  [[nodiscard]] bool ends_before(const Life& later) const {
    if (last.step != later.first.step) return last.step < later.first.step;
    return last.lane == later.first.lane && last.lane < kSeveralLanes && last.number < later.first.number;
  }
};

std::vector<Moment> moments_of(const CallGraph& graph, const std::vector<Window>& windows) {
  std::vector<Moment> moments(graph.instructions().size());
  uint32_t step = 0;
  size_t number = 0;
  for (const Window& window : windows) {
    for (; number < window.begin; ++number)
      moments[number] = {step++, kNoLane, static_cast<uint32_t>(number)};
    for (uint32_t lane = 0; lane < window.lanes.size(); ++lane) {
      for (const uint32_t each : window.lanes[lane]) moments[each] = {step, lane, each};
    }
    ++step;
    number = window.end;
  }
  for (; number < moments.size(); ++number)
    moments[number] = {step++, kNoLane, static_cast<uint32_t>(number)};
  return moments;
}

std::vector<Life> lives_of(const CallGraph& graph, const std::vector<Window>& windows) {
  const MemoryGroups& groups = *graph.groups();
  const std::vector<Moment> moments = moments_of(graph, windows);
  std::vector<Life> lives(groups.groups().size());
  for (const Instruction& instruction : graph.instructions()) {
    for (const InstructionUse& use : instruction.uses) {
      const uint32_t group = groups.group_of(use.value);
      if (group != MemoryGroups::kNone) lives[group].use(moments[instruction.site.number]);
    }
  }
  return lives;
}

}  // namespace

LaneMemory plan_lane_memory(const CallGraph& graph, const std::vector<Window>& windows) {
  const std::vector<MemoryGroup>& groups = graph.groups()->groups();
  const std::vector<Life> lives = lives_of(graph, windows);
  const auto size_of = [&](size_t group) {
    const size_t size = groups[group].end - groups[group].begin;
    return (size + LaneMemory::kAlignment - 1) / LaneMemory::kAlignment * LaneMemory::kAlignment;
  };
  const auto may_share = [&](size_t a, size_t b) {
    if (groups[a].is_kept || groups[b].is_kept) return false;
    return !lives[a].is_used || !lives[b].is_used || lives[a].ends_before(lives[b]) ||
           lives[b].ends_before(lives[a]);
  };
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return size_of(a) > size_of(b); });
  LaneMemory memory;
  memory.offsets.assign(groups.size(), 0);
  std::vector<size_t> placed;  // by offset
  for (const size_t group : order) {
    size_t offset = 0;
    for (const size_t other : placed) {
      if (memory.offsets[other] >= offset + size_of(group)) break;
      if (may_share(group, other)) continue;
      offset = std::max(offset, memory.offsets[other] + size_of(other));
    }
    memory.offsets[group] = offset;
    memory.bytes = std::max(memory.bytes, offset + size_of(group));
    const auto after = std::upper_bound(placed.begin(), placed.end(), offset,
                                        [&](size_t at, size_t other) { return at < memory.offsets[other]; });
    placed.insert(after, group);
  }
  return memory;
}

}  // namespace rushlight
