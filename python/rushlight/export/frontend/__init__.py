# SPDX-License-Identifier: BSD-3-Clause
"""What goes in: the operators of the runtime and of the user, and what PyTorch decomposes."""
