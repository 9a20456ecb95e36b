// The module apart._apart: the library as Python sees it.
#include <apart/core/diagnostics.hpp>
#include <apart/core/forked.hpp>
#include <apart/core/memory.hpp>
#include <apart/core/parallel.hpp>
#include <apart/python/bindings.hpp>
#include <apart/solver/dense_blas.hpp>

#include <pthread.h>

#include <filesystem>

namespace apart::python {

namespace {

bool forked = false;  // threads of the parent process do not exist in this one

void set_threads(const py::object& given) {
  const int n = whole_number_of(given, "set_threads");
  if (n < 0) throw InputError("set_threads: got {}, must not be negative; 0 means all cores", n);
  if (computations() > 0)
    throw InputError("set_threads: a computation is under way in another thread; wait until it has ended");
  if (forked && n != 1)
    throw InputError(
        "set_threads: got {}, must be 1 in a process that was forked: the threads of its parent do not exist "
        "in it; "
        "start processes with multiprocessing.get_context('spawn')",
        n);
  set_thread_count(n);
}

/// Python refuses to call the __new__ of a base for a class that has another one. This is another one.
PyObject* own_new(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  return reinterpret_cast<PyTypeObject*>(py::detail::get_internals().instance_base)
      ->tp_new(type, arguments, keywords);
}

}  // namespace

void forbid_bare_new(const py::module_& m) {
  for (const auto& [name, value] : py::dict(m.attr("__dict__")))
    if (PyType_Check(value.ptr()) && py::detail::get_type_info(reinterpret_cast<PyTypeObject*>(value.ptr())))
      reinterpret_cast<PyTypeObject*>(value.ptr())->tp_new = own_new;
}

int& computations() {
  static int count = 0;
  return count;
}

void bind_threads(py::module_& m) {
  m.def("set_threads", &set_threads, py::arg("n"),
        "Number of threads that computations use; 0: all cores. Changes no result.");
  m.def("threads", &thread_count, "Number of threads that computations use.");
  m.attr("version") = version();
  pthread_atfork(nullptr, nullptr, [] {
    forked = true;
    computations() = 0;
    forget_threads();
  });
}

}  // namespace apart::python

PYBIND11_MODULE(_apart, m) {
  using namespace apart;
  using namespace apart::python;
  m.doc() = "The library behind the package apart.";
  // The last that is registered is tried first: special ones after general ones.
  py::register_exception<InvariantError>(m, "InternalError", PyExc_RuntimeError);
  const auto solver_error = py::register_exception<SolverError>(m, "SolverError", PyExc_RuntimeError);
  py::register_exception<MemoryError>(m, "MemoryLimitError", solver_error.ptr());
  py::register_exception<InputError>(m, "InputError", PyExc_ValueError);
  py::register_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const std::filesystem::filesystem_error& e) {
      PyErr_SetString(PyExc_OSError, e.what());
    }
  });
  stop_blas_threads();
  set_thread_count(0);
  bind_threads(m);
  bind_scene(m);
  bind_frame(m);
  bind_simulation(m);
  bind_run(m);
  bind_pairs(m);
  bind_collision(m);
  bind_potentials(m);
  forbid_bare_new(m);
}
