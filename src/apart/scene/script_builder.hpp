#pragma once
#include <apart/bodies/body.hpp>
#include <apart/scene/body_description.hpp>
#include <apart/scene/selection.hpp>

namespace apart {

/// Times at which the run will ask for a motion.
struct Clock {
  double dt = 0;
  Index steps = 0;
};

/// Whether a step ends within a range, at any time before or after the run's end.
bool covers_a_step(const TimeRange& range, const Clock& clock);

/// Throws InputError if the range ends before it begins, or falls between two steps.
TimeRange make_time_range(const TimesDescription& times, const Clock& clock);

/// Throws InputError unless a motion begins where the points are, and stays finite.
void check_motion(const Place& place, const Motion& motion, const Matrix3X& points, const Clock& clock);

/// Adds the scripts of one body. Throws InputError if a coordinate would follow two different motions at a
/// time.
class ScriptBuilder {
 public:
  ScriptBuilder(Body& body, const PlacedMesh& placed, const Clock& clock);
  void whole(const MotionDescription& motion);
  void part(const FixedDescription& fixed);

 private:
  struct Owner {
    std::string path;    ///< of the scene, that gives it
    std::string motion;  ///< how, as text
    TimeRange when;
  };
  /// Which motion, given where in the scene, and when.
  struct Request {
    const Place& place;
    const MotionDescription* motion;  ///< null: held
    TimeRange when;
  };
  void add(const Request& request, PointSet points, std::array<bool, 3> axes);

  Body& body_;
  PlacedMesh placed_;
  Clock clock_;
  Vector3 center_;
  std::vector<Owner> owners_;
  std::vector<std::vector<int>> taken_;  ///< per coordinate (3 · node + axis): its owners
};

}  // namespace apart
