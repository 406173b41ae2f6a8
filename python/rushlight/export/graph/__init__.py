# SPDX-License-Identifier: BSD-3-Clause
"""torch.fx graphs: reading and rewriting; sizes of tensors; constants of programs."""
