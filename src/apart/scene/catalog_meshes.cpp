// Meshes: generated, read or inline.
#include <apart/scene/catalog_parts.hpp>

namespace apart::catalog_parts {

namespace {
template <class T>
Row generator(std::string_view summary, Keys<T> keys) {
  keys.insert(keys.begin(), Key{"generator", text(), "", Key::required, "which generator"});
  return make_row<T>(summary, "generator", true, std::move(keys));
}
}  // namespace

Group meshes() {
  const ValueType size = any_of({number(positive), vector(positive)});
  const ValueType cells = any_of({integer(1, 1e4), tuple(integer(1, 1e4), 3)});
  const Key resolution{"resolution", integer(1, 500), "", "4",
                       "layers of cells from the centre to the surface"};
  const Key curve{"curve", integer(1, 4), "", "1",
                  "degree of the cells: above 1 they are curved so that their boundary follows the shape"};
  const Key tetrahedralize{"tetrahedralize", any_of({boolean(), object("tetrahedralization")}), "", "false",
                           "fill the closed surface with tetrahedra (needs the program tetgen)"};
  return {
      "mesh",
      "The shape of a body, made by a generator, read from a file or written out. Generated meshes are "
      "centred at the origin unless stated otherwise; they have tetrahedra for volume and affine bodies, and "
      "the surface for others.",
      {
          generator<BoxMesh>(
              "box with axis-parallel edges",
              {{{"size", size, "m", "1", "edge lengths, one for all or x, y, z"}, &BoxMesh::size},
               {{"cells", cells, "", "4",
                 "cells per edge, one for all or x, y, z; each is split into tetrahedra"},
                &BoxMesh::cells}}),
          generator<SphereMesh>("ball",
                                {{{"radius", number(positive), "m", "0.5", "radius"}, &SphereMesh::radius},
                                 {resolution, &SphereMesh::resolution},
                                 {curve, &SphereMesh::curve}}),
          generator<TorusMesh>(
              "ring about the y axis",
              {{{"major", number(positive), "m", "0.5", "radius of the ring's centre line"},
                &TorusMesh::major},
               {{"minor", number(positive), "m", "0.2", "radius of the tube; smaller than major"},
                &TorusMesh::minor},
               {{"ring_cells", integer(3, 1e5), "", "24", "cells around the ring"}, &TorusMesh::ring_cells},
               {{"tube_cells", integer(3, 1e4), "", "12", "cells around the tube"}, &TorusMesh::tube_cells},
               {curve, &TorusMesh::curve}}),
          generator<CylinderMesh>(
              "solid cylinder along the y axis",
              {{{"radius", number(positive), "m", "0.5", "radius"}, &CylinderMesh::radius},
               {{"length", number(positive), "m", "1", "length along y"}, &CylinderMesh::length},
               {resolution, &CylinderMesh::resolution},
               {{"length_cells", integer(1, 1e5), "", "8", "cells along y"}, &CylinderMesh::length_cells},
               {curve, &CylinderMesh::curve}}),
          generator<MatMesh>(
              "thin square sheet of one layer of cells, in the xz plane",
              {{{"width", number(positive), "m", "1", "edge length along x and z"}, &MatMesh::width},
               {{"thickness", number(positive), "m", "0.02", "height along y"}, &MatMesh::thickness},
               {{"cells", integer(1, 5000), "", "20", "cells along x and along z"}, &MatMesh::cells}}),
          generator<BarMesh>(
              "thin square bar along the x axis, straight or bent to an arc",
              {{{"length", number(positive), "m", "1", "length along x"}, &BarMesh::length},
               {{"thickness", number(positive), "m", "0.05", "edge length along y and z"},
                &BarMesh::thickness},
               {{"cells", integer(1, 1e6), "", "20", "cells along x"}, &BarMesh::cells},
               {{"cross_cells", integer(1, 1000), "", "1", "cells along y and along z"},
                &BarMesh::cross_cells},
               {{"bend", number({-350, 350}), "degrees", "0",
                 "angle of the arc, upwards at both ends (y); its centre line keeps the length"},
                &BarMesh::bend},
               {curve, &BarMesh::curve}}),
          generator<SpikeMesh>(
              "pyramid with a square base at y = 0 and its tip above the origin",
              {{{"width", number(positive), "m", "1", "edge length of the base"}, &SpikeMesh::width},
               {{"height", number(positive), "m", "2", "height of the tip"}, &SpikeMesh::height}}),
          generator<WedgeMesh>(
              "prism with a base at y = 0 and a sharp edge along z above it",
              {{{"width", number(positive), "m", "1", "width of the base along x"}, &WedgeMesh::width},
               {{"height", number(positive), "m", "2", "height of the edge"}, &WedgeMesh::height},
               {{"length", number(positive), "m", "2", "length along z"}, &WedgeMesh::length}}),
          generator<VoussoirMesh>(
              "stone of an arch: a sector of a ring about the z axis",
              {{{"inner", number(positive), "m", "1", "inner radius"}, &VoussoirMesh::inner},
               {{"outer", number(positive), "m", "1.2", "outer radius; greater than inner"},
                &VoussoirMesh::outer},
               {{"depth", number(positive), "m", "0.5", "length along z"}, &VoussoirMesh::depth},
               {{"from", number({0, 180}), "degrees", "80", "angle at which it begins, from x towards y"},
                &VoussoirMesh::from},
               {{"to", number({0, 180}), "degrees", "100", "angle at which it ends; greater than from"},
                &VoussoirMesh::to},
               {{"cells", cells, "", "1", "cells along radius, angle and z, one for all or each"},
                &VoussoirMesh::cells}}),
          generator<PrismMesh>(
              "polygon in the xy plane, with holes, that has a depth along z; not centred in x and y",
              {{{"corners", list(tuple(number(), 2), 3), "m", "[[0, 0], [1, 0], [0, 1]]", "[x, y] of each"},
                &PrismMesh::corners},
               {{"holes", list(list(tuple(number(), 2), 3)), "m", "[]", "the corners of each hole"},
                &PrismMesh::holes},
               {{"depth", number(positive), "m", "1", "length along z"}, &PrismMesh::depth},
               {{"edge", number(positive), "m", Key::optional,
                 "length of the edges of triangles; sides are cut into parts no longer than this; if "
                 "omitted: as few cells as possible, for rigid bodies and obstacles"},
                &PrismMesh::edge}}),
          generator<GridMesh>(
              "flat open surface in the xz plane, facing +y; for shells and obstacles",
              {{{"size", tuple(number(positive), 2), "m", "[1, 1]", "edge lengths along x and z"},
                &GridMesh::size},
               {{"cells", tuple(integer(1, 1e4), 2), "", "[10, 10]", "cells along x and z"},
                &GridMesh::cells}}),
          generator<RectangleMesh>(
              "flat rectangle in the xy plane; for planar bodies, shells and obstacles",
              {{{"size", tuple(number(positive), 2), "m", "[1, 1]", "edge lengths along x and y"},
                &RectangleMesh::size},
               {{"cells", tuple(integer(1, 1e4), 2), "", "[10, 10]", "cells of two triangles along x and y"},
                &RectangleMesh::cells}}),
          generator<QuadrilateralMesh>(
              "flat convex shape of four corners in the xy plane, not centred; for planar bodies, shells and "
              "obstacles",
              {{{"corners", list(tuple(number(), 2), 4, 4), "m", "[[0, 0], [1, 0], [1, 1], [0, 1]]",
                 "[x, y] of each, counter-clockwise"},
                &QuadrilateralMesh::corners},
               {{"cells", tuple(integer(1, 1e4), 2), "", "[10, 10]",
                 "cells of two triangles along the first side and along the second"},
                &QuadrilateralMesh::cells}}),
          generator<DiscMesh>(
              "flat disc in the xy plane; for planar bodies, shells and obstacles",
              {{{"radius", number(positive), "m", "0.5", "radius"}, &DiscMesh::radius},
               {{"resolution", integer(1, 2000), "", "8", "rings of triangles from the centre to the rim"},
                &DiscMesh::resolution}}),
          generator<PolygonMesh>(
              "flat polygon in the xy plane, with holes, of nearly equilateral triangles, not centred; for "
              "planar bodies, shells and obstacles",
              {{{"corners", list(tuple(number(), 2), 3), "m", "[[0, 0], [1, 0], [0, 1]]", "[x, y] of each"},
                &PolygonMesh::corners},
               {{"holes", list(list(tuple(number(), 2), 3)), "m", "[]", "the corners of each hole"},
                &PolygonMesh::holes},
               {{"edge", number(positive), "m", "0.1",
                 "length of the edges of triangles; sides are cut into parts no longer than this"},
                &PolygonMesh::edge}}),
          generator<BowlMesh>(
              "part of a sphere's surface, open at the top, lowest point at the origin; for shells and "
              "obstacles",
              {{{"radius", number(positive), "m", "1", "radius of the sphere"}, &BowlMesh::radius},
               {{"angle", number({0, 180, true, true}), "degrees", "70", "from the lowest point to the rim"},
                &BowlMesh::angle},
               {{"resolution", integer(1, 2000), "", "12", "rings of cells from the lowest point to the rim"},
                &BowlMesh::resolution}}),
          generator<RevolutionMesh>(
              "open surface that a profile sweeps turning about the y axis: tube, cone, funnel; for "
              "shells and obstacles",
              {{{"profile", list(tuple(number(), 2), 2), "m", "[[0.5, 0], [0.5, 1]]",
                 "points [radius, y]; radii are positive"},
                &RevolutionMesh::profile},
               {{"resolution", integer(3, 1e5), "", "24", "cells around the axis"},
                &RevolutionMesh::resolution}}),
          generator<RibbonMesh>(
              "strip whose width is along y, along a smooth curve; for shells and obstacles; groups "
              "start and end",
              {{{"path", list(tuple(number(), 3), 2), "m", "[[-0.5, 0, 0], [0.5, 0, 0]]",
                 "points on the curve; consecutive ones must not be one above the other"},
                &RibbonMesh::path},
               {{"width", number(positive), "m", "0.1", "edge length along y"}, &RibbonMesh::width},
               {{"cells", tuple(integer(1, 1e5), 2), "", "[40, 4]", "cells along the curve and along y"},
                &RibbonMesh::cells}}),
          generator<SegmentsMesh>(
              "straight line of segments along the x axis; for rods and obstacles",
              {{{"length", number(positive), "m", "1", "length along x"}, &SegmentsMesh::length},
               {{"cells", integer(1, 1e6), "", "10", "number of segments"}, &SegmentsMesh::cells}}),
          generator<BundleMesh>(
              "parallel straight lines of segments along the y axis; for rods and obstacles; groups start "
              "and end",
              {{{"length", number(positive), "m", "1", "length along y"}, &BundleMesh::length},
               {{"cells", integer(1, 1e6), "", "20", "segments of each line"}, &BundleMesh::cells},
               {{"counts", tuple(integer(1, 1e4), 2), "", "[5, 5]", "lines along x and z"},
                &BundleMesh::counts},
               {{"spacing", number(positive), "m", "0.05", "distance between neighbours"},
                &BundleMesh::spacing},
               {{"round", boolean(), "", "false", "only the lines within a circle"}, &BundleMesh::round}}),
          generator<HelixMesh>(
              "coil of segments about the y axis; for rods; groups start and end",
              {{{"radius", number(positive), "m", "0.1", "of the coil"}, &HelixMesh::radius},
               {{"pitch", number(positive), "m", "0.1", "rise per turn"}, &HelixMesh::pitch},
               {{"turns", integer(1, 1e5), "", "5", "number of turns"}, &HelixMesh::turns},
               {{"turn_cells", integer(3, 1e5), "", "24", "segments per turn"}, &HelixMesh::turn_cells}}),
          generator<RingMesh>(
              "closed circle of segments in the xz plane; for rods",
              {{{"radius", number(positive), "m", "0.5", "radius"}, &RingMesh::radius},
               {{"cells", integer(3, 1e6), "", "24", "number of segments"}, &RingMesh::cells}}),
          generator<NetMesh>(
              "lines of segments along x and z that alternately cross over and under; for rods; groups start "
              "and end",
              {{{"size", number(positive), "m", "1", "edge length"}, &NetMesh::size},
               {{"count", integer(1, 1e4), "", "10", "lines along x, and along z"}, &NetMesh::count},
               {{"cells", integer(2, 1e5), "", "40", "segments of each line"}, &NetMesh::cells},
               {{"distance", number(positive), "m", "0.02", "of crossing lines, from axis to axis"},
                &NetMesh::distance}}),
          generator<HairMesh>(
              "straight lines of segments that grow from a surface, one at each of its points; for rods; "
              "groups start (the roots) and end",
              {{{"surface", object("mesh"), "", R"({"generator": "sphere"})",
                 "a mesh with triangles, facing outward"},
                &HairMesh::surface},
               {{"length", number(positive), "m", "0.2", "of each hair"}, &HairMesh::length},
               {{"cells", integer(1, 1e5), "", "10", "segments of each hair"}, &HairMesh::cells},
               {{"root", number(not_negative), "m", "0", "distance of the roots from the surface"},
                &HairMesh::root},
               {{"every", integer(1, 1e6), "", "1", "one hair at every so many points"}, &HairMesh::every}}),
          generator<PointsMesh>(
              "regular block of single points; for particles and obstacles",
              {{{"counts", tuple(integer(1, 1e6), 3), "", "[5, 1, 5]", "points along x, y, z"},
                &PointsMesh::counts},
               {{"spacing", number(positive), "m", "0.1", "distance between neighbours"},
                &PointsMesh::spacing}}),
          generator<PackingMesh>(
              "balls placed at random in a box, filling at most about a third of it; for particles",
              {{{"size", size, "m", "1", "edge lengths of the box, one for all or x, y, z"},
                &PackingMesh::size},
               {{"radius", number(positive), "m", "0.05", "of the balls, which lie inside the box"},
                &PackingMesh::radius},
               {{"gap", number(not_negative), "m", "0", "smallest distance between balls"},
                &PackingMesh::gap},
               {{"count", integer(1, 1e7), "", Key::optional, "number of balls; if omitted: as many as fit"},
                &PackingMesh::count},
               {{"seed", integer(0), "", "0", "seed of the random numbers"}, &PackingMesh::seed}}),
          with_key<FileMesh>(
              "mesh file; the format follows from the extension",
              {{{"file", path(), "", Key::required, "path, absolute or relative to the scene file"},
                &FileMesh::file},
               {{"weld", number({0, 0.01}), "", "1e-7",
                 "points closer to each other than this share of the mesh's diagonal are merged, which "
                 "connects triangles that were written with points of their own; 0: no points are merged"},
                &FileMesh::weld},
               {tetrahedralize, &FileMesh::tetrahedralize},
               {{"curve", integer(2, 4), "", Key::optional,
                 "makes linear tetrahedra curved, of this degree: the points of their boundary move to the "
                 "nearest ones of the surface in the file `to`, those inside move along",
                 "", "", "to"},
                &FileMesh::curve},
               {{"to", path(), "", Key::optional,
                 "mesh file with the surface that the boundary is curved to, absolute or relative to the "
                 "scene file",
                 "", "", "curve"},
                &FileMesh::to}}),
          with_key<InlineMesh>(
              "mesh written into the scene; without cells the points themselves are the mesh",
              {{{"points", list(vector(), 1), "m", Key::required, "coordinates [[x, y, z], ...]"},
                &InlineMesh::points},
               {{"tetrahedra", list(tuple(integer(0), 4)), "", "[]", "indices of four points each, from 0"},
                &InlineMesh::tetrahedra},
               {{"triangles", list(tuple(integer(0), 3)), "", "[]", "indices of three points each, from 0"},
                &InlineMesh::triangles},
               {{"segments", list(tuple(integer(0), 2)), "", "[]", "indices of two points each, from 0"},
                &InlineMesh::segments},
               {tetrahedralize, &InlineMesh::tetrahedralize}}),
      }};
}

Group tetrahedralizations() {
  using T = TetrahedralizationDescription;
  return record<T>("How TetGen fills a closed surface; lengths are those of the mesh as read.",
                   {{{"radius_edge_ratio", number({1, infinity, true, true}), "", "2",
                      "target for the shape of tetrahedra; smaller is better shaped and finer"},
                     &T::radius_edge_ratio},
                    {{"max_volume", number(positive), "m3", Key::optional,
                      "target for the largest volume of a tetrahedron"},
                     &T::max_volume}});
}

}  // namespace apart::catalog_parts
