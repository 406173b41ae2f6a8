// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What memcpy, memmove or memset got wrong first; null if nothing.
const char* find_memory_mistake();
