// SPDX-License-Identifier: BSD-3-Clause
// Skips a kernel test with a reason: returns from the test function. Needs GoogleTest.
#pragma once

#include <gtest/gtest.h>

#define ET_SKIP_IF(condition, reason) \
  if (condition) GTEST_SKIP() << reason
