// Checks before and after a kernel: what reaches a kernel has the kinds, dtypes and attributes of its signature.

#include <exception>

#include "core/base/exception_text.h"
#include "core/ops/registry/registry.h"

namespace sonde::ops {

using tensor::AttributeValue;

namespace {

std::string inputTypes(std::span<const Value> inputs) {
    std::string text;
    for (std::size_t i = 0; i < inputs.size() && i < 16; ++i) text += (i ? ", " : "") + inputs[i].typeText();
    return inputs.size() > 16 ? text + ", …" : text;
}

base::Error describe(base::Error error, const OpDef& op, std::span<const Value> inputs) {
    return std::move(error.withNote("in " + std::string(op.name) + "(" + inputTypes(inputs) + ")"));
}

base::Error bad(const OpDef& op, const std::string& what) { return base::runError(std::string(op.name) + ": " + what); }

/// The formal of a position; the last one repeats if it is variadic. Null beyond the end.
const Formal* formalAt(const std::vector<Formal>& formals, std::size_t index) {
    if (index < formals.size()) return &formals[index];
    if (!formals.empty() && formals.back().arity == Arity::Variadic) return &formals.back();
    return nullptr;
}

std::string dtypeList(DTypeSet set) {
    std::string text;
    for (int i = 1; i < tensor::kDTypeCount; ++i) {
        const auto dtype = static_cast<DType>(i);
        if (set & bit(dtype)) text += (text.empty() ? "" : ", ") + std::string(tensor::name(dtype));
    }
    return text;
}

/// Names and dtypes of the type variables met so far; an operator has few.
struct TypeVariables {
    struct Entry {
        std::string_view letter;
        DType dtype;
        std::string_view input;
    };
    std::vector<Entry> entries;

