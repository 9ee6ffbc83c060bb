// Attributes of modules, objects and tensors, and everything else that can be assigned to.

#include "core/io/torchscript/interpreter.h"
#include "core/io/torchscript/module_state.h"
#include "core/io/torchscript/python_forms.h"
#include "core/io/torchscript/region.h"
#include "core/io/torchscript/script_module.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

using tensor::Value;
using tensor::ValueKind;
using trace::TraceError;
using trace::TraceErrorKind;
using Kind = Expression::Kind;

void Interpreter::assign(const Expression& target, ScriptValue value, Environment& env) {
    if (target.kind == Kind::Name) {
        env[target.text] = std::move(value);
    } else if (target.kind == Kind::Attribute) {
        const ScriptValue object = evaluate(target.parts.front(), env);
        if (const auto* instance = object.as<std::shared_ptr<InstanceValue>>()) {
            Region::noteChange(*instance);
            (*instance)->attributes[target.text] = std::move(value);
        } else if (const auto* module = object.as<std::shared_ptr<ScriptModule>>(); module && ModuleState::current()) {
            ModuleState::current()->assign(**module, target.text, std::move(value), (*module)->attribute(target.text));
        } else {
            fail(TraceErrorKind::Attribute,
                 "the attribute '" + target.text + "' of a " + typeName(object) + " cannot be set");
        }
    } else {
        fail(TraceErrorKind::Type,
             "line " + std::to_string(target.line) + " assigns to something that is not a variable");
    }
}

ScriptValue Interpreter::attribute(const ScriptValue& object, const std::string& name) {
    if (const auto* module = object.as<std::shared_ptr<ScriptModule>>()) {
        ScriptValue value = (*module)->attribute(name);
        trace::Tracer* tracer = trace::Tracer::active();
        if (tracer && value.as<std::shared_ptr<ScriptModule>>()) tracer->moduleRead(**module, name);
        return value;
    }
    if (const auto* instance = object.as<std::shared_ptr<InstanceValue>>()) {
        if (const auto found = (*instance)->attributes.find(name); found != (*instance)->attributes.end())
            return found->second;
    }
    if (const TupleValue* tuple = object.tuple(); tuple && tuple->type) {
        for (std::size_t i = 0; i < tuple->type->attributes.size() && i < tuple->items.size(); ++i) {
            if (tuple->type->attributes[i].name == name) return tuple->items[i];
        }
    }
    if (object.cell()) return callOperator("prim." + name, {object}, {});
    fail(TraceErrorKind::Attribute, "a value of type " + typeName(object) + " has no attribute '" + name + "'");
}

}  // namespace sonde::io::script
