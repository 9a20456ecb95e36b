#pragma once
// Materials. One struct for each row of the catalog's groups "material" and "shell_material", with a maker
// defined beside that row; units and ranges stand there too.
#include <apart/bodies/body.hpp>
#include <apart/scene/description_values.hpp>

namespace apart {

/// A number for each tetrahedron: the mesh's cell data of that name, or those of a text file.
struct FieldDescription {
  static constexpr std::string_view group = "field", kind = "field";
  Place place = {};
  std::optional<std::string> field, file;
};
/// A parameter of a material: for the whole body, or for each cell.
struct MaterialParameterKinds : Kinds<double, FieldDescription> {};
using MaterialParameter = OneOf<MaterialParameterKinds>;
/// For the whole body; must have been checked to be that.
inline double number(const MaterialParameter& parameter) {
  return std::get<double>(parameter);
}

struct SolidMaterial {
  static constexpr std::string_view group = "material";
  Place place = {};
  MaterialParameter rho = 1000.0;
};

/// Stiffness by E and nu, or by lambda and mu.
struct ElasticMaterial : SolidMaterial {
  MaterialParameter E = 1e5, nu = 0.4;
  std::optional<MaterialParameter> lambda, mu;
  Lame lame() const;
};
struct NeoHookeanDescription : ElasticMaterial {
  static constexpr std::string_view kind = NeoHookean::name;
  Material make() const;
};
struct FixedCorotatedDescription : ElasticMaterial {
  static constexpr std::string_view kind = FixedCorotated::name;
  Material make() const;
};
struct StVenantKirchhoffDescription : ElasticMaterial {
  static constexpr std::string_view kind = StVenantKirchhoff::name;
  Material make() const;
};
struct MooneyRivlinDescription : ElasticMaterial {
  static constexpr std::string_view kind = MooneyRivlin::name;
  std::optional<MaterialParameter> c1, c2, bulk;  ///< instead of the others
  Material make() const;
};
struct LinearElasticityDescription : ElasticMaterial {
  static constexpr std::string_view kind = LinearElasticity::name;
  Material make() const;
};
struct OrthogonalityDescription : SolidMaterial {
  static constexpr std::string_view kind = Orthogonality::name;
  MaterialParameter stiffness = 1e8;
  Material make() const;
};
struct MaterialKinds : Kinds<NeoHookeanDescription, FixedCorotatedDescription, StVenantKirchhoffDescription,
                             MooneyRivlinDescription, LinearElasticityDescription, OrthogonalityDescription> {
};
using MaterialDescription = OneOf<MaterialKinds>;

/// The material of a whole body. Throws InputError if a parameter has a number for each cell.
Substance make_substance(const MaterialDescription& material);

struct ShellMaterial {
  static constexpr std::string_view group = "shell_material";
  Place place = {};
  double rho = 472.64, thickness = 3.18e-4;
  double membrane_scale = 1, bending_scale = 1;
  BendingModel bending_model = BendingModel::plate;
};
struct IsotropicShellMaterial : ShellMaterial {
  double E = 8.21e5, nu = 0.243;
};
/// Direction of the warp in the rest shape.
using WarpDescription = std::variant<Vector3, FromTexture>;
struct WovenShellMaterial : ShellMaterial {
  double bending_E = 1.076e6, bending_nu = 0;
  WarpDescription warp = Vector3(1, 0, 0);
};
struct KoiterShell : IsotropicShellMaterial {
  static constexpr std::string_view kind = KoiterMembrane::name;
  Membrane make() const;
};
struct NeoHookeanShell : IsotropicShellMaterial {
  static constexpr std::string_view kind = NeoHookeanMembrane::name;
  Membrane make() const;
};
struct OrthotropicShell : WovenShellMaterial {
  static constexpr std::string_view kind = OrthotropicMembrane::name;
  double E_warp = 3.2e7, E_weft = 1.2e7, nu_warp = 0.3, G = 3e5;
  Membrane make() const;
};
struct BarrierShell : WovenShellMaterial {
  static constexpr std::string_view kind = BarrierMembrane::name;
  double a11 = 1.5557e7, a12 = 7.779e6, a22 = 2.5004e7, G12 = 1.076e6;
  double E11max = 0.14, E22max = 0.14, E12max = 0.063;
  Membrane make() const;
};
struct ShellMaterialKinds : Kinds<KoiterShell, NeoHookeanShell, OrthotropicShell, BarrierShell> {};
using ShellMaterialDescription = OneOf<ShellMaterialKinds>;

struct StrainLimitDescription {
  static constexpr std::string_view group = "strain_limit", kind = "strain_limit";
  Place place = {};
  double upper = 1.1;
  std::optional<double> lower;
  double threshold = 1, stiffness = 1000;
};

struct RodMaterialDescription {
  static constexpr std::string_view group = "rod_material", kind = "rod_material";
  Place place = {};
  double rho = 1000, E = 1e6, radius = 1e-3, stretch_scale = 1, bending_scale = 1;
};

}  // namespace apart