    base::Result<void> meet(const OpDef& op, const Formal& formal, DType dtype) {
        if (formal.typeVariable.empty()) return {};
        for (const Entry& entry : entries) {
            if (entry.letter != formal.typeVariable) continue;
            if (entry.dtype == dtype) return {};
            return bad(op, "inputs '" + std::string(entry.input) + "' and '" + std::string(formal.name) +
                               "' must have the same dtype, but are " + std::string(tensor::name(entry.dtype)) +
                               " and " + std::string(tensor::name(dtype)));
        }
        entries.push_back({formal.typeVariable, dtype, formal.name});
        return {};
    }
};

base::Result<void> checkDType(const OpDef& op, const Formal& formal, DType dtype, TypeVariables& variables) {
    if (!(formal.dtypes & bit(dtype))) {
        return bad(op, "input '" + std::string(formal.name) + "' cannot be " + std::string(tensor::name(dtype)) +
                           "; it may be " + dtypeList(formal.dtypes));
    }
    return variables.meet(op, formal, dtype);
}

base::Result<void> checkInputs(const OpDef& op, std::span<const Value> inputs) {
    TypeVariables variables;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Formal* formal = formalAt(op.inputs, i);
        if (!formal) {
            if (inputs[i].isNone()) continue;
            return bad(op, "takes at most " + std::to_string(op.inputs.size()) + " inputs, but has " +
                               std::to_string(inputs.size()));
        }
        if (inputs[i].isNone()) {
            if (formal->arity == Arity::Optional || !formal->tensorOnly) continue;
            return bad(op, "input '" + std::string(formal->name) + "' is missing");
        }
        if (inputs[i].isTensor()) {
            SONDE_TRY(checkDType(op, *formal, inputs[i].tensor().dtype(), variables));
        } else if (formal->tensorOnly) {
            return bad(op,
                       "input '" + std::string(formal->name) + "' must be a tensor, but is " + inputs[i].typeText());
        }
    }
    for (std::size_t i = inputs.size(); i < op.inputs.size(); ++i) {
        if (op.inputs[i].arity == Arity::One)
            return bad(op, "input '" + std::string(op.inputs[i].name) + "' is missing");
    }
    return {};
}

/// Positional values of an operator with a schema: defaults filled in, none missing.
base::Result<std::vector<Value>> bindParameters(const OpDef& op, std::span<const Value> inputs) {
    if (inputs.size() > op.parameters.size()) {
        return bad(op, "takes " + std::to_string(op.parameters.size()) + " arguments, but has " +
                           std::to_string(inputs.size()));
    }
    std::vector<Value> bound(inputs.begin(), inputs.end());
    for (std::size_t i = 0; i < op.parameters.size(); ++i) {
        const Parameter& parameter = op.parameters[i];
        if (i >= bound.size()) {
            if (!parameter.fallback) return bad(op, "argument '" + std::string(parameter.name) + "' is missing");
            bound.push_back(*parameter.fallback);
        }
        if (parameter.type == "Tensor" && !bound[i].isTensor()) {
            return bad(
                op, "argument '" + std::string(parameter.name) + "' must be a tensor, but is " + bound[i].typeText());
        }
    }
    return bound;
}

base::Result<void> makeContiguous(std::vector<Value>& values) {
    for (Value& value : values) {
        if (!value.isTensor() || value.tensor().isContiguous()) continue;
        SONDE_ASSIGN(Tensor packed, value.tensor().contiguous());
        value = Value(std::move(packed));
    }
    return {};
}

bool anyStrided(std::span<const Value> values) {
    for (const Value& value : values) {
        if (value.isTensor() && !value.tensor().isContiguous()) return true;
    }
    return false;
}

base::Result<std::vector<Value>> runKernel(const OpDef& op, std::span<const Value> inputs, const Attributes& attributes,
                                           std::size_t outputCount, RunEnvironment& environment, int version,
                                           const PreparedState* prepared, BodyRunner* bodies,
                                           OutputAllocator* allocator) {
    KernelContext context(inputs, attributes, outputCount, environment, &op);
    context.setPrepared(prepared);
    context.setBodies(bodies);
    context.setAllocator(allocator);
    context.setVersion(version);
    // Kernels size their working vectors by what a model says: no memory is an error, not the end.
    try {
        SONDE_TRY(op.kernel(context));
    } catch (const std::exception& exception) {
        return base::runError(std::string(op.name) + ": " + base::exceptionText(exception));
    }
    if (environment.stop.stop_requested()) return base::cancelled();
    return context.takeOutputs();
}

bool kindMatches(AttributeKind kind, const AttributeValue& value) {
    switch (kind) {
        case AttributeKind::Int: return std::holds_alternative<std::int64_t>(value);
        case AttributeKind::Float: return std::holds_alternative<double>(value);
        case AttributeKind::String: return std::holds_alternative<std::string>(value);
        case AttributeKind::Tensor: return std::holds_alternative<Tensor>(value);
        case AttributeKind::Ints: return std::holds_alternative<std::vector<std::int64_t>>(value);
        case AttributeKind::Floats: return std::holds_alternative<std::vector<double>>(value);
        case AttributeKind::Strings: return std::holds_alternative<std::vector<std::string>>(value);
        case AttributeKind::Tensors: return std::holds_alternative<std::vector<Tensor>>(value);
        case AttributeKind::Body: return std::holds_alternative<tensor::BodyRef>(value);
        case AttributeKind::Type: return std::holds_alternative<TypeInfo>(value);
        case AttributeKind::Any: return true;
    }
    return false;
}

std::string_view kindName(AttributeKind kind) {
    constexpr std::string_view kNames[] = {
        "an int",         "a float",          "a string",          "a tensor",
        "a list of ints", "a list of floats", "a list of strings", "a list of tensors",
        "a body graph",   "a type",           "anything"};
    return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

base::Result<Attributes> completeAttributes(const OpDef& op, const Attributes& attributes) {
    Attributes complete = attributes;
    for (const FormalAttribute& formal : op.attributes) {
        const AttributeValue* value = complete.find(formal.name);
        if (!value) {
            if (formal.required) return bad(op, "attribute '" + std::string(formal.name) + "' is missing");
            if (formal.fallback) complete.set(std::string(formal.name), *formal.fallback);
            continue;
        }
        if (kindMatches(formal.kind, *value)) continue;
        if (formal.kind == AttributeKind::Float && std::holds_alternative<std::int64_t>(*value)) {
            complete.set(std::string(formal.name), static_cast<double>(std::get<std::int64_t>(*value)));
            continue;
        }
        return bad(op, "attribute '" + std::string(formal.name) + "' must be " + std::string(kindName(formal.kind)) +
                           ", but is " + tensor::text(*value));
    }
    return complete;
}

base::Result<std::vector<Value>> call(const OpDef& op, std::span<const Value> inputs, const Attributes& attributes,
                                      std::size_t outputCount, RunEnvironment& environment, int version,
                                      const PreparedState* prepared, BodyRunner* bodies, OutputAllocator* allocator) {
    base::Result<Attributes> complete = completeAttributes(op, attributes);
    if (!complete) return describe(std::move(complete).error(), op, inputs);
    return callPrepared(op, inputs, *complete, outputCount, environment, version, prepared, bodies, allocator);
}

base::Result<std::vector<Value>> callPrepared(const OpDef& op, std::span<const Value> inputs,
                                              const Attributes& completeAttributes, std::size_t outputCount,
                                              RunEnvironment& environment, int version, const PreparedState* prepared,
                                              BodyRunner* bodies, OutputAllocator* allocator) {
    if (!op.kernel) return describe(bad(op, "is not an operator that runs on its own"), op, inputs);
    std::vector<Value> bound;
    std::span<const Value> given = inputs;
    if (!op.parameters.empty()) {
        base::Result<std::vector<Value>> values = bindParameters(op, inputs);
        if (!values) return describe(std::move(values).error(), op, inputs);
        bound = std::move(values).value();
        given = bound;
    } else if (base::Result<void> checked = checkInputs(op, inputs); !checked) {
        return describe(std::move(checked).error(), op, inputs);
    }
    if (!op.acceptsStrided && anyStrided(given)) {
        if (bound.empty()) bound.assign(given.begin(), given.end());
        if (base::Result<void> packed = makeContiguous(bound); !packed)
            return describe(std::move(packed).error(), op, inputs);
        given = bound;
    }
    base::Result<std::vector<Value>> outputs =
        runKernel(op, given, completeAttributes, outputCount, environment, version, prepared, bodies, allocator);
    if (!outputs) return describe(std::move(outputs).error(), op, inputs);
    return outputs;
}

namespace {

base::Result<void> checkTypes(const OpDef& op, std::span<const TypeInfo> inputs) {
    TypeVariables variables;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Formal* formal = formalAt(op.inputs, i);
        if (!formal || !inputs[i].isTensor() || inputs[i].dtype == DType::Undefined) continue;
        SONDE_TRY(checkDType(op, *formal, inputs[i].dtype, variables));
    }
    return {};
}

}  // namespace

base::Result<Inferred> infer(const OpDef& op, std::span<const TypeInfo> inputs, std::span<const Value> constants,
                             const Attributes& attributes, std::size_t outputCount) {
    Inferred unknown{std::vector<TypeInfo>(outputCount), std::vector<Value>(outputCount)};
    SONDE_ASSIGN(const Attributes complete, completeAttributes(op, attributes));
    if (!op.infer) return unknown;
    std::vector<TypeInfo> types(inputs.begin(), inputs.end());
    std::vector<Value> values(constants.begin(), constants.end());
    values.resize(types.size());
    if (op.parameters.empty()) {
        SONDE_TRY(checkTypes(op, inputs));
    } else {
        for (std::size_t i = types.size(); i < op.parameters.size(); ++i) {
            const std::optional<Value>& fallback = op.parameters[i].fallback;
            types.push_back(fallback ? TypeInfo::of(*fallback) : TypeInfo{});
            values.push_back(fallback ? *fallback : Value());
        }
    }
    InferContext context(types, values, complete, outputCount, {}, &op);
    try {
        SONDE_TRY(op.infer(context));
    } catch (const std::exception& exception) {
        return bad(op, base::exceptionText(exception));
    }
    return Inferred{context.outputs(), context.known()};
}

}  // namespace sonde::ops
