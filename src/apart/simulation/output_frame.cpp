#include <apart/core/parallel.hpp>
#include <apart/simulation/output_frame.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace apart {

namespace {

/// What verify needs to know about the thickness of bodies and pairs.
void add_thickness(const PairTable& pairs, Frame& f) {
  const int n = pairs.body_count();
  bool any = false;
  for (int b = 0; b < n; ++b) {
    f.thickness.push_back(pairs(b, b).thickness);
    f.self_reach.push_back(pairs(b, b).thickness + pairs(b, b).dhat);
    any |= pairs(b, b).thickness > 0;
  }
  const auto differs = [&](const PairSettings& s, int a, int b) {
    return s.enabled && s.thickness != 0.5 * (f.thickness[std::size_t(a)] + f.thickness[std::size_t(b)]);
  };
  // One pair represents its classes only if all bodies of a class have the same thickness of their own.
  std::vector<double> of_class(std::size_t(pairs.class_count()), -1);
  std::vector<char> mixed(of_class.size(), 0);
  for (int b = 0; b < n; ++b) {
    double& thickness = of_class[std::size_t(pairs.class_of(b))];
    if (thickness >= 0 && thickness != f.thickness[std::size_t(b)]) mixed[std::size_t(pairs.class_of(b))] = 1;
    thickness = f.thickness[std::size_t(b)];
  }
  pairs.for_each_pair(
      [&](const PairSettings& s, int a, int b) {
        return mixed[std::size_t(pairs.class_of(a))] || mixed[std::size_t(pairs.class_of(b))] ||
               differs(s, a, b);
      },
      [&](const PairSettings& s, int a, int b) {
        if (differs(s, a, b)) f.pair_thickness.push_back({a, b, s.thickness});
      });
  std::sort(f.pair_thickness.begin(), f.pair_thickness.end(),
            [](const auto& x, const auto& y) { return std::pair(x.a, x.b) < std::pair(y.a, y.b); });
  if (any || !f.pair_thickness.empty()) return;
  f.thickness.clear();
  f.self_reach.clear();
}

/// The thickness of a body itself, for drawing [m]; 0 if it has none.
double own_thickness(const Body& body) {
  // det(inverse_rest) is one over twice the area of the triangle.
  if (body.shell && body.shell->volume.size() > 0)
    return body.shell->volume[0] * 2 * std::abs(body.shell->inverse_rest[0].determinant());
  return 2 * body.radius;
}

/// What verify needs to know about a shell's strain limits.
void add_strain_limits(Frame& frame, int body, const ShellCells& cells) {
  if (cells.limit)
    frame.strain_limits.push_back({body, false, Vector3(cells.limit->upper, cells.limit->lower, 0)});
  const auto woven = strain_limit_of(cells.membrane);
  if (woven) frame.strain_limits.push_back({body, true, *woven});
  if (!cells.limit && !woven) return;
  const Index first = Index(frame.rest_shape.cols()), n = Index(cells.nodes.cols());
  frame.rest_shape.conservativeResize(4, first + n);
  for (Index t = 0; t < n; ++t)
    frame.rest_shape.col(first + t) = cells.inverse_rest[std::size_t(t)].reshaped();
}

/// Which element each cell of the frame shows: that of an affine body the only one, facets of curved cells
/// the cell behind them.
std::vector<Index> shown_elements(const Body& body) {
  if (!body.mesh.curved.empty()) return body.elastic->cell_of_face;
  const Index count = Index(body.elastic  ? body.mesh.tetrahedra.cols()
                            : body.planar ? body.planar->nodes.cols()
                            : body.shell  ? body.shell->nodes.cols()
                                          : 0);
  std::vector<Index> result(std::size_t(count), 0);
  if (body.kind != BodyKind::affine) std::iota(result.begin(), result.end(), 0);
  return result;
}

/// Of each element of a potential that is shown.
std::vector<ElasticPotential::Deformed> deformed(const ElasticPotential& potential,
                                                 const std::vector<Index>& shown) {
  std::vector<char> is_shown(std::size_t(potential.term_count()), false);
  for (const Index element : shown) is_shown[std::size_t(element)] = true;
  std::vector<ElasticPotential::Deformed> result(is_shown.size());
  parallel_for(Index(result.size()), [&](Index i) {
    if (is_shown[std::size_t(i)]) result[std::size_t(i)] = potential.deformed(i);
  });
  return result;
}

/// The same as add_stress for linear cells, some at a time: what is computed for all of them takes more
/// memory than the matrix.
void add_stress_of_cells(const ElasticCells& cells, const Matrix3X& nodes, Index first_cell, Frame& f) {
  constexpr Index batch = 1 << 16;
  const Index count = Index(cells.nodes.cols());
  for (Index begin = 0; begin < count; begin += batch) {
    const Index n = std::min(batch, count - begin);
    ElasticCells some;
    some.nodes = cells.nodes.middleCols(begin, n);
    some.inverse_rest.assign(cells.inverse_rest.begin() + begin, cells.inverse_rest.begin() + begin + n);
    some.volume = cells.volume.segment(begin, n);
    some.materials = cells.materials;
    some.material_of.assign(cells.material_of.begin() + begin, cells.material_of.begin() + begin + n);
    ContinuumElasticity potential;
    potential.add(some, 0, {});
    potential.prepare(nodes);
    parallel_for(n, [&](Index i) {
      const ElasticPotential::Deformed d = potential.deformed(i);
      f.von_mises[first_cell + begin + i] = d.von_mises;
      f.strain[first_cell + begin + i] = d.strain;
    });
  }
}

/// Stress and strain of a body at its nodes, on the cells of the frame from the first one on.
/// `limit_stiffness`: κ of the strain limit of a shell [Pa]; none: as given.
void add_stress(const Body& body, const Matrix3X& nodes, const double* limit_stiffness, Index first_cell,
                Frame& f) {
  const std::vector<Index> shown = shown_elements(body);
  if (shown.empty()) return;
  if (body.elastic && !body.elastic->lagrange && body.kind != BodyKind::affine) {
    add_stress_of_cells(*body.elastic, nodes, first_cell, f);
    return;
  }
  ElasticParts elastic;
  elastic.add(body, 0, Guard::none);
  if (limit_stiffness) elastic.membranes.set_limit_stiffness(VectorX::Constant(1, *limit_stiffness));
  elastic.prepare(nodes);
  for (const ElasticPotential* potential : std::as_const(elastic).potentials()) {
    if (!potential->has_stress() || potential->term_count() == 0) continue;
    const std::vector<ElasticPotential::Deformed> all = deformed(*potential, shown);
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const ElasticPotential::Deformed& d = all[std::size_t(shown[i])];
      f.von_mises[first_cell + Index(i)] = d.von_mises;
      f.strain[first_cell + Index(i)] = d.strain;
    }
  }
}

