// SPDX-License-Identifier: BSD-3-Clause
// ukernel_tests [part of a suite's or test's name]: runs the tests and prints the names of failed ones.
#include <cstring>

#include <gtest/gtest.h>

#include "kernels/ukernel/variants.h"

extern "C" const testing::Node* const __start_rl_tests[];
extern "C" const testing::Node* const __stop_rl_tests[];

namespace testing {

namespace {

size_t ran;
const char* wanted;

bool is_wanted(const Node& node) {
  if (!node.is_test || wanted == nullptr || std::strstr(node.suite, wanted) != nullptr) return true;
  return std::strstr(node.name, wanted) != nullptr;
}

}  // namespace

void run_all(const void* suite_of, size_t instance) {
  for (const Node* const* each = __start_rl_tests; each != __stop_rl_tests; ++each) {
    const Node& node = **each;
    if (node.suite_of != suite_of || !is_wanted(node)) continue;
    const size_t before = failures;
    node.run();
    ran += node.is_test ? 1 : 0;
    if (failures != before) {
      std::printf("FAILED %s.%s/%ld\n", node.suite, node.name, static_cast<long>(instance));
    }
  }
}

int run_tests(const char* part) {
  wanted = part;
#if RUSHLIGHT_UKERNEL_VARIANTS
  std::printf("variant %s\n", rushlight::ukernel::variant_name());
#endif
  run_all(nullptr, 0);
  std::printf("%ld tests ran, %ld expectations failed\n", static_cast<long>(ran),
              static_cast<long>(failures));
  return ran == 0 || failures != 0 ? 1 : 0;
}

}  // namespace testing

int main(int argc, char** argv) { return testing::run_tests(argc > 1 ? argv[1] : nullptr); }
