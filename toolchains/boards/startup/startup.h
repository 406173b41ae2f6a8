// SPDX-License-Identifier: BSD-3-Clause
// Between the part of the startup that all boards share (start.cpp) and an architecture's (arm.cpp,
// riscv.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace rushlight::board {

// Status that a program ends with after a fault: what a shell shows for a segmentation fault.
constexpr int kFaultStatus = 139;

struct FaultField {
  const char* name;
  uintptr_t value;
};

// Says what happened on the terminal, in one line, and ends the program. Needs some 200 bytes of stack.
[[noreturn]] void end_with_fault(const char* what, const FaultField* fields, size_t count);

// The architecture's: called once, when .data and .bss are in place.
void prepare_core();

}  // namespace rushlight::board

// The reset code jumps here with a stack, and with the floating-point unit switched on.
extern "C" [[noreturn]] void rushlight_start();
