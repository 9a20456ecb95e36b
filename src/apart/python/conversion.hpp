#pragma once
// Values between Python and C++. Arrays of points are (n, 3) and C-contiguous in numpy, which is how the
// columns of a 3 × n matrix lie in memory; so results are handed over without a copy. Every function that
// takes an object of Python throws InputError "name: got ..., must be ...; remedy" for other types and
// shapes, and for numbers that are not finite.
#include <apart/core/error.hpp>
#include <apart/core/types.hpp>
#include <apart/geometry/squared_distance.hpp>
#include <apart/io/located_json.hpp>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <optional>
#include <string>
#include <string_view>

namespace apart::python {

namespace py = pybind11;

/// (n, 3) → 3 × n [m]. `count`: the n that it must have.
Matrix3X points_of(const py::object& value, std::string_view name, std::optional<Index> count = {});
/// n numbers.
VectorX numbers_of(const py::object& value, std::string_view name, std::optional<Index> count = {});
/// A finite number.
double number_of(const py::object& value, std::string_view name);
int whole_number_of(const py::handle& value, std::string_view name);
Vector3 vector_of(const py::object& value, std::string_view name);
/// (n, width) whole numbers from 0 to less than `points` → width × n. None: n = 0.
Eigen::MatrixXi cells_of(const py::object& value, std::string_view name, Index width, Index points);
/// n whole numbers, at least 0.
std::vector<int> integers_of(const py::object& value, std::string_view name, std::optional<Index> count = {});

/// JSON of None, bool, numbers, text, lists, tuples, dictionaries and numpy arrays; of other objects what
/// their method `to_dict()` returns. `path` in messages.
JsonValue json_of(const py::handle& value, const std::string& path);

/// An array that owns what it shows: (n, 3), (n,) and (n, width).
py::array owned(Matrix3X&& points);
py::array owned(VectorX&& numbers);
py::array owned(Eigen::MatrixXi&& cells);
/// Arrays that show memory of the object `owner`, which they keep alive; they cannot be written.
py::array shown(const Matrix3X& points, const py::object& owner);
py::array shown(const VectorX& numbers, const py::object& owner);
py::array shown(const Eigen::VectorXi& numbers, const py::object& owner);
py::array shown_cells(const int* data, py::ssize_t count, py::ssize_t width, const py::object& owner);
template <int width>
py::array shown(const Eigen::Matrix<int, width, Eigen::Dynamic>& cells, const py::object& owner) {
  return shown_cells(cells.data(), cells.cols(), width, owner);
}

/// "point_triangle" and so on.
PairKind pair_kind_of(const std::string& name);
std::string_view name_of_kind(PairKind kind);

}  // namespace apart::python
