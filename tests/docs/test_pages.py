"""Every code block and command of the documentation runs.

A page is run in a folder of its own, from its beginning to its end, with `apart` and `build/apart` as the program:

* fenced blocks ``sh`` are given to bash, ``python`` blocks to one interpreter;
* a line with nothing but a file name in backquotes and a colon says where the next block is kept, whatever its language;
* ``json`` blocks without a name are checked, as scenes if they have a version;
* in indented blocks, lines that begin with `apart` or `build/apart` are run, up to two blanks or a comment.

Commands of the program in sentences run as well. What all of them call RUN, RUN1, SCENE, STUDY, QUERIES, FILE and so on is
there; `apart view` is asked for its page, and stopped. C++ and CMake blocks are compiled by the package test
(tests/package/consumer), commands `make` by test_make.py, and those of the gallery are run by the tests of examples
(tests/cli/examples_test.cpp). A comment ``<!-- slow -->`` before a block leaves it to
the slow tests (APART_SLOW=1); ``<!-- not run: reason -->`` leaves it out.
"""

import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import urllib.request

import pytest

root = pathlib.Path(__file__).parents[2]
program = os.environ.get("APART_PROGRAM", str(root / "build" / "apart"))
slow = os.environ.get("APART_SLOW") == "1"
every_page = sorted(str(page.relative_to(root)) for page in [*root.glob("docs/*.md"), root / "README.md", root / "CONTRIBUTING.md"])
# docs/python.md is run by tests/python; index and gallery have no blocks.
pages = [page for page in every_page if page not in ("docs/python.md", "docs/index.md", "docs/gallery.md")]

small_scene = """{
  "version": 1, "time": {"dt": 0.02, "steps": 24},
  "bodies": [{"type": "half_space", "name": "floor"},
             {"type": "volume", "name": "ball", "mesh": {"generator": "sphere", "radius": 0.1, "resolution": 2},
              "transform": {"translate": [0, 0.101, 0]}}],
  "probes": [{"type": "contact", "name": "push", "bodies": ["ball", "floor"]},
             {"type": "position", "name": "centre", "body": "ball"}]
}
"""


small_study = json.dumps({"scene": "SCENE", "steps": 3, "frames": False, "parameters": {"time.dt": {"values": [0.01, 0.02]}}})

# What stands for words in capitals that commands use; SCENE and RUN are files of that name.
words = {"STUDY": "sample-study.json", "QUERIES": "sample-queries", "FILES": "sample-queries", "FILE": "scene.txt",
         "COLUMN": "contacts", "NAME": "five-cubes", "FIXTURE": "fixture.json", "N": "2", "COMMAND": "run"}

# Scenes of other programs, as pages name them.
tetrahedron = [[0, 0.1, 0], [1, 0.1, 0], [0, 1.1, 0], [0, 0.1, 1]]
msh = ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n" +
       "".join(f"{i + 1} {x} {y} {z}\n" for i, (x, y, z) in enumerate(tetrahedron)) +
       "$EndNodes\n$Elements\n1\n1 4 2 1 1 1 2 3 4\n$EndElements\n")
