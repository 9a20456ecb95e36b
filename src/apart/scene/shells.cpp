#include <apart/scene/meshes.hpp>
#include <apart/scene/motion.hpp>
#include <apart/scene/shells.hpp>

namespace apart {

namespace {

/// The points of the plane that texture coordinates name, one for each point of the mesh.
Matrix3X pattern_of(const Place& place, const Mesh& mesh) {
  if (mesh.face_texture.cols() != mesh.faces.cols())
    place.fail(
        "got \"texture\", but the mesh has no texture coordinates; use an OBJ file with vt, or another mesh");
  Matrix3X points = Matrix3X::Zero(3, mesh.point_count());
  std::vector<char> known(std::size_t(mesh.point_count()), 0);
  for (Index f = 0; f < mesh.faces.cols(); ++f)
    for (int k = 0; k < 3; ++k) {
      const int p = mesh.faces(k, f);
      const Eigen::Vector2d uv = mesh.face_texture.col(f).segment<2>(2 * k);
      if (known[std::size_t(p)] && points.col(p).head<2>() != uv)
        place.fail(
            "got \"texture\", but point {} has several texture coordinates; cut the mesh open at its seams",
            p);
      points.col(p).head<2>() = uv;
      known[std::size_t(p)] = 1;
    }
  return points;
}

Matrix3X rest_points(const ShellDescription& body, const std::string& name, const Mesh& mesh) {
  if (std::holds_alternative<FromTexture>(*body.rest_mesh)) {
    Mesh pattern = mesh;
    pattern.points = pattern_of(body.place["rest_mesh"], mesh);
    return transformed(pattern, body.transform).points;
  }
  const auto& source = std::get<MeshDescription>(*body.rest_mesh);
  const MeshResult made = make_mesh(source, {generate::Content::surface, true});
  const Mesh rest = shell_mesh(transformed(made.mesh, body.transform),
                               mesh_place(source, fmt::format("body '{}', rest shape", name)));
  if (rest.points.cols() != mesh.points.cols() || rest.faces.cols() != mesh.faces.cols() ||
      rest.faces != mesh.faces)
    place_of(source).fail(
        "has {} points and {} triangles, must have the same triangles as the mesh ({} and {})",
        rest.points.cols(), rest.faces.cols(), mesh.points.cols(), mesh.faces.cols());
  return rest.points;
}

StretchLimit make_limit(const StrainLimitDescription& d) {
  StretchLimit limit;
  limit.upper = d.upper;
  limit.threshold = d.threshold;
  limit.stiffness = d.stiffness;
  if (!(limit.upper > limit.threshold))
    d.place["upper"].fail("got {}, must be more than threshold ({})", limit.upper, limit.threshold);
  if (d.lower) {
    limit.lower = *d.lower;
    if (!(limit.lower < limit.threshold))
      d.place["lower"].fail("got {}, must be less than threshold ({})", limit.lower, limit.threshold);
  }
  return limit;
}

}  // namespace

ShellSubstance make_shell_substance(const ShellDescription& body) {
  ShellSubstance substance;
  std::visit(
      [&]<class M>(const M& m) {
        substance.membrane = m.make();
        substance.density = m.rho;
        substance.thickness = m.thickness;
        if constexpr (std::derived_from<M, IsotropicShellMaterial>) {
          substance.bending_young = m.bending_scale * m.E;
          substance.bending_poisson = m.nu;
        } else {
          substance.bending_young = m.bending_scale * m.bending_E;
          substance.bending_poisson = m.bending_nu;
        }
        substance.bending_model = m.bending_model;
      },
      body.material);
  if (body.strain_limit) substance.limit = make_limit(*body.strain_limit);
  return substance;
}

ShellRest make_shell_rest(const ShellDescription& body, const std::string& name, const Mesh& mesh) {
  ShellRest rest;
  rest.flat = body.rest_angles == RestAngles::flat;
  std::visit(
      [&]<class M>(const M& m) {
        if constexpr (std::derived_from<M, WovenShellMaterial>) {
          rest.warp_from_texture = std::holds_alternative<FromTexture>(m.warp);
          if (const auto* direction = std::get_if<Vector3>(&m.warp))
            rest.warp = make_direction(*direction, m.place["warp"]);
        }
      },
      body.material);
  if (body.rest_mesh) rest.points = rest_points(body, name, mesh);
  return rest;
}

}  // namespace apart
