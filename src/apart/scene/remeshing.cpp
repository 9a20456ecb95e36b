#include <apart/scene/remeshing.hpp>

#include <apart/geometry/mesh_checks.hpp>

#include <algorithm>
#include <map>

namespace apart {

namespace {

// Of the shortest edge of the scene's mesh, unless the scene says otherwise.
constexpr double usual_min_edge_share = 0.125;

struct EdgeLengths {
  double shortest = infinity, longest = 0;  ///< [m]
};
EdgeLengths edge_lengths(const Mesh& mesh) {
  EdgeLengths result;
  const auto look = [&](const auto& cells) {
    for (const auto& t : cells.colwise())
      for (Eigen::Index i = 0; i < t.size(); ++i)
        for (Eigen::Index j = i + 1; j < t.size(); ++j) {
          const double length = (mesh.points.col(t[i]) - mesh.points.col(t[j])).norm();
          result.shortest = std::min(result.shortest, length);
          result.longest = std::max(result.longest, length);
        }
  };
  look(mesh.tetrahedra);
  look(mesh.faces);
  return result;
}

// delta_split as a share of shear modulus times volume, or of the weight of a shell times its size: 1e-7 to
// 1e-4 are usual. Energies times the squared time step, in which such tolerances are published, are far
// below.
constexpr double least_usual_gain = 1e-9, most_usual_gain = 1e-2;

}  // namespace

namespace {

/// An energy of the order of those that deform a body [J], and what it is; 0: none is known.
struct UsualEnergy {
  double value = 0;
  std::string_view what;
};
UsualEnergy usual_energy(const Body& body, double gravity) {
  if (body.shell)  // gains are of bending, gravity and contact, not of its membrane
    return {total_mass(body) * gravity * extent_of(body).diagonal(), "the weight of '{}' times its size"};
  const std::vector<Material>& of_cells = body.planar ? body.planar->materials : body.elastic->materials;
  double shear = 0;
  for (const Material& material : of_cells)
    std::visit(
        [&](const auto& m) {
          if constexpr (requires { m.lame; }) shear = std::max(shear, m.lame.mu);
        },
        material);
  return {shear * (body.planar ? body.planar->volume : body.elastic->volume).sum(),
          "the shear modulus of '{}' times its volume"};
}

}  // namespace

std::optional<std::string> unusual_gain(const RemeshDescription& d, const Body& body, double gravity) {
  if (d.criterion == RemeshCriterion::sizing_field) return std::nullopt;
  const auto [scale, what] = usual_energy(body, gravity);
  const double share = d.delta_split / scale;
  if (!(scale > 0) || (share >= least_usual_gain && share <= most_usual_gain)) return std::nullopt;
  return d.place["delta_split"].message(fmt::format(
      "is {:.2g} of {} ({:.3g} J): {}; 1e-7 to 1e-4 of it are usual. It is an energy in joules, whatever "
      "time.dt",
      share, fmt::format(fmt::runtime(what), body.name), scale,
      share < least_usual_gain ? "nearly every edge will be split" : "hardly any edge will be split"));
}

namespace {

/// What holds for all bodies whose mesh changes.
template <class D>
void check_options(const D& body) {
  const RemeshDescription& d = *body.remesh;
  if (d.criterion == RemeshCriterion::sizing_field) {
    for (const auto& [key, is_given] : {std::pair{"delta_split", d.delta_split != 0},
                                        {"delta_collapse", d.delta_collapse != 0},
                                        {"swaps", d.swaps},
                                        {"smoothing", d.smoothing}})
      if (is_given)
        d.place[key].fail(
            "is for the criterion \"potential\"; a sizing field does not need it, leave it out");
  } else if (!(d.delta_split > 0))
    d.place["delta_split"].fail(
        "got {}, must be positive: the energy in joules by which a split must lower the potential of a step; "
        "try "
        "a thousandth of the largest elastic energy",
        d.delta_split);
  if (!(d.delta_collapse <= 0))
    d.place["delta_collapse"].fail(
        "got {}, must be 0 or negative: a collapse may raise the potential of a step by so many joules; try "
        "{}",
        d.delta_collapse, -1e-3 * d.delta_split);
  if (d.criterion == RemeshCriterion::potential && -d.delta_collapse >= d.delta_split)
    d.place["delta_collapse"].fail(
        "got {}, must be nearer to 0 than delta_split ({}), or what is split would be collapsed again; try "
        "{}",
        d.delta_collapse, d.delta_split, -1e-3 * d.delta_split);
  if (d.shape_tolerance && d.shape_tolerance->metres(1) > 0 && !d.coarsen)
    d.place["shape_tolerance"].fail(
        "is for points of the scene's mesh, which stay; add \"coarsen\": true, or leave it out");
  if constexpr (requires { body.mass; })
    if (body.mass == MassKind::lumped)
      body.place["mass"].fail(
          "got \"lumped\", with which a split changes inertia without moving anything; remeshing needs "
          "\"consistent\", or leave it out");
  for (const LoadDescription& load : body.loads)
    if (const auto* torque = std::get_if<TorqueDescription>(&load))
      torque->place.fail(
          "acts on the body as a whole, which a change of its mesh would alter; use tractions");
}

}  // namespace

void check_remeshing(const PlanarDescription& body) {
  check_options(body);
}

void check_remeshing(const ShellDescription& body) {
  const RemeshDescription& d = *body.remesh;
  check_options(body);
  if (d.smoothing)
    d.place["smoothing"].fail(
        "is for volumes and planar bodies: points inside a shell are on its surface, which would change; "
        "leave it out");
  std::visit(
      [&]<class M>(const M& m) {
        if constexpr (std::derived_from<M, WovenShellMaterial>)
          if (std::holds_alternative<FromTexture>(m.warp))
            d.place.fail(
                "needs a warp that is a direction: a mesh that changes has no texture coordinates; give "
                "material.warp as a vector");
      },
      body.material);
}

void check_remeshing(const VolumeDescription& body) {
  const RemeshDescription& d = *body.remesh;
  check_options(body);
  if (body.basis_order.value_or(1) > 1)
    d.place.fail("is for linear tetrahedra, but basis_order is {}; remove one of the two", *body.basis_order);
  if (body.collision) d.place.fail("is for a body that collides with its own boundary; remove \"collision\"");
}

namespace {

/// No edge of a shell may have more than two triangles, nor two that run along it in the same direction.
void check_sheet(const RemeshDescription& d, const Body& body) {
  std::map<std::array<int, 2>, int> count;
  for (const auto& t : body.mesh.faces.colwise())
    for (int k = 0; k < 3; ++k)
      if (++count[{t[k], t[(k + 1) % 3]}] > 1)
        d.place.fail(
            "needs a shell whose edges have at most two triangles, which face the same way, but '{}' has "
            "others "
            "at the edge of points {} and {}; separate the parts that meet there, or turn the triangles",
            body.name, t[k], t[(k + 1) % 3]);
}

}  // namespace

RemeshOptions make_remeshing(const RemeshDescription& d, Body& body, int index, const PairTable& pairs,
                             double size) {
  if (!body.remake || !body.mesh.curved.empty())
    d.place.fail("is for linear tetrahedra, but the mesh of '{}' is curved; leave out \"curve\"", body.name);
  Mesh surface;
  surface.points = body.mesh.points;
  surface.faces = body.surface_faces;
  if (body.shell) check_sheet(d, body);
  if (const auto edge = body.planar || body.shell ? std::nullopt : find_open_edge(surface))
    d.place.fail(
        "needs a surface on which every edge has two triangles, but that of '{}' has {} at the edge of "
        "points {} and {}; "
        "separate the parts that touch there",
        body.name, edge->forward + edge->backward, edge->a, edge->b);
  double dhat = 0;
  for (int other = 0; other < pairs.body_count(); ++other)
    if (pairs(index, other).enabled) dhat = std::max(dhat, pairs(index, other).dhat);
  // Points of a shell are apart by its thickness too.
  if (body.shell && pairs(index, index).enabled)
    dhat = std::max(dhat, pairs(index, index).dhat + pairs(index, index).thickness);
  RemeshOptions options;
  options.body = index;
  const EdgeLengths lengths = edge_lengths(body.mesh);
  options.criterion = d.criterion;
  options.longest_edge = lengths.longest;
  options.delta_split = d.delta_split;
  options.delta_collapse = d.delta_collapse;
  options.rounds = d.rounds;
  options.coarsen = d.coarsen;
  options.swaps = d.swaps;
  options.smoothing = d.smoothing;
  options.scene_points = body.mesh.point_count();
  options.min_edge =
      d.min_edge ? d.min_edge->metres(size) : std::max(dhat, usual_min_edge_share * lengths.shortest);
  if (options.min_edge < dhat)
    d.place["min_edge"].fail(
        "got {:.6g} m, must be at least dhat{} ({:.6g} m), or neighbouring points would push each other; use "
        "a "
        "smaller "
        "contact.dhat or longer edges",
        options.min_edge, body.shell ? " plus thickness" : "", dhat);
  if (const double tolerance = d.shape_tolerance ? d.shape_tolerance->metres(size) : 0; tolerance > 0) {
    options.original =
        std::make_shared<const OriginalShape>(shape_of(body), body.shell.has_value(), tolerance);
    keep_mass(body);
  }
  return options;
}

}  // namespace apart
