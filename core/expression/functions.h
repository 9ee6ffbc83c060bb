#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/expression/workspace.h"
#include "core/tensor/value.h"

namespace sonde::expression {

/// A parameter of a function.
struct Parameter {
    std::string_view name;
    bool isRequired;
    bool isKeywordOnly;
};

/// How a function may be written besides mean(x) and np.mean(x).
enum class Style : std::uint8_t {
    Plain,     ///< not at all
    Method,    ///< x.mean()
    Items,     ///< x.transpose(0, 2, 1): further arguments are items of the second one
    Attribute  ///< x.shape
};

/// A row of the table of functions.
struct Function {
    std::string_view signature;  ///< as in Python: "mean(a, axis=None, *, keepdims=False)"; all defaults are None here
    std::string_view summary;
    Style style;
    /// One argument for each parameter; those that are not given are None. Throws Problem.
    tensor::Value (*apply)(Workspace& workspace, std::span<const tensor::Value> arguments);
    std::string_view name = {};           ///< of the signature
    std::vector<Parameter> parameters{};  ///< of the signature
};

/// Null if there is none of that name.
const Function* findFunction(std::string_view name);
/// The names of all functions, or of those that are methods of arrays: "mean, std, …".
std::string functionNames(bool methods);

}  // namespace sonde::expression