/// Appends cells of a body, whose points start at `first_point`, to those of the same degree.
void append_curved(const CurvedCells& cells, Index first_point, std::vector<CurvedCells>& all) {
  auto at = std::ranges::lower_bound(all, cells.degree, {}, &CurvedCells::degree);
  if (at == all.end() || at->degree != cells.degree)
    at = all.insert(at, {cells.degree, Eigen::MatrixXi(cells.points.rows(), 0)});
  const Eigen::Index count = at->points.cols();
  at->points.conservativeResize(Eigen::NoChange, count + cells.points.cols());
  at->points.rightCols(cells.points.cols()) = cells.points.array() + first_point;
}

/// Forces on the surface [N]: minus the gradient of contact, without the step's scale, and friction as it
/// acted, so that forces and accelerations balance. From the state alone, not from what the problem lagged
/// last, so that a resumed run writes the same frame.
void add_contact_forces(const StepProblem& w, const State& state, Frame& f) {
  const Model& m = w.model;
  const Matrix3X x = m.surface_map.positions(state.nodes);
  Matrix3X g = Matrix3X::Zero(3, x.cols());
  if (state.barrier_stiffness > 0) {
    BarrierContact contact = w.terms.contact;
    std::optional<CandidateCache> all;
    if (!w.terms.team.is_alone()) {  // only one process of a team writes frames: it must know all pairs
      all.emplace(make_broad_phase(m.options.solver.broad_phase, w.terms.surface), w.terms.surface,
                  CandidateOptions{.reuse = false});
      contact.use(*all);
    }
    contact.set_stiffness(state.barrier_stiffness);
    contact.prepare(x);
    contact.add_gradient(x, g);
  }
  f.contact_force = Matrix3X::Zero(3, m.point_count());
  if (state.force_scale > 0)
    for (Index v = 0; v < x.cols(); ++v)
      f.contact_force.col(m.surface_point[v]) = state.friction.col(v) - g.col(v) / state.force_scale;
}

}  // namespace

