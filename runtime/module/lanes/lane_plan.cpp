// SPDX-License-Identifier: BSD-3-Clause
// For each begin of a window, the end moves forward over the instructions, and union-find keeps the
// components. Cost: n windows' begins times at most kMostLength instructions.
#include "runtime/module/lanes/lane_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace rushlight {

namespace {

// Limits of the search; larger ones find the same windows in every model that was tried.
constexpr size_t kLongWindow = 1024;
constexpr size_t kLongMethod = 4096;  // longer methods have shorter windows
constexpr size_t kShortWindow = 128;
constexpr size_t kMostComponents = 96;

constexpr double kGain = 0.97;  // a window in lanes takes at most this part of its time in order

// The components of a window that grows at its end.
class Components {
 public:
  explicit Components(const CallGraph& graph, const std::vector<CallCost>& costs, size_t share)
      : graph_(graph), costs_(costs), share_(share), parents_(costs.size()), times_(costs.size()) {}

  void begin(size_t first) {
    first_ = first;
    roots_.clear();
  }

  void add(size_t number) {
    auto added = static_cast<uint32_t>(number);
    parents_[number] = added;
    times_[number] = costs_[number].on(share_);
    if (graph_.instructions()[number].is_folded) return;
    roots_.push_back(added);
    for (const uint32_t before : graph_.before(number)) {
      if (before >= first_) join(find(before), added);
    }
  }

  uint32_t find(uint32_t number) {
    while (parents_[number] != number) number = parents_[number] = parents_[parents_[number]];
    return number;
  }

  [[nodiscard]] size_t count() const { return roots_.size(); }

  // The components' roots, longest first.
  const std::vector<uint32_t>& sorted() {
    std::sort(roots_.begin(), roots_.end(),
              [&](uint32_t a, uint32_t b) { return times_[a] != times_[b] ? times_[a] > times_[b] : a < b; });
    return roots_;
  }
  [[nodiscard]] double time(uint32_t root) const { return times_[root]; }

 private:
  // The added instruction is the root of all that it joins.
  void join(uint32_t root, uint32_t added) {
    if (root == added) return;
    parents_[root] = added;
    times_[added] += times_[root];
    roots_.erase(std::find(roots_.begin(), roots_.end(), root));
  }

  const CallGraph& graph_;
  const std::vector<CallCost>& costs_;
  size_t share_;
  size_t first_ = 0;
  std::vector<uint32_t> parents_;
  std::vector<double> times_;
  std::vector<uint32_t> roots_;
};

// The time of the longest lane, if components are given to `lanes` lanes. `lane_of` (may be null) receives
// the lane of each component, in the order of sorted().
double longest_lane(Components& components, size_t lanes, std::vector<size_t>* lane_of) {
  std::vector<double> loads(lanes, 0.0);
  for (const uint32_t root : components.sorted()) {
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += components.time(root);
    if (lane_of != nullptr) lane_of->push_back(static_cast<size_t>(least - loads.begin()));
  }
  return *std::max_element(loads.begin(), loads.end());
}

// The best end of a plan for the instructions before some position.
struct Best {
  double time = std::numeric_limits<double>::infinity();
  size_t begin = 0;  // of the last window
  size_t lanes = 1;  // of that window; 1 for one instruction in order
};

class Search {
 public:
  Search(const CallGraph& graph, const std::vector<CallCost>& costs, size_t threads, size_t lanes)
      : graph_(graph), costs_(costs), threads_(threads), best_(costs.size() + 1) {
    best_[0].time = 0;
    // Two lanes with half of the threads each, or as many lanes as there may be.
    for (const size_t count : {size_t{2}, lanes}) {
      if (count >= 2 && count <= lanes && (counts_.empty() || counts_.back() != count))
        counts_.push_back(count);
    }
    for (const size_t count : counts_) components_.emplace_back(graph, costs, threads / count);
  }

  std::vector<Window> run() {
    for (size_t begin = 0; begin < costs_.size(); ++begin) {
      const double time = best_[begin].time;
      offer(begin + 1, {time + costs_[begin].on(threads_), begin, 1});
      for (size_t i = 0; i < counts_.size(); ++i) extend(begin, time, counts_[i], components_[i]);
    }
    return result();
  }

 private:
  void offer(size_t end, const Best& best) {
    if (best.time < best_[end].time) best_[end] = best;
  }

  // Offers all windows from `begin` in `lanes` lanes.
  void extend(size_t begin, double time, size_t lanes, Components& components) {
    const size_t most = costs_.size() > kLongMethod ? kShortWindow : kLongWindow;
    const size_t last = std::min(costs_.size(), begin + most);
    double in_order = 0;
    components.begin(begin);
    for (size_t number = begin; number < last; ++number) {
      const Instruction& instruction = graph_.instructions()[number];
      if (!instruction.is_free || (instruction.is_entered && number != begin)) return;
      components.add(number);
      in_order += costs_[number].on(threads_);
      if (components.count() < 2 || components.count() > kMostComponents) continue;
      const double longest = longest_lane(components, lanes, nullptr) + static_cast<double>(kJoin);
      if (longest < kGain * in_order) offer(number + 1, {time + longest, begin, lanes});
    }
  }

  std::vector<Window> result() {
    std::vector<Window> windows;
    for (size_t end = costs_.size(); end > 0; end = best_[end].begin) {
      if (best_[end].lanes > 1) windows.push_back(window(best_[end].begin, end, best_[end].lanes));
    }
    std::reverse(windows.begin(), windows.end());
    return windows;
  }

  Window window(size_t begin, size_t end, size_t lanes) {
    const auto index =
        static_cast<size_t>(std::find(counts_.begin(), counts_.end(), lanes) - counts_.begin());
    Components& components = components_[index];
    components.begin(begin);
    for (size_t number = begin; number < end; ++number) components.add(number);
    std::vector<size_t> lane_of;
    longest_lane(components, lanes, &lane_of);
    const std::vector<uint32_t>& roots = components.sorted();
    Window made = {begin, end, std::vector<std::vector<uint32_t>>(lanes)};
    for (size_t number = begin; number < end; ++number) {
      if (graph_.instructions()[number].is_folded) continue;
      const auto root = std::find(roots.begin(), roots.end(), components.find(static_cast<uint32_t>(number)));
      made.lanes[lane_of[static_cast<size_t>(root - roots.begin())]].push_back(static_cast<uint32_t>(number));
    }
    return made;
  }

  const CallGraph& graph_;
  const std::vector<CallCost>& costs_;
  size_t threads_;
  std::vector<Best> best_;
  std::vector<size_t> counts_;
  std::vector<Components> components_;
};

}  // namespace

std::vector<Window> plan_lanes(const CallGraph& graph, const std::vector<CallCost>& costs, size_t threads,
                               size_t lanes) {
  return Search(graph, costs, threads, std::min(lanes, threads)).run();
}

}  // namespace rushlight
