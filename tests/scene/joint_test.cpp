// Joints of scene files: what becomes of them, and what is refused with which words.
#include <apart/scene/scene_builder.hpp>

#include <gtest/gtest.h>
#include <support/input_error.hpp>

namespace apart::test {
namespace {

std::string jointed_body(const std::string& type, const std::string& name, double x,
                         const std::string& others = "") {
  return fmt::format(R"({{"type": "{}", "name": "{}", "mesh": {{"generator": "box", "size": [0.2, 0.2, 0.2]}},
                          "transform": {{"translate": [{}, 0, 0]}}{}}})",
                     type, name, x, others);
}

/// Two boxes, a and b, 0.5 m apart, a soft one, an obstacle and a plane.
Scene with_joints(const std::string& joints, const std::string& others = "") {
  const std::string bodies =
      jointed_body("rigid", "a", 0) + "," + jointed_body("affine", "b", 0.5) + "," +
      jointed_body("volume", "jelly", 2) + "," + jointed_body("obstacle", "rock", 3) + "," +
      jointed_body("rigid", "copies", 5, R"(, "array": {"counts": [3, 1, 1], "spacing": [1, 0, 0]})") + "," +
      jointed_body("rigid", "driven", 4, R"(, "motion": {"translate": [0, "t", 0]})") +
      R"(, {"type": "half_space", "name": "ground", "origin": [0, -5, 0]})";
  return build_scene(parse_scene(
      fmt::format(
          R"({{"version": 1, "time": {{"dt": 0.01, "steps": 10{}}}, "bodies": [{}], "joints": [{}]}})",
          others, bodies, joints),
      "scene.json", "."));
}

TEST(JointScene, MakesWhatIsWritten) {
  const Scene scene = with_joints(
      R"({"type": "cylinder", "bodies": ["a", "b"], "at": [0.25, 0, 0], "axis": [0, 0, 2], "breaking_force": 10,
          "contact": false, "until": 0.05,
          "angle": {"limits": [-90, 180], "friction": 0.5, "motor": {"velocity": 90, "max_torque": 3}},
          "position": {"stiffness": 7, "rest": 0.1, "damping": 2,
                       "motor": {"position": [[0.02, 1], [0.04, 3]]}}},
         {"type": "ball", "name": "hook", "bodies": ["jelly", "a"], "at": [1.9, 0.03, 0.02], "from": 0.02})");
  ASSERT_EQ(scene.model->joints.size(), 2u);
  const Joint& c = scene.model->joints[0];
  EXPECT_EQ(c.name, "cylinder0");
  EXPECT_EQ(c.kind, JointKind::cylinder);
  EXPECT_EQ(c.axis, Vector3::UnitZ());
  EXPECT_NEAR(c.arm, 0.5 * std::sqrt(3.0) * 0.2, 1e-12);
  EXPECT_NEAR(c.about.lower, -std::acos(0.0), 1e-12);
  EXPECT_NEAR(c.about.upper, std::acos(-1.0), 1e-12);
  EXPECT_EQ(c.about.friction, 0.5);
  EXPECT_TRUE(c.about.motor->drives_speed);
  EXPECT_NEAR(c.about.motor->target(0), std::acos(0.0), 1e-12);
  EXPECT_EQ(c.about.motor->largest_force, 3);
  EXPECT_EQ(c.along.stiffness, 7);
  EXPECT_EQ(c.along.rest, 0.1);
  EXPECT_EQ(c.along.damping, 2);
  EXPECT_FALSE(c.along.motor->drives_speed);
  EXPECT_NEAR(c.along.motor->target(0.01), 1, 1e-12);
  EXPECT_NEAR(c.along.motor->target(0.03), 2, 1e-12);
  EXPECT_NEAR(c.along.motor->target(1), 3, 1e-12);
  EXPECT_EQ(c.largest_force, 10);
  EXPECT_EQ(c.when.until, 0.05);
  EXPECT_FALSE(scene.model->surface.pairs(0, 1).enabled);
  const Joint& hook = scene.model->joints[1];
  EXPECT_TRUE(hook.begins_late());
  EXPECT_TRUE(scene.model->surface.pairs(0, 2).enabled);
  EXPECT_NEAR(hook.sides[0].weights.sum(), 1, 1e-12);
  EXPECT_LT((hook.sides[0].pivot - Vector3(1.9, 0.03, 0.02)).norm(), 1e-12) << "a point of the surface";
}

