// Joints between bodies, what they leave free, and what drives them.
#include <apart/scene/catalog_parts.hpp>

namespace apart::catalog_parts {

namespace {

/// The units of a freedom: of its coordinate, its force, and what follows from the two.
struct FreedomUnits {
  std::string_view coordinate, speed, force, stiffness, damping, largest;
};
constexpr FreedomUnits of_angle{"degrees", "degrees/s", "N m", "N m/rad", "N m s/rad", "max_torque"};
constexpr FreedomUnits of_position{"m", "m/s", "N", "N/m", "N s/m", "max_force"};

template <bool is_angle>
Group motors() {
  using Speed = VelocityMotor<is_angle>;
  using Place = PositionMotor<is_angle>;
  constexpr FreedomUnits units = is_angle ? of_angle : of_position;
  const Key largest{units.largest, number(positive), units.force, Key::optional,
                    "what it can exert at most; not given: whatever is needed"};
  return {Speed::group,
          "Drives a joint. A number, a formula in t [s], or a list of [t, value] with straight lines between "
          "them, constant before and after.",
          {with_key<Speed>("holds a speed", {{{"velocity", number_or_formula(), units.speed, Key::required,
                                               "of the first body against the second"},
                                              &Speed::target},
                                             {largest, &Speed::largest}}),
           with_key<Place>("goes to a place and holds it",
                           {{{"position", number_or_formula(), units.coordinate, Key::required,
                              "of the first body against the second, 0 when the joint begins"},
                             &Place::target},
                            {largest, &Place::largest}})}};
}

template <bool is_angle>
Group freedoms(std::string_view summary) {
  using T = FreedomDescription<is_angle>;
  constexpr FreedomUnits units = is_angle ? of_angle : of_position;
  return record<T>(
      summary,
      {{{"limits", tuple(number(), 2), units.coordinate, Key::optional,
         "smallest and largest value; 0 lies between them; not given: none"},
        &T::limits},
       {{"friction", number(not_negative), units.force, "0", "of dry friction, while it moves"},
        &T::friction},
       {{"stiffness", number(not_negative), units.stiffness, "0", "of a spring"}, &T::stiffness},
       {{"rest", number(), units.coordinate, "0", "where the spring is relaxed"}, &T::rest},
       {{"damping", number(not_negative), units.damping, "0", "force against motion, by its speed"},
        &T::damping},
       {{"motor", object(is_angle ? "angle_motor" : "position_motor"), "", Key::optional, "drives it"},
        &T::motor}});
}

}  // namespace

Group joints() {
  const Key type{"type", text(), "", Key::required, "which kind of joint"};
  const Key name{"name", text(), "", Key::optional, "for messages and probes; not given: type and position"};
  const Key bodies{"bodies", list(text(), 1, 2), "", Key::required,
                   "the body that is held, and what holds it: another body, or the world if there is none"};
  const Key at{"at", vector(), "m", Key::required,
               "where the joint is when the bodies are as placed, in world coordinates"};
  const Key at_second{
      "at_second", vector(), "m", Key::optional,
      "the point of the second body, if it is not quite in the same place; the joint closes in "
      "the first step"};
  const Key contact{"contact", boolean(), "", "true",
                    "false: the two bodies never touch each other, also after the joint has ended or broken"};
  const Key breaking_force{"breaking_force", number(positive), "N", Key::optional,
                           "it breaks at the end of a step in which it carries more; not given: never"};
  const Key breaking_torque{"breaking_torque", number(positive), "N m", Key::optional,
                            "the same for the torque about `at`"};
  const Key axis{"axis", vector(), "", Key::required,
                 "direction when the bodies are as placed; any length but zero"};
  const Key angle{"angle", object("joint_angle"), "", "{}", "of the turn about the axis"};
  const Key position{"position", object("joint_position"), "", "{}", "of the motion along the axis"};
  const auto joint = [&]<class T>(std::string_view summary, const Keys<T>& own) {
    Keys<T> keys{type, {name, &T::name}, {bodies, &T::bodies}, {at, &T::at}};
    keys.insert(keys.end(), own.begin(), own.end());
    keys.insert(keys.end(), {{at_second, &T::at_second},
                             {contact, &T::contact},
                             {breaking_force, &T::breaking_force},
                             {breaking_torque, &T::breaking_torque}});
    return typed<T>(summary, with_times<T>(std::move(keys)));
  };
  return {
      "joint",
      "Holds a body to another or to the world. All but ball are for rigid and affine bodies. Angles and "
      "positions are those of the first body against the second, 0 when the joint begins. A joint that "
      "begins "
      "late takes the bodies as they are then; its point and axis are where the first body has carried them.",
      {joint.operator()<BallJoint>(
           "holds a point; the body turns about it",
           {{{"cone",
              number({0, 180, true, true}),
              "degrees",
              Key::optional,
              "largest angle between the axes of the two bodies; not given: any",
              {},
              {},
              "axis"},
             &BallJoint::cone},
            {{"axis",
              vector(),
              "",
              Key::optional,
              "of the cone, when the bodies are as placed",
              {},
              {},
              "cone"},
             &BallJoint::axis},
            {{"angle", object("ball_angle"), "", "{}", "of the turns about any axis"}, &BallJoint::angle}}),
       joint.operator()<HingeJoint>("holds an axis; the body turns about it",
                                    {{axis, &HingeJoint::axis}, {angle, &HingeJoint::angle}}),
       joint.operator()<SliderJoint>("the body moves along an axis and does not turn",
                                     {{axis, &SliderJoint::axis}, {position, &SliderJoint::position}}),
       joint.operator()<CylinderJoint>("the body moves along an axis and turns about it",
                                       {{axis, &CylinderJoint::axis},
                                        {angle, &CylinderJoint::angle},
                                        {position, &CylinderJoint::position}}),
       joint.operator()<FixedJoint>("the body keeps its place and orientation", {})}};
}

Group ball_angles() {
  using T = BallAngleDescription;
  return record<T>(
      "What acts on the turns of a ball joint, about any axis. Its bodies are rigid or affine, or one is the "
      "world.",
      {{{"friction", number(not_negative), of_angle.force, "0", "of dry friction, while it turns"},
        &T::friction},
       {{"stiffness", number(not_negative), of_angle.stiffness, "0",
         "of a spring that is relaxed when the joint begins; up to half a turn"},
        &T::stiffness},
       {{"damping", number(not_negative), of_angle.damping, "0", "torque against turning, by its speed"},
        &T::damping}});
}

Group joint_angles() {
  return freedoms<true>(
      "What acts on the turn of a joint about its axis, counter-clockwise seen against it.");
}
Group joint_positions() {
  return freedoms<false>("What acts on the motion of a joint along its axis.");
}
Group angle_motors() {
  return motors<true>();
}
Group position_motors() {
  return motors<false>();
}

}  // namespace apart::catalog_parts
