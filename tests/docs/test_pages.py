"""Every code block and command of the documentation runs.

A page is run in a folder of its own, from its beginning to its end, with `apart` and `build/apart` as the program:

* fenced blocks ``sh`` are given to bash, ``python`` blocks to one interpreter;
* a line with nothing but a file name in backquotes and a colon says where the next block is kept, whatever its language;
* ``json`` blocks without a name are checked, as scenes if they have a version;
* in indented blocks, lines that begin with `apart` or `build/apart` are run, up to two blanks or a comment.

What pages call RUN, RUN1, SCENE, STUDY, QUERIES and FILE is there. A comment ``<!-- slow -->`` before a block leaves it to
the slow tests (APART_SLOW=1); ``<!-- not run: reason -->`` leaves it out.
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

root = pathlib.Path(__file__).parents[2]
program = os.environ.get("APART_PROGRAM", str(root / "build" / "apart"))
slow = os.environ.get("APART_SLOW") == "1"
pages = ["README.md", "docs/program.md", "docs/first-hour.md", "docs/how-to.md", "docs/viewer.md", "docs/studies.md", "docs/scene-format.md",
         "docs/verification.md", "docs/coming-from-ipc.md", "docs/coming-from-rigid-ipc.md", "docs/coming-from-polyfem.md",
         "docs/collision.md"]

small_scene = """{
  "version": 1, "time": {"dt": 0.02, "steps": 24},
  "bodies": [{"type": "half_space", "name": "floor"},
             {"type": "volume", "name": "ball", "mesh": {"generator": "sphere", "radius": 0.1, "resolution": 2},
              "transform": {"translate": [0, 0.101, 0]}}],
  "probes": [{"type": "contact", "name": "push", "bodies": ["ball", "floor"]},
             {"type": "position", "name": "centre", "body": "ball"}]
}
"""


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
        for name, text in samples.items():
            (path / name).write_text(text, encoding="utf-8")

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
                words = command.split()
                # A window, or a page that is served until it is closed, and what needs files of others: the options at least.
                missing = any(word in words for word in ["STUDY", "QUERIES", "FILE", "FILES", "COLUMN"])
                self.shell(" ".join(words[:2]) + " --help >/dev/null" if words[1] == "view" or missing
                           else smaller(command))


@pytest.mark.parametrize("page", pages)
def test_everything_that_can_be_run_runs(page, tmp_path):
    folder = Folder(tmp_path)
    blocks = blocks_of((root / page).read_text(encoding="utf-8"))
    assert blocks
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
