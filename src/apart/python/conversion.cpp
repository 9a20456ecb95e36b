#include <apart/python/conversion.hpp>

#include <array>
#include <cmath>

namespace apart::python {

namespace {

constexpr std::array<std::string_view, 4> kind_names = {"point_point", "point_edge", "point_triangle",
                                                        "edge_edge"};
constexpr int deepest_json = 100;

std::string shape_of(const py::array& array) {
  return py::str(array.attr("shape"));
}

std::string type_name(const py::handle& value) {
  return py::str(py::type::handle_of(value).attr("__name__"));
}

/// Entries that a mask hides would become points and indices.
void refuse_masked(const py::handle& value, std::string_view name) {
  if (py::hasattr(value, "mask") && py::module_::import("numpy.ma").attr("is_masked")(value).cast<bool>())
    throw InputError(
        "{}: got an array with masked entries; take the others with .compressed(), or fill them with "
        ".filled(value)",
        name);
}

/// As an array of doubles, whatever its shape.
py::array_t<double> doubles_of(const py::object& value, std::string_view name) {
  refuse_masked(value, name);
  const auto array = py::array::ensure(value);
  const char kind = array ? array.dtype().kind() : 'O';
  if (!array || (kind != 'f' && kind != 'i' && kind != 'u')) {
    PyErr_Clear();
    throw InputError(
        "{}: got {}, must be an array of numbers; convert it with numpy.asarray(..., dtype=float)", name,
        array ? fmt::format("an array of {}", std::string(py::str(array.dtype()))) : type_name(value));
  }
  auto result = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!result) throw py::error_already_set();
  return result;
}

void ensure_finite(const py::array_t<double>& array, std::string_view name) {
  const double* data = array.data();
  const py::ssize_t width = array.ndim() > 1 ? array.size() / std::max<py::ssize_t>(array.shape(0), 1) : 1;
  for (py::ssize_t i = 0; i < array.size(); ++i)
    if (!std::isfinite(data[i]))
      throw InputError("{}: got {} in row {}, must be finite; find such rows with numpy.isfinite", name,
                       data[i], i / width);
}

void ensure_count(const py::array& array, std::string_view name, std::optional<Index> count) {
  if (array.shape(0) > std::numeric_limits<Index>::max())
    throw InputError("{}: got {} rows, must be at most {}; use fewer", name, array.shape(0),
                     std::numeric_limits<Index>::max());
  if (count && array.shape(0) != *count)
    throw InputError("{}: got an array of shape {}, must have {} rows; give one for each point", name,
                     shape_of(array), *count);
}

py::array_t<std::int64_t> whole_numbers(const py::object& value, std::string_view name) {
  refuse_masked(value, name);
  auto array = py::array::ensure(value);
  const char kind = array ? array.dtype().kind() : 'O';
  if (!array || (kind != 'i' && kind != 'u' && array.size() > 0)) {
    PyErr_Clear();
    throw InputError(
        "{}: got {}, must be an array of whole numbers; convert it with .astype(int)", name,
        array ? fmt::format("an array of {}", std::string(py::str(array.dtype()))) : type_name(value));
  }
  return py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(array);
}

int small(std::int64_t number, std::string_view name, py::ssize_t row, std::int64_t points) {
  if (number < 0 || number >= points)
    throw InputError("{}: got {} in row {}, must be from 0 to {}; count from 0", name, number, row,
                     points - 1);
  return int(number);
}

}  // namespace

Matrix3X points_of(const py::object& value, std::string_view name, std::optional<Index> count) {
  const py::array_t<double> array = doubles_of(value, name);
  if (array.ndim() != 2 || array.shape(1) != 3)
    throw InputError("{}: got an array of shape {}, must be (n, 3); give one row x, y, z for each point",
                     name, shape_of(array));
  ensure_count(array, name, count);
  ensure_finite(array, name);
  const Eigen::Map<const Matrix3X> points(array.data(), 3, array.shape(0));
  // Products of four lengths must be finite.
  if (constexpr double most = 1e70; points.size() > 0 && points.cwiseAbs().maxCoeff() > most)
    throw InputError("{}: got {}, must be at most {} [m]; choose another unit of length", name,
                     points.cwiseAbs().maxCoeff(), most);
  return points;
}

