// What bodies are made of.
#include <apart/scene/catalog_parts.hpp>

namespace apart::catalog_parts {

namespace {
Lame lame(const LocatedJson& p) {
  if (!p.has("mu")) return lame_parameters(p["E"].number(), p["nu"].number());
  const Lame result{p["lambda"].number(), p["mu"].number()};
  if (!(3 * result.lambda + 2 * result.mu > 0))
    p["lambda"].fail("got {}, must be more than -2/3 mu = {}; else the material would burst", result.lambda,
                     -2 * result.mu / 3);
  return result;
}

MooneyRivlin read_mooney_rivlin(const LocatedJson& p) {
  if (!p.has("c1")) return mooney_rivlin(lame(p));
  return {p["c1"].number(), p["c2"].number(), p["bulk"].number()};
}

Row material(std::string_view name, std::string_view summary, std::vector<Key> keys,
             Material (*make)(const LocatedJson&)) {
  return {name, summary, "type", true, std::move(keys), make};
}

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
               "1e5",   "Young's modulus",     "foam has about 1e4, rubber 1e6, steel 2e11",
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
      "c1",     cell_number(positive), "Pa", Key::optional, "instead of E and nu; not given: mu/4", {}, {},
      "c2 bulk"};
  const Key c2{
      "c2",     cell_number(not_negative), "Pa", Key::optional, "not given: mu/4; mu is 2 (c1 + c2)", {}, {},
      "c1 bulk"};
  const Key bulk{
      "bulk", cell_number(positive), "Pa", Key::optional, "bulk modulus; not given: lambda + 2/3 mu", {}, {},
      "c1 c2"};
  const Key density{"rho", cell_number(positive), "kg/m3", "1000", "density"};
  const Key stiffness{"stiffness", cell_number(positive), "Pa", "1e8", "how nearly rigid the body is"};
  const std::vector<Key> usual = {type, young(with_lame), poisson(with_lame), lambda({}), mu({}), density};
  return {
      "material",
      "What a body is made of. Stiffness is given by E and nu, or by lambda and mu. In the energies, F is "
      "the "
      "deformation gradient, s1, s2, s3 are its singular values and J = s1 s2 s3.",
      {material(NeoHookean::name,
                "soft solid whose elements never invert; energy mu/2 (s1^2 + s2^2 + s3^2 - 3) - mu ln J + "
                "lambda/2 ln^2 J",
                usual, [](const LocatedJson& p) -> Material { return NeoHookean{lame(p)}; }),
       material(
           FixedCorotated::name,
           "soft solid whose elements may invert under extreme load; energy mu sum (s - 1)^2 + lambda/2 (J "
           "- 1)^2",
           usual, [](const LocatedJson& p) -> Material { return FixedCorotated{lame(p)}; }),
       material(
           StVenantKirchhoff::name,
           "St Venant–Kirchhoff: for large rotations and moderate strains, weak and invertible under strong "
           "compression; energy mu |G|^2 + lambda/2 tr(G)^2 with G = (F^T F - I)/2",
           usual, [](const LocatedJson& p) -> Material { return StVenantKirchhoff{lame(p)}; }),
       material(
           MooneyRivlin::name,
           "rubber whose elements never invert; energy c1 (J^(-2/3) I1 - 3) + c2 (J^(-4/3) I2 - 3) + bulk/4 "
           "(J^2 - 1 - 2 ln J) with I1 = s1^2 + s2^2 + s3^2, I2 = s1^2 s2^2 + s2^2 s3^2 + s3^2 s1^2",
           {type, young(with_all), poisson(with_all), lambda(constants), mu(constants), c1, c2, bulk,
            density},
           [](const LocatedJson& p) -> Material { return read_mooney_rivlin(p); }),
       material(
           LinearElasticity::name,
           "for small strains and small rotations only: turning costs energy; elements may invert; energy mu "
           "|e|^2 + lambda/2 tr(e)^2 with e = (F + F^T)/2 - I",
           usual, [](const LocatedJson& p) -> Material { return LinearElasticity{lame(p)}; }),
       material(Orthogonality::name,
                "stiff against everything but rotation, for affine bodies; energy stiffness "
                "(|F^T F - I|^2 + b(J)), b = -(J - 1/2)^2 ln 2J below J = 1/2",
                {type, stiffness, density},
                [](const LocatedJson& p) -> Material { return Orthogonality{p["stiffness"].number()}; })}};
}

