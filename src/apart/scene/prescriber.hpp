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

/// Prescribes the parts of one body, and refuses to give one coordinate two different motions at a time.
class Prescriber {
 public:
  Prescriber(Body& body, const PlacedMesh& placed, const Clock& clock);
  void whole(const MotionDescription& motion);
  void part(const FixedDescription& fixed);

 private:
  struct Owner {
    std::string path;    ///< who prescribes
    std::string motion;  ///< how, as text
    TimeRange when;
  };
  /// What is prescribed, how and when.
  struct Request {
    const Place& who;
    const MotionDescription* motion;  ///< null: held
    TimeRange when;
  };
  void give(const Request& request, PointSet points, std::array<bool, 3> axes);

  Body& body_;
  PlacedMesh placed_;
  Clock clock_;
  Vector3 center_;
  std::vector<Owner> owners_;
  std::vector<std::vector<int>> taken_;  ///< per coordinate (3 · node + axis): its owners
};

}  // namespace apart
