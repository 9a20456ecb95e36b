"""The build backend of pyproject.toml packs the package as a wheel."""

import base64
import hashlib
import importlib.util
import pathlib
import subprocess
import sys
import zipfile

import apart

root = pathlib.Path(__file__).parents[2]


def test_a_wheel_holds_the_package_and_its_record(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("build_wheel", root / "python" / "build_wheel.py")
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    monkeypatch.setattr(backend, "build_package", lambda build: pathlib.Path(apart.__file__).parent)
    name = backend.build_wheel(tmp_path)
    assert name.startswith(f"apart-{apart.__version__}-cp") and name.endswith(".whl")
    with zipfile.ZipFile(tmp_path / name) as wheel:
        files = set(wheel.namelist())
        info = f"apart-{apart.__version__}.dist-info"
        for line in wheel.read(f"{info}/RECORD").decode().splitlines():
            path, digest, size = line.split(",")
            if digest:
                data = wheel.read(path)
                assert len(data) == int(size)
                assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            files.discard(path)
        assert not files
        wheel.extractall(tmp_path / "site")
    out = subprocess.run([sys.executable, "-c", "import apart; print(apart.__file__, apart.mesh.Box().size)"],
                         env={"PYTHONPATH": str(tmp_path / "site")}, capture_output=True, text=True, check=True).stdout
    assert out.startswith(str(tmp_path / "site")) and out.endswith(" 1\n")