namespace {
Row shell_material(std::string_view name, std::string_view summary, std::vector<Key> keys,
                   Membrane (*make)(const LocatedJson&)) {
  return {name, summary, "type", true, std::move(keys), nullptr, nullptr, make};
}

/// λ and μ of the sheet, scaled for the membrane.
Lame sheet(const LocatedJson& p) {
  return plane_stress_parameters(p["E"].number() * p["membrane_scale"].number(), p["nu"].number());
}

/// a₁₁ … of Clyde's data, scaled for the membrane.
OrthotropicMembrane data_constants(const LocatedJson& p) {
  const double scale = p["membrane_scale"].number();
  const OrthotropicMembrane m{scale * p["a11"].number(), scale * p["a12"].number(), scale * p["a22"].number(),
                              scale * p["G12"].number()};
  if (!(m.a11 * m.a22 > m.a12 * m.a12))
    p["a12"].fail("got {}, its square must be less than a11 a22 = {:.6g}; else the sheet would collapse",
                  p["a12"].number(), p["a11"].number() * p["a22"].number());
  return m;
}
}  // namespace

Group shell_materials() {
  const Key type{"type", text(), "", Key::required, "which material"};
  const Key density{"rho", number(positive), "kg/m3", "472.64", "density"};
  const Key thickness{"thickness", number(positive), "m", "3.18e-4",
                      "of the sheet, for mass, volume and bending; contact has its own"};
  const Key young{"E", number(positive), "Pa", "8.21e5", "Young's modulus, of membrane and bending"};
  const Key poisson{"nu", number({-1, 0.5, true, true}), "", "0.243", "Poisson's ratio"};
  const Key membrane_scale{"membrane_scale", number(positive), "", "1", "factor of the membrane's stiffness"};
  const Key bending_scale{"bending_scale", number(not_negative), "", "1",
                          "factor of the stiffness of bending"};
  const Key model{"bending_model", choice("bending_model"), "", "\"plate\"",
                  "how stiff the angle between two triangles is"};
  const Key bending_young{"bending_E", number(not_negative), "Pa", "1.076e6", "Young's modulus of bending"};
  const Key bending_poisson{"bending_nu", number({-1, 0.5, true, true}), "", "0",
                            "Poisson's ratio of bending"};
  const Key warp{"warp", any_of({vector(), choice("warp")}), "", "[1, 0, 0]",
                 "direction of the warp in the rest shape, projected to each triangle"};
  const auto isotropic = [&](std::vector<Key> keys = {}) {
    std::vector<Key> all{type, young, poisson, density, thickness, membrane_scale, bending_scale, model};
    all.insert(all.end(), keys.begin(), keys.end());
    return all;
  };
  const auto orthotropic = [&](std::vector<Key> keys) {
    std::vector<Key> all{type};
    all.insert(all.end(), keys.begin(), keys.end());
    for (const Key& key :
         {density, thickness, membrane_scale, bending_young, bending_poisson, bending_scale, model, warp})
      all.push_back(key);
    return all;
  };
  return {
      "shell_material",
      "What a shell is made of; defaults are those of cotton. F is the 3x2 deformation gradient, G = (F^T F "
      "- I)/2 "
      "the strain, with 1 along the warp and 2 along the weft, s1, s2 are the singular values of F and J = "
      "s1 s2. "
      "mu = E/(2 + 2 nu) and lambda = E nu/(1 - nu^2), those of a sheet that is free to change its "
      "thickness.",
      {shell_material(
           KoiterMembrane::name,
           "St Venant–Kirchhoff, the membrane of Koiter's shell: energy lambda/2 tr(G)^2 + mu |G|^2",
           isotropic(), [](const LocatedJson& p) -> Membrane { return KoiterMembrane{sheet(p)}; }),
       shell_material(
           NeoHookeanMembrane::name,
           "no triangle collapses to a line: energy mu/2 (s1^2 + s2^2 - 2) - mu ln J + lambda/2 ln^2 J",
           isotropic(), [](const LocatedJson& p) -> Membrane { return NeoHookeanMembrane{sheet(p)}; }),
       shell_material(
           OrthotropicMembrane::name,
           "woven, stiffer along its threads than across: energy a11/2 G11^2 + a22/2 G22^2 + a12 G11 G22 + 2 "
           "G "
           "G12^2 with a11 = E_warp/d, a22 = E_weft/d, a12 = nu_warp a22, d = 1 - nu_warp^2 E_weft/E_warp",
           orthotropic({{"E_warp", number(positive), "Pa", "3.2e7", "Young's modulus along the warp"},
                        {"E_weft", number(positive), "Pa", "1.2e7", "Young's modulus along the weft"},
                        {"nu_warp", number({-1, 1, true, true}), "", "0.3",
                         "share by which the weft narrows when the warp is pulled"},
                        {"G", number(positive), "Pa", "3e5", "shear modulus"}}),
           [](const LocatedJson& p) -> Membrane {
             const double scale = p["membrane_scale"].number(), along = p["E_warp"].number(),
                          across = p["E_weft"].number(), nu = p["nu_warp"].number();
             if (!(nu * nu * across < along))
               p["nu_warp"].fail("got {}, its square must be less than E_warp/E_weft = {:.6g}", nu,
                                 along / across);
             return orthotropic_membrane(scale * along, scale * across, nu, scale * p["G"].number());
           }),
       shell_material(
           BarrierMembrane::name,
           "woven, with limits of strain that are never reached: energy a11/2 h(G11^2) + a22/2 h(G22^2) + "
           "a12 h(G11 "
           "G22) + G12 h(G12^2), h(x) = -m ln(1 - x/m) with m the square or product of the limits",
           orthotropic(
               {{"a11", number(positive), "Pa", "1.5557e7", "stiffness along the warp"},
                {"a12", number(), "Pa", "7.779e6", "of the one along the other; a12^2 < a11 a22"},
                {"a22", number(positive), "Pa", "2.5004e7", "stiffness along the weft"},
                {"G12", number(positive), "Pa", "1.076e6", "stiffness in shear: twice the shear modulus"},
                {"E11max", number(positive), "", "0.14", "limit of |G11|"},
                {"E22max", number(positive), "", "0.14", "limit of |G22|"},
                {"E12max", number(positive), "", "0.063", "limit of |G12|"}}),
           [](const LocatedJson& p) -> Membrane {
             return BarrierMembrane{data_constants(p),
                                    {p["E11max"].number(), p["E22max"].number(), p["E12max"].number()}};
           })}};
}

