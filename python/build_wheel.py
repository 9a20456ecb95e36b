"""The build backend of pyproject.toml (PEP 517): a wheel of the package that CMake builds."""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

root = pathlib.Path(__file__).resolve().parents[1]


def project(key):
    """A text of pyproject.toml."""
    return re.search(rf'^{key} = "(.*)"$', (root / "pyproject.toml").read_text(encoding="utf-8"), re.M)[1]


def build_package(build):
    """Builds the package for the interpreter that runs this; returns its folder."""
    subprocess.run(["cmake", "--preset", "release", "-B", build, f"-DPython_EXECUTABLE={sys.executable}",
                    "-DAPART_TESTS=OFF", "-DAPART_BENCH=OFF"], cwd=root, check=True)
    subprocess.run(["cmake", "--build", build, "--target", "python"], cwd=root, check=True)
    return build / "python" / "apart"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name, version = project("name"), project("version")
    package = build_package(pathlib.Path((config_settings or {}).get("build-dir", root / "build-wheel")))
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    tag = f"{python}-{python}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    info = f"{name}-{version}.dist-info"
    files = {f"{name}/{file.name}": file.read_bytes() for file in sorted(package.iterdir())
             if file.is_file() and file.name != "stubs.stamp"}
    files[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
                                 f"Summary: {project('description')}\nRequires-Dist: numpy\n").encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: apart\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = f"{info}/RECORD"
    lines = [f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
             for path, data in files.items()]
    files[record] = ("\n".join([*lines, f"{record},,"]) + "\n").encode()
    wheel = f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return wheel
