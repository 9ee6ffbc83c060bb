#include "core/ops/support/eager.h"

#include "core/ops/support/invoke.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

/// Carries an Error from Eager::fail to `eagerWith` below; nothing else throws or catches it.
struct Failure {
    base::Error error;
};

}  // namespace

Value Eager::Argument::listOf(const std::vector<std::int64_t>& numbers) {
    tensor::ValueList list;
    for (std::int64_t number : numbers) list.push_back(Value::ofInt(number));
    return Value::list(std::move(list));
}

Value Eager::Argument::listOf(const std::vector<Tensor>& tensors) {
    return Value::list(tensor::ValueList(tensors.begin(), tensors.end()));
}

void Eager::fail(base::Error error) const { throw Failure{std::move(error)}; }
void Eager::fail(std::string what) const { throw Failure{opError(std::move(what))}; }

std::vector<Value> Eager::all(std::string_view domain, std::string_view name, std::vector<Value> inputs,
                              const Attributes& attributes, std::size_t outputs) {
    // A number may stand for a tensor.
    if (const OpDef* op = Registry::all().find(domain, name, 0)) {
        for (std::size_t i = 0; i < inputs.size() && i < op->parameters.size(); ++i) {
            if (op->parameters[i].type == "Tensor" && inputs[i].isNumber()) inputs[i] = Value(tensorOf(inputs[i]));
        }
    }
    return get(invoke(m_context, domain, name, std::move(inputs), attributes, outputs));
}

Tensor Eager::tensorOf(const Value& value) const {
    if (value.isTensor()) return value.tensor();
    if (value.isNumber()) return get(asTensor(value, promoted(std::span(&value, 1))));
    fail("expected a tensor, but found " + value.typeText());
}

Tensor Eager::taken() const {
    std::vector<Value> outputs = m_context.takeOutputs();
    m_context.setOutputs(std::vector<Value>(outputs.size()));
    if (outputs.empty()) fail("the result is unused");
    return tensorOf(outputs.front());
}

std::int64_t Eager::integer(Name name) const { return get(intOf(value(name))); }
double Eager::number(Name name) const { return get(numberOf(value(name))); }

std::string Eager::text(Name name) const {
    const Value& given = value(name);
    if (given.kind() != ValueKind::String) fail("expected a string, but found " + given.typeText());
    return given.toString();
}

std::vector<std::int64_t> Eager::integers(Name name) const { return get(intsOf(value(name))); }

std::vector<Tensor> Eager::tensors(Name name) const {
    const Value& given = value(name);
    if (!given.isListLike()) fail("expected a list of tensors, but found " + given.typeText());
    std::vector<Tensor> list;
    for (const Value& item : given.items()) list.push_back(tensorOf(item));
    return list;
}

std::size_t Eager::axisOf(std::int64_t axis, std::size_t rank) const { return get(ops::axisOf(axis, rank)); }

std::vector<std::size_t> Eager::axes(Name name, std::size_t rank) const {
    std::vector<std::int64_t> given;
    if (has(name)) given = integers(name);
    if (given.empty()) {
        for (std::size_t i = 0; i < rank; ++i) given.push_back(static_cast<std::int64_t>(i));
    }
    if (rank == 0) return {};
    return get(axesOf(given, rank));
}

DType Eager::dtype(Name name, DType otherwise) const {
    if (!has(name)) return otherwise;
    const auto dtype = dtypeFromTorch(integer(name));
    if (!dtype) fail("there is no element type " + value(name).text());
    return *dtype;
}

namespace {

std::function<base::Result<void>(KernelContext&)> eagerWith(EagerKernel kernel) {
    return [kernel = std::move(kernel)](KernelContext& context) -> base::Result<void> {
        SONDE_ASSIGN(std::vector<Value> values, runEager(context, kernel));
        for (std::size_t i = 0; i < values.size() && i < context.outputCount(); ++i)
            context.setOutput(i, std::move(values[i]));
        return {};
    };
}

}  // namespace

base::Result<std::vector<Value>> runEager(KernelContext& context, const EagerKernel& kernel) {
    try {
        Eager calls(context);
        return kernel(calls).values;
    } catch (Failure& failure) {
        return std::move(failure.error);
    }
}

OpDef eagerRow(std::string_view schema, std::string_view summary, Category category, EagerKernel kernel,
               std::function<base::Result<void>(InferContext&)> infer) {
    OpDef def = atenRow(schema, summary, category, {}, std::move(infer));
    def.kernel = eagerWith(std::move(kernel));
    for (Formal& input : def.inputs) input.tensorOnly = false;
    return def;
}

Row& Row::runs(EagerKernel kernel, std::function<base::Result<void>(InferContext&)> infer) {
    return runs(eagerWith(std::move(kernel)), std::move(infer));
}

}  // namespace sonde::ops
