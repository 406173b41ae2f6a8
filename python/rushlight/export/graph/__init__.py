# SPDX-License-Identifier: BSD-3-Clause
"""torch.fx graphs: reading and changing them; sizes of tensors; constants of programs."""
