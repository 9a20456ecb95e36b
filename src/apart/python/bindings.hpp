#pragma once
// The parts of the module _apart, which the package apart (python/) presents.
#include <apart/python/computing.hpp>
#include <apart/python/conversion.hpp>

namespace apart::python {

void bind_threads(py::module_& m);
void bind_scene(py::module_& m);
void bind_simulation(py::module_& m);
void bind_frame(py::module_& m);
void bind_run(py::module_& m);
void bind_pairs(py::module_& m);
void bind_collision(py::module_& m);
void bind_potentials(py::module_& m);

/// Makes X.__new__(X) an error for all classes of the module: without __init__ such an object has no content,
/// and its methods would read memory that is not there.
void forbid_bare_new(const py::module_& m);

}  // namespace apart::python
