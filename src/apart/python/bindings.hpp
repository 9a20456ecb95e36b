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

}  // namespace apart::python
