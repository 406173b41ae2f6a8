// SPDX-License-Identifier: BSD-3-Clause
// A kernel test that does not run, and why.
#pragma once

#include <gtest/gtest.h>

#define ET_SKIP_IF(condition, reason) \
  if (condition) GTEST_SKIP() << reason
