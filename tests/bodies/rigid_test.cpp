// Rigid bodies by themselves: their mass by what they are made of, and the contract of their chart.
#include <apart/bodies/body.hpp>
#include <apart/bodies/body_mesh.hpp>
#include <apart/bodies/contact_defaults.hpp>
#include <apart/bodies/control_tetrahedron.hpp>
#include <apart/bodies/mass_distribution.hpp>
#include <apart/bodies/rigid_chart.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/geometry/mesh_checks.hpp>

#include <gtest/gtest.h>
#include <Eigen/Geometry>
#include <Eigen/LU>
#include <support/nearest_psd.hpp>

#include <cmath>
#include <random>

namespace apart::test {
namespace {

Matrix3 box_inertia(double mass, const Vector3& size) {
  const Vector3 squares = size.cwiseProduct(size) * mass / 12;
  return Vector3(squares[1] + squares[2], squares[0] + squares[2], squares[0] + squares[1]).asDiagonal();
}

Mesh shifted(Mesh mesh, const Vector3& by) {
  mesh.points.colwise() += by;
  return mesh;
}

Mesh together(const Mesh& a, const Mesh& b) {
  Mesh result = a;
  const int first = a.point_count();
  result.points.resize(3, first + b.point_count());
  result.points << a.points, b.points;
  const auto append = [&](auto& to, const auto& more) {
    const auto old = to;
    to.resize(old.rows(), old.cols() + more.cols());
    to << old, (more.array() + first).matrix();
  };
  append(result.faces, b.faces);
  append(result.edges, b.edges);
  return result;
}

TEST(RigidBody, CreepsATenthAsFastAsAVolumeBecauseFrictionSticksBelowATenthOfTheSpeed) {
  const Mesh mesh = generate::box({0.2, 0.3, 0.6}, {1, 1, 1});
  const Body rigid = make_rigid("rigid", mesh, mass_distribution(mesh, 1000), {});
  const ContactDefaults defaults = contact_defaults(rigid, 1);
  EXPECT_NEAR(defaults.epsv, 0.7e-4, 1e-12);
  EXPECT_NEAR(defaults.tolerance, 0.7e-3, 1e-12);
}

TEST(RigidBody, APointHasContactFitForTheSceneAndNotForItsSizeOfNothing) {
  Mesh point = generate::points({1, 1, 1}, 1);
  const ContactDefaults of_point =
      contact_defaults(make_rigid("p", point, mass_distribution(point, 1), {}), 3);
  EXPECT_DOUBLE_EQ(of_point.dhat, 6e-3);
  EXPECT_GT(of_point.epsv, 0);
  EXPECT_GT(of_point.tolerance, 0);
}

TEST(MassDistribution, OfABoxIsTheSameByItsTetrahedraAndByItsSurface) {
  const Vector3 size(0.2, 0.1, 0.3), place(5, -7, 11);
  for (const auto content : {generate::Content::tetrahedra, generate::Content::surface}) {
    const MassDistribution m =
        mass_distribution(shifted(generate::box(size, {2, 1, 3}, content), place), 700);
    EXPECT_NEAR(m.mass, 700 * size.prod(), 1e-12);
    EXPECT_LT((m.centre - place).norm(), 1e-13);
    EXPECT_LT((m.inertia() - box_inertia(m.mass, size)).norm(), 1e-14);
    EXPECT_LT((second_moment_of(m.inertia()) - m.second_moment).norm(), 1e-15);
  }
}

TEST(MassDistribution, OfSheetsSegmentsAndPointsFollowsAreaLengthAndNumber) {
  const MassDistribution sheet = mass_distribution(generate::grid(0.4, 0.2, 4, 2), 10);
  EXPECT_NEAR(sheet.mass, 10 * 0.4 * 0.2, 1e-14);
  const Vector3 moments = eigenvalues(sheet.inertia());
  EXPECT_NEAR(moments[2], sheet.mass * (0.16 + 0.04) / 12, 1e-15);
  EXPECT_NEAR(moments[0], sheet.mass * 0.04 / 12, 1e-15);
  const MassDistribution rod = mass_distribution(generate::segments(2, 5), 3);
  EXPECT_NEAR(rod.mass, 6, 1e-14);
  EXPECT_NEAR(eigenvalues(rod.inertia())[2], 6 * 4.0 / 12, 1e-14);
  const MassDistribution points = mass_distribution(generate::points({2, 1, 1}, 0.5), 0.7);
  EXPECT_NEAR(points.mass, 1.4, 1e-15);
  EXPECT_NEAR(eigenvalues(points.inertia())[2], 1.4 * 0.0625, 1e-15);
}

TEST(MassDistribution, PiecesAreWeighedByTheirOwnTopologyAndCavitiesAreEmpty) {
  const auto surface = [](double size) {
    return generate::box(Vector3::Constant(size), {1, 1, 1}, generate::Content::surface);
  };
  Mesh inner = surface(0.5);
  inner.faces.row(1).swap(inner.faces.row(2));
  const MeshPlace place{"mesh", "mesh"};
  const Mesh hollow = rigid_mesh(together(surface(1), inner), place);
  EXPECT_NEAR(mass_distribution(hollow, 1).mass, 1 - 0.125, 1e-14);
  // Beside each other, the one that faces inward is turned round.
  const Mesh pair = rigid_mesh(together(surface(1), shifted(inner, {2, 0, 0})), place);
  EXPECT_NEAR(mass_distribution(pair, 1).mass, 1 + 0.125, 1e-14);
  const Mesh mixed =
      rigid_mesh(together(surface(1), shifted(generate::grid(0.5, 0.5, 1, 1), {3, 0, 0})), place);
  EXPECT_NEAR(mass_distribution(mixed, 2).mass, 2 * 1 + 2 * 0.25, 1e-14);
  const std::vector<char> closed = faces_of_closed_pieces(mixed);
  EXPECT_EQ(std::count(closed.begin(), closed.end(), 1), 12);
  EXPECT_EQ(std::count(closed.begin(), closed.end(), 0), 2);
}

TEST(RigidBody, ItsNodesHaveItsMassAndInertia) {
  const Mesh mesh = shifted(generate::box({0.2, 0.1, 0.3}, {1, 1, 1}), {1, 2, 3});
  const MassDistribution mass = mass_distribution(mesh, 900);
  const Body body = make_rigid("b", mesh, mass);
  EXPECT_NEAR(total_mass(body), mass.mass, 1e-13);
  EXPECT_LT((centre_of_mass(body) - mass.centre).norm(), 1e-14);
  const Matrix3X r = body.nodes.colwise() - mass.centre;
  EXPECT_LT((r * body.mass * r.transpose() - mass.second_moment).norm(), 1e-15);
  EXPECT_LT((body.point_map.positions(body.nodes) - mesh.points).norm(), 1e-14);
  EXPECT_TRUE(body.encloses_volume);
}

TEST(RigidBody, WhatIsStraightOrAPointResistsTurningABit) {
  for (const Mesh& mesh : {generate::segments(2, 3), generate::points({1, 1, 1}, 1)}) {
    const Body body = make_rigid("b", mesh, mass_distribution(mesh, 1));
    const Vector3 centre = centre_of_mass(body);
    const Matrix3X r = body.nodes.colwise() - centre;
    const Matrix3 s = r * body.mass * r.transpose();
    const Matrix3 inertia = s.trace() * Matrix3::Identity() - s;
    const double arm = r.col(0).norm(), least = eigenvalues(inertia)[0];
    EXPECT_GT(least, 1e-8 * total_mass(body) * arm * arm);
    EXPECT_LT(least, 1e-4 * total_mass(body) * arm * arm);
    EXPECT_FALSE(body.encloses_volume);
    EXPECT_TRUE(body.is_thin());
  }
}

/// A chart somewhere on the rotations, and random unknowns and gradients.
struct Placed {
  explicit Placed(unsigned seed) : engine(seed) {
    const Matrix3 turn = Eigen::AngleAxisd(3 * normal(engine), column().normalized()).toRotationMatrix();
    q = (turn * control.nodes()).colwise() + column();
  }
  Vector3 column() { return {normal(engine), normal(engine), normal(engine)}; }
  Matrix3X columns(Index n) {
    Matrix3X m(3, n);
    for (Index i = 0; i < n; ++i) m.col(i) = column();
    return m;
  }
  std::mt19937 engine;
  std::normal_distribution<double> normal;
  ControlTetrahedron control{Vector3::Zero(), 0.3};
  RigidChart chart{0.3, {true, true, true}, {true, true, true}};
  Matrix3X q;
};

TEST(RigidChart, HasTheDerivativesOfItsRetraction) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Placed p(seed);
    const Matrix3X y = p.columns(2), g = p.columns(4);
    const double e = 1e-5;
    const auto at = [&](double t) { return p.chart.retract(p.q, t * y); };
    EXPECT_LT((at(0) - p.q).norm(), 1e-14);
    Matrix3X pushed = Matrix3X::Zero(3, 4);
    for (Index k = 0; k < 4; ++k)
      for (Index u = 0; u < 2; ++u) pushed.col(k) += p.chart.slope(p.q, k, u) * y.col(u);
    EXPECT_LT(((at(e) - at(-e)) / (2 * e) - pushed).norm(), 1e-8 * pushed.norm());
    EXPECT_LT((p.chart.push_forward(p.q, y) - pushed).norm(), 1e-14 * pushed.norm());
    const double power = pushed.cwiseProduct(g).sum();
    EXPECT_NEAR(p.chart.pull_back(p.q, g).cwiseProduct(y).sum(), power, 1e-14 * pushed.norm() * g.norm());
    const double second = g.cwiseProduct(at(e) - 2 * p.q + at(-e)).sum() / (e * e);
    const VectorX v = y.reshaped();
    EXPECT_NEAR(v.dot(p.chart.curvature(p.q, g) * v), second, 1e-4 * (1 + std::abs(second)));
  }
}

