#include <apart/scene/scene_description.hpp>

namespace apart {

template <class List>
OneOf<List>::OneOf() = default;
template <class List>
OneOf<List>::OneOf(const OneOf&) = default;
template <class List>
OneOf<List>::OneOf(OneOf&&) noexcept = default;
template <class List>
OneOf<List>& OneOf<List>::operator=(const OneOf&) = default;
template <class List>
OneOf<List>& OneOf<List>::operator=(OneOf&&) noexcept = default;
template <class List>
OneOf<List>::~OneOf() noexcept = default;

template class OneOf<FormulaKinds>;
template class OneOf<MaterialParameterKinds>;
template class OneOf<MaterialKinds>;
template class OneOf<ShellMaterialKinds>;
template class OneOf<MeshKinds>;
template class OneOf<SelectionKinds>;
template class OneOf<MotionKinds>;
template class OneOf<LoadKinds>;
template class OneOf<BodyKinds>;
template class OneOf<MotorKinds<false>>;
template class OneOf<MotorKinds<true>>;
template class OneOf<JointKinds>;
template class OneOf<AttachmentKinds>;
template class OneOf<ProbeKinds>;

}  // namespace apart
