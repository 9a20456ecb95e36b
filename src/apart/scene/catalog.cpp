#include <apart/collision/broad_phase.hpp>
#include <apart/io/file_reader.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/catalog.hpp>
#include <apart/solver/linear_solver.hpp>

namespace apart {

namespace {

// ---- Types: what a value may be -----------------------------------------------------------------
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Range positive{0, infinity, true, true};
constexpr Range not_negative{0, infinity, false, true};

ValueType boolean() {
  return {ValueType::Kind::boolean, {}, {}, {}};
}
ValueType number(Range range = {}) {
  return {ValueType::Kind::number, range, {}, {}};
}
ValueType integer(double lower, double upper = std::numeric_limits<Index>::max()) {
  return {ValueType::Kind::integer, {lower, upper}, {}, {}};
}
ValueType length(Range range) {
  return {ValueType::Kind::length, range, {}, {}};
}
ValueType text() {
  return {ValueType::Kind::text, {}, {}, {}, 1};
}
ValueType any_text() {
  return {ValueType::Kind::text, {}, {}, {}, 0};
}
ValueType formula() {
  return {ValueType::Kind::formula, {}, {}, {}};
}
ValueType choice(std::string_view list) {
  return {ValueType::Kind::choice, {}, list, {}};
}
ValueType object(std::string_view group) {
  return {ValueType::Kind::object, {}, group, {}};
}
ValueType any_of(std::vector<ValueType> alternatives) {
  return {ValueType::Kind::any_of, {}, {}, std::move(alternatives)};
}
ValueType list(ValueType of, std::size_t min_size = 0,
               std::size_t max_size = std::numeric_limits<std::size_t>::max()) {
  return {ValueType::Kind::list, {}, {}, {std::move(of)}, min_size, max_size};
}
ValueType tuple(ValueType of, std::size_t size) {
  return {ValueType::Kind::list, {}, {}, {std::move(of)}, size, size};
}
ValueType vector(Range range = {}) {
  return tuple(number(range), 3);
}
ValueType rotation() {
  return any_of({vector(), object("axis_angle")});
}
ValueType friction_coefficient() {
  return any_of({number(not_negative), object("friction")});
}
ValueType number_or_formula() {
  return any_of({number(), formula()});
}

// ---- Makers -------------------------------------------------------------------------------------
Lame lame(const LocatedJson& p) {
  if (!p.has("mu")) return lame_parameters(p["E"].number(), p["nu"].number());
  const Lame result{p["lambda"].number(), p["mu"].number()};
  if (!(3 * result.lambda + 2 * result.mu > 0))
    p["lambda"].fail("got {}, must be more than -2/3 mu = {}; else the material would burst", result.lambda,
                     -2 * result.mu / 3);
  return result;
}

MooneyRivlin read_mooney_rivlin(const LocatedJson& p) {
  if (!p.has("c1")) return mooney_rivlin(lame(p));
  return {p["c1"].number(), p["c2"].number(), p["bulk"].number()};
}

/// Three numbers, or one for all axes.
Vector3 per_axis(const LocatedJson& v) {
  return v.value().get_if<double>() ? Vector3::Constant(v.number()) : v.vector();
}
Eigen::Vector3i cells_per_axis(const LocatedJson& v) {
  return v.value().get_if<double>() ? Eigen::Vector3i::Constant(v.integer()) : v.integer_vector();
}

/// A typing error must not fill the memory.
void check_cell_count(const LocatedJson& p, double count) {
  constexpr double most = 2e7;
  if (count > most) p.fail("asks for about {:.2g} cells, at most {:.0e} are made; use fewer", count, most);
}

/// A place where only one kind of object may stand.
Group record(std::string_view name, std::string_view summary, std::vector<Key> keys) {
  return {name, summary, {{name, "", "", false, std::move(keys)}}};
}

/// Chosen by "type": name.
Row typed(std::string_view name, std::string_view summary, std::vector<Key> keys) {
  return {name, summary, "type", true, std::move(keys)};
}

/// Chosen by its first key being there.
Row with_key(std::string_view name, std::string_view summary, std::vector<Key> keys) {
  const std::string_view tag = keys.front().name;
  return {name, summary, tag, false, std::move(keys)};
}

/// Keys of the generator `name`, its tag first.
std::vector<Key> generator_keys(std::vector<Key> keys) {
  keys.insert(keys.begin(), Key{"generator", text(), "", Key::required, "which generator"});
  return keys;
}

Row generator(std::string_view name, std::string_view summary, std::vector<Key> keys,
              Mesh (*make)(const LocatedJson&, generate::Content)) {
  return {name, summary, "generator", true, generator_keys(std::move(keys)), nullptr, make};
}

Group meshes() {
  using generate::Content;
  const ValueType size = any_of({number(positive), vector(positive)});
  const ValueType cells = any_of({integer(1, 1e4), tuple(integer(1, 1e4), 3)});
  const Key resolution{"resolution", integer(1, 500), "", "4",
                       "layers of cells from the centre to the surface"};
  const Key tetrahedralize{"tetrahedralize", any_of({boolean(), object("tetrahedralization")}), "", "false",
                           "fill the closed surface with tetrahedra (needs the program tetgen)"};
  return {
      "mesh",
      "The shape of a body, made by a generator, read from a file or written out. Generators are centred at "
      "the origin "
      "unless said otherwise; they give tetrahedra to volume and affine bodies and the surface to others.",
      {
          generator("box", "box with axis-parallel edges",
                    {{"size", size, "m", "1", "edge lengths, one for all or x, y, z"},
                     {"cells", cells, "", "4",
                      "cells per edge, one for all or x, y, z; each is split into tetrahedra"}},
                    [](const LocatedJson& p, Content content) {
                      const Eigen::Vector3i n = cells_per_axis(p["cells"]);
                      check_cell_count(p, 6 * n.cast<double>().prod());
                      return generate::box(per_axis(p["size"]), n, content);
                    }),
          generator("sphere", "ball", {{"radius", number(positive), "m", "0.5", "radius"}, resolution},
                    [](const LocatedJson& p, Content content) {
                      const double n = p["resolution"].number();
                      check_cell_count(p, 50 * n * n * n);
                      return generate::sphere(p["radius"].number(), p["resolution"].integer(), content);
                    }),
          generator("torus", "ring about the y axis",
                    {{"major", number(positive), "m", "0.5", "radius of the ring's centre line"},
                     {"minor", number(positive), "m", "0.2", "radius of the tube; smaller than major"},
                     {"ring_cells", integer(3, 1e5), "", "24", "cells around the ring"},
                     {"tube_cells", integer(3, 1e4), "", "12", "cells around the tube"}},
                    [](const LocatedJson& p, Content content) {
                      const double major = p["major"].number(), minor = p["minor"].number();
                      if (minor >= major)
                        p["minor"].fail("got {}, must be smaller than major ({}); else the ring cuts itself",
                                        minor, major);
                      const double tube = p["tube_cells"].number();
                      check_cell_count(p, p["ring_cells"].number() * tube * tube);
                      return generate::torus(major, minor, p["ring_cells"].integer(),
                                             p["tube_cells"].integer(), content);
                    }),
          generator("cylinder", "solid cylinder along the y axis",
                    {{"radius", number(positive), "m", "0.5", "radius"},
                     {"length", number(positive), "m", "1", "length along y"},
                     resolution,
                     {"length_cells", integer(1, 1e5), "", "8", "cells along y"}},
                    [](const LocatedJson& p, Content content) {
                      const double n = p["resolution"].number();
                      check_cell_count(p, 20 * n * n * p["length_cells"].number());
                      return generate::cylinder(p["radius"].number(), p["length"].number(),
                                                p["resolution"].integer(), p["length_cells"].integer(),
                                                content);
                    }),
          generator("mat", "thin square sheet of one layer of cells, in the xz plane",
                    {{"width", number(positive), "m", "1", "edge length along x and z"},
                     {"thickness", number(positive), "m", "0.02", "height along y"},
                     {"cells", integer(1, 5000), "", "20", "cells along x and along z"}},
                    [](const LocatedJson& p, Content content) {
                      check_cell_count(p, 6 * p["cells"].number() * p["cells"].number());
                      return generate::mat(p["width"].number(), p["thickness"].number(), p["cells"].integer(),
                                           content);
                    }),
          generator("rod", "thin square bar along the x axis",
                    {{"length", number(positive), "m", "1", "length along x"},
                     {"thickness", number(positive), "m", "0.05", "edge length along y and z"},
                     {"cells", integer(1, 1e6), "", "20", "cells along x"},
                     {"cross_cells", integer(1, 1000), "", "1", "cells along y and along z"}},
                    [](const LocatedJson& p, Content content) {
                      const double across = p["cross_cells"].number();
                      check_cell_count(p, 6 * p["cells"].number() * across * across);
                      return generate::rod(p["length"].number(), p["thickness"].number(),
                                           p["cells"].integer(), p["cross_cells"].integer(), content);
                    }),
          generator("spike", "pyramid with a square base at y = 0 and its tip above the origin",
                    {{"width", number(positive), "m", "1", "edge length of the base"},
                     {"height", number(positive), "m", "2", "height of the tip"}},
                    [](const LocatedJson& p, Content content) {
                      return generate::spike(p["width"].number(), p["height"].number(), content);
                    }),
          generator("wedge", "prism with a base at y = 0 and a sharp edge along z above it",
                    {{"width", number(positive), "m", "1", "width of the base along x"},
                     {"height", number(positive), "m", "2", "height of the edge"},
                     {"length", number(positive), "m", "2", "length along z"}},
                    [](const LocatedJson& p, Content content) {
                      return generate::wedge(p["width"].number(), p["height"].number(), p["length"].number(),
                                             content);
                    }),
          generator("voussoir", "stone of an arch: part of a ring about the z axis",
                    {{"inner", number(positive), "m", "1", "inner radius"},
                     {"outer", number(positive), "m", "1.2", "outer radius; greater than inner"},
                     {"depth", number(positive), "m", "0.5", "length along z"},
                     {"from", number({0, 180}), "degrees", "80", "where it begins, from x towards y"},
                     {"to", number({0, 180}), "degrees", "100", "where it ends; greater than from"},
                     {"cells", cells, "", "1", "cells along radius, angle and z, one for all or each"}},
                    [](const LocatedJson& p, Content content) {
                      const double inner = p["inner"].number(), outer = p["outer"].number();
                      const double from = p["from"].number(), to = p["to"].number();
                      if (outer <= inner)
                        p["outer"].fail("got {}, must be greater than inner ({})", outer, inner);
                      if (to <= from) p["to"].fail("got {}, must be greater than from ({})", to, from);
                      const Eigen::Vector3i n = cells_per_axis(p["cells"]);
                      check_cell_count(p, 6 * n.cast<double>().prod());
                      return generate::voussoir(inner, outer, p["depth"].number(), from, to, n, content);
                    }),
          generator("grid", "flat open surface in the xz plane, facing +y; for shells and obstacles",
                    {{"size", tuple(number(positive), 2), "m", "[1, 1]", "edge lengths along x and z"},
                     {"cells", tuple(integer(1, 1e4), 2), "", "[10, 10]", "cells along x and z"}},
                    [](const LocatedJson& p, Content) {
                      check_cell_count(p, p["cells"][0].number() * p["cells"][1].number());
                      return generate::grid(p["size"][0].number(), p["size"][1].number(),
                                            p["cells"][0].integer(), p["cells"][1].integer());
                    }),
          generator(
              "bowl",
              "part of a sphere's surface, open at the top, lowest point at the origin; for shells and "
              "obstacles",
              {{"radius", number(positive), "m", "1", "radius of the sphere"},
               {"angle", number({0, 180, true, true}), "degrees", "70", "from the lowest point to the rim"},
               {"resolution", integer(1, 2000), "", "12", "rings of cells from the lowest point to the rim"}},
              [](const LocatedJson& p, Content) {
                check_cell_count(p, 6 * p["resolution"].number() * p["resolution"].number());
                return generate::bowl(p["radius"].number(), p["angle"].number(), p["resolution"].integer());
              }),
          generator("revolution",
                    "open surface that a profile sweeps turning about the y axis: tube, cone, funnel; for "
                    "shells and obstacles",
                    {{"profile", list(tuple(number(), 2), 2), "m", "[[0.5, 0], [0.5, 1]]",
                      "points [radius, y]; radii are positive"},
                     {"resolution", integer(3, 1e5), "", "24", "cells around the axis"}},
                    [](const LocatedJson& p, Content) {
                      const LocatedJson profile = p["profile"];
                      check_cell_count(p, 2.0 * double(profile.size()) * p["resolution"].number());
                      std::vector<Eigen::Vector2d> points;
                      for (std::size_t i = 0; i < profile.size(); ++i) {
                        const Eigen::Vector2d next(profile[i][0].number(), profile[i][1].number());
                        if (!(next[0] > 0)) profile[i][0].fail("got {}, a radius must be positive", next[0]);
                        if (!points.empty() && points.back() == next)
                          profile[i].fail("is the same as the point before it; leave it out");
                        points.push_back(next);
                      }
                      return generate::revolution(points, p["resolution"].integer());
                    }),
          generator(
              "ribbon",
              "strip whose width is along y, along a smooth curve; for shells and obstacles; groups "
              "start and end",
              {{"path", list(tuple(number(), 3), 2), "m", "[[-0.5, 0, 0], [0.5, 0, 0]]",
                "points that the curve passes; neighbours are not one above the other"},
               {"width", number(positive), "m", "0.1", "edge length along y"},
               {"cells", tuple(integer(1, 1e5), 2), "", "[40, 4]", "cells along the curve and along y"}},
              [](const LocatedJson& p, Content) {
                const LocatedJson path = p["path"];
                check_cell_count(p, 2.0 * p["cells"][0].number() * p["cells"][1].number());
                std::vector<Vector3> points;
                for (std::size_t i = 0; i < path.size(); ++i) {
                  const Vector3 next(path[i][0].number(), path[i][1].number(), path[i][2].number());
                  if (!points.empty() && points.back()[0] == next[0] && points.back()[2] == next[2])
                    path[i].fail("is above or below the point before it; the strip stands upright there");
                  points.push_back(next);
                }
                return generate::ribbon(points, p["width"].number(), p["cells"][0].integer(),
                                        p["cells"][1].integer());
              }),
          generator("segments", "straight line of segments along the x axis; for rods and obstacles",
                    {{"length", number(positive), "m", "1", "length along x"},
                     {"cells", integer(1, 1e6), "", "10", "number of segments"}},
                    [](const LocatedJson& p, Content) {
                      return generate::segments(p["length"].number(), p["cells"].integer());
                    }),
          generator(
              "bundle",
              "parallel straight lines of segments along the y axis; for rods and obstacles; groups start "
              "and end",
              {{"length", number(positive), "m", "1", "length along y"},
               {"cells", integer(1, 1e6), "", "20", "segments of each line"},
               {"counts", tuple(integer(1, 1e4), 2), "", "[5, 5]", "lines along x and z"},
               {"spacing", number(positive), "m", "0.05", "distance of neighbours"},
               {"round", boolean(), "", "false", "only the lines of a round bundle"}},
              [](const LocatedJson& p, Content) {
                const Eigen::Vector2i counts(p["counts"][0].integer(), p["counts"][1].integer());
                check_cell_count(p, counts.cast<double>().prod() * p["cells"].number());
                return generate::bundle(p["length"].number(), p["cells"].integer(), counts,
                                        p["spacing"].number(), p["round"].boolean());
              }),
          generator("helix", "coil of segments about the y axis; for rods; groups start and end",
                    {{"radius", number(positive), "m", "0.1", "of the coil"},
                     {"pitch", number(positive), "m", "0.1", "rise per turn"},
                     {"turns", integer(1, 1e5), "", "5", "number of turns"},
                     {"turn_cells", integer(3, 1e5), "", "24", "segments per turn"}},
                    [](const LocatedJson& p, Content) {
                      check_cell_count(p, p["turns"].number() * p["turn_cells"].number());
                      return generate::helix(p["radius"].number(), p["pitch"].number(), p["turns"].integer(),
                                             p["turn_cells"].integer());
                    }),
          generator("ring", "closed circle of segments in the xz plane; for rods",
                    {{"radius", number(positive), "m", "0.5", "radius"},
                     {"cells", integer(3, 1e6), "", "24", "number of segments"}},
                    [](const LocatedJson& p, Content) {
                      return generate::ring(p["radius"].number(), p["cells"].integer());
                    }),
          generator(
              "net",
              "lines of segments along x and z that cross over and under by turns; for rods; groups start "
              "and end",
              {{"size", number(positive), "m", "1", "edge length"},
               {"count", integer(1, 1e4), "", "10", "lines along x, and along z"},
               {"cells", integer(2, 1e5), "", "40", "segments of each line"},
               {"distance", number(positive), "m", "0.02", "of crossing lines, from axis to axis"}},
              [](const LocatedJson& p, Content) {
                check_cell_count(p, 2 * p["count"].number() * p["cells"].number());
                return generate::net(p["size"].number(), p["count"].integer(), p["cells"].integer(),
                                     p["distance"].number());
              }),
          generator(
              "hair",
              "straight lines of segments that stand on a surface, one at each of its points; for rods; "
              "groups start (the roots) and end",
              {{"surface", object("mesh"), "", R"({"generator": "sphere"})",
                "a mesh with triangles, facing outward"},
               {"length", number(positive), "m", "0.2", "of each hair"},
               {"cells", integer(1, 1e5), "", "10", "segments of each hair"},
               {"root", number(not_negative), "m", "0", "distance of the roots from the surface"},
               {"every", integer(1, 1e6), "", "1", "a hair at every so many points"}},
              [](const LocatedJson& p, Content) {
                const LocatedJson base = p["surface"];
                const Row& row = row_of(base, catalog().group("mesh"));
                if (!row.make_mesh && !base.has("file"))
                  base.fail("is written out; hair stands on the mesh of a generator or a file");
                const Mesh surface =
                    row.make_mesh ? row.make_mesh(base, Content::surface) : read_mesh(base["file"].text());
                return generate::hair(surface, p["length"].number(), p["cells"].integer(), p["root"].number(),
                                      p["every"].integer());
              }),
          generator("points", "regular block of single points; for particles and obstacles",
                    {{"counts", tuple(integer(1, 1e6), 3), "", "[5, 1, 5]", "points along x, y, z"},
                     {"spacing", number(positive), "m", "0.1", "distance of neighbours"}},
                    [](const LocatedJson& p, Content) {
                      const Eigen::Vector3i n = p["counts"].integer_vector();
                      check_cell_count(p, n.cast<double>().prod());
                      return generate::points(n, p["spacing"].number());
                    }),
          generator(
              "packing",
              "balls thrown at random into a box, which fill about a third of it at most; for particles",
              {{"size", size, "m", "1", "edge lengths of the box, one for all or x, y, z"},
               {"radius", number(positive), "m", "0.05", "of the balls, which lie inside the box"},
               {"gap", number(not_negative), "m", "0", "kept free between balls"},
               {"count", integer(1, 1e7), "", Key::optional,
                "number of balls; not given: until no more find room"},
               {"seed", integer(0), "", "0", "of the random numbers"}},
              [](const LocatedJson& p, Content) {
                return generate::packing(per_axis(p["size"]), p["radius"].number(), p["gap"].number(),
                                         p.has("count") ? p["count"].integer() : 0,
                                         unsigned(p["seed"].integer()));
              }),
          with_key("file", "mesh file; the format follows from the extension",
                   {{"file", text(), "", Key::required, "path, absolute or relative to the scene file"},
                    tetrahedralize}),
          with_key(
              "inline", "mesh written into the scene; without cells the points themselves are the mesh",
              {{"points", list(vector(), 1), "m", Key::required, "coordinates [[x, y, z], ...]"},
               {"tetrahedra", list(tuple(integer(0), 4)), "", "[]", "indices of four points each, from 0"},
               {"triangles", list(tuple(integer(0), 3)), "", "[]", "indices of three points each, from 0"},
               {"segments", list(tuple(integer(0), 2)), "", "[]", "indices of two points each, from 0"},
               tetrahedralize}),
      }};
}

Row material(std::string_view name, std::string_view summary, std::vector<Key> keys,
             Material (*make)(const LocatedJson&)) {
  return {name, summary, "type", true, std::move(keys), make};
}

/// A parameter of a material: for the whole body, or for each cell.
ValueType cell_number(Range range = {}) {
  return any_of({number(range), object("field")});
}

Group materials() {
  const Key type{"type", text(), "", Key::required, "which material"};
  const std::string_view with_lame = "lambda mu", with_all = "lambda mu c1 c2 bulk", constants = "c1 c2 bulk";
  const auto young = [](std::string_view excludes) {
    return Key{"E",     cell_number(positive), "Pa",
               "1e5",   "Young's modulus",     "foam has about 1e4, rubber 1e6, steel 2e11",
               excludes};
  };
  const auto poisson = [](std::string_view excludes) {
    return Key{
        "nu",    cell_number({-1, 0.5, true, true}), "", "0.4", "Poisson's ratio", "for rubber try 0.49",
        excludes};
  };
  const auto lambda = [](std::string_view excludes) {
    return Key{"lambda",
               cell_number(),
               "Pa",
               Key::optional,
               "first Lamé parameter, instead of E and nu; more than -2/3 mu",
               {},
               excludes,
               "mu"};
  };
  const auto mu = [](std::string_view excludes) {
    return Key{"mu",
               cell_number(positive),
               "Pa",
               Key::optional,
               "second Lamé parameter, the shear modulus",
               {},
               excludes,
               "lambda"};
  };
  const Key c1{
      "c1",     cell_number(positive), "Pa", Key::optional, "instead of E and nu; not given: mu/4", {}, {},
      "c2 bulk"};
  const Key c2{
      "c2",     cell_number(not_negative), "Pa", Key::optional, "not given: mu/4; mu is 2 (c1 + c2)", {}, {},
      "c1 bulk"};
  const Key bulk{
      "bulk", cell_number(positive), "Pa", Key::optional, "bulk modulus; not given: lambda + 2/3 mu", {}, {},
      "c1 c2"};
  const Key density{"rho", cell_number(positive), "kg/m3", "1000", "density"};
  const Key stiffness{"stiffness", cell_number(positive), "Pa", "1e8", "how nearly rigid the body is"};
  const std::vector<Key> usual = {type, young(with_lame), poisson(with_lame), lambda({}), mu({}), density};
  return {
      "material",
      "What a body is made of. Stiffness is given by E and nu, or by lambda and mu. In the energies, F is "
      "the "
      "deformation gradient, s1, s2, s3 are its singular values and J = s1 s2 s3.",
      {material(NeoHookean::name,
                "soft solid whose elements never invert; energy mu/2 (s1^2 + s2^2 + s3^2 - 3) - mu ln J + "
                "lambda/2 ln^2 J",
                usual, [](const LocatedJson& p) -> Material { return NeoHookean{lame(p)}; }),
       material(
           FixedCorotated::name,
           "soft solid whose elements may invert under extreme load; energy mu sum (s - 1)^2 + lambda/2 (J "
           "- 1)^2",
           usual, [](const LocatedJson& p) -> Material { return FixedCorotated{lame(p)}; }),
       material(
           StVenantKirchhoff::name,
           "St Venant–Kirchhoff: for large rotations and moderate strains, weak and invertible under strong "
           "compression; energy mu |G|^2 + lambda/2 tr(G)^2 with G = (F^T F - I)/2",
           usual, [](const LocatedJson& p) -> Material { return StVenantKirchhoff{lame(p)}; }),
       material(
           MooneyRivlin::name,
           "rubber whose elements never invert; energy c1 (J^(-2/3) I1 - 3) + c2 (J^(-4/3) I2 - 3) + bulk/4 "
           "(J^2 - 1 - 2 ln J) with I1 = s1^2 + s2^2 + s3^2, I2 = s1^2 s2^2 + s2^2 s3^2 + s3^2 s1^2",
           {type, young(with_all), poisson(with_all), lambda(constants), mu(constants), c1, c2, bulk,
            density},
           [](const LocatedJson& p) -> Material { return read_mooney_rivlin(p); }),
       material(
           LinearElasticity::name,
           "for small strains and small rotations only: turning costs energy; elements may invert; energy mu "
           "|e|^2 + lambda/2 tr(e)^2 with e = (F + F^T)/2 - I",
           usual, [](const LocatedJson& p) -> Material { return LinearElasticity{lame(p)}; }),
       material(Orthogonality::name,
                "stiff against everything but rotation, for affine bodies; energy stiffness "
                "(|F^T F - I|^2 + b(J)), b = -(J - 1/2)^2 ln 2J below J = 1/2",
                {type, stiffness, density},
                [](const LocatedJson& p) -> Material { return Orthogonality{p["stiffness"].number()}; })}};
}

Row shell_material(std::string_view name, std::string_view summary, std::vector<Key> keys,
                   Membrane (*make)(const LocatedJson&)) {
  return {name, summary, "type", true, std::move(keys), nullptr, nullptr, make};
}

/// λ and μ of the sheet, scaled for the membrane.
Lame sheet(const LocatedJson& p) {
  return plane_stress_parameters(p["E"].number() * p["membrane_scale"].number(), p["nu"].number());
}

/// a₁₁ … of Clyde's data, scaled for the membrane.
OrthotropicMembrane data_constants(const LocatedJson& p) {
  const double scale = p["membrane_scale"].number();
  const OrthotropicMembrane m{scale * p["a11"].number(), scale * p["a12"].number(), scale * p["a22"].number(),
                              scale * p["G12"].number()};
  if (!(m.a11 * m.a22 > m.a12 * m.a12))
    p["a12"].fail("got {}, its square must be less than a11 a22 = {:.6g}; else the sheet would collapse",
                  p["a12"].number(), p["a11"].number() * p["a22"].number());
  return m;
}

Group shell_materials() {
  const Key type{"type", text(), "", Key::required, "which material"};
  const Key density{"rho", number(positive), "kg/m3", "472.64", "density"};
  const Key thickness{"thickness", number(positive), "m", "3.18e-4",
                      "of the sheet, for mass, volume and bending; contact has its own"};
  const Key young{"E", number(positive), "Pa", "8.21e5", "Young's modulus, of membrane and bending"};
  const Key poisson{"nu", number({-1, 0.5, true, true}), "", "0.243", "Poisson's ratio"};
  const Key membrane_scale{"membrane_scale", number(positive), "", "1", "factor of the membrane's stiffness"};
  const Key bending_scale{"bending_scale", number(not_negative), "", "1",
                          "factor of the stiffness of bending"};
  const Key model{"bending_model", choice("bending_model"), "", "\"plate\"",
                  "how stiff the angle between two triangles is"};
  const Key bending_young{"bending_E", number(not_negative), "Pa", "1.076e6", "Young's modulus of bending"};
  const Key bending_poisson{"bending_nu", number({-1, 0.5, true, true}), "", "0",
                            "Poisson's ratio of bending"};
  const Key warp{"warp", any_of({vector(), choice("warp")}), "", "[1, 0, 0]",
                 "direction of the warp in the rest shape, projected to each triangle"};
  const auto isotropic = [&](std::vector<Key> keys = {}) {
    std::vector<Key> all{type, young, poisson, density, thickness, membrane_scale, bending_scale, model};
    all.insert(all.end(), keys.begin(), keys.end());
    return all;
  };
  const auto orthotropic = [&](std::vector<Key> keys) {
    std::vector<Key> all{type};
    all.insert(all.end(), keys.begin(), keys.end());
    for (const Key& key :
         {density, thickness, membrane_scale, bending_young, bending_poisson, bending_scale, model, warp})
      all.push_back(key);
    return all;
  };
  return {
      "shell_material",
      "What a shell is made of; defaults are those of cotton. F is the 3x2 deformation gradient, G = (F^T F "
      "- I)/2 "
      "the strain, with 1 along the warp and 2 along the weft, s1, s2 are the singular values of F and J = "
      "s1 s2. "
      "mu = E/(2 + 2 nu) and lambda = E nu/(1 - nu^2), those of a sheet that is free to change its "
      "thickness.",
      {shell_material(
           KoiterMembrane::name,
           "St Venant–Kirchhoff, the membrane of Koiter's shell: energy lambda/2 tr(G)^2 + mu |G|^2",
           isotropic(), [](const LocatedJson& p) -> Membrane { return KoiterMembrane{sheet(p)}; }),
       shell_material(
           NeoHookeanMembrane::name,
           "no triangle collapses to a line: energy mu/2 (s1^2 + s2^2 - 2) - mu ln J + lambda/2 ln^2 J",
           isotropic(), [](const LocatedJson& p) -> Membrane { return NeoHookeanMembrane{sheet(p)}; }),
       shell_material(
           OrthotropicMembrane::name,
           "woven, stiffer along its threads than across: energy a11/2 G11^2 + a22/2 G22^2 + a12 G11 G22 + 2 "
           "G "
           "G12^2 with a11 = E_warp/d, a22 = E_weft/d, a12 = nu_warp a22, d = 1 - nu_warp^2 E_weft/E_warp",
           orthotropic({{"E_warp", number(positive), "Pa", "3.2e7", "Young's modulus along the warp"},
                        {"E_weft", number(positive), "Pa", "1.2e7", "Young's modulus along the weft"},
                        {"nu_warp", number({-1, 1, true, true}), "", "0.3",
                         "share by which the weft narrows when the warp is pulled"},
                        {"G", number(positive), "Pa", "3e5", "shear modulus"}}),
           [](const LocatedJson& p) -> Membrane {
             const double scale = p["membrane_scale"].number(), along = p["E_warp"].number(),
                          across = p["E_weft"].number(), nu = p["nu_warp"].number();
             if (!(nu * nu * across < along))
               p["nu_warp"].fail("got {}, its square must be less than E_warp/E_weft = {:.6g}", nu,
                                 along / across);
             return orthotropic_membrane(scale * along, scale * across, nu, scale * p["G"].number());
           }),
       shell_material(
           BarrierMembrane::name,
           "woven, with limits of strain that are never reached: energy a11/2 h(G11^2) + a22/2 h(G22^2) + "
           "a12 h(G11 "
           "G22) + G12 h(G12^2), h(x) = -m ln(1 - x/m) with m the square or product of the limits",
           orthotropic(
               {{"a11", number(positive), "Pa", "1.5557e7", "stiffness along the warp"},
                {"a12", number(), "Pa", "7.779e6", "of the one along the other; a12^2 < a11 a22"},
                {"a22", number(positive), "Pa", "2.5004e7", "stiffness along the weft"},
                {"G12", number(positive), "Pa", "1.076e6", "stiffness in shear: twice the shear modulus"},
                {"E11max", number(positive), "", "0.14", "limit of |G11|"},
                {"E22max", number(positive), "", "0.14", "limit of |G22|"},
                {"E12max", number(positive), "", "0.063", "limit of |G12|"}}),
           [](const LocatedJson& p) -> Membrane {
             return BarrierMembrane{data_constants(p),
                                    {p["E11max"].number(), p["E22max"].number(), p["E12max"].number()}};
           })}};
}

Group strain_limits() {
  return record(
      "strain_limit",
      "Limits of the stretches s1 >= s2 of every triangle, never reached in any iterate. A barrier keeps "
      "them; it "
      "is felt beyond the threshold only.",
      {{"upper", number({1, infinity, true, true}), "", Key::required, "limit of s1, more than threshold"},
       {"lower", number({0, 1, true, true}), "", Key::optional,
        "limit of s2, less than threshold; not given: none"},
       {"threshold", number(positive), "", "1", "where the barrier begins"},
       {"stiffness", number(positive), "Pa", "1000",
        "of the barrier to begin with; it is raised where needed"}});
}

Group fields() {
  return record(
      "field", "A number for each tetrahedron, from the mesh file.",
      {{"field", text(), "", Key::required,
        "name of the mesh's cell data: $ElementData of Gmsh, CELL_DATA of legacy VTK, CellData of VTU"}});
}

Group regions() {
  return record(
      "region", "A part of a body that is made of something else.",
      {{"where", object("selection"), "", Key::required,
        "the cells of a group of the mesh file; otherwise, the cells all of whose points are chosen"},
       {"material", object("material"), "", Key::required, "what they are made of"}});
}

Group rod_materials() {
  return record("rod_material", "What a rod is made of. Its cross-section is a full circle.",
                {{"rho", number(positive), "kg/m3", "1000", "density"},
                 {"E", number(positive), "Pa", "1e6", "Young's modulus"},
                 {"radius", number(positive), "m", "1e-3", "of the cross-section"},
                 {"stretch_scale", number(positive), "", "1", "times E, against stretch"},
                 {"bending_scale", number(not_negative), "", "1", "times E, against bending"}});
}

Group bodies() {
  const Key type{"type", text(), "", Key::required, "which kind of body"};
  const Key name{"name", text(), "", Key::optional,
                 "for messages, output and pairs; not given: type and position"};
  const Key mesh{"mesh", object("mesh"), "", Key::required, "the shape"};
  const Key transform{"transform", object("transform"), "", "{}", "places the mesh in the world"};
  const Key moved_points{
      "moved_points", text(), "", Key::optional,
      "mesh file, absolute or relative to the scene file, that says where the points of the "
      "placed mesh are instead, one by one; apart check --fix writes it"};
  const Key velocity{"velocity", vector(), "m/s", "[0, 0, 0]", "at the start"};
  const Key angular_velocity{"angular_velocity", vector(), "degrees/s", "[0, 0, 0]",
                             "at the start, about the centre of mass; its direction is the axis"};
  const Key fixed{"fixed", list(object("fixed")), "", "[]", "parts that are held or moved"};
  const Key motion{"motion", object("motion"), "", Key::optional, "moves the whole body as scripted"};
  const Key friction{"friction_coefficient", friction_coefficient(), "", Key::optional,
                     "of this body; a pair without a value of its own takes the mean of its two bodies'"};
  const Key array{"array", object("array"), "", Key::optional, "makes copies, named name.0, name.1, ..."};
  const Key soft{"material", object("material"), "", R"({"type": "neo_hookean"})", "what it is made of"};
  const Key regions{"regions", list(object("region")), "", "[]",
                    "parts that are made of something else; later ones win"};
  const Key sheet{"material", object("shell_material"), "", R"({"type": "koiter"})", "what it is made of"};
  const Key strain_limit{"strain_limit", object("strain_limit"), "", Key::optional,
                         "how far triangles may be stretched; not given: as far as they like"};
  const Key rest_angles{"rest_angles", choice("rest_angles"), "", "\"mesh\"",
                        "angles between triangles without bending"};
  const Key rest_mesh{"rest_mesh", any_of({object("mesh"), choice("rest_mesh")}), "", Key::optional,
                      "shape without strain, scaled as the mesh is: other points of the same triangles, or a "
                      "pattern; not given: the mesh"};
  const Key stiff{"material", object("material"), "", R"({"type": "orthogonality"})", "what it is made of"};
  const Key mass{"mass", choice("mass"), "", "\"lumped\"", "how mass is spread over the nodes"};
  const Key loads{"loads", list(object("load")), "", "[]", "given forces"};
  const Key damping{"damping", object("damping"), "", "{}", "takes energy out of motion and deformation"};
  const Key sequence{"sequence", object("sequence"), "", Key::optional, "moves the body along mesh files"};
  const Key appears{
      "appears", number(not_negative), "s", "0",
      "when the body comes in, where it is placed, with its initial velocity; nothing may be there then"};
  const Key disappears{"disappears", number(positive), "s", Key::optional,
                       "when it is taken out; not given: never"};
  const Key thickness{"thickness", length(not_negative), "m", Key::optional,
                      "of the body in contact: two bodies keep the mean of theirs; not given: as in contact"};
  const Key diameter{
      "thickness", length(not_negative), "m", Key::optional,
      "of the body in contact: two bodies keep the mean of theirs; not given: twice the radius"};
  const Key origin{"origin", vector(), "m", "[0, 0, 0]", "a point of the plane"};
  const Key plane_motion{"motion", object("motion"), "", Key::optional, "moves the plane; it cannot turn"};
  const Key normal{"normal", vector(), "", "[0, 1, 0]", "points out of the solid; any length but zero"};
  return {"body",
          "One thing in the scene.",
          {typed("volume", "soft solid made of tetrahedra",
                 {type, name, mesh, transform, moved_points, soft, regions, mass, velocity, angular_velocity,
                  fixed, motion, loads, damping, friction, thickness, appears, disappears, array}),
           typed("shell", "thin sheet made of triangles: cloth, paper, sheet metal",
                 {type,        name,      mesh,      transform,        moved_points, sheet,  strain_limit,
                  rest_angles, rest_mesh, velocity,  angular_velocity, fixed,        motion, loads,
                  damping,     friction,  thickness, appears,          disappears,   array}),
           typed("affine",
                 "stiff, nearly rigid solid with 12 coordinates; made of tetrahedra or a closed surface",
                 {type, name, mesh, transform, moved_points, stiff, velocity, angular_velocity, fixed, motion,
                  loads, damping, friction, thickness, appears, disappears, array}),
           typed("rod",
                 "elastic rods without twist: segments in any number of chains, open or closed; where more "
                 "than two meet is a free joint",
                 {type,
                  name,
                  mesh,
                  transform,
                  moved_points,
                  {"material", object("rod_material"), "", "{}", "what it is made of"},
                  {"rest_curvature", choice("rest_curvature"), "", "\"mesh\"", "how bent it is at rest"},
                  velocity,
                  angular_velocity,
                  fixed,
                  motion,
                  loads,
                  damping,
                  friction,
                  diameter,
                  appears,
                  disappears,
                  array}),
           typed("particles", "balls that do not turn, one at each point of the mesh",
                 {type,
                  name,
                  mesh,
                  transform,
                  moved_points,
                  {"radius", number(positive), "m", "0.05", "of each ball"},
                  {"rho", number(positive), "kg/m3", "1000", "density"},
                  velocity,
                  angular_velocity,
                  fixed,
                  motion,
                  loads,
                  damping,
                  friction,
                  diameter,
                  appears,
                  disappears,
                  array}),
           typed("obstacle", "triangles, segments or points that push but are not pushed",
                 {type, name, mesh, transform, motion, sequence, friction, thickness, appears, disappears,
                  array}),
           typed("half_space", "everything behind a plane is solid",
                 {type, name, origin, normal, plane_motion, friction, thickness, appears, disappears})}};
}

Group scene() {
  return record(
      "scene", "The whole file. SI units throughout; angles are degrees.",
      {{"$schema", text(), "", Key::optional, "for editors that check while typing; not read"},
       {"version", integer(1, 1), "", Key::required, "of the scene format", "this program reads version 1"},
       {"name", text(), "", Key::optional, "of the scene; not given: the file's name"},
       {"description", any_text(), "", "\"\"", "one line for people"},
       {"time", object("time"), "", Key::required, "how long, in which steps"},
       {"gravity", vector(), "m/s2", "[0, -9.81, 0]", "acceleration of everything that moves"},
       {"bodies", list(object("body"), 1, most_bodies), "", Key::required,
        "what the scene is made of; at most 2000, copies included"},
       {"attachments", list(object("attachment")), "", "[]", "springs between bodies"},
       {"contact", object("contact"), "", "{}", "how bodies touch"},
       {"probes", list(object("probe")), "", "[]", "what is measured after every step"},
       {"solver", object("solver"), "", "{}", "how each step is solved"},
       {"output", object("output"), "", "{}", "what is written"}});
}

Group time_steps() {
  return record("time", "Either `tend` or `steps` says how long.",
                {{"dt", number(positive), "s", "0.01", "time step"},
                 {"tend", number(positive), "s", Key::optional, "simulated time; the last step may pass it"},
                 {"steps", integer(1), "", Key::optional, "number of time steps"},
                 {"integrator", choice("integrator"), "", "\"implicit_euler\"", "time integration"},
                 {"beta", number({0, 0.5, true, false}), "", Key::optional, "of newmark; not given: 0.25"},
                 {"gamma", number({0.5, 1}), "", Key::optional,
                  "of newmark; not given: 0.5; larger values damp, and are of first order"}});
}

/// When something holds.
std::vector<Key> with_times(std::vector<Key> keys) {
  keys.push_back({"from", number(not_negative), "s", "0", "when it begins"});
  keys.push_back({"until", number(positive), "s", Key::optional, "when it ends; not given: never"});
  return keys;
}

Group loads() {
  const Key type{"type", text(), "", Key::required, "which kind of load"};
  const Key where{"where", object("selection"), "", Key::required, "on which points"};
  const Key everywhere{"where", object("selection"), "", R"({"all": true})", "on which points"};
  const Key surface{"where", object("selection"), "", R"({"all": true})",
                    "on the triangles of the surface all corners of which are chosen"};
  const ValueType field = tuple(number_or_formula(), 3);
  return {
      "load",
      "Forces on a body. Numbers, or formulas in t [s] and, but for pressure, in the initial place x, y, z "
      "[m] of a "
      "point. They add up.",
      {typed("body_force", "acceleration of the mass, like gravity and besides it",
             with_times({type, everywhere, {"acceleration", field, "m/s2", Key::required, "x, y, z"}})),
       typed("traction", "force per area of the undeformed surface, in a direction that does not turn",
             with_times({type, surface, {"traction", field, "Pa", Key::required, "x, y, z"}})),
       typed("pressure",
             "force per area against the outer side of the surface as it deforms; negative: suction",
             with_times({type, surface, {"pressure", number_or_formula(), "Pa", Key::required, "pressure"}})),
       typed("wind",
             "air that moves, and resists what moves through it, with the square of the speed; of closed "
             "bodies the "
             "side towards it; on rods and particles with their radius",
             with_times({type,
                         everywhere,
                         {"velocity", field, "m/s", "[0, 0, 0]", "of the air"},
                         {"density", number(positive), "kg/m3", "1.225", "of the air"},
                         {"drag", number(not_negative), "", "1.2",
                          "coefficient of the speed across the surface, and of balls"},
                         {"friction", number(not_negative), "", "0.02",
                          "coefficient of the speed along the surface"}})),
       typed("point_force", "force on each point chosen",
             with_times({type, where, {"force", field, "N", Key::required, "x, y, z, on each"}}))}};
}

Group attachments() {
  const Key bodies{"bodies", tuple(text(), 2), "", Key::required, "two names"};
  return {
      "attachment",
      "Springs between bodies. Contact between the two goes on.",
      {with_key(
           "stitches",
           "springs between given points of a body and given points or places on edges of another, or of the "
           "same: seams, which close and then hold",
           with_times({{"stitches", any_of({text(), list(list(number(not_negative)), 1)}), "", Key::required,
                        "a file with lines \"stitch a b c t\" (OBJ or text), or a list of [a, b] and "
                        "[a, b, c, t]: point a to point b, or to (1 - t) b + t c; counted from 0"},
                       {"bodies", tuple(text(), 2), "", Key::required,
                        "the bodies of a, and of b and c; the same twice: of one body"},
                       {"stiffness", number(positive), "N/m", "1000", "of each spring"},
                       {"length", length(not_negative), "m", "0", "of each at rest"},
                       {"closing", number(not_negative), "s", "0",
                        "time over which the length at rest goes from that at the start to `length`"}})),
       Row{"nearest",
           "springs from surface points of the first body to the nearest place on the second, as long at "
           "rest as "
           "at the start: they hold what is near",
           "", false,
           with_times(
               {bodies,
                {"where", object("selection"), "", R"({"all": true})", "which points of the first body"},
                {"to", choice("attach_to"), "", "\"surface\"", "where on the second body"},
                {"max_distance", length(positive), "m", "\"1e-2 L\"",
                 "points farther apart are not attached"},
                {"stiffness", number(positive), "N/m", "1e4", "of each spring"}})}}};
}

Group probes() {
  const Key name{"name", text(), "", Key::required, "heads its columns"};
  const Key type{"type", text(), "", Key::required, "what is measured"};
  const Key body{"body", text(), "", Key::required,
                 "name of the body; of copies the name without number means all together"};
  const Key bodies{"bodies", tuple(text(), 2), "", Key::required, "two names"};
  const Key where{"where", object("selection"), "", R"({"all": true})", "which points of the body"};
  return {
      "probe",
      "Something to measure after every step: columns NAME.x, NAME.y, ... of probes.csv in the run "
      "directory, in SI units.",
      {typed("position", "mean place of points; columns x, y, z [m]", {type, name, body, where}),
       typed("velocity", "mean velocity of points; columns x, y, z [m/s]", {type, name, body, where}),
       typed("momentum",
             "columns x, y, z [kg m/s], and about the origin angular_x, angular_y, angular_z [kg m2/s]",
             {type, name, body}),
       typed("energy", "columns kinetic, elastic, gravity [J]", {type, name, body}),
       typed("reaction",
             "force with which what holds or moves points acts on the body, in sum; columns x, y, z [N]; of "
             "an obstacle: what it takes to hold it against contact",
             {type, name, body, where}),
       typed("contact",
             "force of the second body on the first; columns normal_x, normal_y, normal_z, friction_x, "
             "friction_y, friction_z, and pressing: how hard all contacts press, added up [N]",
             {type, name, bodies}),
       typed("gap", "smallest distance of two bodies, less their thickness; column gap [m]",
             {type, name, bodies}),
       typed("strain", "columns largest, of |stretch - 1|, and volume_ratio, the smallest",
             {type, name, body})}};
}

Group dampings() {
  return record(
      "damping", "Rayleigh damping: the force -(mass M + stiffness K) v, with K of the start of the step.",
      {{"mass", number(not_negative), "1/s", "0", "share of the mass matrix; damps motion as a whole"},
       {"stiffness", number(not_negative), "s", "0", "share of the stiffness matrix; damps deformation"}});
}

Group sequences() {
  return record(
      "sequence",
      "Mesh files, one per instant, linear in between. All have the cells of the body's mesh, and get its "
      "transform. The "
      "mesh is where the body starts; the first file is reached after dt, or is the start itself if it "
      "equals the mesh.",
      {{"files", text(), "", Key::required,
        "path, absolute or relative to the scene file, with {} for the number, such as \"frames/{}.obj\""},
       {"first", integer(0), "", "0", "number of the first file"},
       {"count", integer(1), "", Key::required, "number of files; after the last the body rests"},
       {"dt", number(positive), "s", Key::required, "time from file to file"}});
}

Group tetrahedralizations() {
  return record(
      "tetrahedralization", "How TetGen fills a closed surface; lengths are those of the mesh as read.",
      {{"radius_edge_ratio", number({1, infinity, true, true}), "", "2",
        "shape aimed at; less is better and finer"},
       {"max_volume", number(positive), "m3", Key::optional, "largest volume of a tetrahedron aimed at"}});
}

Group transforms() {
  return record(
      "transform", "Applied in this order: scale, rotate, translate.",
      {{"scale", any_of({number(positive), vector(positive)}), "", "1", "one factor, or x, y, z"},
       {"rotate", rotation(), "degrees", "[0, 0, 0]", "about the x axis, then y, then z; or axis and angle"},
       {"translate", vector(), "m", "[0, 0, 0]", "displacement"}});
}

Group axis_angles() {
  return record(
      "axis_angle", "A rotation.",
      {{"axis", vector(), "", Key::required, "direction; any length but zero"},
       {"angle", number(), "degrees", Key::required, "counter-clockwise when looking against the axis"}});
}

Group arrays() {
  return record(
      "array", "Copies on a grid; the first stays where the transform puts it.",
      {{"counts", tuple(integer(1, 2000), 3), "", Key::required, "copies along x, y, z, with the original"},
       {"spacing", vector(), "m", Key::required, "displacement from copy to copy along x, y, z"}});
}

Group fixed_parts() {
  return record("fixed",
                "Nodes whose position is given. Without a motion they stay where they are when it begins. A "
                "motion begins with "
                "`from`: its t is zero then, and it is relative to where the nodes are then.",
                with_times({{"where", object("selection"), "", Key::required, "which nodes"},
                            {"axes", choice("axes"), "", "\"xyz\"",
                             "the directions that are given; the others stay free"},
                            {"motion", object("motion"), "", Key::optional, "how they move"}}));
}

Group selections() {
  return {
      "selection",
      "Chooses mesh points of one body, where the transform has put them. Boundaries belong to the "
      "selection.",
      {with_key("box", "points in a box", {{"box", object("box"), "", Key::required, "the box"}}),
       with_key("sphere", "points in a ball", {{"sphere", object("ball"), "", Key::required, "the ball"}}),
       with_key("plane", "points on the side of a plane that its normal points to",
                {{"plane", object("plane"), "", Key::required, "the plane"}}),
       with_key("indices", "points by their position in the mesh",
                {{"indices", list(integer(0), 1), "", Key::required, "from 0"}}),
       with_key("index_file", "points by their position in the mesh, listed in a text file",
                {{"index_file", text(), "", Key::required,
                  "path, absolute or relative to the scene file; whole numbers from 0 between blanks"}}),
       with_key("expression", "points where a formula in x, y, z [m] is true",
                {{"expression", formula(), "", Key::required, "such as \"x < 0.1 && y > 0\""}}),
       with_key("group", "points of the cells of a named group of the mesh file",
                {{"group", text(), "", Key::required,
                  "name of a physical group of a Gmsh file; without a name: \"surface 3\""}}),
       with_key("all", "every point", {{"all", boolean(), "", Key::required, "true"}})}};
}

Group boxes() {
  return record(
      "box", "",
      {{"min", vector(), "m", Key::required, "lower corner"},
       {"max", vector(), "m", Key::required, "upper corner"},
       {"relative", boolean(), "", "false", "corners are fractions of the body's bounding box, 0 to 1"}});
}

Group balls() {
  return record("ball", "",
                {{"center", vector(), "m", Key::required, "centre"},
                 {"radius", number(positive), "m", Key::required, "radius"}});
}

Group planes() {
  return record("plane", "",
                {{"origin", vector(), "m", Key::required, "a point of the plane"},
                 {"normal", vector(), "", Key::required, "points to the chosen side; any length but zero"}});
}

Group motions() {
  const Key center{"center", vector(), "m", Key::optional,
                   "the point to turn about; not given: the centre of the body's bounding box"};
  const Key keyframes{"keyframes", list(object("keyframe"), 1), "", Key::required, "times must increase"};
  const Key translate{"translate", tuple(number_or_formula(), 3), "m", "[0, 0, 0]",
                      "displacement; formulas may use the place x, y, z of a point when the motion begins"};
  const Key rotate{"rotate", object("turning"), "degrees", Key::optional, "rotation"};
  return {
      "motion",
      "Where a body, or a part of it, is t seconds after the motion begins, relative to where it begins. At "
      "t = 0 "
      "it must be there.",
      {with_key(
           "keyframes",
           "poses at given times: linear in between (the shortest way for rotations about different axes), "
           "constant after the last",
           {keyframes, center}),
       Row{"formulas", "formulas in t [s]", "", false, {translate, rotate, center}}}};
}

Group keyframes() {
  return record("keyframe", "",
                {{"t", number(not_negative), "s", Key::required, "time"},
                 {"translate", vector(), "m", "[0, 0, 0]", "displacement from the start"},
                 {"rotate", rotation(), "degrees", "[0, 0, 0]", "rotation from the start"}});
}

Group turnings() {
  return record("turning", "",
                {{"axis", vector(), "", Key::required, "direction; any length but zero"},
                 {"angle", number_or_formula(), "degrees", Key::required, "such as \"90*t\""}});
}

Group contacts() {
  return record(
      "contact", "",
      {{"dhat", length(positive), "m", "\"1e-3 L\"", "distance at which the contact force begins"},
       {"thickness", length(not_negative), "m", "0",
        "gap that is never undercut, of bodies that have none of their own; contact begins at thickness + "
        "dhat"},
       {"barrier_stiffness", any_of({number(positive), choice("barrier_stiffness")}), "Pa", "\"adaptive\"",
        "stiffness of the contact force"},
       {"friction_coefficient", friction_coefficient(), "", "0",
        "mu where neither body nor pair says otherwise"},
       {"epsv", length(positive), "m/s", "\"1e-3 L\"",
        "speed below which friction is static; L means L per second"},
       {"friction_iterations", integer(0, 1000), "", "1",
        "updates of the friction forces in a step; 0: until they settle"},
       {"pairs", list(object("pair")), "", "[]", "exceptions for pairs of bodies; later ones win"}});
}

Group frictions() {
  return record(
      "friction",
      "Coefficients for sticking and for sliding. Friction falls from the one to the other between epsv and "
      "ten "
      "times epsv. A number alone is both.",
      {{"static", number(not_negative), "", Key::required, "of what sticks"},
       {"kinetic", number(not_negative), "", Key::required, "of what slides; not more than static"}});
}

Group pairs() {
  return record("pair", "What is not given is as for all.",
                {{"bodies", tuple(text(), 2), "", Key::required,
                  "two names; the same twice: the body with itself and its copies; \"*\": every body"},
                 {"enabled", boolean(), "", "true", "false: the two do not see each other and may overlap"},
                 {"friction_coefficient", friction_coefficient(), "", Key::optional, "mu of this pair"},
                 {"dhat", length(positive), "m", Key::optional, "as in contact"},
                 {"thickness", length(not_negative), "m", Key::optional, "as in contact"}});
}

Group solvers() {
  return record(
      "solver", "",
      {{"tolerance", length(positive), "m/s", "\"1e-3 L\"",
        "a step is solved when the Newton step divided by dt is smaller; L means L per second"},
       {"termination", choice("termination"), "", "\"infinity_norm\"", "how the Newton step is measured"},
       {"max_iterations", integer(1), "", "1000", "Newton iterations before a step counts as failed"},
       {"slow_iterations", integer(1), "", "100",
        "Newton iterations of a step after which the run tells what holds it up"},
       {"linear_solver", choice("linear_solver"), "", "\"cholmod\"", "how linear systems are solved"},
       {"ordering", choice("ordering"), "", "\"auto\"", "elimination order of a direct solver"},
       {"broad_phase", choice("broad_phase"), "", "\"bvh\"", "how near pairs are found"},
       {"candidate_reuse", boolean(), "", "true",
        "near pairs are found with a margin and kept while motion stays within it; changes no result"},
       {"ccd", choice("ccd"), "", "\"additive\"", "how the time of impact is found"},
       {"ccd_culling", choice("ccd_culling"), "", "\"near_first\"",
        "which pairs are looked at to bound a step"}});
}

Group outputs() {
  return record(
      "output", "",
      {{"every", integer(1), "steps", "1", "a frame after so many steps; first and last state always"},
       {"formats", list(choice("format")), "", "[\"vtu\"]", "VTU is always written, others beside it"},
       {"checkpoint_seconds", number(not_negative), "s", "10",
        "a checkpoint at the end of a step when so much time has passed since the last; the last two are "
        "kept"},
       {"checkpoint_steps", integer(1), "steps", Key::optional, "a checkpoint after so many steps, too"}});
}

/// The choices of a list of methods kept by another layer.
template <class Methods>
ChoiceList methods(std::string_view name, std::string_view summary, const Methods& rows) {
  ChoiceList result{name, summary, {}};
  for (const auto& row : rows) result.choices.push_back({row.name, row.summary});
  return result;
}

/// Extensions of mesh files, with what is read from them.
ChoiceList mesh_files() {
  ChoiceList result{"mesh_format", "Mesh files, by extension", {}};
  for (const MeshFormat& format : mesh_formats())
    result.choices.push_back({format.extension, format.summary});
  return result;
}

Catalog make_catalog() {
  return {
      {scene(),      time_steps(),      bodies(),        meshes(),        tetrahedralizations(),
       transforms(), axis_angles(),     arrays(),        materials(),     fields(),
       regions(),    shell_materials(), strain_limits(), rod_materials(), fixed_parts(),
       loads(),      attachments(),     probes(),        dampings(),      sequences(),
       selections(), boxes(),           balls(),         planes(),        motions(),
       keyframes(),  turnings(),        contacts(),      frictions(),     pairs(),
       solvers(),    outputs()},
      {{"integrator",
        "Time integrators",
        {{"implicit_euler", "first order, dissipative, robust"},
         {"bdf2", "second order, little dissipation"},
         {"newmark", "second order, no dissipation with beta 0.25 and gamma 0.5; takes beta and gamma"},
         {"quasi_static", "forces in balance at every instant, no inertia"}}},
       {"mass",
        "How mass is spread over nodes",
        {{"lumped", "a quarter of each tetrahedron to each corner"},
         {"consistent", "the integral of the shape functions"}}},
       {"bending_model",
        "Stiffness of bending",
        {{"plate", "flexural rigidity E thickness^3/(12 (1 - nu^2)), as in plate theory"},
         {"published", "three times that: the hinge energy of Codimensional IPC as published"}}},
       {"rest_angles", "Angles at rest", {{"mesh", "those of the rest shape"}, {"flat", "zero"}}},
       {"warp",
        "Directions of the warp",
        {{"texture", "where the first texture coordinate (vt of OBJ files) grows"}}},
       {"rest_mesh",
        "Shapes without strain",
        {{"texture", "the pattern in the plane that texture coordinates (vt of OBJ files) give, in metres"}}},
       {"rest_curvature",
        "Rods at rest",
        {{"mesh", "as bent as the mesh is, to any side"}, {"straight", "straight"}}},
       {"axes",
        "Directions",
        {{"xyz", "all"}, {"xy", ""}, {"xz", ""}, {"yz", ""}, {"x", ""}, {"y", ""}, {"z", ""}}},
       {"attach_to",
        "Where attachments end",
        {{"surface", "the nearest point of triangles, segments or points"},
         {"vertices", "the nearest vertex"}}},
       {"barrier_stiffness",
        "Contact stiffness",
        {{"adaptive", "found from the forces at hand, and raised when gaps get tiny"}}},
       {"termination",
        "Measures of the Newton step",
        {{"infinity_norm", "the largest entry"}, {"l2_norm", "normalised, over three iterations"}}},
       methods("linear_solver", "Linear solvers", linear_solver_methods()),
       {"ordering",
        "Elimination orders",
        {{"auto", "the better of the two"}, {"amd", "minimum degree"}, {"metis", "nested dissection"}}},
       methods("broad_phase", "Searches for near pairs", broad_phase_methods()),
       {"ccd",
        "Continuous collision detection",
        {{"additive", "advances by safe steps"},
         {"tight_inclusion", "bisects time and surface, and excludes boxes that cannot touch"}}},
       {"ccd_culling",
        "Pairs that bound a step",
        {{"near_first", "near pairs, others only as far as these leave the way free; as none"},
         {"cfl", "near pairs, others by the largest displacement; fewer searches, shorter steps"},
         {"none", "all pairs on the whole way"}}},
       mesh_files(),
       {"format",
        "Frame formats",
        {{"vtu", "everything, for ParaView; always written"},
         {"obj", "the surface"},
         {"ply", "the surface"}}}}};
}

template <class T>
const T& named(const std::vector<T>& list, std::string_view name) {
  for (const T& entry : list)
    if (entry.name == name) return entry;
  throw InvariantError(fmt::format("the catalog has no '{}'", name));
}

}  // namespace

bool Range::contains(double value) const {
  return (lower_open ? value > lower : value >= lower) && (upper_open ? value < upper : value <= upper);
}

std::string Range::rule() const {
  if (lower == -infinity && upper == infinity) return {};
  if (lower == 0 && upper == infinity) return lower_open ? "must be positive" : "must not be negative";
  if (upper == infinity || upper == std::numeric_limits<Index>::max())
    return fmt::format("must be {} {}", lower_open ? "more than" : "at least", lower);
  if (lower == -infinity) return fmt::format("must be {} {}", upper_open ? "less than" : "at most", upper);
  if (lower == upper) return fmt::format("must be {}", lower);
  return fmt::format("must lie in {}{}, {}{}", lower_open ? '(' : '[', lower, upper, upper_open ? ')' : ']');
}

const Group& Catalog::group(std::string_view name) const {
  return named(groups, name);
}
const ChoiceList& Catalog::choice_list(std::string_view name) const {
  return named(choices, name);
}

const Catalog& catalog() {
  static const Catalog result = make_catalog();
  return result;
}

std::optional<Length> read_length(const JsonValue& value) {
  if (const double* number = value.get_if<double>()) return Length{*number, false};
  const std::string* written = value.get_if<std::string>();
  if (!written || !written->ends_with('L')) return std::nullopt;
  std::string_view number(*written);
  number.remove_suffix(1);
  while (number.ends_with(' ')) number.remove_suffix(1);
  while (number.starts_with(' ')) number.remove_prefix(1);
  const std::optional<double> parsed = parse_real(number);
  if (!parsed || !std::isfinite(*parsed)) return std::nullopt;
  return Length{*parsed, true};
}

const Row& row_of(const LocatedJson& object, const Group& group) {
  for (const Row& row : group.rows)
    if (row.tag.empty() || (object.has(row.tag) && (!row.tag_is_name || object[row.tag].text() == row.name)))
      return row;
  throw InvariantError("row_of: the object was not validated");
}

}  // namespace apart
