#include <algorithm>
#include <cstring>

#include "core/io/torchscript/eager.h"
#include "core/io/torchscript/interpreter.h"
#include "core/io/torchscript/module_state.h"
#include "core/io/torchscript/part_count.h"
#include "core/io/torchscript/run_state.h"
#include "core/io/torchscript/script_module.h"
#include "core/io/torchscript/view_steps.h"
#include "core/operators/draws.h"
#include "core/operators/traits.h"
#include "core/trace/at_once.h"
#include "core/trace/error.h"
#include "core/trace/record.h"

namespace sonde::io::script {

using tensor::Tensor;
using tensor::Value;
using tensor::ValueKind;
using trace::TraceError;
using trace::TraceErrorKind;
using Named = std::vector<std::pair<std::string, ScriptValue>>;

namespace {

[[noreturn]] void failEagerly(const std::string& text) { throw TraceError(TraceErrorKind::Runtime, text); }

template <typename T>
T valueOf(base::Result<T> result) {
    if (!result) failEagerly(result.error().text());
    return std::move(*result);
}

bool drawsNumbers(const std::string& name, const std::vector<ScriptValue>& arguments) {
    const auto numberOf = [&](std::size_t position, std::string_view, double fallback) -> std::optional<double> {
        if (position >= arguments.size() || arguments[position].isNone()) return fallback;
        const ScriptValue& argument = arguments[position];
        return argument.isNumber() ? std::optional(argument.plain()->value().number()) : std::nullopt;
    };
    return operators::drawsNumbers("aten", name, numberOf).value_or(true);
}

/// f(…, out=c): c takes what f gives, in its own type.
ScriptValue callEagerlyInto(const std::string& name, std::vector<ScriptValue> arguments, Named keywords,
                            const ScriptValue& out) {
    const ScriptValue made = callEagerly(name, std::move(arguments), std::move(keywords));
    if (!out.cell() || !made.cell()) failEagerly(name + " with out= that is no tensor: not supported");
    if (toVar(out).value().tensor().shape() != toVar(made).value().tensor().shape())
        failEagerly(name + " with out= of another shape: not supported");
    recordCall("copy_", {out, made}, {});
    return out;
}

Value withOwnTensors(const Value& value) {
    if (value.isTensor()) return Value(valueOf(value.tensor().clone()));
    if (!value.isListLike()) return value;
    tensor::ValueList items;
    for (const Value& item : value.items()) items.push_back(withOwnTensors(item));
    return value.kind() == ValueKind::Tuple ? Value::tuple(std::move(items)) : Value::list(std::move(items));
}

void collectResults(const ScriptValue& value, std::vector<Value>& values, PartCount& parts) {
    const PartCount::Level level(parts);
    if (const ListValue* list = value.list()) {
        for (const ScriptValue& item : list->items) collectResults(item, values, parts);
    } else if (const TupleValue* tuple = value.tuple()) {
        for (const ScriptValue& item : tuple->items) collectResults(item, values, parts);
    } else if (const DictValue* dict = value.dict()) {
        for (const auto& [key, item] : dict->items) collectResults(item, values, parts);
    } else if (value.cell() || value.plain()) {
        values.push_back(toVar(value).toValue());
    } else {
        failEagerly("a model that returns a " + typeName(value));
    }
}

std::vector<Value> outputsOf(ScriptModule& root, std::span<const NamedInput> inputs) {
    const ModuleState::Scope state;
    const trace::WritesAsValues memory(false);
    const trace::WriteProtection protection({});
    const std::vector<trace::ForwardParameter> parameters = root.signature();
    Named given;
    for (const auto& [name, value] : inputs) {
        if (std::ranges::find(parameters, name, &trace::ForwardParameter::name) == parameters.end())
            failEagerly("the input " + name + " is no parameter of forward by itself: not supported");
        given.emplace_back(name, fromVar(Var(withOwnTensors(value))));
    }
    const ScriptValue result = root.callForward("forward", {}, std::move(given));
    std::vector<Value> values;
    PartCount parts;
    collectResults(result, values, parts);
    return values;
}

}  // namespace

// --- memory ---------------------------------------------------------------------------------------------------------

EagerRun::EagerRun(bool copies) : m_copies(copies), m_before(std::exchange(runState().eager, this)) {}
EagerRun::~EagerRun() { runState().eager = m_before; }
EagerRun* EagerRun::current() { return runState().eager; }

Tensor EagerRun::ownMemory(const Tensor& tensor) {
    if (!m_copies || tensor.dtype() == tensor::DType::String) {
        trace::WriteProtection::noteRead(tensor);
        return tensor;
    }
    std::shared_ptr<tensor::Storage>& copy = m_storages[tensor.storage().get()];
    if (!copy) {
        copy = valueOf(tensor::Storage::allocate(tensor.storage()->sizeBytes()));
        std::memcpy(copy->mutableData(), tensor.storage()->data(), copy->sizeBytes());
    }
    return Tensor::onStorage(tensor.dtype(), tensor.shape(), tensor.strides(), copy, tensor.offsetElements());
}

ScriptValue EagerRun::own(const void* key, const Tensor& tensor) {
    const auto [place, isNew] = m_cells.try_emplace(key);
    if (isNew) place->second = makeCell(Var(ownMemory(tensor)));
    return place->second;
}

ScriptValue EagerRun::own(const ScriptValue& value) {
    checkNesting();
    if (const TensorCell* cell = value.cell()) {
        const bool isTensor = cell->var.kind() == Var::Kind::Value && cell->var.value().isTensor();
        return isTensor ? own(cell, cell->var.value().tensor()) : value;
    }
    if (const ListValue* list = value.list()) {
        auto copy = std::make_shared<ListValue>();
        copy->ofTensors = list->ofTensors;
        for (const ScriptValue& item : list->items) copy->items.push_back(own(item));
        return copy;
    }
    if (const TupleValue* tuple = value.tuple()) {
        std::vector<ScriptValue> items;
        for (const ScriptValue& item : tuple->items) items.push_back(own(item));
        return makeTuple(std::move(items), tuple->type);
    }
    if (const DictValue* dict = value.dict()) {
        auto copy = std::make_shared<DictValue>();
        for (const auto& [key, item] : dict->items) copy->items.emplace_back(key, own(item));
        return copy;
    }
    if (const auto* instance = value.as<std::shared_ptr<InstanceValue>>()) {
        auto copy = std::make_shared<InstanceValue>(InstanceValue{(*instance)->typeName, (*instance)->type, {}});
        for (const auto& [name, item] : (*instance)->attributes) copy->attributes[name] = own(item);
        return copy;
    }
    return value;
}

// --- running --------------------------------------------------------------------------------------------------------

ScriptValue callEagerly(const std::string& name, std::vector<ScriptValue> arguments, Named keywords) {
    const auto given = std::ranges::find(keywords, "out", &std::pair<std::string, ScriptValue>::first);
    if (given != keywords.end()) {
        const ScriptValue out = given->second;
        keywords.erase(given);
        if (!out.isNone()) return callEagerlyInto(name, std::move(arguments), std::move(keywords), out);
    }
    ScriptValue result;
    if (keywords.empty() && callBuiltin(name, arguments, result)) return result;
    const operators::Traits& traits = operators::traitsOf("aten", name);
    if (drawsNumbers(name, arguments)) {
        EagerRun::current()->noteDraw();
        failEagerly(name + " draws random numbers");
    }
    TensorCell* receiver = arguments.empty() ? nullptr : arguments.front().cell();
    if (!receiver || (!traits.memory.writes && !traits.memory.reforms))
        return fromVar(recordCall(name, arguments, keywords));
    if (isViewInPlace(name)) {
        const Var view = recordCall(name.substr(0, name.size() - 1), arguments, keywords);
        receiver->var.setTensor(view.value().tensor());
    } else {
        recordCall(name, arguments, keywords);
    }
    return arguments.front();
}

base::Result<EagerOutputs> runEagerly(const std::shared_ptr<trace::Module>& root, std::span<const NamedInput> inputs) {
    const auto script = std::dynamic_pointer_cast<ScriptModule>(root);
    if (!script) return base::runError("only a module of an archive runs eagerly");
    EagerOutputs outputs;
    // Most models write to nothing of their own, and their weights are large: copied if need be.
    for (const bool copies : {false, true}) {
        EagerRun run(copies);
        try {
            outputs.values = outputsOf(*script, inputs);
            outputs.reason.clear();
            return outputs;
        } catch (...) {
            const TraceError error = TraceError::ofCurrentException();
            outputs.isRandom = run.drawsNumbers();
            if (outputs.isRandom) return outputs;
            if (error.kind() == TraceErrorKind::NotImplemented) return error.toRunError(script->className());
            outputs.reason = error.message();
        }
    }
    return outputs;
}

}  // namespace sonde::io::script
