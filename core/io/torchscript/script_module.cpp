#include "core/io/torchscript/script_module.h"

#include <algorithm>
#include <unordered_map>

#include "core/io/torchscript/eager.h"
#include "core/io/torchscript/interpreter.h"
#include "core/io/torchscript/module_call.h"
#include "core/io/torchscript/module_state.h"
#include "core/io/torchscript/source_stack.h"
#include "core/io/torchscript/views.h"
#include "core/trace/at_once.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using tensor::Value;
using tensor::ValueKind;
using trace::TraceError;
using trace::TraceErrorKind;

ScriptModule::ScriptModule(std::shared_ptr<Archive> archive, std::string typeName, const ClassDef& type)
    : m_archive(std::move(archive)), m_typeName(std::move(typeName)), m_type(type) {}

bool ScriptModule::isLibrary() const {
    return m_typeName.starts_with("__torch__.torch.nn.") && m_type.name != "Sequential";
}

const FunctionDef& ScriptModule::method(const std::string& name) const {
    if (const FunctionDef* found = m_type.method(name)) return *found;
    throw TraceError(TraceErrorKind::NotImplemented,
                     "Module [" + m_type.name + "] is missing the required \"" + name + "\" function");
}

bool ScriptModule::makesTensor() const {
    const FunctionDef* function = m_type.method(m_method);
    return function && function->result == "Tensor";
}

std::vector<trace::ForwardParameter> ScriptModule::signature() const {
    std::vector<trace::ForwardParameter> result;
    const FunctionDef* function = m_type.method(m_method);
    if (!function) return result;
    for (const FunctionParameter& parameter : function->parameters) {
        trace::ForwardParameter entry{parameter.name, std::nullopt, false, parameter.type == "Tensor"};
        if (parameter.hasDefault)
            entry.fallback = toVar(Interpreter(*m_archive).evaluateConstant(parameter.fallback)).toValue();
        result.push_back(std::move(entry));
    }
    return result;
}

namespace {

/// A number inside of what a model returns is an output like its tensors: it gets a node. (fx has none for it; but what
/// fx can trace returns no numbers that stand fast.)
Var withNumberNodes(const Var& result, trace::Tracer& tracer) {
    if (!tracer.recordsControlFlow()) return result;
    if (result.kind() == Var::Kind::Value && result.value().isNumber()) {
        const std::string op = result.value().kind() == ValueKind::Int     ? "Int"
                               : result.value().kind() == ValueKind::Float ? "Float"
                                                                           : "Bool";
        return tracer.recording().record(graph::ExprKind::CallFunction, {"prim", op, 0}, op, op, {result}, {}, false);
    }
    if (result.kind() != Var::Kind::Tuple && result.kind() != Var::Kind::List && result.kind() != Var::Kind::Dict)
        return result;
    std::vector<Var> items;
    for (const Var& item : result.items()) items.push_back(withNumberNodes(item, tracer));
    if (result.kind() == Var::Kind::Tuple) return Var::tuple(std::move(items));
    if (result.kind() == Var::Kind::List) return Var::list(std::move(items));
    std::vector<std::pair<Value, Var>> entries;
    for (std::size_t i = 0; i < items.size(); ++i) entries.emplace_back(result.keys()[i], items[i]);
    return Var::dict(std::move(entries));
}

bool isProtected(const Value& value) {
    if (value.isTensor()) return trace::WriteProtection::covers(value.tensor());
    return (value.isListLike() && std::ranges::any_of(value.items(), isProtected)) ||
           (value.kind() == ValueKind::Dict &&
            std::ranges::any_of(value.dictItems(), [](const auto& entry) { return isProtected(entry.second); }));
}

bool isWritten(const CellPtr& cell) { return cell->isArgumentWritten; }

/// A module that runs on values inside of a graph: nobody would see what it does to what it was given. (A trace does:
/// ModuleCall tells it.) `before`: the tensors in the arguments.
void checkProtected(std::span<const Var> in, const std::vector<CellPtr>& before, const CalledModule& called) {
    const bool isPart = std::ranges::any_of(
        in, [](const Var& var) { return var.kind() == Var::Kind::Value && isProtected(var.value()); });
    if (!isPart) return;
    const std::string_view changed = ModuleState::current()->hasChanged()     ? "a tensor or attribute of a module"
                                     : std::ranges::any_of(before, isWritten) ? "an argument"
                                     : called.hasChangedContainers()          ? "a list that it is given"
                                                                              : "";
    if (changed.empty()) return;
    throw TraceError(
        TraceErrorKind::Runtime,
        std::string(changed) + " is changed in place: a module that runs on values cannot do that in a graph");
}

/// Objects leave the script as they are: between modules of it.
Var withObjects(const ScriptValue& result) {
    const ObjectsPass pass;
    return toVar(result);
}

}  // namespace

