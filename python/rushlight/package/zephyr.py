# SPDX-License-Identifier: BSD-3-Clause
"""A Zephyr module: https://docs.zephyrproject.org/latest/develop/modules.html"""

from __future__ import annotations

from rushlight.package.contents import Contents
from rushlight.package.main import plain_main
from rushlight.package.readme import readme

_SPDX = "# SPDX-License-Identifier: BSD-3-Clause\n"


def files(contents: Contents) -> dict[str, str]:
    """The files of this form, except src/ and LICENSE."""
    name = contents.name
    option = f"RUSHLIGHT_{name.upper()}"
    sample = f"samples/{name}"
    return {
        "zephyr/module.yml": _SPDX
        + f"name: {name}\nbuild:\n  cmake: zephyr\n  kconfig: zephyr/Kconfig\nsamples:\n  - samples\n",
        "zephyr/CMakeLists.txt": _module(contents, option),
        "zephyr/Kconfig": _kconfig(contents, option),
        f"{sample}/CMakeLists.txt": _SPDX
        + "cmake_minimum_required(VERSION 3.20)\n"
        + 'list(APPEND ZEPHYR_EXTRA_MODULES "${CMAKE_CURRENT_SOURCE_DIR}/../..")\n'
        + "find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})\n"
        + f"project({name}_sample LANGUAGES CXX)\n"
        + "target_sources(app PRIVATE src/main.cpp)\n",
        f"{sample}/prj.conf": "CONFIG_CPP=y\nCONFIG_STD_CPP17=y\n"
        + f"CONFIG_MAIN_STACK_SIZE=8192\nCONFIG_{option}=y\n",
        f"{sample}/sample.yaml": _SPDX
        + f"sample:\n  name: {name}\ntests:\n  sample.{name}:\n    harness: console\n"
        + '    harness_config:\n      type: one_line\n      regex:\n        - "error 0"\n',
        f"{sample}/src/main.cpp": plain_main(contents),
        "README.md": readme(
            contents,
            "A Zephyr module. Name this folder in `ZEPHYR_EXTRA_MODULES`, or in the west manifest, and set "
            f"`CONFIG_CPP`, `CONFIG_STD_CPP17` (or newer) and `CONFIG_{option}`; the sample does:\n\n"
            f"```sh\nwest build -b qemu_cortex_m3 {sample} && west build -t run\n```",
        ),
    }


def _module(contents: Contents, option: str) -> str:
    sources = "\n".join(f"        ../src/{path}" for path in contents.sources)
    return (
        f"{_SPDX}if(CONFIG_{option})\n"
        "    zephyr_include_directories(../src)\n"
        f"    zephyr_library_named({contents.name})\n"
        f"    zephyr_library_sources(\n{sources}\n    )\n"
        "endif()\n"
    )


def _kconfig(contents: Contents, option: str) -> str:
    return (
        f"{_SPDX}config {option}\n"
        f'\tbool "The model {contents.name}, baked into C++ by rushlight"\n'
        "\tdepends on CPP && !STD_CPP98 && !STD_CPP11 && !STD_CPP14\n"
        "\tselect REQUIRES_FULL_LIBCPP\n"
        "\thelp\n"
        "\t  Its functions, weights and kernels. It uses only headers of the C++ library.\n"
    )
