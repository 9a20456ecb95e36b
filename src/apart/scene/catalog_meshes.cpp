// Where shapes come from.
#include <apart/io/mesh_format.hpp>
#include <apart/scene/catalog_parts.hpp>
#include <apart/scene/welding.hpp>

namespace apart::catalog_parts {

namespace {
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

/// Keys of the generator `name`, its tag first.
std::vector<Key> generator_keys(std::vector<Key> keys) {
  keys.insert(keys.begin(), Key{"generator", text(), "", Key::required, "which generator"});
  return keys;
}

Row generator(std::string_view name, std::string_view summary, std::vector<Key> keys,
              Mesh (*make)(const LocatedJson&, generate::Content)) {
  return {name, summary, "generator", true, generator_keys(std::move(keys)), nullptr, make};
}
}  // namespace

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
                Mesh surface =
                    row.make_mesh ? row.make_mesh(base, Content::surface) : read_mesh(base["file"].text());
                if (!row.make_mesh) weld_as_told(base, surface);
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
                    {"weld", number({0, 0.01}), "", "1e-7",
                     "points nearer to each other than this share of the mesh's diagonal become one, so that "
                     "triangles which a program wrote with points of their own hang together; 0: all points "
                     "stay as they are"},
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

Group tetrahedralizations() {
  return record(
      "tetrahedralization", "How TetGen fills a closed surface; lengths are those of the mesh as read.",
      {{"radius_edge_ratio", number({1, infinity, true, true}), "", "2",
        "shape aimed at; less is better and finer"},
       {"max_volume", number(positive), "m3", Key::optional, "largest volume of a tetrahedron aimed at"}});
}

}  // namespace apart::catalog_parts