obj = ("".join(f"v {x} {y} {z}\n" for x, y, z in tetrahedron) + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
samples = {
    "tetrahedron.msh": msh, "tetrahedron.obj": obj,
    "scene.txt": "energy NH\ntime 0.1 0.025\ndensity 1000\nstiffness 1e5 0.4\nshapes input 1\n"
                 "tetrahedron.msh 0 0 0  0 0 0  1 1 1\nselfCollisionOn\nground 0.1 0\n",
    "fixture.json": json.dumps({"scene_type": "distance_barrier_rb_problem", "timestep": 0.01, "max_time": 0.05,
                                "rigid_body_problem": {"gravity": [0, -9.81, 0],
                                                       "rigid_bodies": [{"mesh": "tetrahedron.obj"}]}}),
    "bounce-P2.json": json.dumps({"geometry": [{"mesh": "tetrahedron.msh", "volume_selection": 1}],
                                  "space": {"discr_order": 2}, "time": {"tend": 0.05, "time_steps": 5},
                                  "contact": {"enabled": True, "dhat": 1e-3},
                                  "materials": {"type": "NeoHookean", "E": 1e5, "nu": 0.4, "rho": 1000},
                                  "boundary_conditions": {"rhs": [0, 9.81, 0]}}),
}


class Block:
    def __init__(self, kind, text, name, marks, line):
        self.kind, self.text, self.name, self.marks, self.line = kind, text, name, marks, line


def blocks_of(text):
    """The fenced and indented blocks of a page, in order."""
    found, lines, i = [], text.split("\n"), 0
    name, marks = None, []
    while i < len(lines):
        line = lines[i]
        fence = re.match(r"^```(\S*)\s*$", line)
        if fence:
            end = next(k for k in range(i + 1, len(lines)) if lines[k].startswith("```"))
            found.append(Block(fence.group(1), "\n".join(lines[i + 1:end]) + "\n", name, marks, i + 1))
            name, marks, i = None, [], end + 1
        elif line.startswith("    ") and (i == 0 or not lines[i - 1].strip()):
            end = i
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            found.append(Block("indented", "\n".join(lines[i:end]), None, marks, i + 1))
            marks, i = [], end
        else:
            comment = re.match(r"^<!-- (slow|not run: .*) -->$", line)
            if comment:
                marks = [*marks, comment.group(1)]
            elif named := re.match(r"^`([\w.-]+)`:$", line):
                name = named.group(1)
            elif line.strip():
                name, marks = None, []
            i += 1
    return found


def commands_of(indented):
    """Commands of the program, without the explanations beside them."""
    for line in indented.split("\n"):
        command = re.match(r"\s*((?:build/)?apart .*?)(?:\s{2,}.*)?(?:\s+#.*)?$", line)
        if command:
            yield re.sub(r"(\w)\.\.\.", r"\1", command.group(1)).replace(" ...", "").strip()


def smaller(command):
    """A picture or film with few pixels: what is tested is the command."""
    if " render " not in command:
        return command
    command = re.sub(r" --size \S+", "", command) + " --size 64x48"
    return command + " --fps 4" if re.search(r"\.(mp4|webm|mkv|mov|gif|webp)\b", command) else command


def without_comments(text):
    return re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*', lambda m: m.group(1) or "", text)


class Folder:
    """Where a page is run."""

    def __init__(self, path):
        self.path = path
        self.names = {}
        self.environment = dict(os.environ, PATH=f"{pathlib.Path(program).parent}:{os.environ['PATH']}",
                                PYTHONPATH=os.environ.get("PYTHONPATH", str(root / "build" / "python")))
        (path / "build").mkdir()
        (path / "build" / "apart").symlink_to(program)
        (path / "SCENE").write_text(small_scene, encoding="utf-8")
        (path / "sample-study.json").write_text(small_study, encoding="utf-8")
        for name, text in samples.items():
            (path / name).write_text(text, encoding="utf-8")

    def command(self, text):
        """A command with what its words in capitals stand for."""
        if text.split()[1] == "convert":  # the second file is written
            text = re.sub(r" (\S*scene\.json|SCENE)$", r" --force \1" if "--force" not in text else r" \1", text)
        else:
            text = re.sub(r"--fix FILE\b", "--fix fixed.json", text)
        text = re.sub(r"\b(" + "|".join(words) + r")\b(?![.-])", lambda m: words[m.group(1)], text)
        if "sample-queries" in text and not (self.path / "sample-queries").exists():
            self.shell("apart ccd --generate sliding --count 50 --seed 1 sample-queries")
        if text.split()[1] == "view":
            self.view(text)
        else:
            self.shell(smaller(text))

    def view(self, text):
        """Serves the page, gives it out, and ends with Ctrl-C."""
        server = subprocess.Popen([*text.split(), *([] if "--no-open" in text else ["--no-open"])], cwd=self.path, env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().strip()
            if not address and "without the page" in (said := server.stderr.read()):
                pytest.skip(said.strip())
            with urllib.request.urlopen(address, timeout=60) as page:
                assert page.status == 200 and b"<script" in page.read(), text
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=60)
        assert server.returncode == 0, text

    def prepare(self, text):
        """What the page speaks of by a word in capitals, and does not make itself."""
        for name in ["RUN", "RUN1", "RUN2"]:
            if re.search(rf"\b{name}\b", text) and not re.search(rf"-o {name}\b", text):
                self.shell(f"apart run SCENE --quiet -o {name}")

    def shell(self, text):
        result = subprocess.run(["bash", "-e", "-c", text], cwd=self.path, env=self.environment, capture_output=True,
                                text=True, stdin=subprocess.DEVNULL, timeout=3000 if slow else 500)
        assert result.returncode == 0, f"{text}\nended with {result.returncode}:\n{result.stdout[-2000:]}{result.stderr[-2000:]}"

    def check_json(self, block):
        plain = without_comments(block.text)
        if '"version"' not in plain:
            json.loads(plain if plain.lstrip().startswith(("{", "[")) else "{" + plain + "}")
            return
        (self.path / "block.json").write_text(block.text, encoding="utf-8")
        self.shell("apart check block.json")

    def run(self, block):
        if block.name:
            (self.path / block.name).write_text(block.text, encoding="utf-8")
        elif block.kind == "sh":
            self.shell(block.text)
        elif block.kind == "python":
            before = os.getcwd()
            os.chdir(self.path)
            try:
                exec(compile(block.text, f"line {block.line}", "exec"), self.names)
            finally:
                os.chdir(before)
        elif block.kind == "json":
            self.check_json(block)
        elif block.kind == "indented":
            for command in commands_of(block.text):
                self.command(command)


@pytest.mark.parametrize("page", pages)
def test_everything_that_can_be_run_runs(page, tmp_path):
    folder = Folder(tmp_path)
    blocks = blocks_of((root / page).read_text(encoding="utf-8"))
    folder.prepare("\n".join(block.text for block in blocks))
    left_out = False
    for block in blocks:
        if any(mark.startswith("not run") for mark in block.marks) or ("slow" in block.marks and not slow):
            left_out = True
            continue
        if block.kind == "python":
            sys.path.insert(0, folder.environment["PYTHONPATH"].split(":")[0])
            pytest.importorskip("apart")
        try:
            folder.run(block)
        except Exception as error:
            raise AssertionError(f"{page}:{block.line}: {error}") from error
    assert not (slow and left_out and page == "docs/first-hour.md"), "the slow tests run all of it"


def commands_in_sentences():
    """Every command of the program in backquotes, once."""
    found = set()
    for page in every_page:
        text = re.sub(r"^```.*?^```$|^    .*?$", "", (root / page).read_text(encoding="utf-8"), flags=re.S | re.M)
        found |= {" ".join(command.split()) for command in re.findall(r"`((?:build/)?apart [^`]*)`", text)}
    return sorted(found)


def test_commands_in_sentences_run(tmp_path):
    folder = Folder(tmp_path)
    # Fewer steps: many commands run this scene.
    for name, text in {"SCENE": small_scene, "scene.json": small_scene}.items():
        (tmp_path / name).write_text(text.replace('"steps": 24', '"steps": 3'), encoding="utf-8")
    (tmp_path / "script.txt").write_text(samples["scene.txt"], encoding="utf-8")
    (tmp_path / "study.json").write_text(small_study, encoding="utf-8")
    folder.shell("apart run SCENE --quiet -o RUN; apart run SCENE --quiet -o ball; cp -r RUN whole")
    names = set(re.findall(r"^  (\w+)", subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout, re.M))
    examples = subprocess.run([program, "examples"], capture_output=True, text=True, check=True).stdout
    ran = 0
    for command in commands_in_sentences():
        gallery = re.fullmatch(r"apart run ([\w-]+)", command)
        if gallery and re.search(rf"^{gallery.group(1)} ", examples, re.M):
            continue  # by the tests of examples
        if len(command.split()) == 2 and command.split()[1] in names:
            continue  # speaks of it
        ran += 1
        if command == "apart run -":
            command = "apart run - -o piped <SCENE"
        elif command == "apart run --threads 1 --no-frames":
            command = "apart run SCENE --threads 1 --no-frames"
        elif command == "apart manual | man -l -":
            command = "apart manual | cat"
        elif command.endswith("-o RUN"):
            command = command[:-len("RUN")] + "RUN-2"
        elif command == "apart new FILE":
            command = "apart new new.json"
        elif command.startswith("apart run NAME"):
            command += " --steps 2"
        folder.command(command.replace("-o scene.json", "-o made.json"))
    assert ran > 20


def test_the_gallery_says_how_to_run_each_example():
    text = (root / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)$", text, re.M) == re.findall(r"^`apart run (\S+)`:", text, re.M)


def test_every_fenced_block_says_what_it_is():
    known = {"sh", "python", "json", "obj", "cmake", "cpp", "text", "csv", "bibtex"}
    for page in [*root.glob("docs/*.md"), root / "README.md", root / "CONTRIBUTING.md"]:
        for block in blocks_of(page.read_text(encoding="utf-8")):
            assert block.kind == "indented" or block.kind in known, f"{page.name}:{block.line}: ```{block.kind}"


def test_every_make_command_is_a_target_and_every_program_is_built():
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(encoding="utf-8"), re.M))
    # Not below the root: folders of builds change while tests run.
    files = [file for folder in ("src", "tests", "bench") for file in (root / folder).rglob("CMakeLists.txt")]
    built = "\n".join(file.read_text(encoding="utf-8") for file in files)
    asked = set()
    for page in [*root.glob("docs/*.md"), root / "README.md", root / "CONTRIBUTING.md"]:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"(?:^ {4}|`)make ([a-z-]+)", text, re.M):
            asked.add(target)
            assert target in targets, f"{page.name}: make {target}"
        for name in re.findall(r"\b(?:build/)?apart_(bench\w*|fuzz\w*)\b", text):
            assert re.search(rf"\b(?:apart_)?{name}\b", built), f"{page.name}: apart_{name}"
    assert {"test", "python", "docs", "gallery"} <= asked


