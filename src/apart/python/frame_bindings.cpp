#include <apart/io/frame.hpp>
#include <apart/io/run_frames.hpp>
#include <apart/python/bindings.hpp>
#include <apart/viewer/contact_reach.hpp>
#include <apart/viewer/point_field.hpp>
#include <apart/viewer/render.hpp>

#include <nlohmann/json.hpp>

#include <memory>

namespace apart::python {

namespace {

/// A property that shows a member of the frame.
template <auto Member>
py::array member(const py::object& self) {
  return shown(self.cast<const Frame&>().*Member, self);
}
template <auto Member>
py::array mesh_member(const py::object& self) {
  return shown(self.cast<const Frame&>().mesh.*Member, self);
}

/// Where points are in the frame that displacements are measured from.
Matrix3X start_points(const py::object& start) {
  if (start.is_none()) return {};
  if (!py::isinstance<Frame>(start)) throw InputError("start: must be a Frame, the first one of the run");
  return start.cast<const Frame&>().mesh.points;
}

std::string text_of(const py::object& value, std::string_view name) {
  if (!py::isinstance<py::str>(value)) throw InputError("{}: must be a text", name);
  return value.cast<std::string>();
}

struct DrawArguments {
  int width, height, samples;
  py::object eye, target, up, field_of_view, colour, range, start;
  bool legend;
};

py::array draw_frame(const Frame& frame, const DrawArguments& arguments) {
  RenderOptions options;
  options.width = arguments.width;
  options.height = arguments.height;
  options.samples = arguments.samples;
  options.legend = arguments.legend;
  if (arguments.width < 16 || arguments.height < 16)
    throw InputError("size: got {} x {}, must be at least 16 x 16", arguments.width, arguments.height);
  const auto given = [](const py::object& value) { return !value.is_none(); };
  if (given(arguments.eye) || given(arguments.target) || given(arguments.up) ||
      given(arguments.field_of_view)) {
    Camera camera = automatic_camera(frame, double(options.width) / options.height);
    const Vector3 offset = camera.eye - camera.target;
    if (given(arguments.target)) camera.target = vector_of(arguments.target, "target");
    camera.eye = given(arguments.eye) ? vector_of(arguments.eye, "eye") : Vector3(camera.target + offset);
    if (given(arguments.up)) camera.up = vector_of(arguments.up, "up");
    if (given(arguments.field_of_view))
      camera.field_of_view = number_of(arguments.field_of_view, "field_of_view");
    options.camera = camera;
  }
  if (given(arguments.colour)) {
    const double reach = contact_reach({}, {}, frame);
    options.colouring =
        spanning(text_of(arguments.colour, "colour"), reach, {&frame, 1}, start_points(arguments.start));
    if (given(arguments.range)) {
      const VectorX range = numbers_of(arguments.range, "range", 2);
      options.colouring->low = range[0];
      options.colouring->high = range[1];
    }
  }
  const Image image = compute([&] { return draw(frame, options); });
  py::array_t<std::uint8_t> result({py::ssize_t(image.height), py::ssize_t(image.width), py::ssize_t(3)});
  std::copy(image.rgb.begin(), image.rgb.end(), result.mutable_data());
  return std::move(result);
}

}  // namespace

void bind_frame(py::module_& m) {
  py::class_<Frame, std::shared_ptr<Frame>>(
      m, "Frame",
      "All bodies at one instant, on one list of points. Arrays show its memory and cannot be written.")
      .def_static(
          "read",
          [](const std::string& file) {
            return compute([&] { return std::make_shared<Frame>(read_frame(file)); });
          },
          py::arg("file"))
      .def_readonly("time", &Frame::time, "[s]")
      .def_property_readonly("points", &mesh_member<&Mesh::points>, "(n, 3) [m]")
      .def_property_readonly("tetrahedra", &mesh_member<&Mesh::tetrahedra>, "(n, 4) indices of points")
      .def_property_readonly("triangles", &mesh_member<&Mesh::faces>, "(n, 3) indices of points")
      .def_property_readonly("segments", &mesh_member<&Mesh::edges>, "(n, 2) indices of points")
      .def_property_readonly("velocities", &member<&Frame::velocity>, "(n, 3) [m/s] of the points")
      .def_property_readonly("contact_forces", &member<&Frame::contact_force>,
                             "(n, 3) [N] on the points, contact and friction")
      .def_property_readonly("von_mises", &member<&Frame::von_mises>, "[Pa] of tetrahedra, then triangles")
      .def_property_readonly("strain", &member<&Frame::strain>,
                             "largest |stretch - 1| of tetrahedra, then triangles")
      .def_property_readonly("point_bodies", &member<&Frame::point_body>,
                             "(n,) body of each point, in `bodies`")
      .def_readonly("absent", &Frame::absent, "bodies that are not present, in `bodies`")
      .def_property_readonly(
          "bodies",
          [](const Frame& frame) {
            std::vector<std::string> names;
            for (const FrameBody& body : frame.bodies) names.push_back(body.name);
            return names;
          },
          "names, in the order of the scene")
      .def(
          "field",
          [](const Frame& frame, const std::string& name, const py::object& start) {
            const Matrix3X from = start_points(start);
            return owned(
                compute([&] { return point_field(frame, name, contact_reach({}, {}, frame), from); }));
          },
          py::arg("name"), py::arg("start") = py::none(),
          "speed, stress, strain, contact_force, contact_pressure, gap or displacement at every point; nan "
          "where it has no meaning. Displacements are measured from the frame `start`.")
      .def(
          "draw",
          [](const Frame& frame, const py::object& size, int samples, const py::object& colour,
             const py::object& range, const py::object& eye, const py::object& target, const py::object& up,
             const py::object& field_of_view, bool legend, const py::object& start) {
            if (!py::isinstance<py::sequence>(size) || py::len(size) != 2)
              throw InputError("size: got {}, must be (width, height)", std::string(py::repr(size)));
            const auto pixels = py::reinterpret_borrow<py::sequence>(size);
            return draw_frame(frame, {whole_number_of(pixels[0], "size"), whole_number_of(pixels[1], "size"),
                                      samples, eye, target, up, field_of_view, colour, range, start, legend});
          },
          py::arg("size") = py::make_tuple(640, 480), py::kw_only(), py::arg("samples") = 16,
          py::arg("colour") = py::none(), py::arg("range") = py::none(), py::arg("eye") = py::none(),
          py::arg("target") = py::none(), py::arg("up") = py::none(), py::arg("field_of_view") = py::none(),
          py::arg("legend") = true, py::arg("start") = py::none(),
          "A picture as an array (height, width, 3) of bytes; `colour` as of `field`.");
}

}  // namespace apart::python
