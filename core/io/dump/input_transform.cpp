#include "core/io/dump/input_transform.h"

#include "core/expression/expression.h"

namespace sonde::io::dump {

base::Result<tensor::Tensor> transformed(std::string_view expression, const tensor::Tensor& data) {
    SONDE_ASSIGN(const expression::Expression parsed, expression::parse(expression));
    return expression::evaluateArray(parsed, [&](std::string_view name) -> base::Result<tensor::Value> {
        if (name == "data") return data;
        return base::usageError("the name '" + std::string(name) + "' is not defined; known are data and functions");
    });
}

}  // namespace sonde::io::dump