def test_links_between_pages_lead_somewhere():
    for page in [*root.glob("docs/*.md"), root / "README.md", root / "CONTRIBUTING.md"]:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", re.sub(r"```.*?```", "", text, flags=re.S)):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_gallery_shows_every_example_as_it_is_and_is_small():
    text = (root / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^## (\S+)\n\n<!-- scene (\w{12}) -->$", text, re.M))
    listed = subprocess.run([program, "examples"], capture_output=True, text=True, check=True).stdout.split("\n\n")[0]
    names = [line.split()[0] for line in listed.splitlines()]
    assert sorted(shown) == sorted(names), "make gallery"
    for name in names:
        scene = subprocess.run([program, "examples", name], capture_output=True, check=True).stdout
        assert hashlib.sha256(scene).hexdigest()[:12] == shown[name], f"{name} has changed: make gallery NAMES={name}"
    sizes = [file.stat().st_size for file in (root / "docs" / "gallery").iterdir()]
    assert max(sizes) < 100_000 and sum(sizes) < 3_000_000
    assert "NOT verified" not in text


def test_the_site_is_built_without_a_broken_link(tmp_path):
    if subprocess.run(["sh", "-c", "command -v mkdocs"], capture_output=True).returncode != 0:
        pytest.skip("mkdocs was not found: install mkdocs")
    subprocess.run([sys.executable, root / "scripts" / "make-docs", program, tmp_path / "site"], check=True)
    search = json.loads((tmp_path / "site" / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert any("neo_hookean" in page["text"] for page in search["docs"])
    assert (tmp_path / "site" / "reference" / "material.html").exists()
