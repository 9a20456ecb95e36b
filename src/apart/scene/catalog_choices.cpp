// Names to choose from, each for one purpose.
#include <apart/collision/broad_phase.hpp>
#include <apart/io/mesh_format.hpp>
#include <apart/scene/catalog_parts.hpp>
#include <apart/solver/linear_solver.hpp>

namespace apart::catalog_parts {

namespace {

/// The choices of a list of methods kept by another layer.
template <class Methods>
ChoiceList methods(std::string_view name, std::string_view summary, const Methods& rows) {
  ChoiceList result{name, summary, {}};
  for (const auto& row : rows) result.choices.push_back({row.name, row.summary});
  return result;
}

/// Extensions of mesh files, with what is read from them.
ChoiceList mesh_files() {
  ChoiceList result{"mesh_format", "Mesh files, by extension", {}};
  for (const MeshFormat& format : mesh_formats())
    result.choices.push_back({format.extension, format.summary});
  return result;
}

}  // namespace

std::vector<ChoiceList> choices() {
  return {
      {"integrator",
       "Time integrators",
       {{"implicit_euler", "first order, dissipative, robust", int(Integrator::implicit_euler)},
        {"bdf2", "second order, little dissipation", int(Integrator::bdf2)},
        {"newmark", "second order, no dissipation with beta 0.25 and gamma 0.5; takes beta and gamma",
         int(Integrator::newmark)},
        {"generalized_alpha", "second order, damps only what is too fast for the step; takes spectral_radius",
         int(Integrator::generalized_alpha)},
        {"quasi_static", "forces in balance at every instant, no inertia", int(Integrator::quasi_static)}}},
      {"mass",
       "Distribution of mass over nodes",
       {{"lumped", "a quarter of each tetrahedron, or a third of each triangle, to each corner",
         int(MassKind::lumped)},
        {"consistent", "integrals of products of the shape functions", int(MassKind::consistent)}}},
      {"plane",
       "What a planar body does across its plane",
       {{"strain", "its depth stays: a slice of something long, or held between walls",
         int(PlaneState::strain)},
        {"stress",
         "no stress across: a thin plate, which becomes thinner where it is stretched; not for stvk "
         "and orthogonality",
         int(PlaneState::stress)}}},
      {"criterion",
       "What decides about splits and collapses of remeshing",
       {{"potential", "the decrease of the potential of the step: what pays",
         int(RemeshCriterion::potential)},
        {"sizing_field",
         "lengths of edges where the step ended, against a size that follows stretches and contact; for "
         "comparison",
         int(RemeshCriterion::sizing_field)}}},
      {"bending_model",
       "Stiffness of bending",
       {{"plate", "flexural rigidity E thickness^3/(12 (1 - nu^2)), as in plate theory",
         int(BendingModel::plate)},
        {"published", "three times that: the hinge energy of Codimensional IPC as published",
         int(BendingModel::published)}}},
      {"rest_angles",
       "Angles at rest",
       {{"mesh", "those of the rest shape", int(RestAngles::mesh)}, {"flat", "zero", int(RestAngles::flat)}}},
      {"warp",
       "Directions of the warp",
       {{"texture", "where the first texture coordinate (vt of OBJ files) grows"}}},
      {"rest_mesh",
       "Rest shapes",
       {{"texture", "the pattern in the plane that texture coordinates (vt of OBJ files) give, in metres"}}},
      {"rest_curvature",
       "Rods at rest",
       {{"mesh", "as bent as the mesh, in any direction", int(RestCurvature::mesh)},
        {"straight", "straight", int(RestCurvature::straight)}}},
      {"axes",
       "Directions",
       {{"xyz", "all"}, {"xy", ""}, {"xz", ""}, {"yz", ""}, {"x", ""}, {"y", ""}, {"z", ""}}},
      {"attach_to",
       "Where attachments end",
       {{"surface", "the nearest point of triangles, segments or points", int(AttachTo::surface)},
        {"vertices", "the nearest vertex", int(AttachTo::vertices)}}},
      {"dhat",
       "Distance at which contact begins",
       {{"auto",
         "the smaller value of the two bodies that can be pushed: 2e-3 of the diagonal of the bounding box, "
         "but no more than a quarter of the fine edges of the surface (a tenth are shorter), or a tenth of "
         "the diameter"}}},
      {"contact_thickness",
       "Thickness in contact",
       {{"auto", "a shell is as thick as its material, rods and particles as their diameter, all else 0"}}},
      {"epsv",
       "Speed below which friction is static",
       {{"auto",
         "1e-3 of the diagonal of a body's bounding box per second, 1e-4 for rigid and affine bodies; the "
         "smaller value of the two bodies that can be pushed"}}},
      {"tolerance",
       "Length of a Newton step that is short",
       {{"auto",
         "1e-3 of the diagonal of the bounding box of the smallest body that can be pushed, per second"}}},
      {"formulation",
       "How contacts count",
       {{"published", "every pair of primitives alike (IPC): on finer meshes the same gap exerts more force",
         int(ContactFormulation::published)},
        {"convergent",
         "by the area at rest that they stand for: forces do not depend on the meshes, and pressure is that "
         "of the gap, whatever is split or refined",
         int(ContactFormulation::convergent)}}},
      {"barrier_stiffness",
       "Contact stiffness",
       {{"adaptive", "follows the forces that contacts carry, so that they rest well inside dhat",
         int(StiffnessRule::adaptive)},
        {"published",
         "found from masses and the balance of forces at the start of each step, and raised when gaps get "
         "tiny (IPC); gaps may be far smaller than dhat",
         int(StiffnessRule::published)}}},
      {"termination",
       "When a step is solved",
       {{"balanced", "the largest entry of the Newton step is short, and forces are in balance",
         int(Termination::balanced)},
        {"published", "the largest entry of the Newton step is short; forces may be far from balance (IPC)",
         int(Termination::published)},
        {"l2_norm",
         "the normalised Newton step is short, three times in a row; forces may be far from balance "
         "(C-IPC)",
         int(Termination::l2_norm)}}},
      methods("linear_solver", "Linear solvers", linear_solver_methods()),
      {"ordering",
       "Elimination orders",
       {{"auto", "the better of the two"}, {"amd", "minimum degree"}, {"metis", "nested dissection"}}},
      methods("broad_phase", "Broad phases", broad_phase_methods()),
      {"ccd",
       "Continuous collision detection",
       {{"additive", "advances by safe steps", int(CcdMethod::additive)},
        {"tight_inclusion", "bisects time and surface, and excludes boxes that cannot touch",
         int(CcdMethod::tight_inclusion)}}},
      {"ccd_culling",
       "Pairs that bound a step",
       {{"near_first",
         "near pairs first, others only on the part of the path that these leave free; same result as none",
         int(CcdCulling::near_first)},
        {"cfl", "near pairs first, others bounded by the largest displacement; fewer searches, shorter steps",
         int(CcdCulling::cfl)},
        {"none", "all pairs on the whole path", int(CcdCulling::none)}}},
      mesh_files(),
      {"format",
       "Frame formats",
       {{"vtu", "everything, for ParaView; always written"},
        {"obj", "the surface"},
        {"ply", "the surface"},
        {"pvtu",
         "everything in pieces, one for each process of apart-mpi, for ParaView on many processes"}}}};
}

}  // namespace apart::catalog_parts
