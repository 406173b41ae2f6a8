// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "runtime/base/error.h"

namespace rushlight {

// Asked from time to time whether to go on, by methods that are loaded and executed, so that a person or a
// server can stop what takes too long. Methods that run on several threads at once ask on each of them.
class Interrupt {
 public:
  // Any error ends what the method does, with that error. `*next` is how many instructions it may run before
  // it asks again, at least 1; kernels that share their work (KernelContext::parallel_for) ask more often.
  virtual Error poll(uint64_t* next) = 0;

 protected:
  ~Interrupt() = default;
};

}  // namespace rushlight