Frame make_frame(const StepProblem& w, const State& state) {
  const Model& m = w.model;
  Frame f;
  f.time = state.time;
  f.topology = m.topology;
  f.mesh.points = m.point_map.positions(state.nodes);
  f.velocity = m.point_map.push_forward(state.velocity);
  f.point_body.resize(m.point_count());
  f.half_spaces = m.surface.half_spaces;
  for (HalfSpace& plane : f.half_spaces)
    if (plane.carrier >= 0) plane.carrier = m.surface_point[plane.carrier];
  Index tets = 0, faces = 0, edges = 0, points = 0;
  for (const Body& b : m.bodies) {
    tets += Index(b.mesh.tetrahedra.cols());
    faces += Index(b.mesh.faces.cols());
    edges += Index(b.mesh.edges.cols());
    points += Index(b.mesh.vertices.size());
  }
  f.mesh.tetrahedra.resize(4, tets);
  f.mesh.faces.resize(3, faces);
  f.mesh.edges.resize(2, edges);
  f.mesh.vertices.resize(points);
  f.von_mises = f.strain = VectorX::Zero(tets + faces);
  const Index all_tets = tets;
  tets = faces = edges = points = 0;
  for (std::size_t i = 0; i < m.bodies.size(); ++i) {
    const Body& b = m.bodies[i];
    const Index first = m.first_point[i];
    const std::vector<Index> invertible = b.elastic ? b.elastic->invertible_cells() : std::vector<Index>{};
    const bool all_invertible = b.elastic && Index(invertible.size()) == b.elastic->nodes.cols();
    f.bodies.push_back({b.name, all_invertible                       ? "invertible_volume"
                                : b.planar && b.planar->may_invert() ? "invertible_planar"
                                                                     : std::string(name_of(b.kind))});
    if (!all_invertible)
      for (const Index t : invertible) f.invertible_cells.push_back(tets + t);
    f.point_body.segment(first, b.mesh.point_count()).setConstant(int(i));
    const auto copy = [first](auto& to, Index& at, const auto& from) {
      to.middleCols(at, from.cols()) = from.array() + first;
      at += Index(from.cols());
    };
    if (!w.present[i]) f.absent.push_back(int(i));
    const Matrix3X nodes = state.nodes.middleCols(m.first_node[i], b.node_count());
    const Index part = w.terms.membrane_part(int(i));
    const bool fills_tetrahedra = b.mesh.curved.empty() && b.mesh.tetrahedra.cols() > 0;
    if (w.present[i])
      add_stress(b, nodes,
                 part >= 0 && state.limit_stiffness.size() > 0 ? &state.limit_stiffness[part] : nullptr,
                 fills_tetrahedra ? tets : all_tets + faces, f);
    for (const CurvedCells& cells : b.mesh.curved) append_curved(cells, first, f.mesh.curved);
    if (b.shell) add_strain_limits(f, int(i), *b.shell);
    copy(f.mesh.tetrahedra, tets, b.mesh.tetrahedra);
    copy(f.mesh.faces, faces, b.mesh.faces);
    copy(f.mesh.edges, edges, b.mesh.edges);
    f.mesh.vertices.segment(points, b.mesh.vertices.size()) = b.mesh.vertices.array() + first;
    points += Index(b.mesh.vertices.size());
  }
  const PairTable& pairs = m.surface.pairs;
  for (int b = 0; b < pairs.body_count(); ++b)
    if (!pairs(b, b).enabled) f.ignored_pairs.emplace_back(b, b);
  pairs.for_each_pair([](const PairSettings& s, int, int) { return !s.enabled; },
                      [&](const PairSettings& s, int a, int b) {
                        if (!s.enabled) f.ignored_pairs.emplace_back(a, b);
                      });
  std::sort(f.ignored_pairs.begin(), f.ignored_pairs.end());
  f.allow_nested = m.options.contact.allow_nested;
  add_thickness(pairs, f);
  for (const Body& b : m.bodies) f.drawn_thickness.push_back(own_thickness(b));
  if (std::ranges::all_of(f.drawn_thickness, [](double t) { return t == 0; })) f.drawn_thickness.clear();
  add_contact_forces(w, state, f);
  return f;
}

}  // namespace apart
