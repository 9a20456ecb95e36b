// What the user is told about a step that could not be solved.
#include <apart/bodies/lagrange_volume.hpp>
#include <apart/geometry/generators.hpp>
#include <apart/simulation/diagnosis.hpp>

#include <gtest/gtest.h>
#include <simulation/solved_problem.hpp>
#include <support/curved_mesh.hpp>

namespace apart::test {
namespace {

Body of_degree(int displacement, int shape) {
  const Mesh box = generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), mesh = shape == 1 ? box : curved(box, shape);
  const CellSubstances cells{
      {{soft(), 1000}}, std::vector<Index>(std::size_t(mesh.tetrahedra.cols() + mesh.curved_count()), 0)};
  return make_volume(fmt::format("degree {} on {}", displacement, shape), mesh, cells,
                     LagrangeOptions{.degree = displacement});
}

/// One of every kind.
std::vector<Body> elastic_bodies() {
  const Mesh box = generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), sheet = generate::grid(0.2, 0.2, 2, 2);
  std::vector<Body> bodies = {make_volume("linear", box, soft(), 1000, MassKind::lumped),
                              of_degree(1, 2),
                              of_degree(2, 2),
                              of_degree(3, 1),
                              of_degree(4, 1),
                              make_affine("affine", box, soft(), 1000),
                              make_shell("shell", sheet, cotton()),
                              make_rod("rod", generate::segments(0.2, 4), {}, RestCurvature::mesh)};
  const Mesh plate = generate::rectangle({0.2, 0.2}, {1, 1});
  bodies.push_back(make_planar(
      "planar", plate, {{{soft(), 1000}}, std::vector<Index>(std::size_t(plate.faces.cols()), 0)}, {}));
  return bodies;
}

/// What is said where all bodies are squeezed to a share of their length along x.
std::string said_of(const std::vector<Body>& bodies, double share, std::vector<Index>* terms = nullptr) {
  SmallScene scene;
  scene.bodies = bodies;
  scene.contact.enabled = false;
  BegunStep step(scene);
  if (terms) {
    terms->clear();
    for (const ElasticPotential* p : step.problem.terms.elastic.potentials())
      terms->push_back(p->term_count());
  }
  Matrix3X squeezed = step.q;
  squeezed.row(0) *= share;
  NewtonResult failed;
  failed.failure = "nothing converged";
  return diagnose(step.problem, step.q, squeezed, failed);
}

TEST(Diagnosis, NamesTheWorstElementOfEveryKindOfElasticBody) {
  std::vector<Index> covered(ElasticParts::count, 0);
  for (const Body& body : elastic_bodies()) {
    SCOPED_TRACE(body.name);
    std::vector<Index> terms;
    const std::string text = said_of({body}, 0.5, &terms);
    for (std::size_t k = 0; k < terms.size(); ++k) covered[k] += terms[k];
    EXPECT_NE(text.find(fmt::format("of '{}'", body.name)), std::string::npos) << text;
    EXPECT_NE(text.find("0.5"), std::string::npos) << "stretched by a half: " << text;
    EXPECT_NE(text.find("nothing converged"), std::string::npos) << text;
  }
  for (std::size_t k = 0; k < covered.size(); ++k)
    EXPECT_GT(covered[k], 0) << "no body here has terms of elastic potential " << k << ": add one";
}

TEST(Diagnosis, ComparesElementsOfAllPotentialsAndCountsThemWithinTheirBody) {
  std::vector<Body> bodies = elastic_bodies();
  const std::string what = "Most compressed element: ",
                    text = said_of({bodies[0], bodies[3], bodies[2]}, 0.5);
  EXPECT_EQ(text.find(what), text.rfind(what)) << "one of all that are squeezed alike: " << text;
  SmallScene scene;
  scene.bodies = {bodies[0], bodies[3]};
  scene.contact.enabled = false;
  BegunStep step(scene);
  Matrix3X q = step.q;
  const Index first = step.model->first_node[1];
  q.row(0).rightCols(q.cols() - first) *= 0.25;
  NewtonResult failed;
  const std::string worse = diagnose(step.problem, step.q, q, failed);
  EXPECT_NE(worse.find("of 'degree 3 on 1', volume ratio 0.25"), std::string::npos) << worse;
  const auto at = worse.find(what);
  ASSERT_NE(at, std::string::npos);
  const int cell = std::stoi(worse.substr(at + what.size()));
  EXPECT_GE(cell, 0);
  EXPECT_LT(cell, bodies[3].elastic->nodes.cols()) << "counted within its body";
}

TEST(Diagnosis, SaysWhereARodIsFoldedMost) {
  const std::vector<Body> bodies = elastic_bodies();
  SmallScene scene;
  scene.bodies = {bodies[7]};
  scene.contact.enabled = false;
  BegunStep step(scene);
  Matrix3X q = step.q;
  q.col(2) += Vector3(0, 0.05, 0);  // of segments of 0.05: up and down by 45°, and a bend by 90° in between
  NewtonResult failed;
  const std::string text = diagnose(step.problem, step.q, q, failed);
  EXPECT_NE(text.find("Sharpest bend: at node 2 of 'rod', by 90 degrees"), std::string::npos) << text;
  EXPECT_NE(text.find("Most strained segment: 1 of 'rod', stretched by 1.41421"), std::string::npos) << text;
}

TEST(Diagnosis, NamesTheClosestPairAndTheChangeOfEnergies) {
  SmallScene scene;
  scene.bodies = {make_volume("box", moved(generate::box({0.2, 0.2, 0.2}, {1, 1, 1}), {0, 0.1005, 0}), soft(),
                              1000, MassKind::lumped),
                  make_half_space("ground", Vector3::Zero(), Vector3::UnitY())};
  BegunStep step(scene);
  Matrix3X q = step.q;
  q.row(1).array() -= 2e-4;
  const std::string text = diagnose(step.problem, step.q, q, {});
  EXPECT_NE(text.find("Closest pair: 'box' and 'ground' (point and plane), 0.0003 m apart"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("contact by "), std::string::npos) << text;
  EXPECT_EQ(step.problem.objective.coordinates(), q) << "left where it was asked about";
}

}  // namespace
}  // namespace apart::test
