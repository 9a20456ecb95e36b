// Materials.
#include <apart/scene/catalog_parts.hpp>

namespace apart::catalog_parts {

namespace {
/// A parameter of a material: for the whole body, or for each cell.
ValueType cell_number(Range range = {}) {
  return any_of({number(range), object("field")});
}
}  // namespace

Group materials() {
  const Key type{"type", text(), "", Key::required, "which material"};
  const std::string_view with_lame = "lambda mu", with_all = "lambda mu c1 c2 bulk", constants = "c1 c2 bulk";
  const auto young = [](std::string_view excludes) {
    return Key{"E",     cell_number(positive), "Pa",
               "1e5",   "Young's modulus",     "soft silicone has about 1e5, rubber 1e6, steel 2e11",
               excludes};
  };
  const auto poisson = [](std::string_view excludes) {
    return Key{
        "nu",    cell_number({-1, 0.5, true, true}), "", "0.4", "Poisson's ratio", "for rubber try 0.49",
        excludes};
  };
  const auto lambda = [](std::string_view excludes) {
    return Key{"lambda",
               cell_number(),
               "Pa",
               Key::optional,
               "first Lamé parameter, instead of E and nu; more than -2/3 mu",
               {},
               excludes,
               "mu"};
  };
  const auto mu = [](std::string_view excludes) {
    return Key{"mu",
               cell_number(positive),
               "Pa",
               Key::optional,
               "second Lamé parameter, the shear modulus",
               {},
               excludes,
               "lambda"};
  };
  const Key c1{
      "c1",     cell_number(positive), "Pa", Key::optional, "instead of E and nu; if omitted: mu/4", {}, {},
      "c2 bulk"};
  const Key c2{
      "c2",     cell_number(not_negative), "Pa", Key::optional, "if omitted: mu/4; mu is 2 (c1 + c2)", {}, {},
      "c1 bulk"};
  const Key bulk{
      "bulk", cell_number(positive), "Pa", Key::optional, "bulk modulus; if omitted: lambda + 2/3 mu", {}, {},
      "c1 c2"};
  const Key density{"rho", cell_number(positive), "kg/m3", "1000", "density"};
  const Key stiffness{"stiffness", cell_number(positive), "Pa", "1e8", "how close to rigid the body is"};
  const auto usual = [&]<class T>(std::string_view summary) {
    return typed<T>(summary, {type,
                              {young(with_lame), &T::E},
                              {poisson(with_lame), &T::nu},
                              {lambda({}), &T::lambda},
                              {mu({}), &T::mu},
                              {density, &T::rho}});
  };
  using Rubber = MooneyRivlinDescription;
  return {
      "material",
      "Material of a solid. Stiffness is given by E and nu, or by lambda and mu. In the energies, F is the "
      "deformation gradient, s1, s2, s3 are its singular values and J = s1 s2 s3.",
      {usual.operator()<NeoHookeanDescription>(
           "soft solid whose elements never invert; energy mu/2 (s1^2 + s2^2 + s3^2 - 3) - mu ln J + "
           "lambda/2 ln^2 J"),
       usual.operator()<FixedCorotatedDescription>(
           "soft solid whose elements may invert under extreme load; energy mu sum (s - 1)^2 + lambda/2 (J "
           "- 1)^2"),
       usual.operator()<StVenantKirchhoffDescription>(
           "St Venant–Kirchhoff: for large rotations and moderate strains, soft and invertible under strong "
           "compression; energy mu |G|^2 + lambda/2 tr(G)^2 with G = (F^T F - I)/2"),
       typed<Rubber>(
           "rubber whose elements never invert; energy c1 (J^(-2/3) I1 - 3) + c2 (J^(-4/3) I2 - 3) + bulk/4 "
           "(J^2 - 1 - 2 ln J) with I1 = s1^2 + s2^2 + s3^2, I2 = s1^2 s2^2 + s2^2 s3^2 + s3^2 s1^2",
           {type,
            {young(with_all), &Rubber::E},
            {poisson(with_all), &Rubber::nu},
            {lambda(constants), &Rubber::lambda},
            {mu(constants), &Rubber::mu},
            {c1, &Rubber::c1},
            {c2, &Rubber::c2},
            {bulk, &Rubber::bulk},
            {density, &Rubber::rho}}),
       usual.operator()<LinearElasticityDescription>(
           "for small strains and small rotations only, since rotation costs energy; elements may invert; "
           "energy mu |e|^2 + lambda/2 tr(e)^2 with e = (F + F^T)/2 - I"),
       typed<OrthogonalityDescription>(
           "resists all deformation but not rotation, for affine bodies; energy stiffness (|F^T F - I|^2 + "
           "b(J)), b = -(J - 1/2)^2 ln 2J below J = 1/2",
           {type,
            {stiffness, &OrthogonalityDescription::stiffness},
            {density, &OrthogonalityDescription::rho}})}};
}

Group shell_materials() {
  const Key type{"type", text(), "", Key::required, "which material"};
  const Key density{"rho", number(positive), "kg/m3", "472.64", "density"};
  const Key thickness{"thickness", number(positive), "m", "3.18e-4",
                      "material thickness, for mass, volume and bending; contact has its own"};
  const Key young{"E", number(positive), "Pa", "8.21e5", "Young's modulus of membrane and bending"};
  const Key poisson{"nu", number({-1, 0.5, true, true}), "", "0.243", "Poisson's ratio"};
  const Key membrane_scale{"membrane_scale", number(positive), "", "1", "factor on the membrane stiffness"};
  const Key bending_scale{"bending_scale", number(not_negative), "", "1", "factor on the bending stiffness"};
  const Key model{"bending_model", choice("bending_model"), "", "\"plate\"",
                  "stiffness of the angle between two triangles"};
  const Key bending_young{"bending_E", number(not_negative), "Pa", "1.076e6", "Young's modulus of bending"};
  const Key bending_poisson{"bending_nu", number({-1, 0.5, true, true}), "", "0",
                            "Poisson's ratio of bending"};
  const Key warp{"warp", any_of({vector(), choice("warp")}), "", "[1, 0, 0]",
                 "direction of the warp in the rest shape, projected to each triangle"};
  const auto isotropic = [&]<class T>(std::string_view summary) {
    return typed<T>(summary, {type,
                              {young, &T::E},
                              {poisson, &T::nu},
                              {density, &T::rho},
                              {thickness, &T::thickness},
                              {membrane_scale, &T::membrane_scale},
                              {bending_scale, &T::bending_scale},
                              {model, &T::bending_model}});
  };
  const auto woven = [&]<class T>(std::string_view summary, Keys<T> keys) {
    keys.insert(keys.begin(), type);
    keys.insert(keys.end(), {{density, &T::rho},
                             {thickness, &T::thickness},
                             {membrane_scale, &T::membrane_scale},
                             {bending_young, &T::bending_E},
                             {bending_poisson, &T::bending_nu},
                             {bending_scale, &T::bending_scale},
                             {model, &T::bending_model},
                             {warp, &T::warp}});
    return typed<T>(summary, std::move(keys));
  };
  return {
      "shell_material",
      "Material of a shell; the defaults are those of cotton. F is the 3x2 deformation gradient, G = (F^T F "
      "- I)/2 the strain, with 1 along the warp and 2 along the weft, s1, s2 are the singular values of F "
      "and J = s1 s2. mu = E/(2 + 2 nu) and lambda = E nu/(1 - nu^2), those of a sheet that is free to "
      "change its thickness.",
      {isotropic.operator()<KoiterShell>(
           "St Venant–Kirchhoff, the membrane of Koiter's shell: energy lambda/2 tr(G)^2 + mu |G|^2"),
       isotropic.operator()<NeoHookeanShell>(
           "no triangle collapses to a line: energy mu/2 (s1^2 + s2^2 - 2) - mu ln J + lambda/2 ln^2 J"),
       woven.operator()<OrthotropicShell>(
           "woven, stiffer along its threads than across: energy a11/2 G11^2 + a22/2 G22^2 + a12 G11 G22 + 2 "
           "G "
           "G12^2 with a11 = E_warp/d, a22 = E_weft/d, a12 = nu_warp a22, d = 1 - nu_warp^2 E_weft/E_warp",
           {{{"E_warp", number(positive), "Pa", "3.2e7", "Young's modulus along the warp"},
             &OrthotropicShell::E_warp},
            {{"E_weft", number(positive), "Pa", "1.2e7", "Young's modulus along the weft"},
             &OrthotropicShell::E_weft},
            {{"nu_warp", number({-1, 1, true, true}), "", "0.3",
              "Poisson's ratio: contraction of the weft when the warp is stretched"},
             &OrthotropicShell::nu_warp},
            {{"G", number(positive), "Pa", "3e5", "shear modulus"}, &OrthotropicShell::G}}),
       woven.operator()<BarrierShell>(
           "woven, with strain limits that are never reached: energy a11/2 h(G11^2) + a22/2 h(G22^2) + a12 "
           "h(G11 G22) + G12 h(G12^2), h(x) = -m ln(1 - x/m) with m the square or product of the limits",
           {{{"a11", number(positive), "Pa", "1.5557e7", "stiffness along the warp"}, &BarrierShell::a11},
            {{"a12", number(), "Pa", "7.779e6", "coupling of warp and weft; a12^2 < a11 a22"},
             &BarrierShell::a12},
            {{"a22", number(positive), "Pa", "2.5004e7", "stiffness along the weft"}, &BarrierShell::a22},
            {{"G12", number(positive), "Pa", "1.076e6", "stiffness in shear: twice the shear modulus"},
             &BarrierShell::G12},
            {{"E11max", number(positive), "", "0.14", "limit of |G11|"}, &BarrierShell::E11max},
            {{"E22max", number(positive), "", "0.14", "limit of |G22|"}, &BarrierShell::E22max},
            {{"E12max", number(positive), "", "0.063", "limit of |G12|"}, &BarrierShell::E12max}})}};
}

Group strain_limits() {
  using T = StrainLimitDescription;
  return record<T>(
      "Limits of the stretches s1 >= s2 of every triangle, never reached in any iterate. They are enforced "
      "by a barrier, which acts beyond the threshold only.",
      {{{"upper", number({1, infinity, true, true}), "", Key::required, "limit of s1, more than threshold"},
        &T::upper},
       {{"lower", number({0, 1, true, true}), "", Key::optional,
         "limit of s2, less than threshold; if omitted: none"},
        &T::lower},
       {{"threshold", number(positive), "", "1", "where the barrier begins"}, &T::threshold},
       {{"stiffness", number(positive), "Pa", "1000",
         "initial stiffness of the barrier; it is raised where needed"},
        &T::stiffness}});
}

Group fields() {
  using T = FieldDescription;
  return record<T>(
      "A number for each tetrahedron, from the mesh file or a file of its own.",
      {{{"field", text(), "", Key::optional,
         "name of the mesh's cell data: $ElementData of Gmsh, CELL_DATA of legacy VTK, CellData of VTU", "",
         "file"},
        &T::field},
       {{"file", path(), "", Key::optional,
         "text file, absolute or relative to the scene file, with numbers between blanks, one for each "
         "tetrahedron in the order of the mesh",
         "", "field"},
        &T::file}});
}

Group regions() {
  using T = RegionDescription;
  return record<T>(
      "A part of a body with another material.",
      {{{"where", object("selection"), "", Key::required,
         "the cells of a group of the mesh file; otherwise, the cells all of whose points are selected"},
        &T::where},
       {{"material", object("material"), "", Key::required, "material of these cells"}, &T::material}});
}

Group rod_materials() {
  using T = RodMaterialDescription;
  return record<T>(
      "Material of a rod, whose cross-section is a full circle.",
      {{{"rho", number(positive), "kg/m3", "1000", "density"}, &T::rho},
       {{"E", number(positive), "Pa", "1e6", "Young's modulus"}, &T::E},
       {{"radius", number(positive), "m", "1e-3", "of the cross-section"}, &T::radius},
       {{"stretch_scale", number(positive), "", "1", "factor on E for stretching"}, &T::stretch_scale},
       {{"bending_scale", number(not_negative), "", "1", "factor on E for bending"}, &T::bending_scale}});
}

}  // namespace apart::catalog_parts