Group strain_limits() {
  return record(
      "strain_limit",
      "Limits of the stretches s1 >= s2 of every triangle, never reached in any iterate. A barrier keeps "
      "them; it "
      "is felt beyond the threshold only.",
      {{"upper", number({1, infinity, true, true}), "", Key::required, "limit of s1, more than threshold"},
       {"lower", number({0, 1, true, true}), "", Key::optional,
        "limit of s2, less than threshold; not given: none"},
       {"threshold", number(positive), "", "1", "where the barrier begins"},
       {"stiffness", number(positive), "Pa", "1000",
        "of the barrier to begin with; it is raised where needed"}});
}

Group fields() {
  return record(
      "field", "A number for each tetrahedron, from the mesh file.",
      {{"field", text(), "", Key::required,
        "name of the mesh's cell data: $ElementData of Gmsh, CELL_DATA of legacy VTK, CellData of VTU"}});
}

Group regions() {
  return record(
      "region", "A part of a body that is made of something else.",
      {{"where", object("selection"), "", Key::required,
        "the cells of a group of the mesh file; otherwise, the cells all of whose points are chosen"},
       {"material", object("material"), "", Key::required, "what they are made of"}});
}

Group rod_materials() {
  return record("rod_material", "What a rod is made of. Its cross-section is a full circle.",
                {{"rho", number(positive), "kg/m3", "1000", "density"},
                 {"E", number(positive), "Pa", "1e6", "Young's modulus"},
                 {"radius", number(positive), "m", "1e-3", "of the cross-section"},
                 {"stretch_scale", number(positive), "", "1", "times E, against stretch"},
                 {"bending_scale", number(not_negative), "", "1", "times E, against bending"}});
}

}  // namespace apart::catalog_parts
