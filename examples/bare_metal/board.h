// SPDX-License-Identifier: BSD-3-Clause
// What main.cpp asks of a board. Its file has the reset code too, which calls main().
#pragma once

namespace board {

// Waits until the UART takes the character.
void put(char character);

// Nothing more to do.
[[noreturn]] void stop();

}  // namespace board
