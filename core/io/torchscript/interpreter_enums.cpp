// Members of enumerations.

#include <memory>

#include "core/io/torchscript/archive.h"
#include "core/io/torchscript/interpreter.h"
#include "core/io/torchscript/language.h"

namespace sonde::io::script {

namespace {

template <typename Test>
ScriptValue memberWhere(Archive& archive, const std::string& path, Test isMeant) {
    if (!path.starts_with("__torch__")) return {};
    const auto type = archive.findClass(path);
    if (!type || !*type || (*type)->base != "Enum") return {};
    for (const ClassAttribute& member : (*type)->attributes) {
        const ScriptValue value = Interpreter(archive).evaluateConstant(member.value);
        if (!isMeant(member.name, value)) continue;
        auto instance = std::make_shared<InstanceValue>();
        instance->typeName = path;
        instance->type = *type;
        instance->attributes["name"] = Var(member.name);
        instance->attributes["value"] = value;
        return instance;
    }
    return {};
}

}  // namespace

ScriptValue enumMember(Archive& archive, const std::string& path, const std::string& name) {
    return memberWhere(archive, path, [&](const std::string& each, const ScriptValue&) { return each == name; });
}

ScriptValue enumMemberOf(Archive& archive, const std::string& path, const tensor::Value& value) {
    return memberWhere(archive, path, [&](const std::string&, const ScriptValue& each) {
        return each.plain() && each.plain()->kind() == Var::Kind::Value && equalValues(each, ScriptValue(Var(value)));
    });
}

}  // namespace sonde::io::script
