// Pressure and tractions on the faces of curved cells.
#include <apart/bodies/lagrange_volume.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/potentials/curved_pressure.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <support/curved_mesh.hpp>
#include <support/potential_checks.hpp>

#include <random>

namespace apart::test {
namespace {

/// A unit cube of few cells whose top is z = 0.5 + 0.2 x², to the degree.
Body vault(int shape_degree, int degree, int resolution) {
  const Mesh mesh = curved(generate::box({1, 1, 1}, {1, 1, 1}), shape_degree, [](const Vector3& x) {
    return Vector3(x[0], x[1], x[2] + (x[2] + 0.5) * 0.2 * x[0] * x[0]);
  });
  const CellSubstances cells{{{NeoHookean{lame_parameters(1e5, 0.3)}, 1000}},
                             std::vector<Index>(std::size_t(mesh.cell_count()), 0)};
  return make_volume("vault", mesh, cells,
                     LagrangeOptions{.degree = degree, .surface_resolution = resolution});
}

FacetSet facets(Body& body, const std::function<bool(const Vector3&)>& chosen) {
  std::vector<Index> members;
  for (Index f = 0; f < body.surface_faces.cols(); ++f) {
    bool all = true;
    for (const int p : body.surface_faces.col(f)) all = all && chosen(body.mesh.points.col(p));
    if (all) members.push_back(f);
  }
  return body.sets.add_facets("chosen", members);
}

bool on_top(const Vector3& x) {
  return x[2] > 0.49 + 0.2 * x[0] * x[0];
}

/// Calls test(body) for displacements and shapes of all degrees.
template <class Test>
void for_each_vault(const Test& test) {
  for (int k = 2; k <= 4; ++k)
    for (int p = 1; p <= 4; ++p)
      for (const int resolution : {0, 3}) {
        SCOPED_TRACE(fmt::format("degree {} on a shape of degree {}, resolution {}", p, k, resolution));
        test(vault(k, p, resolution));
      }
}

TEST(CurvedPressure, KeepsTheContractOfPotentials) {
  std::mt19937 engine(1);
  std::normal_distribution<double> normal(0, 0.02);
  for (const auto& [k, p] : {std::pair(2, 1), {2, 2}, {4, 2}, {2, 3}, {2, 4}}) {
    Body body = vault(k, p, 0);
    const FacetSet top = facets(body, on_top);
    const std::vector<CurvedFace> faces = curved_faces(body, top);
    EXPECT_EQ(faces.size(), 2u);
    CurvedPressure pressure;
    pressure.set(2, {{&faces, 0, 30}}, body.nodes);
    const Matrix3X q =
        body.nodes + Matrix3X::NullaryExpr(3, body.nodes.cols(),
                                           [&](Eigen::Index, Eigen::Index) { return normal(engine); });
    expect_potential_contract(pressure, q, fmt::format("degree {}", p), {.nearest = false});
  }
}

TEST(CurvedPressure, OnAClosedBodyHasNoResultantAndNoMoment) {
  for_each_vault([](Body body) {
    const FacetSet all = facets(body, [](const Vector3&) { return true; });
    const std::vector<CurvedFace> faces = curved_faces(body, all);
    CurvedPressure pressure;
    pressure.set(1, {{&faces, 0, 1}}, body.nodes);
    Matrix3X g = Matrix3X::Zero(3, body.node_count());
    pressure.add_gradient(body.nodes, g);
    EXPECT_GT(g.cwiseAbs().maxCoeff(), 0.01);
    EXPECT_LT(g.rowwise().sum().norm(), 1e-12);
    if (body.elastic->lagrange->offset.cols() > 0) return;  // part of the shape does not turn with the nodes
    Vector3 moment = Vector3::Zero();
    for (Index i = 0; i < g.cols(); ++i) moment += Vector3(body.nodes.col(i)).cross(Vector3(g.col(i)));
    EXPECT_LT(moment.norm(), 1e-12);
  });
}

TEST(CurvedPressure, OnACurvedFaceIsThatOfItsVectorArea) {
  for_each_vault([](Body body) {
    const FacetSet top = facets(body, on_top);
    const std::vector<CurvedFace> faces = curved_faces(body, top);
    CurvedPressure pressure;
    pressure.set(1, {{&faces, 0, 1}}, body.nodes);
    Matrix3X g = Matrix3X::Zero(3, body.node_count());
    pressure.add_gradient(body.nodes, g);
    // ∫(−∂z/∂x, −∂z/∂y, 1) dx dy, and its first moments in x, of which nodes reproduce linear functions.
    EXPECT_LT((g.rowwise().sum() - Vector3(0, 0, 1)).norm(), 1e-12);
    EXPECT_NEAR((g.row(2) * body.nodes.row(0).transpose())(0), 0, 1e-12);
    EXPECT_NEAR((g.row(0) * body.nodes.row(0).transpose())(0), -0.4 / 12, 1e-12);
    // Half of it, cut along a line between cells' points or not.
    Body half = body;
    const FacetSet part = facets(half, [](const Vector3& x) { return on_top(x) && x[1] <= x[0] + 1e-9; });
    const std::vector<CurvedFace> half_faces = curved_faces(half, part);
    pressure.set(1, {{&half_faces, 0, 1}}, half.nodes);
    g.setZero();
    pressure.add_gradient(half.nodes, g);
    if (half_faces.size() == 1) {
      EXPECT_NEAR(g.row(2).sum(), 0.5, 1e-12);
    }
  });
}

TEST(CurvedPressure, TractionsActOnTheAreaOfACurvedFace) {
  for_each_vault([](Body body) {
    const FacetSet top = facets(body, on_top);
    const LoadedPart part = loaded_part(
        body, {.kind = Load::Kind::traction, .field = {}, .points = {}, .facets = top, .when = {}});
    // ∫√(1 + (0.4 x)²) dx from −½ to ½.
    const double b = 0.2, area = 0.5 * std::sqrt(1 + b * b) + 0.5 * std::asinh(b) / b;
    double sum = 0;
    for (const LoadedPart::Sample& sample : part.samples)
      for (const Influence& i : sample.area) sum += i.weight;
    EXPECT_NEAR(sum, area, 1e-7);
  });
}

TEST(CurvedPressure, TractionsThatVaryAreIntegratedOverACurvedFace) {
  for_each_vault([](Body body) {
    const FacetSet top = facets(body, on_top);
    const LoadedPart part = loaded_part(
        body, {.kind = Load::Kind::traction, .field = {}, .points = {}, .facets = top, .when = {}});
    // ∫ x² √(1 + (0.4 x)²) dx from −½ to ½, by Simpson's rule, times twelve times y², whose mean is 1/12.
    // Sampled at the corners it would be nine times as much.
    double expected = 0, sum = 0;
    const int n = 2000;
    for (int i = 0; i <= n; ++i) {
      const double x = -0.5 + double(i) / n, f = x * x * std::hypot(1, 0.4 * x);
      expected += (i == 0 || i == n ? 1 : i % 2 == 0 ? 2 : 4) * f / (3 * n);
    }
    for (const LoadedPart::Sample& sample : part.samples)
      for (const Influence& i : sample.area)
        sum += 12 * i.weight * std::pow(sample.place[0] * sample.place[1], 2);
    EXPECT_NEAR(sum, expected, 1e-3 * expected);
  });
}

}  // namespace
}  // namespace apart::test
