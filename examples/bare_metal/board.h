// SPDX-License-Identifier: BSD-3-Clause
// The functions of a board that main.cpp calls. The file of a board also has the reset code, which calls
// main().
#pragma once

namespace board {

// Waits until the UART takes the character.
void put(char character);

// Stops the processor.
[[noreturn]] void stop();

}  // namespace board
