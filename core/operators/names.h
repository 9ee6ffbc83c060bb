#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sonde::operators {

/// "add_" of "add_.Tensor".
constexpr std::string_view withoutOverload(std::string_view name) { return name.substr(0, name.find('.')); }
/// "Tensor" of "add_.Tensor"; empty if there is none.
constexpr std::string_view overloadOf(std::string_view name) {
    const std::size_t dot = name.find('.');
    return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}
/// The name of an in-place operator: "add_", "__iand__"; not "__and__".
bool isInPlaceName(std::string_view name);
/// The name of the in-place form: "add_" of "add", "__iand__" of "__and__".
std::string inPlaceName(std::string_view base);
/// The operator that does the same without a write: "add.Tensor" of "add_.Tensor", "transpose.int" of "swapaxes_".
std::string outOfPlaceName(std::string_view name);
/// Of an overload that writes to `out`: "add.out", "max.dim_out".
constexpr bool isOutOverload(std::string_view name) { return name.ends_with("out"); }

/// The operator of ATen that an attribute of a tensor stands for: "numpy_T" for `x.T`; empty if it is no operator.
std::string_view operatorOfAttribute(std::string_view attribute);

/// An operator of ATen under another name.
struct Alias {
    std::string_view name;
    std::string_view original;
    bool hasInPlaceForm = false;  ///< there is a form `name_`, too
    bool copies = false;          ///< a copy of what the original gives as a view: view_copy
};
/// Names with the overloads of another operator.
std::span<const Alias> aliases();
/// Names whose overload is called otherwise than that of the operator that they mean: "swapaxes" is "transpose.int".
std::span<const Alias> exactAliases();
/// The operator of ATen that is meant by another name of it, both without overloads ("subtract" is "sub"); `name`
/// itself if there is none.
std::string_view originalName(std::string_view name);

}  // namespace sonde::operators
