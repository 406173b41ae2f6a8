// SPDX-License-Identifier: BSD-3-Clause
// The interface between the startup code of all boards (start.cpp) and that of an architecture (arm.cpp,
// riscv.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace rushlight::board {

// Exit status after a fault; shells show it for a segmentation fault.
constexpr int kFaultStatus = 139;

// A named register of a fault report.
struct FaultField {
  const char* name;
  uintptr_t value;
};

// Prints one line about a fault and ends the program. Needs about 200 bytes of stack.
[[noreturn]] void end_with_fault(const char* what, const FaultField* fields, size_t count);

// Defined by the architecture; called once, after .data and .bss are initialised.
void prepare_core();

}  // namespace rushlight::board

// The reset code jumps here, with a valid stack and the floating-point unit enabled.
extern "C" [[noreturn]] void rushlight_start();
