// SPDX-License-Identifier: BSD-3-Clause
// A build whose least capable variant is not the compiler's own code (RUSHLIGHT_CPU_VARIANTS) runs on
// processors that have that variant. Checked before main(), because kernels would end in an illegal
// instruction.
#pragma once

#include <cstring>

#include <unistd.h>

#include "kernels/ukernel/variant_detection.h"

namespace rushlight::kernels::host {

inline constexpr int kWrongProcessor = 70;  // EX_SOFTWARE of sysexits.h

// Ends the process with a message unless the processor has the baseline.
inline void require_baseline() {
  if (ukernel::runs_baseline(ukernel::Cpu{})) return;
  for (const char* text :
       {"rushlight: expected a processor with ", ukernel::kBaseline,
        ", for which this program was built; build it with other RUSHLIGHT_CPU_VARIANTS\n"}) {
    if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  ::_exit(kWrongProcessor);
}

}  // namespace rushlight::kernels::host