VectorX numbers_of(const py::object& value, std::string_view name, std::optional<Index> count) {
  const py::array_t<double> array = doubles_of(value, name);
  if (array.ndim() != 1)
    throw InputError("{}: got an array of shape {}, must be (n,); flatten it with .ravel()", name,
                     shape_of(array));
  ensure_count(array, name, count);
  ensure_finite(array, name);
  return Eigen::Map<const VectorX>(array.data(), array.shape(0));
}

double number_of(const py::object& value, std::string_view name) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred()) {
    PyErr_Clear();
    throw InputError("{}: got an object of type {}, must be a number", name,
                     std::string(py::str(py::type::of(value).attr("__name__"))));
  }
  if (!std::isfinite(number)) throw InputError("{}: got {}, must be finite", name, number);
  return number;
}

int whole_number_of(const py::handle& value, std::string_view name) {
  int overflow = 0;
  const bool whole = PyIndex_Check(value.ptr()) && !PyBool_Check(value.ptr());
  const auto index = py::reinterpret_steal<py::object>(whole ? PyNumber_Index(value.ptr()) : nullptr);
  const long number = index ? PyLong_AsLongAndOverflow(index.ptr(), &overflow) : 0;
  if (!index || overflow != 0 || number != long(int(number))) {
    PyErr_Clear();
    throw InputError("{}: got {}, must be a whole number", name, std::string(py::repr(value)));
  }
  return int(number);
}

Vector3 vector_of(const py::object& value, std::string_view name) {
  const VectorX v = numbers_of(value, name);
  if (v.size() != 3) throw InputError("{}: got {} numbers, must be 3; give x, y, z", name, v.size());
  return v;
}

Eigen::MatrixXi cells_of(const py::object& value, std::string_view name, Index width, Index points) {
  if (value.is_none()) return Eigen::MatrixXi(width, 0);
  const auto array = whole_numbers(value, name);
  if (array.size() == 0) return Eigen::MatrixXi(width, 0);
  if (array.ndim() != 2 || array.shape(1) != width)
    throw InputError(
        "{}: got an array of shape {}, must be (n, {}); give one row of {} indices of points for each cell",
        name, shape_of(array), width, width);
  ensure_count(array, name, {});
  Eigen::MatrixXi result(width, array.shape(0));
  for (py::ssize_t i = 0; i < array.size(); ++i)
    result.data()[i] = small(array.data()[i], name, i / width, points);
  return result;
}

std::vector<int> integers_of(const py::object& value, std::string_view name, std::optional<Index> count) {
  const auto array = whole_numbers(value, name);
  if (array.ndim() != 1)
    throw InputError("{}: got an array of shape {}, must be (n,); flatten it with .ravel()", name,
                     shape_of(array));
  ensure_count(array, name, count);
  std::vector<int> result(std::size_t(array.shape(0)));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = small(array.data()[i], name, py::ssize_t(i), std::numeric_limits<int>::max());
  return result;
}

namespace {

JsonValue json_of(const py::handle& value, const std::string& path, int depth);

/// Of an array: lists of lists.
JsonValue array_json(const py::array& array, const std::string& path) {
  refuse_masked(array, path);
  const char kind = array.dtype().kind();
  if (kind != 'f' && kind != 'i' && kind != 'u')
    return json_of(array.attr("tolist")(), path, 0);  // of texts, truth values or objects
  const auto numbers = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!numbers) throw py::error_already_set();
  const double* next = numbers.data();
  for (py::ssize_t i = 0; i < numbers.size(); ++i)
    if (!std::isfinite(next[i]))
      throw InputError("{}: got {}, must be finite; find such entries with numpy.isfinite", path, next[i]);
  const auto level = [&](const auto& self, py::ssize_t axis) -> JsonValue {
    if (axis == numbers.ndim()) return JsonValue(*next++);
    JsonValue::Array items;
    items.reserve(std::size_t(numbers.shape(axis)));
    for (py::ssize_t i = 0; i < numbers.shape(axis); ++i) items.push_back(self(self, axis + 1));
    return JsonValue(std::move(items));
  };
  return level(level, 0);
}

