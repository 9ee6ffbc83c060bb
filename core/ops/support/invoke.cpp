#include "core/ops/support/invoke.h"

#include "core/ops/support/shapes.h"

namespace sonde::ops {

base::Result<std::vector<Value>> invoke(KernelContext& context, std::string_view domain, std::string_view name,
                                        std::vector<Value> inputs, const Attributes& attributes, std::size_t outputs) {
    const OpDef* op = Registry::all().find(domain, name, 0);
    if (!op || !op->kernel) return opError("operator " + std::string(name) + " is not known");
    for (std::size_t i = inputs.size(); i < op->parameters.size(); ++i) {
        if (!op->parameters[i].fallback)
            return opError(std::string(name) + " lacks its argument '" + std::string(op->parameters[i].name) + "'");
        inputs.push_back(*op->parameters[i].fallback);
    }
    return call(*op, inputs, attributes, outputs, context.environment());
}

base::Result<Tensor> invokeAten(KernelContext& context, std::string_view name, std::vector<Value> inputs) {
    SONDE_ASSIGN(auto results, invoke(context, "aten", name, std::move(inputs)));
    if (!results.front().isTensor()) return opError(std::string(name) + " gave no tensor");
    return results.front().tensor();
}

base::Result<void> inferAs(InferContext& context, std::string_view domain, std::string_view name,
                           std::initializer_list<Name> inputs) {
    const OpDef* op = Registry::all().find(domain, name, 0);
    if (!op || !op->infer) return {};
    std::vector<TypeInfo> types;
    std::vector<Value> constants;
    for (const Name input : inputs) {
        types.push_back(context.in(input));
        constants.push_back(context.constant(input));
    }
    for (std::size_t i = types.size(); i < op->parameters.size(); ++i) {
        constants.push_back(op->parameters[i].fallback.value_or(Value()));
        types.push_back(TypeInfo::of(constants.back()));
    }
    InferContext inner(types, constants, context.attributes(), context.outputCount());
    SONDE_TRY(inner.inferAs(*op));
    for (std::size_t i = 0; i < context.outputCount(); ++i) context.set(i, inner.outputs()[i]);
    return {};
}

}  // namespace sonde::ops
