#pragma once
#include <apart/collision/candidate_cache.hpp>
#include <apart/collision/ccd.hpp>
#include <apart/python/bindings.hpp>

#include <memory>
#include <string>

namespace apart::python {

/// A collision surface for queries from Python.
struct CollisionMesh {
  CollisionSurface surface;
  std::string broad_phase;  ///< its name

  Matrix3X positions(const py::object& value, std::string_view name) const {
    return points_of(value, name, surface.vertex_count());
  }
  CandidateCache cache() const { return {make_broad_phase(broad_phase, surface), surface}; }
};

CcdMethod ccd_method_of(const std::string& name);

}  // namespace apart::python
