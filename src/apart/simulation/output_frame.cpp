#include <apart/core/parallel.hpp>
#include <apart/simulation/output_frame.hpp>

#include <algorithm>
#include <cmath>

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

double von_mises(const Matrix3& stress) {
  const Matrix3 deviator = stress - stress.trace() / 3 * Matrix3::Identity();
  return std::sqrt(1.5) * deviator.norm();
}

/// Stress and strain of the tetrahedra of a body at its nodes, the first of which is cell `first` of the
/// frame.
void add_cells(const Body& body, const Matrix3X& nodes, Index first, Frame& f) {
  ContinuumElasticity cells;
  cells.add(*body.elastic, 0);
  cells.prepare(nodes);
  for (Index t = 0; t < body.mesh.tetrahedra.cols(); ++t) {
    const Index cell = body.kind == BodyKind::affine ? 0 : t;
    f.von_mises[first + t] = von_mises(cells.cauchy_stress(cell));
    f.strain[first + t] = (cells.stretches(cell).array() - 1).abs().maxCoeff();
  }
}

/// The same of the triangles of a planar body.
void add_planar(const PlanarCells& planar, const Matrix3X& nodes, Index first, Frame& f) {
  PlanarElasticity cells;
  cells.add(planar, 0);
  cells.prepare(nodes);
  for (Index t = 0; t < planar.nodes.cols(); ++t) {
    f.von_mises[first + t] = von_mises(cells.cauchy_stress(t));
    f.strain[first + t] = (cells.stretches(t).array() - 1).abs().maxCoeff();
  }
}

/// The largest stress and strain at quadrature points of a cell, on the triangles of the surface that follow
/// it, the first of which is cell `first` of the frame.
void add_curved(const Body& body, const Matrix3X& nodes, Index first, Frame& f) {
  ElasticParts elastic;
  elastic.add(body, 0, Guard::none);
  elastic.prepare(nodes);
  const std::vector<Index>& cells = body.elastic->cell_of_face;
  std::vector<char> has_face(body.elastic->material_of.size());
  for (const Index cell : cells) has_face[std::size_t(cell)] = true;
  VectorX stress = VectorX::Zero(Index(has_face.size())), strain = stress;
  elastic.for_each_solid([&](const auto& solid) {
    parallel_for(solid.term_count(), [&](Index cell) {
      if (!has_face[std::size_t(cell)]) return;
      for (int k = 0; k < solid.point_count(cell); ++k) {
        stress[cell] = std::max(stress[cell], von_mises(solid.cauchy_stress(cell, k)));
        strain[cell] = std::max(strain[cell], (solid.stretches(cell, k).array() - 1).abs().maxCoeff());
      }
    });
  });
  for (std::size_t t = 0; t < cells.size(); ++t) {
    f.von_mises[first + Index(t)] = stress[cells[t]];
    f.strain[first + Index(t)] = strain[cells[t]];
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

/// The same of the triangles of a shell. `limit_stiffness`: κ of its strain limit [Pa]; none: as given.
void add_triangles(const ShellCells& shell, const Matrix3X& nodes, const double* limit_stiffness, Index first,
                   Frame& f) {
  MembraneElasticity membrane;
  membrane.add(shell, 0);
  if (limit_stiffness) membrane.set_limit_stiffness(VectorX::Constant(1, *limit_stiffness));
  membrane.prepare(nodes);
  for (Index t = 0; t < shell.nodes.cols(); ++t) {
    f.von_mises[first + t] = membrane.von_mises(t);
    f.strain[first + t] = (membrane.stretches(t).array() - 1).abs().maxCoeff();
  }
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
    const bool curved = !b.mesh.curved.empty();
    if (b.elastic && w.present[i] && !curved) add_cells(b, nodes, tets, f);
    if (curved && w.present[i]) add_curved(b, nodes, all_tets + faces, f);
    for (const CurvedCells& cells : b.mesh.curved) append_curved(cells, first, f.mesh.curved);
    if (b.planar && w.present[i]) add_planar(*b.planar, nodes, all_tets + faces, f);
    if (b.shell) add_strain_limits(f, int(i), *b.shell);
    if (b.shell && w.present[i]) {
      const Index part = w.terms.membrane_part(int(i));
      add_triangles(*b.shell, nodes,
                    state.limit_stiffness.size() > 0 ? &state.limit_stiffness[part] : nullptr,
                    all_tets + faces, f);
    }
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
