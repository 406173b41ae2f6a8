# SPDX-License-Identifier: BSD-3-Clause
"""A component of ESP-IDF: https://docs.espressif.com/projects/esp-idf/en/stable/esp32/api-guides/build-system.html
and https://docs.espressif.com/projects/idf-component-manager/en/latest/reference/manifest_file.html"""

from __future__ import annotations

import json

from rushlight.package.contents import Contents
from rushlight.package.main import plain_main
from rushlight.package.readme import readme

_SPDX = "# SPDX-License-Identifier: BSD-3-Clause\n"


def files(contents: Contents) -> dict[str, str]:
    """The files of this form, except src/ and LICENSE."""
    name = contents.name
    example = f"examples/{name}"
    return {
        "CMakeLists.txt": _component(contents),
        "idf_component.yml": _manifest(contents),
        f"{example}/CMakeLists.txt": _SPDX
        + "cmake_minimum_required(VERSION 3.16)\n"
        + "include($ENV{IDF_PATH}/tools/cmake/project.cmake)\n"
        + f"project({name}_example)\n",
        f"{example}/main/CMakeLists.txt": _SPDX + 'idf_component_register(SRCS main.cpp INCLUDE_DIRS "")\n',
        f"{example}/main/idf_component.yml": _SPDX
        + f'dependencies:\n  {name}:\n    version: "*"\n    override_path: "../../../"\n',
        f"{example}/sdkconfig.defaults": "CONFIG_ESP_MAIN_TASK_STACK_SIZE=8192\n",
        f"{example}/main/main.cpp": plain_main(contents, head='extern "C" void app_main()'),
        "README.md": readme(
            contents,
            f"A component of ESP-IDF 5.0 or newer. Copy this folder as `components/{name}` into a project,\n"
            "or name it in `main/idf_component.yml`, as the example does:\n\n"
            f"```sh\nidf.py -C {example} set-target esp32s3 build\n```",
        ),
    }


def _component(contents: Contents) -> str:
    sources = "\n".join(f'        "src/{path}"' for path in contents.sources)
    return f'{_SPDX}idf_component_register(\n    SRCS\n{sources}\n    INCLUDE_DIRS "src"\n)\n'


def _manifest(contents: Contents) -> str:
    # JSON strings are valid YAML strings.
    return (
        _SPDX + f'version: "{contents.version}"\n'
        f"description: {json.dumps(contents.sentence)}\n"
        "license: BSD-3-Clause\n"
        "dependencies:\n"
        "  idf:\n"
        '    version: ">=5.0"\n'
    )
