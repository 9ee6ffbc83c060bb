// Views and what may be one. Sources: PyTorch's page "Tensor Views", and the alias annotations of its operators'
// schemas.

#include "core/operators/tables.h"

namespace sonde::operators {

namespace {

using enum Trait;

constexpr Traits view(ViewForm form, OpClass opClass = OpClass::View) {
    return Traits{.opClass = opClass,
                  .form = form,
                  .memory = {Sharing::View},
                  .bits = static_cast<std::uint32_t>(MovesData),
                  .inputs = "T "};
}
/// A copy where the elements are not in the order that a view would need.
constexpr Traits maybe(ViewForm form, OpClass opClass = OpClass::View) {
    Traits traits = view(form, opClass);
    traits.memory.sharing = Sharing::MaybeView;
    return traits;
}
constexpr Traits list(ViewForm form) {
    Traits traits = view(form, OpClass::ListView);
    traits.memory.isList = true;
    return traits;
}
constexpr Traits whole(Traits traits) { return traits.with(KeepsShape).with(KeepsDType).with(KeepsRank); }

constexpr Traits kConjugate =
    view(ViewForm::Conjugate).with(KeepsShape).with(KeepsDType).with(KeepsRank).without(MovesData);
constexpr Traits kResolved{.memory = {Sharing::MaybeView}, .bits = ElementWise | KeepsShape | KeepsDType | KeepsRank};
constexpr Traits kBroadcast{
    .form = ViewForm::Broadcast, .memory = {Sharing::MaybeView, true}, .bits = MovesData | Overlaps};

constexpr Row kRows[] = {
    // All of it.
    {"alias", whole(view(ViewForm::Same, OpClass::Identity))},
    special({"lift lift_fresh positive", whole(view(ViewForm::Same, OpClass::Identity))}, Special::ReturnsArgument),
    {"detach", whole(view(ViewForm::Same, OpClass::Identity)).with(HasInPlaceForm)},
    special({"requires_grad_", whole(view(ViewForm::Same))}, Special::ReturnsArgument),
    {"data", whole(view(ViewForm::Same))},
    {"contiguous", whole(maybe(ViewForm::Contiguous, OpClass::Identity))},
    {"to type_as float double half", whole(maybe(ViewForm::Converted)).without(KeepsDType)},
    {"type bfloat16 int long short char byte bool cpu", whole(maybe(ViewForm::Converted)).without(KeepsDType)},
    {"as_tensor", maybe(ViewForm::Converted)},
    // The same order.
    {"view _unsafe_view _reshape_alias", view(ViewForm::NewShape, OpClass::Reshape)},
    {"reshape", maybe(ViewForm::NewShape, OpClass::Reshape)},
    {"view_as", view(ViewForm::LikeOther, OpClass::Reshape)},
    {"reshape_as", maybe(ViewForm::LikeOther, OpClass::Reshape)},
    special({"flatten", maybe(ViewForm::Flatten, OpClass::Reshape)}, Special::ReturnsArgument),
    {"ravel", maybe(ViewForm::Flatten, OpClass::Reshape)},
    {"unflatten", view(ViewForm::Unflatten, OpClass::Reshape)},
    {"squeeze", view(ViewForm::Squeeze, OpClass::Reshape).with(HasInPlaceForm).with(StaysSmall)},
    {"unsqueeze", view(ViewForm::Unsqueeze, OpClass::ExpandDims).with(HasInPlaceForm).with(StaysSmall)},
    special({"atleast_1d atleast_2d atleast_3d", view(ViewForm::AtLeast)}, Special::ReturnsArgument),
    // Another order.
    {"transpose swapaxes swapdims t",
     view(ViewForm::Transpose, OpClass::Transpose).with(KeepsRank).with(HasInPlaceForm)},
    {"numpy_T mT", view(ViewForm::Transpose, OpClass::Transpose).with(KeepsRank)},
    {"mH adjoint matrix_H", view(ViewForm::Adjoint).with(KeepsRank).without(MovesData)},
    {"permute", view(ViewForm::Permute, OpClass::Transpose).with(KeepsRank)},
    {"movedim moveaxis", view(ViewForm::MoveDim, OpClass::Transpose).with(KeepsRank)},
    special({"conj", kConjugate}, Special::ReturnsArgument),
    {"_conj", kConjugate},
    special({"conj_physical", kResolved.with(HasInPlaceForm)}, Special::ReturnsArgument),
    special({"resolve_conj resolve_neg", kResolved}, Special::ReturnsArgument),
    // Parts.
    {"slice", view(ViewForm::Slice, OpClass::Slice).with(KeepsRank).with(StaysSmall)},
    {"select", view(ViewForm::Select, OpClass::Select).with(StaysSmall)},
    {"narrow", view(ViewForm::Narrow).with(KeepsRank)},
    {"diagonal", view(ViewForm::Diagonal)},
    {"linalg_diagonal imag _neg_view", view(ViewForm::None)},
    special({"real", view(ViewForm::None)}, Special::ReturnsArgument),
    {"chunk unsafe_chunk", list(ViewForm::Chunk)},
    {"split unsafe_split split_with_sizes unsafe_split_with_sizes", list(ViewForm::Split)},
    {"tensor_split", list(ViewForm::TensorSplit)},
    {"hsplit", list(ViewForm::HorizontalSplit)},
    {"vsplit", list(ViewForm::VerticalSplit)},
    {"dsplit", list(ViewForm::DepthSplit)},
    {"unbind", list(ViewForm::Unbind)},
    // Elements in several places.
    {"expand expand_as broadcast_to", view(ViewForm::Expand).with(Overlaps)},
    {"unfold", view(ViewForm::Window).with(Overlaps)},
    special({"as_strided", view(ViewForm::Window).with(Overlaps).with(HasInPlaceForm)}, Special::ReadsWholeStorage),
    special({"broadcast_tensors", kBroadcast}, Special::ReturnsArgument),
    {"meshgrid", kBroadcast},
    // The same bytes.
    {"view_as_real", view(ViewForm::AsReal)},
    {"view_as_complex", view(ViewForm::AsComplex)},
    // Another memory in place of the tensor's.
    {"resize_ resize_as_ set_",
     Traits{.memory = {Sharing::Written, false, true, true}, .bits = static_cast<std::uint32_t>(InPlace)}},
    // What is asked of a shape.
    {"size", Traits{.opClass = OpClass::Shape, .query = ShapeQuery::Shape}},
    {"_shape_as_tensor sym_size", Traits{.query = ShapeQuery::Shape}},
    {"dim ndim ndimension", Traits{.query = ShapeQuery::Rank}},
    {"numel nelement sym_numel", Traits{.query = ShapeQuery::Count}},
};

}  // namespace

std::span<const Row> viewRows() { return kRows; }

}  // namespace sonde::operators