std::vector<const FunctionDef*> ScriptModule::hooks(std::string_view list) const {
    std::vector<const FunctionDef*> found;
    for (const ClassAttribute& attribute : m_type.attributes) {
        if (attribute.name != list) continue;
        for (const Expression& name : attribute.value.parts) found.push_back(&method(name.text));
    }
    return found;
}

ScriptValue ScriptModule::run(const FunctionDef& function, std::vector<ScriptValue> arguments,
                              const std::vector<std::pair<std::string, ScriptValue>>& keywords) {
    Interpreter interpreter(*m_archive);
    const bool isRootsForward = installedAs().empty() && function.name == "forward";
    const auto before = isRootsForward ? hooks("__forward_pre_hooks__") : std::vector<const FunctionDef*>();
    const auto after = isRootsForward ? hooks("__forward_hooks__") : std::vector<const FunctionDef*>();
    if (before.empty() && after.empty()) return interpreter.call(function, std::move(arguments), true, keywords);
    // As for modules below (torch/csrc/jit/python/python_sugared_value.cpp): hooks take the inputs as a tuple; what
    // they give takes the place of the inputs or of the output, unless it is None.
    const ScriptValue self = arguments.front();
    std::vector<ScriptValue> inputs(arguments.begin() + 1, arguments.end());
    for (std::size_t i = inputs.size(); i < function.parameters.size(); ++i) {
        const FunctionParameter& parameter = function.parameters[i];
        const auto given = std::ranges::find(keywords, parameter.name, &std::pair<std::string, ScriptValue>::first);
        if (given == keywords.end() && !parameter.hasDefault) break;
        inputs.push_back(given != keywords.end() ? given->second : interpreter.evaluateConstant(parameter.fallback));
    }
    ScriptValue input = makeTuple(std::move(inputs));
    for (const FunctionDef* hook : before) {
        const ScriptValue made = interpreter.call(*hook, {self, input}, true);
        if (!made.isNone()) input = made.tuple() ? made : makeTuple({made});
    }
    arguments = input.tuple()->items;
    arguments.insert(arguments.begin(), self);
    ScriptValue output = interpreter.call(function, std::move(arguments), true);
    for (const FunctionDef* hook : after) {
        const ScriptValue made = interpreter.call(*hook, {self, input, output}, true);
        if (!made.isNone()) output = made;
    }
    return output;
}

Var ScriptModule::forward(std::span<const Var> in) { return forwardFunction()(in); }

