# SPDX-License-Identifier: BSD-3-Clause
"""Memory planning: assigns each tensor a bank and an offset. Does not import torch.

Positions are indices of instructions; the requests contain the lifetimes.
"""

from rushlight.memory.banks import read_banks
from rushlight.memory.planner import PLANNERS, plan
from rushlight.memory.requests import Bank, BankUse, Placement, Plan, Request
from rushlight.memory.verification import verify

__all__ = ["PLANNERS", "Bank", "BankUse", "Placement", "Plan", "Request", "plan", "read_banks", "verify"]
