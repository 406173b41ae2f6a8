# SPDX-License-Identifier: BSD-3-Clause
"""Storage shared by the compiler caches of several machines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from rushlight.errors import InvalidArgument

_FORMS = ("http", "https", "redis", "redis+unix", "file")
_OF_ONE_MACHINE = {
    *(
        f"CCACHE_{name}"
        for name in ("DIR", "BASEDIR", "CONFIGPATH", "LOGFILE", "STATSLOG", "TEMPDIR", "DEBUGDIR")
    ),
    *(f"SCCACHE_{name}" for name in ("DIR", "CONF", "SERVER_UDS", "SERVER_PORT", "ERROR_LOG", "CACHED_CONF")),
}


def shared_cache_environment(url: str) -> dict[str, str]:
    """The environment in which ccache and sccache share objects through `url`. ccache identifies compilers by
    their content, since time stamps differ between machines. Error: InvalidArgument."""
    form = urlsplit(url).scheme
    if form not in _FORMS:
        raise InvalidArgument(
            f"shared cache: expected one of {', '.join(f'{f}:' for f in _FORMS)}, got '{url}'"
        )
    environment = {
        "CCACHE_REMOTE_STORAGE": url,
        "CCACHE_SECONDARY_STORAGE": url,  # its name before 4.8
        "CCACHE_COMPILERCHECK": "content",
    }
    if form == "redis":
        environment["SCCACHE_REDIS_ENDPOINT"] = url
    elif form in ("http", "https"):
        environment["SCCACHE_WEBDAV_ENDPOINT"] = url
    return environment


def settings_to_pass_on(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The compiler cache settings in an environment (default: this process's) that are valid on any machine:
    the variables of ccache and sccache, except variables that name folders and sockets."""
    given = os.environ if environment is None else environment
    return {
        name: value
        for name, value in given.items()
        if name.startswith(("CCACHE_", "SCCACHE_")) and name not in _OF_ONE_MACHINE
    }
