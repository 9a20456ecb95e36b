// Broken inputs, each given to the real program: it must end with exit code 2, say where the mistake is, what
// it is and what to do, and leave nothing behind.
#include <gtest/gtest.h>
#include <support/program.hpp>
#include <support/temporary_directory.hpp>

#include <cctype>
#include <string>
#include <vector>

namespace apart::test {
namespace {

struct BadScene {
  const char* name;
  std::string scene;               ///< content of scene.json
  std::vector<std::string> parts;  ///< what the message must contain: place, value or rule, remedy
  std::vector<std::pair<std::string, std::string>> files = {};
  std::vector<std::string> arguments = {};
};

void PrintTo(const BadScene& scene, std::ostream* out) {
  *out << scene.name;
}

// A good scene to spoil: time on line 2, the bodies on lines 4 and 5, contact on line 7.
std::string scene(const std::string& ball, const std::string& rest = "",
                  const std::string& time = R"("dt": 0.01, "steps": 2)") {
  return "{\"version\": 1,\n\"time\": {" + time + "},\n\"bodies\": [\n" + ball +
         ",\n{\"type\": \"half_space\", \"name\": \"floor\"}],\n" + "\"gravity\": [0, -9.81, 0]" +
         (rest.empty() ? "" : ",\n" + rest) + "}\n";
}

std::string ball(const std::string& rest = "",
                 const std::string& mesh = R"("generator": "sphere", "radius": 0.1, "resolution": 2)") {
  return R"({"type": "volume", "name": "ball", "transform": {"translate": [0, 0.5, 0]}, "mesh": {)" + mesh +
         "}" + (rest.empty() ? "" : ", " + rest) + "}";
}

std::string material(const std::string& text) {
  return scene(ball("\"material\": {" + text + "}"));
}
std::string mesh(const std::string& text) {
  return scene(ball("", text));
}
std::string fixed(const std::string& text) {
  return scene(ball("\"fixed\": [" + text + "]"));
}

std::string wind(const std::string& text) {
  return scene(ball(R"("loads": [{"type": "wind", )" + text + "}]"));
}
/// On a sheet of nine points.
std::string stitches(const std::string& which, const std::string& rest = R"("bodies": ["cloth", "cloth"])") {
  return scene(R"({"type": "shell", "name": "cloth", "transform": {"translate": [0, 1, 0]},
                   "mesh": {"generator": "grid", "cells": [2, 2]}})",
               "\"attachments\": [{\"stitches\": " + which + ", " + rest + "}]");
}

/// A square in the plane.
std::string planar(const std::string& rest,
                   const std::string& mesh = R"("generator": "rectangle", "cells": [2, 2])") {
  return scene(R"({"type": "planar", "name": "plate", "transform": {"translate": [0, 1, 0]}, "mesh": {)" +
               mesh + "}" + (rest.empty() ? "" : ", " + rest) + "}");
}

const std::string good_tetrahedron =
    R"("points": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "tetrahedra": [[0,1,2,3]])";

