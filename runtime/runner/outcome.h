// SPDX-License-Identifier: BSD-3-Clause
// Reports how a run ended: a line for people, a file for the process that started the runner.
#pragma once

#include "runtime/base/error.h"

namespace rushlight {

// Events and values of a trace that did not fit in memory.
struct TraceLoss {
  uint32_t events = 0;
  uint32_t values = 0;
};

// Prints the error's name or, in a build without logs, its number and "failure: 1b2c3d63 ..." for `rushlight
// decode`; prints nothing for Ok. If --outcome=FILE is given, writes little-endian uint32 values:
//
//   "RLOC", error, lost events, lost values, 1 if built with logs, number of records, records (failure.h)
//
// A missing file means that the run did not end normally; the exit status alone could be an emulator's or a
// shell's.
void tell_outcome(int argc, char** argv, Error error, TraceLoss lost);

}  // namespace rushlight