JsonValue number_json(const py::handle& value, const std::string& path) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred()) throw py::error_already_set();
  if (!std::isfinite(number))
    throw InputError("{}: got {}, must be finite; give another number", path, number);
  return JsonValue(number);
}

JsonValue json_of(const py::handle& value, const std::string& path, int depth) {
  if (depth > deepest_json)
    throw InputError("{}: has more than {} levels; a list or dictionary may contain itself", path,
                     deepest_json);
  if (value.is_none()) return {};
  if (PyBool_Check(value.ptr())) return JsonValue(value.ptr() == Py_True);
  if (PyUnicode_Check(value.ptr())) return JsonValue(value.cast<std::string>());
  if (py::isinstance<py::array>(value)) return array_json(py::reinterpret_borrow<py::array>(value), path);
  if (PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr())) return number_json(value, path);
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    JsonValue::Array items;
    for (const py::handle item : value)
      items.push_back(json_of(item, item_path(path, items.size()), depth + 1));
    return JsonValue(std::move(items));
  }
  if (PyDict_Check(value.ptr())) {
    JsonValue::Object members;
    for (const auto& [key, member] : py::reinterpret_borrow<py::dict>(value)) {
      if (!PyUnicode_Check(key.ptr()))
        throw InputError("{}: has a key of type {}, must be text; write the key in quotes", path,
                         type_name(key));
      const auto name = key.cast<std::string>();
      members.emplace_back(name, json_of(member, member_path(path, name), depth + 1));
    }
    return JsonValue(std::move(members));
  }
  if (py::hasattr(value, "to_dict")) return json_of(value.attr("to_dict")(), path, depth + 1);
  if (py::hasattr(value, "__fspath__")) return JsonValue(value.attr("__fspath__")().cast<std::string>());
  if (py::hasattr(value, "item")) return json_of(value.attr("item")(), path, depth + 1);  // a scalar of numpy
  throw InputError(
      "{}: got an object of type {}, must be a number, text, list, dictionary, array or part of a scene; "
      "convert it",
      path, type_name(value));
}

template <class Matrix>
py::array owned_array(Matrix&& matrix, const std::vector<py::ssize_t>& shape) {
  using Plain = std::remove_reference_t<Matrix>;
  auto* held = new Plain(std::move(matrix));
  const py::capsule owner(held, [](void* p) { delete static_cast<Plain*>(p); });
  return py::array_t<typename Plain::Scalar>(shape, held->data(), owner);
}

template <class Scalar>
py::array shown_array(const Scalar* data, const std::vector<py::ssize_t>& shape, const py::object& owner) {
  py::array_t<Scalar> array(shape, data, owner);
  array.attr("flags").attr("writeable") = false;
  return std::move(array);
}

}  // namespace

JsonValue json_of(const py::handle& value, const std::string& path) {
  return json_of(value, path, 0);
}

py::array owned(Matrix3X&& points) {
  const py::ssize_t n = points.cols();
  return owned_array(std::move(points), {n, 3});
}
py::array owned(VectorX&& numbers) {
  const py::ssize_t n = numbers.size();
  return owned_array(std::move(numbers), {n});
}
py::array owned(Eigen::MatrixXi&& cells) {
  const py::ssize_t n = cells.cols(), width = cells.rows();
  return owned_array(std::move(cells), {n, width});
}
py::array shown(const Matrix3X& points, const py::object& owner) {
  return shown_array(points.data(), {points.cols(), 3}, owner);
}
py::array shown(const VectorX& numbers, const py::object& owner) {
  return shown_array(numbers.data(), {numbers.size()}, owner);
}
py::array shown(const Eigen::VectorXi& numbers, const py::object& owner) {
  return shown_array(numbers.data(), {numbers.size()}, owner);
}
py::array shown_cells(const int* data, py::ssize_t count, py::ssize_t width, const py::object& owner) {
  return shown_array(data, {count, width}, owner);
}

PairKind pair_kind_of(const std::string& name) {
  for (std::size_t i = 0; i < kind_names.size(); ++i)
    if (kind_names[i] == name) return PairKind(i);
  throw InputError("kind: got '{}', must be one of {}", name, fmt::join(kind_names, ", "));
}

std::string_view name_of_kind(PairKind kind) {
  return kind_names[std::size_t(kind)];
}

}  // namespace apart::python