std::vector<BadScene> bad_scenes() {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "[";
  return {
      // --- syntax
      {"empty file", "", {"scene.json", "empty"}},
      {"no value", "// nothing\n", {"scene.json:2:1", "holds no value", "apart examples"}},
      {"missing comma", "{\"version\": 1\n\"time\": {}}", {"scene.json:2:1", "got '\"'", "write ','"}},
      {"trailing comma", "{\"version\": 1,}", {"scene.json:1:15", "remove the comma"}},
      {"unclosed", "{\"version\": 1", {"scene.json:1:1", "never closed", "add the missing '}'"}},
      {"deep nesting", deep, {"scene.json:1:102", "nested deeper than 100"}},
      {"duplicate key",
       "{\"version\": 1,\n\"version\": 1}",
       {"scene.json:2:1", "'version' stands twice", "remove one"}},
      {"NaN",
       material("\"type\": \"neo_hookean\", \"E\": NaN"),
       {"scene.json:4:", "'NaN'", "must be finite"}},
      {"overflowing number",
       material("\"type\": \"neo_hookean\", \"E\": 1e400"),
       {"scene.json:4:", "'1e400'", "no double can hold"}},
      {"not UTF-8", "{\"version\": 1, \"name\": \"\xff\"}", {"scene.json:1:25", "0xFF", "UTF-8"}},
      {"not an object", "[1, 2]", {"scene.json:1: got [1, 2]", "must be an object"}},
      // --- keys and types
      {"wrong version",
       "{\"version\": 2, \"time\": {\"steps\": 1}, \"bodies\": []}",
       {"scene.json:1: version: got 2, must be 1", "this program reads version 1"}},
      {"no version",
       "{\"time\": {\"steps\": 1},\n\"bodies\": [{\"type\": \"half_space\"}]}",
       {"scene.json:1: the key 'version' is missing"}},
      {"unknown key",
       scene(ball(), "\"contct\": {}"),
       {"scene.json:7: contct: unknown key", "did you mean 'contact'?"}},
      {"unknown key without likeness",
       scene(ball(), "\"xylophone\": 1"),
       {"scene.json:7: xylophone: unknown key", "known here are", "gravity"}},
      {"wrong type",
       scene(ball(), "\"contact\": {\"dhat\": \"1 mm\"}"),
       {"scene.json:7: contact.dhat: got \"1 mm\"", "must be a number, or a text like \"1e-3 L\""}},
      {"null", scene(ball(), "\"solver\": null"), {"scene.json:7: solver: got null", "leave the key out"}},
      {"list instead of number",
       material("\"type\": \"neo_hookean\", \"E\": [1]"),
       {"bodies[0].material.E: got [1], must be a number"}},
      {"two numbers for a vector",
       scene(ball("\"velocity\": [1, 2]")),
       {"scene.json:4: bodies[0].velocity: got [1, 2], must be a list of 3 numbers"}},
      {"fraction for an integer",
       mesh(R"("generator": "sphere", "resolution": 2.5)"),
       {"bodies[0].mesh.resolution: got 2.5, must be a whole number", "the default is 4"}},
      {"unknown body type",
       scene(R"({"type": "volum"})"),
       {"scene.json:4: bodies[0].type: got \"volum\"",
        "volume, planar, shell, affine, rigid, rod, particles, obstacle", "did you mean \"volume\"?"}},
      {"no body type",
       scene(R"({"mesh": {}})"),
       {"scene.json:4: bodies[0]: the key 'type' is missing", "volume, planar, shell, affine"}},
      {"unknown material",
       material("\"type\": \"neohookean\""),
       {"bodies[0].material.type: got \"neohookean\"", "did you mean \"neo_hookean\"?"}},
      {"unknown generator",
       mesh("\"generator\": \"spher\""),
       {"bodies[0].mesh.generator: got \"spher\"", "did you mean \"sphere\"?"}},
      {"no mesh source", mesh("\"radius\": 1"), {"bodies[0].mesh: has no mesh", "generator, file, points"}},
      {"no mesh", scene(R"({"type": "volume"})"), {"bodies[0]: the key 'mesh' is missing"}},
      {"unknown choice",
       scene(ball(), "\"solver\": {\"broad_phase\": \"bhv\"}"),
       {"solver.broad_phase: got \"bhv\"", "did you mean \"bvh\"?"}},
      {"unknown culling",
       scene(ball(), "\"solver\": {\"ccd_culling\": \"clf\"}"),
       {"solver.ccd_culling: got \"clf\"", "did you mean \"cfl\"?"}},
      {"reuse that is neither on nor off",
       scene(ball(), "\"solver\": {\"candidate_reuse\": 2}"),
       {"solver.candidate_reuse: got 2", "true or false"}},
      {"sleep faster than the tolerance",
       scene(ball(), "\"solver\": {\"sleeping\": 1.5}"),
       {"solver.sleeping: got 1.5, must lie in [0, 1]"}},
      {"material key of another material",
       material("\"type\": \"orthogonality\", \"nu\": 0.4"),
       {"bodies[0].material.nu: unknown key", "stiffness"}},
      {"two ways to say how stiff",
       material("\"type\": \"neo_hookean\", \"E\": 1e5, \"lambda\": 1e5, \"mu\": 1e5"),
       {"scene.json:4: bodies[0].material.E: is given together with 'lambda'", "remove one"}},
      {"half of the Lame parameters",
       material("\"type\": \"stvk\", \"mu\": 1e5"),
       {"scene.json:4: bodies[0].material.mu: has no effect without 'lambda'", "add \"lambda\""}},
      {"bursting material",
       material("\"type\": \"linear_elasticity\", \"lambda\": -3, \"mu\": 3"),
       {"scene.json:4: bodies[0].material.lambda: got -3, must be more than -2/3 mu = -2"}},
      {"field of a mesh without data",
       material("\"type\": \"stvk\", \"E\": {\"field\": \"young\"}"),
       {"scene.json:4: bodies[0].material.E.field: got \"young\"", "no cell data", "give a number here"}},
      {"group of a mesh without groups",
       fixed(R"({"where": {"group": "skin"}})"),
       {"scene.json:4: bodies[0].fixed[0].where.group: got \"skin\"", "no groups", "choose by position"}},
      // --- ranges
      {"nu too large",
       material("\"type\": \"neo_hookean\", \"nu\": 0.5"),
       {"scene.json:4: bodies[0].material.nu: got 0.5, must lie in (-1, 0.5); for rubber try 0.49"}},
      {"negative density",
       material("\"type\": \"neo_hookean\", \"rho\": -1"),
       {"bodies[0].material.rho: got -1, must be positive; the default is 1000"}},
      {"zero dt",
       scene(ball(), "", R"("dt": 0, "steps": 2)"),
       {"scene.json:2: time.dt: got 0, must be positive"}},
      {"negative max_motion",
       scene(ball(), "", R"("steps": 2, "max_motion": -0.25)"),
       {"scene.json:2: time.max_motion: got -0.25, must not be negative"}},
      {"max_motion in words",
       scene(ball(), "", R"("steps": 2, "max_motion": "none")"),
       {"scene.json:2: time.max_motion: got \"none\""}},
      {"spectral_radius above one",
       scene(ball(), "", R"("steps": 2, "integrator": "generalized_alpha", "spectral_radius": 1.5)"),
       {"scene.json:2: time.spectral_radius: got 1.5, must lie in [0, 1]"}},
      {"spectral_radius below zero",
       scene(ball(), "", R"("steps": 2, "integrator": "generalized_alpha", "spectral_radius": -0.1)"),
       {"scene.json:2: time.spectral_radius: got -0.1, must lie in [0, 1]"}},
      {"spectral_radius of another integrator",
       scene(ball(), "", R"("steps": 2, "spectral_radius": 0.5)"),
       {"scene.json:2: time.spectral_radius: got 0.5, but the integrator is implicit_euler",
        "\"integrator\": \"generalized_alpha\""}},
      {"negative friction",
       scene(ball(), "\"contact\": {\"friction_coefficient\": -0.1}"),
       {"contact.friction_coefficient: got -0.1, must not be negative"}},
      {"zero scale",
       scene(R"({"type": "volume", "mesh": {"generator": "box"}, "transform": {"scale": 0}})"),
       {"bodies[0].transform.scale: got 0, must be positive"}},
      {"no time",
       scene(ball(), "", "\"dt\": 0.01"),
       {"scene.json:2: time: does not say how long", "\"tend\""}},
      {"two times",
       scene(ball(), "", R"("tend": 1, "steps": 3)"),
       {"scene.json:2: time: has both 'tend' and 'steps'; remove one"}},
      {"too many steps",
       scene(ball(), "", R"("tend": 1e30)"),
       {"scene.json:2: time.dt: got 0.01", "use larger steps"}},
      {"too many cells",
       mesh(R"("generator": "box", "cells": 9999)"),
       {"bodies[0].mesh: asks for about 6e+12 cells", "use fewer"}},
      {"too many copies",
       scene(ball(R"("array": {"counts": [2000, 2000, 2], "spacing": [1, 1, 1]})")),
       {"bodies[0].array.counts: asks for 8000000 copies, at most 100000 are made"}},
      {"larger than the world",
       mesh(R"("generator": "sphere", "radius": 1e10)"),
       {"scene.json:3: bodies: are 3.46e+10 m across, must be between 1e-9 and 1e9; lengths are in metres"}},
      {"copies in one place",
       scene(ball(R"("array": {"counts": [1, 3, 1], "spacing": [1, 0, 1]})")),
       {"bodies[0].array.spacing: got [1, 0, 1], which puts 3 copies in the same place along y"}},
      {"no bodies",
       R"({"version": 1, "time": {"steps": 1}, "bodies": []})",
       {"bodies: got [], must be a list [...] with 1 to 100000 entries"}},
      {"torus that cuts itself",
       mesh(R"("generator": "torus", "major": 0.1, "minor": 0.2)"),
       {"bodies[0].mesh.minor: got 0.2, must be smaller than major (0.1)"}},
      {"stone inside out",
       mesh(R"("generator": "voussoir", "inner": 2, "outer": 1.5)"),
       {"bodies[0].mesh.outer: got 1.5, must be greater than inner (2)"}},
      {"stone of no angle",
       mesh(R"("generator": "voussoir", "from": 90, "to": 90)"),
       {"bodies[0].mesh.to: got 90, must be greater than from (90)"}},
      {"prism that cuts itself",
       mesh(R"("generator": "prism", "corners": [[0, 0], [2, 2], [2, 0], [0, 1]])"),
       {"bodies[0].mesh"}},
      {"profile on the axis",
       scene(R"({"type": "obstacle", "mesh": {"generator": "revolution", "profile": [[0, 0], [1, 1]]}})"),
       {"bodies[0].mesh.profile[0][0]: got 0, a radius must be positive"}},
      {"profile with a point twice",
       scene(R"({"type": "obstacle", "mesh": {"generator": "revolution", "profile": [[1, 0], [1, 0]]}})"),
       {"bodies[0].mesh.profile[1]: is the same as the point before it"}},
      {"ribbon that turns upright",
       scene(R"({"type": "obstacle", "mesh": {"generator": "ribbon", "path": [[1, 0, 0], [1, 2, 0]]}})"),
       {"bodies[0].mesh.path[1]: is above or below the point before it"}},
      {"axis without direction",
       scene(
           R"({"type": "volume", "mesh": {"generator": "box"}, "transform": {"rotate": {"axis": [0,0,0], "angle": 3}}})"),
       {"bodies[0].transform.rotate.axis: got [0, 0, 0], must have a direction"}},
      {"normal without direction",
       scene(R"({"type": "half_space", "normal": [0, 0, 0]})"),
       {"bodies[0].normal: got [0, 0, 0], must have a direction"}},
      {"load that is not finite later",
       scene(R"({"type": "volume", "mesh": {"generator": "box"},
                 "loads": [{"type": "traction", "traction": [0, "x/0", 0]}]})"),
       {"bodies[0].loads[0].traction: is not finite at", "rewrite the formula"}},
      {"pressure that is not finite later",
       scene(R"({"type": "volume", "mesh": {"generator": "box"},
                 "loads": [{"type": "pressure", "pressure": "t/0"}]
})"),
       {"bodies[0].loads[0].pressure: is not finite at t ="}},
      {"script between two steps",
       scene(R"({"type": "volume", "mesh": {"generator": "box"},
                 "fixed": [{"where": {"all": true}, "from": 0.0011, "until": 0.0012}]})"),
       {"bodies[0].fixed[0].until: got 0.0012, but no step of", "would never act"}},
      {"body between two steps",
       scene(R"({"type": "volume", "mesh": {"generator": "box"}, "appears": 0.0011, "disappears": 0.0012})"),
       {"bodies[0].disappears: got 0.0012, but no step of", "never be present"}},
      {"half-space that turns",
       scene(R"({"type": "half_space", "motion": {"rotate": {"axis": [0,0,1], "angle": "3*t"}}})"),
       {"bodies[0].motion.rotate: turns a half-space, which reaches to infinity", "turning obstacle"}},
      {"half-space with a keyframe that turns",
       scene(R"({"type": "half_space", "motion": {"keyframes": [{"t": 1, "rotate": [0, 0, 3]}]}})"),
       {"bodies[0].motion.keyframes[0].rotate: turns a half-space"}},
      {"nothing moves",
       R"({"version": 1, "time": {"steps": 1}, "bodies": [{"type": "half_space"}]})",
       {"scene.json:1: bodies: has nothing that can move", "add a body"}},
      // --- names
      {"same name twice",
       scene(ball() + ",\n" + ball()),
       {"scene.json:5: bodies[1].name: got \"ball\"", "names must differ"}},
      {"unknown body in a pair",
       scene(ball(), R"("contact": {"pairs": [{"bodies": ["ball", "flor"]}]})"),
       {"scene.json:7: contact.pairs[0].bodies[1]: got \"flor\"", "did you mean \"floor\"?"}},
      // --- meshes
      {"missing mesh file",
       mesh("\"file\": \"no.msh\""),
       {"scene.json:4: bodies[0].mesh.file:", "no.msh", "no such file"}},
      {"unknown mesh format",
       mesh("\"file\": \"ball.xyz\""),
       {"bodies[0].mesh.file:", "ball.xyz", ".msh"},
       {{"ball.xyz", "1 2 3"}}},
      {"corrupt mesh file",
       mesh("\"file\": \"ball.obj\""),
       {"bodies[0].mesh.file:", "ball.obj:2", "hello"},
       {{"ball.obj", "v 0 0 0\nv 1 hello 0\n"}}},
      {"mesh file cut off",
       mesh("\"file\": \"ball.msh\""),
       {"bodies[0].mesh.file:", "ball.msh"},
       {{"ball.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n"}}},
      {"surface given as volume",
       mesh("\"file\": \"t.obj\""),
       {"bodies[0].mesh: has no tetrahedra", "\"tetrahedralize\": true"},
       {{"t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"}}},
      {"open surface given as volume",
       mesh("\"generator\": \"grid\""),
       {"bodies[0].mesh: has no tetrahedra", "obstacle"}},
      {"flat tetrahedron",
       mesh(R"("points": [[0,0,0],[1,0,0],[0,1,0],[1,1,0]], "tetrahedra": [[0,1,2,3]])"),
       {"scene.json:4: bodies[0].mesh: body 'ball': tetrahedron 0"}},
      {"index out of range",
       mesh(R"("points": [[0,0,0],[1,0,0],[0,1,0],[1,1,1]], "tetrahedra": [[0,1,2,4]])"),
       {"bodies[0].mesh.tetrahedra[0][3]: got 4, must be a point, 0 to 3"}},
      {"face with three tetrahedra",
       mesh(
           R"("points": [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[0,0,-1],[1,1,2]], "tetrahedra": [[0,1,2,3],[0,1,2,4],[0,1,2,5]])"),
       {"bodies[0].mesh: body 'ball': the face with points 0 1 2", "more than two tetrahedra", "remove"}},
      {"corner used twice",
       mesh(R"("points": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "tetrahedra": [[0,1,2,2]])"),
       {"bodies[0].mesh: body 'ball': tetrahedron 0 uses a point twice"}},
      {"triangle without area",
       scene(
           ball() +
           R"(, {"type": "obstacle", "mesh": {"points": [[5,5,5],[6,5,5],[7,5,5]], "triangles": [[0,1,2]]}})"),
       {"bodies[1].mesh: body 'obstacle1': triangle 0"}},
      {"open surface for an affine body",
       scene(
           R"({"type": "affine", "mesh": {"points": [[0,1,0],[1,1,0],[0,2,0],[0,1,1]], "triangles": [[0,1,2],[0,1,3]]}})"),
       {"bodies[0].mesh: its triangles do not bound a volume", "close"}},
      {"tetrahedralized twice",
       mesh(good_tetrahedron + ", \"tetrahedralize\": true"),
       {"bodies[0].mesh.tetrahedralize: got true", "remove the key"}},
      // --- scripts
      {"bad formula",
       fixed(R"({"where": {"expression": "x <"}})"),
       {"scene.json:4: bodies[0].fixed[0].where.expression: got 'x <', a value is missing at character 4"}},
      {"unknown function",
       fixed(R"({"where": {"expression": "foo(x) < 1"}})"),
       {"unknown name 'foo'", "known are x, y, z"}},
      {"formula in t for a selection",
       fixed(R"({"where": {"expression": "x < t"}})"),
       {"where.expression: got \"x < t\", must not use t"}},
      {"empty selection",
       fixed(R"({"where": {"box": {"min": [5, 5, 5], "max": [6, 6, 6]}}})"),
       {"bodies[0].fixed[0].where: got {\"box\"", "chooses none of the body's points", "between (-0.1"}},
      {"box turned round",
       fixed(R"({"where": {"box": {"min": [1, 0, 0], "max": [0, 1, 1]}}})"),
       {"where.box.max: got (0, 1, 1), must not be below min (1, 0, 0)"}},
      {"index of no point",
       fixed(R"({"where": {"indices": [99999]}})"),
       {"where.indices[0]: got 99999, must be a point of the mesh, 0 to"}},
      {"indices among another number of points",
       fixed(R"({"where": {"indices": [0], "of": 3}})"),
       {"where.of: got 3, but the mesh has", "one truth value for each"}},
      {"index into a mesh with loose points",
       scene(ball(R"("fixed": [{"where": {"indices": [0]}}])",
                  R"("points": [[9,9,9],[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "tetrahedra": [[1,2,3,4]])")),
       {"bodies[0].fixed[0].where: counts points", "belong to no cell", "choose by position"}},
      {"missing index file",
       fixed(R"({"where": {"index_file": "i.txt"}})"),
       {"bodies[0].fixed[0].where.index_file", "i.txt", "no such file"}},
      {"no selection", fixed("{}"), {"bodies[0].fixed[0]: the key 'where' is missing"}},
      {"contradicting scripts",
       fixed(
           R"({"where": {"all": true}, "axes": "xy"}, {"where": {"plane": {"origin": [0, 0.5, 0], "normal": [0, 1, 0]}}, "axes": "y", "motion": {"translate": [0, "t", 0]}})"),
       {"bodies[0].fixed[1]: moves the y coordinate of node",
        "which bodies[0].fixed[0] moves at the same time with another motion"}},
      {"motion that jumps",
       scene(ball("\"motion\": {\"translate\": [\"cos(t)\", 0, 0]}")),
       {"bodies[0].motion: moves", "at t = 0", "cos(t) - 1"}},
      {"motion that ends in nothing",
       scene(ball(R"("motion": {"translate": ["1/(t-0.02) + 50", 0, 0]})")),
       {"bodies[0].motion: is not finite at t = 0.02 s"}},
      {"keyframes out of order",
       scene(ball(R"("motion": {"keyframes": [{"t": 1}, {"t": 0.5}]})")),
       {"bodies[0].motion.keyframes[1].t: got 0.5, must be later"}},
      {"part of an affine body",
       scene(
           R"({"type": "affine", "mesh": {"generator": "box"}, "transform": {"translate": [0, 2, 0]}, "fixed": [{"where": {"indices": [0]}}]})"),
       {"bodies[0].fixed[0].where: chooses 1 of", "held as a whole"}},
      {"part of a rigid body",
       scene(
           R"({"type": "rigid", "mesh": {"generator": "box"}, "transform": {"translate": [0, 2, 0]}, "fixed": [{"where": {"indices": [0]}}]})"),
       {"bodies[0].fixed[0].where: chooses 1 of", "held as a whole"}},
      {"rigid body with nothing free",
       scene(
           R"({"type": "rigid", "mesh": {"generator": "box"}, "fixed_translation": "xyz", "fixed_rotation": "xyz"})"),
       {"bodies[0].fixed_rotation: leaves nothing free", "obstacle"}},
      {"copies with one centre of mass",
       scene(
           R"({"type": "rigid", "mesh": {"generator": "box"}, "centre": [0, 0, 0], "array": {"counts": [2, 1, 1], "spacing": [3, 0, 0]}})"),
       {"bodies[0].array: cannot be combined with centre"}},
      {"axes of a rigid body",
       scene(R"({"type": "rigid", "mesh": {"generator": "box"}, "fixed_rotation": "xw"})"),
       {"bodies[0].fixed_rotation: got \"xw\", must name axes"}},
      {"inertia of no body",
       scene(R"({"type": "rigid", "mesh": {"generator": "box"}, "inertia": [1, 1, 3]})"),
       {"bodies[0].inertia: has the principal moments", "larger than the sum"}},
      {"planar body in no plane z = const",
       planar("", R"("generator": "grid", "cells": [2, 2])"),
       {"scene.json:4:", "bodies[0].mesh", "between z = -0.5 and 0.5 m", "transform.rotate"}},
      {"planar body of tetrahedra",
       planar("", good_tetrahedron),
       {"scene.json:4:", "has tetrahedra", "use type volume"}},
      {"planar body of segments",
       planar("", R"("generator": "segments")"),
       {"bodies[0].mesh", "has no triangles", "rectangle"}},
      {"planar body that overlaps itself",
       planar("", R"("points": [[0,0,0],[1,0,0],[0,1,0],[0.2,1,0]], "triangles": [[0,1,2],[0,1,3]])"),
       {"scene.json:4:", "same side of the edge of points 0 and 1", "remove one"}},
      {"planar body that moves out of its plane",
       planar(R"("velocity": [0, 0, 1])"),
       {"bodies[0].velocity: got [0, 0, 1], must be 0 along z"}},
      {"planar body that tumbles",
       planar(R"("angular_velocity": [10, 0, 0])"),
       {"bodies[0].angular_velocity: got [10, 0, 0], must be about z alone"}},
      {"planar body that is scripted out of its plane",
       planar(R"("motion": {"translate": [0, 0, "t"]})"),
       {"bodies[0].motion", "along z at t = 0.01 s", "turn it about z"}},
      {"planar body held along z",
       planar(R"("fixed": [{"where": {"all": true}, "axes": "z"}])"),
       {"bodies[0].fixed[0].axes: got \"z\"", "always held", "choose x, y or both"}},
      {"traction across the plane",
       planar(R"("loads": [{"type": "traction", "traction": [0, 0, 5]}])"),
       {"bodies[0].loads[0].traction: is (0, 0, 5)", "must be 0 along z"}},
      {"torque out of the plane",
       planar(R"("loads": [{"type": "torque", "torque": [1, 0, 0]}])"),
       {"bodies[0].loads[0].torque", "must be about z alone"}},
      {"traction on no segment",
       planar(
           R"("loads": [{"type": "traction", "traction": [0, 1, 0], "where": {"sphere": {"center": [0.5, 1.5, 0], "radius": 0.1}}}])"),
       {"bodies[0].loads[0].where", "no whole segment of the body's boundary", "choose more points"}},
      {"wind on a planar body",
       planar(R"("loads": [{"type": "wind", "velocity": [1, 0, 0]}])"),
       {"bodies[0].loads[0]: is for bodies with a surface in space", "tractions or pressure"}},
      {"plane stress of stvk",
       planar(R"("plane": "stress", "material": {"type": "stvk"})"),
       {"bodies[0]", "has no plane stress", "stvk", "or plane strain"}},
      {"plane stress with a negative Poisson's ratio",
       planar(R"("plane": "stress", "material": {"type": "neo_hookean", "E": 1e5, "nu": -0.2})"),
       {"bodies[0]", "Poisson's ratio is negative", "0 or more"}},
      {"a planar body of which some may invert",
       planar(R"("regions": [{"where": {"all": true}, "material": {"type": "stvk"}}])"),
       {"bodies[0].regions[0].material: may invert", "materials of one sort"}},
      {"depth of nothing", planar(R"("depth": 0)"), {"bodies[0].depth: got 0", "positive"}},
      {"a polygon that crosses itself",
       planar("", R"("generator": "polygon", "corners": [[0, 0], [2, 2], [2, 0], [0, 1]])"),
       {"bodies[0].mesh", "cross or touch", "move its corners apart"}},
      {"a quadrilateral that is clockwise",
       planar("", R"("generator": "quadrilateral", "corners": [[0, 0], [0, 1], [1, 1], [1, 0]])"),
       {"bodies[0].mesh", "counter-clockwise"}},
      {"remeshing with a gain of the wrong sign",
       scene(ball(R"("remesh": {"delta_split": -0.1})")),
       {"scene.json:4:", "bodies[0].remesh.delta_split: got -0.1, must be positive", "joules"}},
      {"remeshing with a loss of the wrong sign",
       scene(ball(R"("remesh": {"delta_split": 0.1, "delta_collapse": 0.01})")),
       {"bodies[0].remesh.delta_collapse: got 0.01, must be 0 or negative", "try -0.0001"}},
      {"remeshing that undoes itself",
       scene(ball(R"("remesh": {"delta_split": 0.1, "delta_collapse": -0.2})")),
       {"bodies[0].remesh.delta_collapse: got -0.2", "nearer to 0 than delta_split (0.1)"}},
      {"remeshing by a sizing field with a gain",
       scene(ball(R"("remesh": {"criterion": "sizing_field", "delta_split": 0.1})")),
       {"bodies[0].remesh.delta_split: is for the criterion \"potential\"", "leave it out"}},
      {"remeshing with a tolerance of the wrong sign",
       scene(ball(R"("remesh": {"delta_split": 0.1, "coarsen": true, "shape_tolerance": -1e-3})")),
       {"bodies[0].remesh.shape_tolerance: got -0.001", "not be negative"}},
      {"remeshing with a tolerance in other units",
       scene(ball(R"("remesh": {"delta_split": 0.1, "coarsen": true, "shape_tolerance": "1 mm"})")),
       {"bodies[0].remesh.shape_tolerance", "1 mm"}},
      {"remeshing with a tolerance, but without coarsening",
       scene(ball(R"("remesh": {"delta_split": 0.1, "shape_tolerance": 1e-3})")),
       {"bodies[0].remesh.shape_tolerance: is for points of the scene's mesh", "\"coarsen\": true"}},
      {"remeshing without a gain",
       scene(ball(R"("remesh": {})")),
       {"bodies[0].remesh.delta_split: got 0, must be positive", "joules"}},
      {"remeshing of quadratic tetrahedra",
       scene(ball(R"("basis_order": 2, "remesh": {"delta_split": 0.1})")),
       {"bodies[0].remesh: is for linear tetrahedra, but basis_order is 2", "remove one"}},
      {"remeshing of curved tetrahedra",
       scene(ball(R"("remesh": {"delta_split": 0.1})",
                  R"("generator": "sphere", "radius": 0.1, "resolution": 2, "curve": 2)")),
       {"bodies[0].remesh: is for linear tetrahedra", "curved"}},
      {"a bar bent beyond its thickness",
       scene(ball("", R"("generator": "rod", "length": 0.1, "thickness": 0.1, "bend": 200)")),
       {"bodies[0].mesh.bend: got 200 degrees", "half the thickness", "at most 114.6 degrees"}},
      {"a degree that there is not",
       scene(ball(R"("basis_order": 5)")),
       {"scene.json:4:", "bodies[0].basis_order: got 5, must lie in [1, 4]"}},
      {"a collision surface that intersects itself",
       scene(ball(R"("basis_order": 2, "collision": {"mesh": {"points": [[-0.04, -0.04, 0], [0.04, -0.04, 0],
         [0, 0.04, 0], [0, 0, -0.03], [0.01, 0, 0.03], [-0.01, 0.01, 0.03]], "triangles": [[0, 1, 2], [3, 4, 5]]}})")),
       {"bodies[0]: edge", "of 'ball' intersects triangle", "repair its mesh, or its collision mesh"}},
      {"remeshing with lumped mass",
       scene(ball(R"("mass": "lumped", "remesh": {"delta_split": 0.1})")),
       {"bodies[0].mass: got \"lumped\"", "consistent"}},
      {"remeshing below dhat",
       scene(ball(R"("remesh": {"delta_split": 0.1, "min_edge": 1e-4})"), R"("contact": {"dhat": 1e-3})"),
       {"bodies[0].remesh.min_edge: got 0.0001 m, must be at least dhat (0.001 m)"}},
      {"remeshing of a shell with smoothing",
       scene(
           R"({"type": "shell", "mesh": {"generator": "grid"}, "remesh": {"delta_split": 1e-4, "smoothing": true}})"),
       {"bodies[0].remesh.smoothing: is for volumes and planar bodies", "leave it out"}},
      {"remeshing of a shell below its thickness",
       scene(R"({"type": "shell", "mesh": {"generator": "grid"}, "thickness": 2e-3,
                 "remesh": {"delta_split": 1e-4, "min_edge": 2e-3}})",
             R"("contact": {"dhat": 1e-3})"),
       {"bodies[0].remesh.min_edge: got 0.002 m, must be at least dhat plus thickness (0.003 m)"}},
      {"remeshing of a shell turned by a torque",
       scene(R"({"type": "shell", "mesh": {"generator": "grid"}, "remesh": {"delta_split": 1e-4},
                 "loads": [{"type": "torque", "torque": [0, 1, 0]}]})"),
       {"bodies[0].loads[0]", "use tractions"}},
      {"remeshing of a rigid body",
       scene(R"({"type": "rigid", "mesh": {"generator": "box"}, "remesh": {"delta_split": 0.1}})"),
       {"scene.json:4: bodies[0].remesh: unknown key of rigid, only of volume, planar, shell",
        "use one of these, or remove it"}},
      {"remeshing of an affine body",
       scene(R"({"type": "affine", "mesh": {"generator": "box"}, "remesh": {"delta_split": 0.1}})"),
       {"scene.json:4: bodies[0].remesh: unknown key of affine, only of volume, planar, shell",
        "use one of these"}},
      {"remeshing of a body that turns by a torque",
       scene(ball(R"("loads": [{"type": "torque", "torque": [0, 1, 0]}], "remesh": {"delta_split": 0.1})")),
       {"bodies[0].loads[0]: acts on the body as a whole", "tractions"}},
      {"remeshing of two boxes that share an edge",
       scene(ball(
           R"("remesh": {"delta_split": 0.1})",
           R"("points": [[0,0,0],[0,0,1],[1,0,0],[0,1,0],[-1,0,0],[0,-1,0]], "tetrahedra": [[0,1,3,2],[0,1,5,4]])")),
       {"bodies[0].remesh: needs a surface on which every edge has two triangles", "separate"}},
      {"rigid body without mass",
       scene(R"({"type": "rigid", "mesh": {"generator": "box"}, "mass": 0})"),
       {"scene.json:4:", "bodies[0].mass: got 0, must be positive"}},
      {"rigid body without inertia",
       scene(R"({"type": "rigid", "mesh": {"generator": "box"}, "inertia": [0, 0, 0]})"),
       {"scene.json:4:", "bodies[0].inertia: has the principal moments [0, 0, 0]", "not only zeros"}},
      {"rigid body of one point in one place",
       scene(R"({"type": "rigid", "mesh": {"points": [[0,1,0],[0,1,0],[0,1,0]], "triangles": [[0,1,2]]}})"),
       {"scene.json:4:", "bodies[0].mesh"}},
      {"fixture with a body of no mass",
       "{\"rigid_body_problem\": {\"rigid_bodies\": [\n{\"vertices\": [[0,0,0],[1,0,0],[0,1,0]],\n"
       "\"faces\": [[0,1,2]], \"density\": 0}]}}",
       {"scene.json:3: rigid_body_problem.rigid_bodies[0].density: got 0, must be positive"}},
      {"fixture of mixed dimensions",
       "{\"rigid_body_problem\": {\"gravity\": [0, -9.8], \"rigid_bodies\": [\n"
       "{\"vertices\": [[0,0,0],[1,0,0],[0,1,0]], \"edges\": [[0,1]]}]}}",
       {"scene.json:2: rigid_body_problem.rigid_bodies[0].vertices[0]: got [0, 0, 0], must be two numbers",
        "2D"}},
      {"fixture without its mesh",
       "{\"rigid_body_problem\": {\"rigid_bodies\": [\n{\"mesh\": \"nothing.obj\"}]}}",
       {"scene.json:2: rigid_body_problem.rigid_bodies[0].mesh: mesh nothing.obj not found",
        "looked for in"}},
      {"torque in space",
       scene(
           R"({"type": "rigid", "mesh": {"generator": "box"}, "loads": [{"type": "torque", "torque": ["x", 0, 0]}]})"),
       {"bodies[0].loads[0].torque[0]: got \"x\", must not use x"}},
      {"spin conserved by another integrator",
       R"({"version": 1, "time": {"dt": 0.01, "steps": 2, "integrator": "bdf2", "conserve_spin": true}, "bodies": [{"type": "rigid", "mesh": {"generator": "box"}}]})",
       {"time.conserve_spin: is for implicit_euler, but the integrator is bdf2"}},
      // --- the start
      {"initial intersection",
       scene(
           ball() + ",\n" +
           R"({"type": "volume", "name": "other", "mesh": {"generator": "box", "size": 0.2, "cells": 2}, "transform": {"translate": [0.1, 0.5, 0]}})"),
       {"scene.json:", "intersects", "ball", "other", "near (", "move them apart"}},
      {"inside a solid",
       scene(
           ball() + ",\n" +
           R"({"type": "particles", "name": "grain", "radius": 0.001, "mesh": {"points": [[0.01, 0.5, 0.02]]}})"),
       {"scene.json:5: bodies[1]:", "of 'grain' is inside the solid 'ball'", "move it out", "allow_nested"}},
      {"nesting neither allowed nor not",
       scene(ball(), "\"contact\": {\"allow_nested\": \"ball\"}"),
       {"scene.json:7: contact.allow_nested: got \"ball\", must be"}},
      {"a stiffness rule of the other formulation",
       scene(ball(), "\"contact\": {\"formulation\": \"convergent\", \"barrier_stiffness\": \"published\"}"),
       {"scene.json:7: contact.barrier_stiffness: got \"published\"", "use \"adaptive\" or a pressure"}},
      {"below a half-space",
       scene(
           R"({"type": "volume", "name": "ball", "mesh": {"generator": "sphere", "radius": 0.1, "resolution": 2}})"),
       {"scene.json:4: bodies[0]:", "on or below 'floor'", "free side"}},
      {"thicker than the gap",
       scene(ball(), "\"contact\": {\"pairs\": [{\"bodies\": [\"ball\", \"floor\"], \"thickness\": 0.45}]}"),
       {"scene.json:4: bodies[0]:", "above 'floor'", "lower the thickness"}},
      // --- wind
      {"wind of text", wind(R"("velocity": "strong")"), {"loads[0].velocity: got \"strong\"", "must be"}},
      {"wind of two numbers", wind(R"("velocity": [1, 2])"), {"loads[0].velocity", "3"}},
      {"wind of a bad formula", wind(R"("velocity": ["sin(", 0, 0])"), {"loads[0].velocity"}},
      {"wind of an unknown name", wind(R"("velocity": ["u*t", 0, 0])"), {"loads[0].velocity", "u"}},
      {"wind that becomes infinite",
       wind(R"("velocity": ["1/(t-0.02)+0", 0, 0])"),
       {"loads[0].velocity", "finite"}},
      {"air of negative density",
       wind(R"("density": -1.2)"),
       {"loads[0].density: got -1.2, must be positive"}},
      {"air without density", wind(R"("density": 0)"), {"loads[0].density: got 0, must be positive"}},
      {"negative drag", wind(R"("drag": -1)"), {"loads[0].drag: got -1, must not be negative"}},
      {"drag of text", wind(R"("drag": "much")"), {"loads[0].drag: got \"much\""}},
      {"negative friction of air", wind(R"("friction": -0.1)"), {"loads[0].friction: got -0.1"}},
      {"unknown key of wind", wind(R"("speed": 3)"), {"loads[0].speed: unknown key"}},
      {"wind on nothing",
       wind(R"("where": {"box": {"min": [5, 5, 5], "max": [6, 6, 6]}})"),
       {"loads[0].where", "choose"}},
      {"wind that ends before it begins", wind(R"("from": 0.02, "until": 0.01)"), {"loads[0]", "until"}},
      // --- stitches
      {"stitches of a number", stitches("3"), {"attachments[0].stitches: got 3"}},
      {"no stitches", stitches("[]"), {"attachments[0].stitches"}},
      {"a stitch of three numbers",
       stitches("[[0, 1, 2]]"),
       {"stitches[0]", "has 3 numbers", "[a, b, c, t]"}},
      {"a stitch of one number", stitches("[[0]]"), {"stitches[0]", "has 1 numbers"}},
      {"a stitch to half a point", stitches("[[0, 1.5]]"), {"stitches[0][1]: got 1.5"}},
      {"a stitch to a negative point", stitches("[[0, -1]]"), {"stitches[0][1]: got -1"}},
      {"a stitch to an unknown point", stitches("[[0, 99]]"), {"stitch 0: point 99", "0 to 8"}},
      {"a stitch beyond its edge",
       stitches("[[0, 1, 2, 1.5]]"),
       {"stitches[0][3]: got 1.5, must lie in [0, 1]"}},
      {"a stitch of a point to itself", stitches("[[4, 4]]"), {"stitch 0: point 4 is sewn to itself"}},
      {"stitches of an unknown body",
       stitches("[[0, 8]]", R"("bodies": ["cloth", "clot"])"),
       {"attachments[0].bodies[1]: got \"clot\"", "did you mean \"cloth\"?"}},
      {"stitches of what cannot move",
       stitches("[[0, 8]]", R"("bodies": ["floor", "floor"])"),
       {"none can move"}},
      {"springs of negative stiffness",
       stitches("[[0, 8]]", R"("bodies": ["cloth", "cloth"], "stiffness": -5)"),
       {"attachments[0].stiffness: got -5"}},
      {"springs of negative length",
       stitches("[[0, 8]]", R"("bodies": ["cloth", "cloth"], "length": -5)"),
       {"attachments[0].length: got -5"}},
      {"stitches in no file",
       stitches(R"("none.txt")"),
       {"attachments[0].stitches", "none.txt: no such file"}},
      {"a file without stitches", stitches(R"("s.txt")"), {"s.txt", "no stitch"}, {{"s.txt", "# nothing\n"}}},
      {"an OBJ file without stitches",
       stitches(R"("s.obj")"),
       {"s.obj", "no stitch"},
       {{"s.obj", "v 0 0 0\n"}}},
      {"a stitch in a file that lacks a point",
       stitches(R"("s.txt")"),
       {"s.txt:2", "point of a stitch: got ''"},
       {{"s.txt", "0 8\nstitch 0\n"}}},
      {"a stitch in a file that lacks its share",
       stitches(R"("s.txt")"),
       {"s.txt:1", "share of a stitch: got ''"},
       {{"s.txt", "0 1 2\n"}}},
      {"a stitch in a file with a share that is not a number",
       stitches(R"("s.txt")"),
       {"s.txt:1", "share of a stitch: got 'nan', must lie in [0, 1]"},
       {{"s.txt", "stitch 0 1 2 nan\n"}}},
      {"a stitch in a file with too many numbers",
       stitches(R"("s.txt")"),
       {"s.txt:1", "after a stitch: got '7'"},
       {{"s.txt", "stitch 0 1 2 0.5 7\n"}}},
      {"a stitch in a file with a huge point",
       stitches(R"("s.txt")"),
       {"s.txt:1", "got '99999999999999999999'"},
       {{"s.txt", "0 99999999999999999999\n"}}},
      {"a stitch in a file to an unknown point",
       stitches(R"("s.txt")"),
       {"attachments[0].stitches", "point 9 ", "0 to 8"},
       {{"s.txt", "0 9\n"}}},
      // --- the command line
      {"unknown path in --set",
       scene(ball()),
       {"--set contact.dat=1: contact.dat: unknown key", "did you mean 'dhat'?"},
       {},
       {"--set", "contact.dat=1"}},
      {"bad value in --set",
       scene(ball()),
       {"--set bodies[0].material.nu=0.5", "bodies[0].material.nu: got 0.5, must lie in (-1, 0.5)"},
       {},
       {"--set", "bodies[0].material={\"type\":\"neo_hookean\"}", "--set", "bodies[0].material.nu=0.5"}},
      {"--set without value",
       scene(ball()),
       {"--set contact.dhat:", "path=value"},
       {},
       {"--set", "contact.dhat"}},
      {"--set beyond a list",
       scene(ball()),
       {"--set bodies[7].name=x: bodies has 2 entries"},
       {},
       {"--set", "bodies[7].name=x"}},
      {"--set of an unknown name",
       scene(ball()),
       {"bodies has no entry named 'bal'", "ball"},
       {},
       {"--set", "bodies[bal].name=x"}},
      {"--set inside a number",
       scene(ball()),
       {"--set time.dt.x=1: time.dt is 0.01, which has no keys"},
       {},
       {"--set", "time.dt.x=1"}},
      {"--set with half a list",
       scene(ball()),
       {"--set gravity=[0,1", "never closed"},
       {},
       {"--set", "gravity=[0,1"}},
  };
}