TEST(RigidChart, PointsBendOnTheirPathsByNoMoreThanIsSaid) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Placed p(seed);
    Matrix3X y = p.columns(2);
    y.col(1) *= (seed % 2 == 0 ? 0.4 : 9) * p.control.arm / y.col(1).norm();
    EXPECT_NEAR(p.chart.turn(y), (seed % 2 == 0 ? 0.4 : 9) / std::sqrt(3.0), 1e-12);
    const Matrix3X bend = p.chart.bend(p.q, y), end = p.chart.retract(p.q, y);
    const Vector4 weights = 3 * p.columns(2).reshaped().head<4>();  // a point that is carried along
    double largest = 0;
    for (int i = 1; i < 20; ++i) {
      const double t = i / 20.0;
      const Matrix3X off = p.chart.retract(p.q, t * y) - (1 - t) * p.q - t * end;
      EXPECT_TRUE((off.colwise().norm().array() <= bend.colwise().norm().array() / 8 + 1e-14).all());
      EXPECT_LE((off * weights).norm(), (bend * weights).norm() / 8 + 1e-14);
      largest = std::max(largest, (off * weights).norm());
    }
    if (seed % 2 == 0) {
      EXPECT_GT(largest, 0.98 * (bend * weights).norm() / 8) << "and it is no waste";
    }
  }
}

