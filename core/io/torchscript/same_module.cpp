// When two modules of an archive are one.

#include <algorithm>

#include "core/io/torchscript/language.h"
#include "core/io/torchscript/script_module.h"
#include "core/tensor/value.h"

namespace sonde::io::script {

namespace {

bool changesObjects(const Expression& expression) {
    const bool isCall = expression.kind == Expression::Kind::Call;
    if (isCall && !expression.parts.empty() && expression.parts.front().kind == Expression::Kind::Attribute &&
        changesContainer(expression.parts.front().text))
        return true;
    return std::ranges::any_of(expression.parts, changesObjects) ||
           std::ranges::any_of(expression.keywords, [](const Keyword& one) { return changesObjects(one.second); });
}

/// Assigns to an attribute, or changes a list or dict, whoever's it is.
bool changesAttributes(const std::vector<Statement>& body) {
    return std::ranges::any_of(body, [](const Statement& statement) {
        const auto isAttribute = [](const Expression& target) { return target.kind == Expression::Kind::Attribute; };
        return std::ranges::any_of(statement.targets, isAttribute) || changesObjects(statement.value) ||
               changesAttributes(statement.body) || changesAttributes(statement.orElse);
    });
}

bool equalAttributes(const ScriptValue& a, const ScriptValue& b);

bool equalItems(const std::vector<ScriptValue>& a, const std::vector<ScriptValue>& b) {
    return std::ranges::equal(a, b, equalAttributes);
}

bool equalAttributes(const ScriptValue& a, const ScriptValue& b) {
    if (a.plain() && b.plain()) {
        const bool areValues = a.plain()->kind() == Var::Kind::Value && b.plain()->kind() == Var::Kind::Value;
        return areValues && tensor::identical(a.plain()->value(), b.plain()->value());
    }
    if (a.cell() && b.cell()) return a.cell()->var.slot() && a.cell()->var.slot() == b.cell()->var.slot();
    if (a.list() && b.list()) return equalItems(a.list()->items, b.list()->items);
    if (a.tuple() && b.tuple()) return equalItems(a.tuple()->items, b.tuple()->items);
    if (a.dict() && b.dict()) {
        return std::ranges::equal(a.dict()->items, b.dict()->items, [](const auto& first, const auto& second) {
            return equalAttributes(first.first, second.first) && equalAttributes(first.second, second.second);
        });
    }
    const auto* first = a.as<std::shared_ptr<InstanceValue>>();
    const auto* second = b.as<std::shared_ptr<InstanceValue>>();
    return first && second && *first == *second;  // of another object its own methods may change anything
}

}  // namespace

bool isSameModule(const ScriptModule& a, const ScriptModule& b) {
    if (&a == &b) return true;
    if (a.typeName() != b.typeName()) return false;
    const auto equalSlots = [](const trace::Module::NamedSlot& first, const trace::Module::NamedSlot& second) {
        return first.name == second.name && first.slot == second.slot;
    };
    const auto equalChildren = [](const trace::Module::Child& first, const trace::Module::Child& second) {
        const auto* one = dynamic_cast<const ScriptModule*>(first.module.get());
        const auto* other = dynamic_cast<const ScriptModule*>(second.module.get());
        return first.name == second.name && one && other && isSameModule(*one, *other);
    };
    const auto equalEntries = [](const auto& first, const auto& second) {
        return first.first == second.first && equalAttributes(first.second, second.second);
    };
    return std::ranges::equal(a.ownTensors(), b.ownTensors(), equalSlots) &&
           std::ranges::equal(a.children(), b.children(), equalChildren) &&
           std::ranges::equal(a.attributes(), b.attributes(), equalEntries) &&
           std::ranges::none_of(a.type().methods,
                                [](const FunctionDef& method) { return changesAttributes(method.body); });
}

}  // namespace sonde::io::script