std::function<Var(std::span<const Var>)> ScriptModule::forwardFunction() {
    const FunctionDef& function = method(m_method);
    auto self = std::static_pointer_cast<ScriptModule>(shared_from_this());
    // Made for a call that runs on values, although nobody could follow it.
    const bool isOpaque = trace::Tracer::active() && trace::Tracer::active()->recording().recordedGraph();
    return [self, &function, isOpaque](std::span<const Var> in) {
        const bool isOutermost = !ModuleState::current();
        const trace::WritesAsValues values;  // views.h follows what shares memory
        const ModuleState::Scope state;
        std::vector<ScriptValue> arguments{self};
        for (const Var& var : in) {
            const std::size_t i = arguments.size() - 1;
            const std::string type = i < function.parameters.size() ? function.parameters[i].type : std::string();
            arguments.push_back(type == "Tensor" && var.isProxy() ? makeCell(var) : fromVar(var));
            if (arguments.back().isProxy() && mayHoldTensors(type)) tensorOf(var);  // one, whoever takes it for one
            // What a model is run on is in memory as it is read from files.
            if (TensorCell* cell = arguments.back().cell()) cell->isDense = isOutermost;
        }
        std::vector<ScriptValue> given(arguments.begin() + 1, arguments.end());
        std::vector<CellPtr> tensors;
        for (const ScriptValue& each : given) std::ranges::copy(rootsIn(each), std::back_inserter(tensors));
        CalledModule called(*self, given);
        std::ranges::copy(given, arguments.begin() + 1);
        const ScriptValue result = self->run(function, std::move(arguments));
        // What the model gives has its structure, whether or not a node makes it.
        trace::Tracer* tracer = trace::Tracer::active();
        // Library modules that work in place say so where they are traced.
        if (!tracer && called.isAlone() && (isOpaque || !self->isLibrary())) checkProtected(in, tensors, called);
        const bool isRoot = tracer && tracer->root() == self;
        const SourceFrame frame(function);
        SourceFrame::atEnd();
        try {
            const Var returned = isRoot ? withNumberNodes(toVar(withoutNodes(result)), *tracer) : withObjects(result);
            called.returned(result);
            return returned;
        } catch (...) {
            SourceFrame::rethrow();
        }
    };
}

namespace {

/// Sets which forward calls mean, for as long as it lives.
class MethodChoice {
  public:
    MethodChoice(std::string& place, std::string_view name) : m_place(place), m_before(place) { place = name; }
    ~MethodChoice() { m_place = std::move(m_before); }
    MethodChoice(const MethodChoice&) = delete;
    MethodChoice& operator=(const MethodChoice&) = delete;

  private:
    std::string& m_place;
    std::string m_before;
};

}  // namespace

Var ScriptModule::callForward(std::string_view name, std::vector<Var> arguments, trace::Keywords keywords) {
    const MethodChoice choice(m_method, name);
    return call(std::move(arguments), std::move(keywords));
}

ScriptValue ScriptModule::callForward(const std::string& name, std::vector<ScriptValue> arguments,
                                      std::vector<std::pair<std::string, ScriptValue>> keywords) {
    if (EagerRun::current()) {
        arguments.insert(arguments.begin(), std::static_pointer_cast<ScriptModule>(shared_from_this()));
        return run(method(name), std::move(arguments), keywords);
    }
    const MethodChoice choice(m_method, name);
    std::vector<Var> vars;
    trace::Keywords named;
    {
        const ObjectsPass pass;
        for (const ScriptValue& argument : arguments) vars.push_back(toVar(argument));
        for (const auto& [key, value] : keywords) named.emplace_back(key, toVar(value));
    }
    // By keyword or by position, in the order of the parameters.
    std::vector<ScriptValue> given = arguments;
    const FunctionDef& function = this->method(m_method);
    for (std::size_t i = given.size(); i < function.parameters.size(); ++i) {
        const auto entry =
            std::ranges::find(keywords, function.parameters[i].name, &std::pair<std::string, ScriptValue>::first);
        given.push_back(entry == keywords.end() ? ScriptValue() : entry->second);
    }
    ModuleCall memory(*this, given);
    const Var result = call(std::move(vars), std::move(named));
    ScriptValue made = memory.apply(result);
    return made.isProxy() && function.result == "Tensor" ? ScriptValue(tensorOf(*made.plain())) : made;
}

namespace {

/// Something that can be changed, or a tuple with such things.
bool isObject(const ScriptValue& value) {
    checkNesting();
    if (value.tuple()) return std::ranges::any_of(value.tuple()->items, isObject);
    return value.cell() || value.list() || value.dict() || value.as<std::shared_ptr<InstanceValue>>();
}

}  // namespace

