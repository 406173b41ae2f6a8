// SPDX-License-Identifier: BSD-3-Clause
// The registry before its first use: this program registers no kernels at start-up.
#include <executorch/runtime/kernel/operator_registry.h>

#include "runtime/kernel/operator_table.h"
#include "tests/compat/first_use/first_use.h"

namespace {

TEST(Registry, FirstUsedByTwoThreads_IsComplete) {
  rushlight::compat::testing::expect_first_use_by_two_threads([] {
    return executorch::runtime::get_registered_kernels().size() == rushlight::selected_operators.size;
  });
}

}  // namespace
