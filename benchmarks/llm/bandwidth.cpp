// SPDX-License-Identifier: BSD-3-Clause
// Memory read bandwidth of several threads: sums 256 MB and takes the best of several rounds. Prints JSON.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr size_t kBytes = size_t{256} << 20;
constexpr int kRuns = 12;

using Vec = uint64_t __attribute__((vector_size(64)));

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void sum(const Vec* from, size_t count) {
  Vec sums[8] = {};
  for (size_t i = 0; i + 8 <= count; i += 8) {
    for (size_t j = 0; j < 8; ++j) sums[j] ^= from[i + j];
  }
  for (Vec& each : sums) asm volatile("" : "+m"(each));
}

}  // namespace

int main(int count, char** arguments) {
  const size_t threads = count > 1 ? std::max(std::atoi(arguments[1]), 1) : 1;
  const std::vector<Vec> data(kBytes / sizeof(Vec), Vec{} + 1);
  double best = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    const double start = seconds();
    std::vector<std::thread> others;
    const size_t part = data.size() / threads;
    for (size_t i = 1; i < threads; ++i) others.emplace_back(sum, data.data() + i * part, part);
    sum(data.data(), part);
    for (std::thread& each : others) each.join();
    best = std::min(best, seconds() - start);
  }
  std::printf("{\"gigabytes\": %.2f}\n", static_cast<double>(kBytes) / best / 1e9);
}