TEST(RigidChart, NodesStayOnTheRotationsForAMillionIterates) {
  Placed p(1);
  const Matrix3X y = 1e-3 * p.columns(2);
  Matrix3X q = p.q;
  for (int i = 0; i < 1000000; ++i) {
    q = p.chart.retract(q, y);
    q.colwise() -= Vector3(q.rowwise().mean());
  }
  const Matrix3 rotation = q * ControlTetrahedron::directions().transpose() / (4 * p.control.arm);
  EXPECT_LT((rotation.transpose() * rotation - Matrix3::Identity()).norm(), 1e-14);
}

TEST(RigidChart, FreeMotionKeepsAngularMomentumAndEnergyWhateverTheTime) {
  const Mesh mesh = generate::box({0.3, 0.1, 0.2}, {1, 1, 1});
  const Body body = make_rigid("b", mesh, mass_distribution(mesh, 1000));
  const auto& chart = static_cast<const RigidChart&>(*body.chart);
  const Vector3 spin(0.2, -0.1, 9);  // near the intermediate axis
  const Matrix3X r = body.nodes;
  const double turn = r.col(0).norm();
  Matrix3X rates(3, 2);
  rates << Vector3(1, 2, 3), turn * spin;
  const auto inertia_at = [&](const Matrix3X& q) -> Matrix3 {
    const Matrix3X arms = q.colwise() - Vector3(q.rowwise().mean());
    const Matrix3 s = arms * body.mass * arms.transpose();
    return s.trace() * Matrix3::Identity() - s;
  };
  const Vector3 momentum = inertia_at(r) * spin;
  const double energy = 0.5 * spin.dot(momentum);
  // A fine step of the equations of motion, for comparison.
  Matrix3X fine = r;
  const double time = 0.7;
  for (int i = 0; i < 20000; ++i) {
    const double h = time / 20000;
    const auto rates_at = [&](const Matrix3X& q) {
      Matrix3X result(3, 2);
      result << Vector3(1, 2, 3), turn * (inertia_at(q).inverse() * momentum);
      return result;
    };
    fine = chart.retract(fine, h * rates_at(chart.retract(fine, h / 2 * rates_at(fine))));
  }
  const Matrix3X free = chart.free_motion(r, rates, body.mass, time);
  EXPECT_LT((free - fine).norm(), 1e-7);
  const Vector3 w = inertia_at(free).inverse() * momentum;
  EXPECT_NEAR(0.5 * w.dot(momentum), energy, 1e-8 * energy);
}

}  // namespace
}  // namespace apart::test
