# SPDX-License-Identifier: BSD-3-Clause
"""Methods as instructions over storages, before their memory is planned: the exporter makes them of graphs,
the converter of program files. Without torch."""
