// Materials made as described. Keys, units and defaults are in catalog_materials.cpp.
#include <apart/scene/cell_materials.hpp>
#include <apart/scene/material_description.hpp>

namespace apart {

Lame ElasticMaterial::lame() const {
  if (!mu) return lame_parameters(number(E), number(nu));
  const Lame result{number(*lambda), number(*mu)};
  if (!(3 * result.lambda + 2 * result.mu > 0))
    place["lambda"].fail("got {}, must be more than -2/3 mu = {}; otherwise the material is unstable",
                         result.lambda, -2 * result.mu / 3);
  return result;
}

Material NeoHookeanDescription::make() const {
  return NeoHookean{lame()};
}
Material FixedCorotatedDescription::make() const {
  return FixedCorotated{lame()};
}
Material StVenantKirchhoffDescription::make() const {
  return StVenantKirchhoff{lame()};
}
Material MooneyRivlinDescription::make() const {
  if (!c1) return mooney_rivlin(lame());
  return MooneyRivlin{number(*c1), number(*c2), number(*bulk)};
}
Material LinearElasticityDescription::make() const {
  return LinearElasticity{lame()};
}
Material OrthogonalityDescription::make() const {
  return Orthogonality{number(stiffness)};
}

namespace {
/// λ and μ of the sheet, scaled for the membrane.
Lame sheet(const IsotropicShellMaterial& m) {
  return plane_stress_parameters(m.E * m.membrane_scale, m.nu);
}
}  // namespace

Membrane KoiterShell::make() const {
  return KoiterMembrane{sheet(*this)};
}
Membrane NeoHookeanShell::make() const {
  return NeoHookeanMembrane{sheet(*this)};
}
Membrane OrthotropicShell::make() const {
  if (!(nu_warp * nu_warp * E_weft < E_warp))
    place["nu_warp"].fail("got {}, its square must be less than E_warp/E_weft = {:.6g}", nu_warp,
                          E_warp / E_weft);
  return orthotropic_membrane(membrane_scale * E_warp, membrane_scale * E_weft, nu_warp, membrane_scale * G);
}
Membrane BarrierShell::make() const {
  const double scale = membrane_scale;
  const OrthotropicMembrane at_rest{scale * a11, scale * a12, scale * a22, scale * G12};
  if (!(at_rest.a11 * at_rest.a22 > at_rest.a12 * at_rest.a12))
    place["a12"].fail("got {}, its square must be less than a11 a22 = {:.6g}; else the sheet would collapse",
                      a12, a11 * a22);
  return BarrierMembrane{at_rest, {E11max, E22max, E12max}};
}

}  // namespace apart
