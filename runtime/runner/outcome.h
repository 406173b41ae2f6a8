// SPDX-License-Identifier: BSD-3-Clause
// How a run ended: a few words for people, a file for whoever started the runner.
#pragma once

#include "runtime/base/error.h"

namespace rushlight {

// Events and values of a trace that did not fit in their memory.
struct TraceLoss {
  uint32_t events = 0;
  uint32_t values = 0;
};

// Prints the error's name or, in a build without logs, its number and "failure: 1b2c3d63 ..." for
// `rushlight decode`; nothing for Ok. Writes, where --outcome=FILE names a file, little-endian numbers of 32
// bits:
//
//   "RLOC", error, lost events, lost values, 1 for a build with logs, number of records, records (failure.h)
//
// A run without that file did not end by itself: an exit status alone may be an emulator's or a shell's.
void tell_outcome(int argc, char** argv, Error error, TraceLoss lost);

}  // namespace rushlight