class BadScenes : public ::testing::TestWithParam<BadScene> {};

TEST_P(BadScenes, EndWithExitCodeTwoAndAMessageThatHelps) {
  const BadScene& bad = GetParam();
  const TemporaryDirectory directory;
  write_file(directory / "scene.json", bad.scene);
  for (const auto& [name, content] : bad.files) write_file(directory / name, content);
  const auto before = content_of(directory.path());
  std::vector<std::string> arguments = {"run", "scene.json", "-o", "out"};
  arguments.insert(arguments.end(), bad.arguments.begin(), bad.arguments.end());
  const Outcome outcome = run_program(APART_PROGRAM, arguments, directory.path());
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  for (const std::string& part : bad.parts)
    EXPECT_NE(outcome.err.find(part), std::string::npos) << "missing: " << part << "\nin: " << outcome.err;
  EXPECT_EQ(content_of(directory.path()), before) << "something was left behind";
}

std::string test_name(const ::testing::TestParamInfo<BadScene>& info) {
  std::string name;
  for (const char* c = info.param.name; *c; ++c)
    name += std::isalnum(static_cast<unsigned char>(*c)) ? *c : '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(Table, BadScenes, ::testing::ValuesIn(bad_scenes()), test_name);

TEST(BadScenes, AllProblemsOfAFileAreNamedAtOnce) {
  const TemporaryDirectory directory;
  write_file(
      directory / "scene.json",
      scene(ball("\"mass\": \"x\", \"velocty\": 1, \"material\": {\"type\": \"neo_hookean\", \"nu\": 3}"),
            "\"solvr\": 1"));
  const Outcome outcome = run_program(APART_PROGRAM, {"check", "scene.json"}, directory.path());
  EXPECT_EQ(outcome.code, 2);
  for (const char* part : {"bodies[0].mass", "bodies[0].velocty", "bodies[0].material.nu", "solvr"})
    EXPECT_NE(outcome.err.find(part), std::string::npos) << part << "\n" << outcome.err;
}

TEST(BadScenes, TheGoodSceneTheyAreMadeOfRuns) {
  const TemporaryDirectory directory;
  write_file(directory / "scene.json", scene(ball()));
  const Outcome outcome = run_program(APART_PROGRAM, {"run", "scene.json", "-o", "out"}, directory.path());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  write_file(directory / "scene.json", wind(R"("velocity": ["t", 0, 1])"));
  EXPECT_EQ(run_program(APART_PROGRAM, {"check", "scene.json"}, directory.path()).code, 0);
  for (const std::string good : {R"([[0, 8], [1, 5, 6, 0.5]])", R"("s.txt")"}) {
    write_file(directory / "scene.json", stitches(good));
    write_file(directory / "s.txt", "# seam\nstitch 0 8 # corner to corner\n1 5 6 0.5\n");
    const Outcome sewn = run_program(APART_PROGRAM, {"check", "scene.json"}, directory.path());
    EXPECT_EQ(sewn.code, 0) << sewn.err;
  }
}

}  // namespace
}  // namespace apart::test
