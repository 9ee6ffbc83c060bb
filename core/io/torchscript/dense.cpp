#include "core/io/torchscript/dense.h"

#include <algorithm>

#include "core/operators/traits.h"

namespace sonde::io::script {

using operators::ViewForm;

namespace {

bool isNumber(const ScriptValue& value, std::int64_t number) {
    const Var* plain = value.plain();
    return plain && plain->kind() == Var::Kind::Value && plain->value().kind() == tensor::ValueKind::Int &&
           plain->value().toInt() == number;
}

/// Argument `index` is the number, or it is left out and that is its default.
bool isOrOmitted(const std::vector<ScriptValue>& arguments, std::size_t index, std::int64_t number) {
    return index >= arguments.size() || arguments[index].isNone() || isNumber(arguments[index], number);
}

bool allDense(const std::vector<ScriptValue>& arguments) {
    return std::ranges::all_of(arguments, [](const ScriptValue& argument) {
        if (argument.cell()) return isDense(argument);
        return argument.list() ? allDense(argument.list()->items) : !argument.isProxy() || argument.isNumber();
    });
}

}  // namespace

bool isDense(const ScriptValue& value) { return value.cell() && value.cell()->isDense; }

bool givesDense(const std::string& op, const std::vector<ScriptValue>& arguments) {
    const operators::Traits& traits = operators::traitsOf("aten", op);
    if (traits.density == operators::Density::Always) return true;
    if (arguments.empty()) return false;
    // Memory formats other than the plain one have a number after the tensor.
    if (traits.form == ViewForm::Contiguous) return isOrOmitted(arguments, 1, 0);
    if (traits.opClass == operators::OpClass::Clone) {
        return arguments.size() == 1 ? isDense(arguments[0])
                                     : isNumber(arguments[1], 0) || (arguments[1].isNone() && isDense(arguments[0]));
    }
    if (traits.density == operators::Density::LikeArguments) return allDense(arguments);
    if (!isDense(arguments[0])) return false;
    switch (traits.form) {
        case ViewForm::Same: return true;
        case ViewForm::Select:
        case ViewForm::Unbind:
        case ViewForm::Narrow: return isOrOmitted(arguments, 1, 0);
        case ViewForm::Slice: return isOrOmitted(arguments, 1, 0) && isOrOmitted(arguments, 4, 1);
        case ViewForm::Chunk:
        case ViewForm::Split: return isOrOmitted(arguments, 2, 0);
        default: return operators::keepsOrder(traits.form);
    }
}

}  // namespace sonde::io::script