TEST(JointScene, RefusesWhatCannotBe) {
  const auto hinge = [](const std::string& others) {
    return R"({"type": "hinge", "at": [0.25, 0, 0], "axis": [0, 0, 1], )" + others + "}";
  };
  const auto angle = [&](const std::string& what) {
    return hinge(R"("bodies": ["a", "b"], "angle": {)" + what + "}");
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {hinge(R"("bodies": ["a", "jely"])"),
       R"(joints[0].bodies[1]: got "jely", which is not a body; did you mean "jelly"?)"},
      {hinge(R"("bodies": ["a", "the world"])"),
       R"(joints[0].bodies[1]: got "the world", which is not a body; use the name of one; to hold a body to the world, name it alone)"},
      {hinge(R"("bodies": ["a", "*"])"),
       R"(joints[0].bodies[1]: got "*", but a joint holds one body to one other; name them, or one alone to hold it to the world)"},
      {hinge(R"("bodies": ["a", "a"])"), "has 'a' twice"},
      {hinge(R"("bodies": ["copies"])"), R"(stands for 3 bodies; name one of them, such as "copies.0")"},
      {hinge(R"("bodies": ["a", "ground"])"), "'ground' is a half-space"},
      {hinge(R"("bodies": ["a", "rock"])"), "'rock' is an obstacle; make it a rigid body with a motion"},
      {hinge(R"("bodies": ["a", "jelly"])"), "'jelly' is soft: a point of it has no orientation"},
      {hinge(R"("bodies": ["driven"])"), "has no body that can move freely"},
      {R"({"type": "ball", "at": [3, 0, 0], "bodies": ["rock"]})", "has no body that can move freely"},
      {R"({"type": "ball", "at": [2.5, 0, 0], "bodies": ["jelly"]})",
       "joints[0].at: is 0.4 m from the nearest point"},
      {R"({"type": "ball", "at": [2.1, 0, 0], "bodies": ["a", "jelly"], "from": 0.02})", "exchange the two"},
      {R"({"type": "hinge", "at": [0, 0, 0], "axis": [0, 0, 0], "bodies": ["a"]})",
       "joints[0].axis: got [0, 0, 0]"},
      {R"({"type": "ball", "at": [0, 0, 0], "cone": 30, "bodies": ["a"]})", "has no effect without 'axis'"},
      {R"({"type": "ball", "at": [0, 0, 0], "bodies": ["a"], "position": {}})",
       "joints[0].position: unknown key"},
      {R"({"type": "ball", "at": [0, 0, 0], "bodies": ["a"], "angle": {"limits": [-1, 1]}})",
       "joints[0].angle.limits: unknown key"},
      {R"({"type": "ball", "at": [0, 0, 0], "bodies": ["a"], "angle": {"friction": -1}})",
       "joints[0].angle.friction"},
      {R"({"type": "ball", "at": [2.1, 0, 0], "bodies": ["a", "jelly"], "angle": {"friction": 1}})",
       "joints[0].angle: acts on turns, but 'jelly' is soft"},
      {hinge(R"("bodies": ["a", "b"], "at_second": [0.35, 0, 0])"), "leaves the joint open by 0.1 m"},
      {hinge(R"("bodies": ["a"], "at_second": [0.35, 0, 0])"), "is of a second body"},
      {hinge(R"("bodies": ["a", "b"], "at_second": [0.25, 0, 0], "from": 0.02)"), "begins late"},
      {hinge(R"("bodies": ["a"], "contact": false)"), "joints[0].contact: is about two bodies"},
      {angle(R"("limits": [10, -10])"), "the first must be less than the second"},
      {angle(R"("limits": [10, 20])"), "must contain 0"},
      {angle(R"("motor": {"velocity": "x"})"), "must not use x"},
      {angle(R"x("motor": {"velocity": "1/(t - 0.03)"})x"), "is not finite at t = 0.03 s"},
      {angle(R"("motor": {"velocity": 36000})"), "turns the joint by 360 degrees in a step of 0.01 s"},
      {angle(R"("motor": {"position": [[1, 0], [0, 3]]})"), "must be later than the one before"},
      {angle(R"("motor": {"position": 3, "velocity": 3})"), "unknown key"},
      {hinge(R"("name": "x", "bodies": ["a"])") + "," + hinge(R"("name": "x", "bodies": ["b"])"),
       "the name of another joint"},
      {angle(R"("motor": {"velocity": 90})") + "," + angle(R"("motor": {"velocity": -90})"),
       "joints[0]: has a motor that cannot follow its target"},
      {hinge(R"("bodies": ["a", "b"], "angle": {"motor": {"velocity": 90}})") +
           R"(, {"type": "fixed", "bodies": ["b", "a"], "at": [0.25, 0, 0]})",
       "joints[0]: has a motor that cannot follow its target"}};
  for (const auto& [joints, words] : cases) {
    const std::string message = message_of([&joints = joints] { with_joints(joints); });
    EXPECT_NE(message.find(words), std::string::npos) << joints << "\n" << message;
    EXPECT_NE(message.find("scene.json:"), std::string::npos) << message;
  }
  for (const char* rule :
       {R"(, "integrator": "newmark")", R"(, "integrator": "generalized_alpha", "spectral_radius": 0.9)"})
    EXPECT_NE(
        message_of([&] { with_joints(hinge(R"("bodies": ["a"])"), rule); }).find("grow from step to step"),
        std::string::npos);
}

TEST(JointScene, TakesMotorsThatAgree) {
  // The same speed twice; and a motor that is too weak to contradict.
  const std::string drive = R"({"type": "hinge", "bodies": ["a"], "at": [0, 0, 0], "axis": [0, 0, 1],
                                "angle": {"motor": {"velocity": 90)";
  EXPECT_NO_THROW(with_joints(drive + "}}}," + drive + "}}}"));
  EXPECT_NO_THROW(with_joints(drive + "}}}," + R"({"type": "hinge", "bodies": ["a"], "at": [0, 0, 0],
    "axis": [0, 0, 1], "angle": {"motor": {"velocity": -90, "max_torque": 1}}})"));
}

}  // namespace
}  // namespace apart::test