ScriptValue ScriptModule::attribute(const std::string& name) const {
    ModuleState* const state = ModuleState::current();
    if (const ScriptValue* assigned = state ? state->find(*this, name) : nullptr) return *assigned;
    EagerRun* const eager = EagerRun::current();
    if (const auto found = m_attributes.find(name); found != m_attributes.end()) {
        if (!eager) return state ? state->ownCopy(found->second) : found->second;
        // One object for the whole run.
        ScriptValue own = eager->own(found->second);
        ModuleState::current()->assign(*this, name, own, found->second);
        return own;
    }
    if (trace::Module* module = child(name)) {
        return std::static_pointer_cast<ScriptModule>(module->shared_from_this());
    }
    for (const NamedSlot& named : ownTensors()) {
        if (named.name != name) continue;
        if (eager) return eager->own(named.slot.get(), named.slot->value);
        if (const auto written = state ? state->find(*named.slot) : nullptr) return written;
        // As written, what is computed of buffers is recorded like everything else.
        trace::Tracer* tracer = trace::Tracer::active();
        ScriptValue value =
            makeCell(tracer && m_archive->asWritten() ? tracer->parameterRead(named.slot) : Var::ofSlot(named.slot));
        value.cell()->slot = named.slot;
        if (ModuleState* now = ModuleState::current()) now->noteRead(*value.as<CellPtr>());
        return value;
    }
    for (const ClassAttribute& constant : m_type.attributes) {
        if (constant.name == name && constant.isFinal) return Interpreter(*m_archive).evaluateConstant(constant.value);
    }
    throw TraceError(TraceErrorKind::Attribute, "'" + m_type.name + "' has no attribute '" + name + "'");
}

void ScriptModule::setAttribute(const std::string& name, ScriptValue value) { m_attributes[name] = std::move(value); }

bool ScriptModule::holdsObjects() const {
    return std::ranges::any_of(m_attributes, [](const auto& entry) { return isObject(entry.second); });
}

namespace {

constexpr int kMaxModuleDepth = 300;

/// Makes modules, instances and values of the pickled data. A value that occurs twice is made once.
class Builder {
  public:
    explicit Builder(std::shared_ptr<Archive> archive) : m_archive(std::move(archive)) {}

    base::Result<ScriptValue> value(const Value& data, int depth) {
        if (depth > kMaxModuleDepth) return base::unreadable("modules nest too deeply");
        switch (data.kind()) {
            case ValueKind::Object: return object(std::dynamic_pointer_cast<PickledObject>(data.object()), depth);
            case ValueKind::List:
            case ValueKind::Tuple: {
                std::vector<ScriptValue> items;
                for (const Value& item : data.items()) {
                    SONDE_ASSIGN(ScriptValue made, value(item, depth + 1));
                    items.push_back(std::move(made));
                }
                return data.kind() == ValueKind::List ? makeList(std::move(items)) : makeTuple(std::move(items));
            }
            case ValueKind::Dict: {
                auto dict = std::make_shared<DictValue>();
                for (const auto& [key, item] : data.dictItems()) {
                    SONDE_ASSIGN(ScriptValue madeKey, value(key, depth + 1));
                    SONDE_ASSIGN(ScriptValue made, value(item, depth + 1));
                    dict->items.emplace_back(std::move(madeKey), std::move(made));
                }
                return ScriptValue(std::move(dict));
            }
            case ValueKind::Tensor: return fromVar(Var::ofSlot(slot(data.tensor(), trace::Slot::Kind::Plain)));
            default: return ScriptValue(Var(data));
        }
    }

  private:
    base::Result<ScriptValue> object(const std::shared_ptr<PickledObject>& data, int depth) {
        if (!data) return ScriptValue(Var());
        if (const auto known = m_made.find(data.get()); known != m_made.end()) return known->second;
        const std::string name = data->typeName();
        SONDE_ASSIGN(const ClassDef* type, m_archive->findClass(name));
        if (!type) return base::unreadable("the archive has no class " + name);
        if (type->base == "Module") return module(*data, *type, depth);
        if (type->base == "Enum") {
            ScriptValue member = enumMemberOf(*m_archive, name, data->arguments());
            if (member.isNone()) return base::unreadable(name + " has no member of the value that is stored");
            return m_made[data.get()] = std::move(member);
        }
        auto instance = std::make_shared<InstanceValue>(InstanceValue{name, type, {}});
        m_made[data.get()] = instance;
        if (data->state.kind() == ValueKind::Dict) {
            for (const auto& [key, item] : data->state.dictItems()) {
                if (key.kind() != ValueKind::String) continue;
                SONDE_ASSIGN(instance->attributes[key.toString()], value(item, depth + 1));
            }
        }
        return ScriptValue(instance);
    }

    base::Result<ScriptValue> module(const PickledObject& data, const ClassDef& type, int depth) {
        auto made = std::make_shared<ScriptModule>(m_archive, data.typeName(), type);
        m_made[&data] = made;
        if (data.state.kind() != ValueKind::Dict) return ScriptValue(made);
        // In the order of the class, which is that of registration.
        for (const ClassAttribute& attribute : type.attributes) {
            for (const auto& [key, item] : data.state.dictItems()) {
                if (key.kind() != ValueKind::String || key.toString() != attribute.name) continue;
                SONDE_TRY(addAttribute(*made, attribute.name, item, depth));
                break;
            }
        }
        return ScriptValue(made);
    }

    base::Result<void> addAttribute(ScriptModule& made, const std::string& name, const Value& item, int depth) {
        if (item.isTensor()) {
            const auto contains = [&](const std::vector<std::string>& list) {
                return std::ranges::find(list, name) != list.end();
            };
            const auto kind =
                contains(made.type().parameters) ? trace::Slot::Kind::Parameter : trace::Slot::Kind::Buffer;
            made.addSlot(name, slot(item.tensor(), kind));
            return {};
        }
        SONDE_ASSIGN(ScriptValue inner, value(item, depth + 1));
        if (const auto* child = inner.as<std::shared_ptr<ScriptModule>>()) {
            made.addChild(name, sameModule(*child));
        } else {
            made.setAttribute(name, std::move(inner));
        }
        return {};
    }

    /// The module that this one is under another name: isSameModule. Modules without tensors are left as they are.
    std::shared_ptr<ScriptModule> sameModule(const std::shared_ptr<ScriptModule>& made) {
        std::string key = made->typeName();
        const std::vector<trace::NamedTensor> tensors = trace::namedTensors(*made);
        if (tensors.empty()) return made;
        for (const trace::NamedTensor& tensor : tensors)
            key += ' ' + std::to_string(reinterpret_cast<std::uintptr_t>(tensor.slot.get()));
        std::vector<std::shared_ptr<ScriptModule>>& known = m_modules[key];
        const auto same = std::ranges::find_if(known, [&](const auto& each) { return isSameModule(*each, *made); });
        return same == known.end() ? known.emplace_back(made) : *same;
    }

    /// Tensors that are the same memory are one slot: tied parameters.
    std::shared_ptr<trace::Slot> slot(const tensor::Tensor& tensor, trace::Slot::Kind kind) {
        std::vector<std::shared_ptr<trace::Slot>>& known = m_slots[tensor.storage().get()];
        for (const auto& slot : known) {
            const tensor::Tensor& other = slot->value;
            if (slot->kind == kind && other.offsetElements() == tensor.offsetElements() &&
                other.shape() == tensor.shape() && other.strides() == tensor.strides()) {
                return slot;
            }
        }
        known.push_back(std::make_shared<trace::Slot>(trace::Slot{kind, tensor}));
        return known.back();
    }

    std::shared_ptr<Archive> m_archive;
    std::unordered_map<const PickledObject*, ScriptValue> m_made;
    std::unordered_map<std::string, std::vector<std::shared_ptr<ScriptModule>>> m_modules;
    std::unordered_map<const tensor::Storage*, std::vector<std::shared_ptr<trace::Slot>>> m_slots;
};

}  // namespace

base::Result<std::shared_ptr<trace::Module>> makeRootModule(const std::shared_ptr<Archive>& archive) {
    try {
        SONDE_ASSIGN(const ScriptValue root, Builder(archive).value(archive->root(), 0));
        const auto* module = root.as<std::shared_ptr<ScriptModule>>();
        if (!module) return base::unreadable("the archive's root is not a module");
        return std::static_pointer_cast<trace::Module>(*module);
    } catch (const TraceError& error) {
        return error.toError({});
    }
}

}  // namespace sonde::io::script
